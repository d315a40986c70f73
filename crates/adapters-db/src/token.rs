//! The tokens of operators: [`domain::token::TokenRepository`].

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::{operator_account, operator_token};
use crate::{audit, operator};
use async_trait::async_trait;
use domain::access::CredentialDigest;
use domain::audit::NewAuditRecord;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::operator::{Operator, Role, Scope, TokenId};
use domain::timestamp::Timestamp;
use domain::token::{NewToken, Token, TokenFilter, TokenRepository};
use futures_util::FutureExt;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::sync::Arc;

/// The tokens in a database. They are read with each request, so that a revocation takes effect at once everywhere.
pub struct SqlTokenRepository {
    db: Arc<Connections>,
}

impl SqlTokenRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }

    async fn one(&self, select: Select<operator_token::Entity>) -> Result<Option<(Token, i64)>, StoreError> {
        let select = select.find_also_related(operator_account::Entity);
        let found = self.db.read(select.one(&self.db.reads)).await?;
        found.map(token).transpose()
    }
}

#[async_trait]
impl TokenRepository for SqlTokenRepository {
    async fn add(&self, new: &NewToken, record: &NewAuditRecord) -> Result<Option<TokenId>, StoreError> {
        let asked = Arc::new((new.clone(), record.clone()));
        let added = self.db.write(move |transaction| {
            let asked = asked.clone();
            async move { add(transaction, &asked.0, &asked.1).await }.boxed()
        });
        Ok(added.await?.map(TokenId))
    }

    async fn find(&self, digest: CredentialDigest) -> Result<Option<(Token, Operator)>, StoreError> {
        let select =
            operator_token::Entity::find().filter(operator_token::Column::Digest.eq(digest.as_bytes().to_vec()));
        let Some((token, operator)) = self.one(select).await? else {
            return Ok(None);
        };
        let operator = self.db.read(operator::find_by_id(&self.db.reads, operator)).await?;
        let found = operator.map(operator::found).transpose()?;
        Ok(found.map(|found| (token, found.operator)))
    }

    async fn find_by_id(&self, id: TokenId) -> Result<Option<Token>, StoreError> {
        Ok(self.one(operator_token::Entity::find_by_id(id.0)).await?.map(|(token, _)| token))
    }

    async fn page(&self, filter: &TokenFilter, after: Option<TokenId>, limit: u64) -> Result<Vec<Token>, StoreError> {
        let select = page(filter, after, limit).find_also_related(operator_account::Entity);
        let rows = self.db.read(select.all(&self.db.reads)).await?;
        rows.into_iter().map(|row| Ok(token(row)?.0)).collect()
    }

    async fn revoke(&self, id: TokenId, now: Timestamp, record: &NewAuditRecord) -> Result<bool, StoreError> {
        let record = Arc::new(record.clone());
        let revoked = self.db.write(move |transaction| {
            let record = record.clone();
            async move {
                let update = operator_token::Entity::update_many()
                    .col_expr(operator_token::Column::RevokedAt, Expr::value(now.as_micros()))
                    .filter(operator_token::Column::Id.eq(id.0))
                    .filter(operator_token::Column::RevokedAt.is_null());
                let is_revoked = update.exec(transaction).await?.rows_affected > 0;
                if is_revoked {
                    audit::store(transaction, &record).await?;
                }
                Ok(is_revoked)
            }
            .boxed()
        });
        Ok(revoked.await?)
    }

    async fn note_use(&self, id: TokenId, now: Timestamp) -> Result<(), StoreError> {
        let noted = self.db.write(move |transaction| {
            async move {
                use operator_token::Column;
                let is_later = Column::UsedAt.is_null().or(Column::UsedAt.lt(now.as_micros()));
                let update = operator_token::Entity::update_many()
                    .col_expr(Column::UsedAt, Expr::value(now.as_micros()))
                    .filter(Column::Id.eq(id.0))
                    .filter(is_later);
                update.exec(transaction).await.map(drop)
            }
            .boxed()
        });
        Ok(noted.await?)
    }
}

/// The newest tokens that match; a scope and a name choose operators, of whom there are few.
fn page(filter: &TokenFilter, after: Option<TokenId>, limit: u64) -> Select<operator_token::Entity> {
    use operator_account::Column as Holder;
    use operator_token::Column;
    let holders = operator_account::Entity::find()
        .select_only()
        .column(Holder::Id)
        .apply_if(filter.scope.organization(), |select, id| select.filter(Holder::OrganizationId.eq(id.0)))
        .apply_if(filter.operator.as_ref(), |select, name| select.filter(Holder::NameFolded.eq(name.as_str())));
    let is_narrowed = filter.scope != Scope::All || filter.operator.is_some();
    operator_token::Entity::find()
        .apply_if(is_narrowed.then(|| holders.into_query()), |select, holders| {
            select.filter(Column::OperatorId.in_subquery(holders))
        })
        .apply_if(after, |select, after| select.filter(Column::Id.lt(after.0)))
        .order_by_desc(Column::Id)
        .limit(limit)
}

/// The token of a row, and the number of its operator.
fn token(
    (row, operator): (operator_token::Model, Option<operator_account::Model>),
) -> Result<(Token, i64), StoreError> {
    let owner = Owner { what: "token", id: &row.id };
    let operator = owner.need(operator)?;
    let token = Token {
        id: TokenId(row.id),
        name: row.name,
        operator: operator.name,
        role: owner.need(Role::parse(&row.role))?,
        scope: Scope::from(operator.organization_id.map(OrganizationId)),
        issued: Timestamp::from_micros(row.issued_at),
        expires: Timestamp::from_micros(row.expires_at),
        last_used: row.used_at.map(Timestamp::from_micros),
        revoked: row.revoked_at.map(Timestamp::from_micros),
    };
    Ok((token, operator.id))
}

async fn add(db: &impl ConnectionTrait, new: &NewToken, record: &NewAuditRecord) -> Result<Option<i64>, DbErr> {
    let holder = operator_account::Entity::find_by_id(new.operator.0).lock_exclusive().one(db).await?;
    if holder.is_none() {
        return Ok(None);
    }
    let row = operator_token::ActiveModel {
        id: NotSet,
        digest: Set(new.digest.as_bytes().to_vec()),
        operator_id: Set(new.operator.0),
        name: Set(new.name.to_string()),
        role: Set(new.role.as_str().to_owned()),
        issued_at: Set(new.issued.as_micros()),
        expires_at: Set(new.expires.as_micros()),
        used_at: Set(None),
        revoked_at: Set(None),
    };
    let added = operator_token::Entity::insert(row).exec(db).await?;
    audit::store(db, record).await?;
    Ok(Some(added.last_insert_id))
}
