//! The sessions of operators: [`domain::session::SessionRepository`].

use crate::connections::Connections;
use crate::entity::{operator_account, operator_session};
use crate::{audit, operator};
use async_trait::async_trait;
use domain::access::CredentialDigest;
use domain::audit::NewAuditRecord;
use domain::error::StoreError;
use domain::operator::Operator;
use domain::session::{NewSession, Session, SessionRepository};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use std::sync::Arc;

/// The sessions in a database. They are read with each request, so that an end takes effect at once everywhere.
pub struct SqlSessionRepository {
    db: Arc<Connections>,
}

impl SqlSessionRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl SessionRepository for SqlSessionRepository {
    async fn add(&self, session: &NewSession, record: &NewAuditRecord) -> Result<bool, StoreError> {
        let asked = Arc::new((session.clone(), record.clone()));
        let added = self.db.write(move |transaction| {
            let asked = asked.clone();
            async move { add(transaction, &asked.0, &asked.1).await }.boxed()
        });
        Ok(added.await?)
    }

    async fn find(&self, digest: CredentialDigest) -> Result<Option<(Session, Operator)>, StoreError> {
        let find = operator_session::Entity::find_by_id(digest.as_bytes().to_vec());
        let Some(row) = self.db.read(find.one(&self.db.reads)).await? else {
            return Ok(None);
        };
        let [started, last_used] = [row.started_at, row.used_at].map(Timestamp::from_micros);
        let operator = self.db.read(operator::find_by_id(&self.db.reads, row.operator_id)).await?;
        let found = operator.map(operator::found).transpose()?;
        Ok(found.map(|found| (Session { started, last_used }, found.operator)))
    }

    async fn note_use(&self, digest: CredentialDigest, now: Timestamp) -> Result<(), StoreError> {
        let noted = self.db.write(move |transaction| {
            async move {
                let update = operator_session::Entity::update_many()
                    .col_expr(operator_session::Column::UsedAt, Expr::value(now.as_micros()))
                    .filter(operator_session::Column::Digest.eq(digest.as_bytes().to_vec()))
                    .filter(operator_session::Column::UsedAt.lt(now.as_micros()));
                update.exec(transaction).await.map(drop)
            }
            .boxed()
        });
        Ok(noted.await?)
    }

    async fn remove(&self, digest: CredentialDigest, record: &NewAuditRecord) -> Result<bool, StoreError> {
        let record = Arc::new(record.clone());
        let removed = self.db.write(move |transaction| {
            let record = record.clone();
            async move {
                let delete = operator_session::Entity::delete_by_id(digest.as_bytes().to_vec());
                let is_removed = delete.exec(transaction).await?.rows_affected > 0;
                if is_removed {
                    audit::store(transaction, &record).await?;
                }
                Ok(is_removed)
            }
            .boxed()
        });
        Ok(removed.await?)
    }

    async fn prune(&self, used_before: Timestamp, started_before: Timestamp) -> Result<u64, StoreError> {
        let pruned = self.db.write(move |transaction| {
            async move {
                let is_old = Condition::any()
                    .add(operator_session::Column::UsedAt.lte(used_before.as_micros()))
                    .add(operator_session::Column::StartedAt.lte(started_before.as_micros()));
                let delete = operator_session::Entity::delete_many().filter(is_old);
                Ok(delete.exec(transaction).await?.rows_affected)
            }
            .boxed()
        });
        Ok(pruned.await?)
    }
}

async fn add(db: &impl ConnectionTrait, session: &NewSession, record: &NewAuditRecord) -> Result<bool, DbErr> {
    let sign_in = operator_account::Entity::update_many()
        .col_expr(operator_account::Column::SignedInAt, Expr::value(session.started.as_micros()))
        .filter(operator_account::Column::Id.eq(session.operator.0))
        .filter(operator_account::Column::PasswordHash.eq(session.password.as_str()));
    if sign_in.exec(db).await?.rows_affected == 0 {
        return Ok(false);
    }
    let row = operator_session::ActiveModel {
        digest: Set(session.digest.as_bytes().to_vec()),
        operator_id: Set(session.operator.0),
        started_at: Set(session.started.as_micros()),
        used_at: Set(session.started.as_micros()),
    };
    operator_session::Entity::insert(row).exec_without_returning(db).await?;
    audit::store(db, record).await?;
    Ok(true)
}
