//! Operators: [`domain::operator::OperatorRepository`] and [`domain::operator::SetupRepository`].

mod setup;

use crate::audit;
use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::{operator_account, operator_session, operator_token, organization};
use async_trait::async_trait;
use domain::audit::NewAuditRecord;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::operator::{
    AddOutcome, FoundOperator, NewOperator, Operator, OperatorId, OperatorRepository, PasswordHash, Role, Scope,
};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::sync::Arc;

/// The operators in a database.
pub struct SqlOperatorRepository {
    db: Arc<Connections>,
}

impl SqlOperatorRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl OperatorRepository for SqlOperatorRepository {
    async fn page(&self, scope: Scope, after: Option<Folded>, limit: u64) -> Result<Vec<Operator>, StoreError> {
        let select = page(scope, after, limit).find_also_related(organization::Entity);
        let rows = self.db.read(select.all(&self.db.reads)).await?;
        rows.into_iter().map(|row| Ok(found(row)?.operator)).collect()
    }

    async fn find(&self, name: &Folded) -> Result<Option<FoundOperator>, StoreError> {
        let select = named(name.as_str()).find_also_related(organization::Entity);
        self.db.read(select.one(&self.db.reads)).await?.map(found).transpose()
    }

    async fn add(&self, new: &NewOperator, record: &NewAuditRecord) -> Result<AddOutcome, StoreError> {
        let asked = Arc::new((new.clone(), record.clone()));
        let added = self.db.write(move |transaction| {
            let asked = asked.clone();
            async move { add(transaction, &asked.0, &asked.1).await }.boxed()
        });
        added.await?.outcome()
    }

    async fn set_password(
        &self,
        id: OperatorId,
        password: &PasswordHash,
        record: &NewAuditRecord,
    ) -> Result<bool, StoreError> {
        let asked = Arc::new((password.clone(), record.clone()));
        let set = self.db.write(move |transaction| {
            let asked = asked.clone();
            async move { set_password(transaction, id.0, &asked.0, &asked.1).await }.boxed()
        });
        Ok(set.await?)
    }

    async fn remove(&self, id: OperatorId, record: &NewAuditRecord) -> Result<bool, StoreError> {
        let record = Arc::new(record.clone());
        let removed = self.db.write(move |transaction| {
            let record = record.clone();
            async move { remove(transaction, id.0, &record).await }.boxed()
        });
        Ok(removed.await?)
    }
}

fn page(scope: Scope, after: Option<Folded>, limit: u64) -> Select<operator_account::Entity> {
    use operator_account::Column;
    operator_account::Entity::find()
        .apply_if(scope.organization(), |select, id| select.filter(Column::OrganizationId.eq(id.0)))
        .apply_if(after, |select, after| select.filter(Column::NameFolded.gt(after.as_str())))
        .order_by_asc(Column::NameFolded)
        .limit(limit)
}

fn named(folded: &str) -> Select<operator_account::Entity> {
    operator_account::Entity::find().filter(operator_account::Column::NameFolded.eq(folded))
}

/// An operator and the organization of its scope, as they are stored.
pub(crate) type OperatorRow = (operator_account::Model, Option<organization::Model>);

/// The operator of this number.
pub(crate) async fn find_by_id(db: &impl ConnectionTrait, id: i64) -> Result<Option<OperatorRow>, DbErr> {
    operator_account::Entity::find_by_id(id).find_also_related(organization::Entity).one(db).await
}

/// The operator of a row.
pub(crate) fn found((row, organization): OperatorRow) -> Result<FoundOperator, StoreError> {
    let role = Owner { what: "operator", id: &row.id }.need(Role::parse(&row.role))?;
    let operator = Operator {
        id: OperatorId(row.id),
        name: row.name,
        role,
        scope: Scope::from(row.organization_id.map(OrganizationId)),
        organization: organization.map(|organization| organization.name),
        created: Timestamp::from_micros(row.created_at),
        last_sign_in: row.signed_in_at.map(Timestamp::from_micros),
    };
    Ok(FoundOperator { operator, password: PasswordHash::new(row.password_hash) })
}

/// What became of an operator to be added, before its row is read.
enum Added {
    Row(OperatorRow),
    NameTaken,
    UnknownOrganization,
}

impl Added {
    fn outcome(self) -> Result<AddOutcome, StoreError> {
        Ok(match self {
            Self::Row(row) => AddOutcome::Added(found(row)?.operator),
            Self::NameTaken => AddOutcome::NameTaken,
            Self::UnknownOrganization => AddOutcome::UnknownOrganization,
        })
    }
}

async fn add(db: &impl ConnectionTrait, new: &NewOperator, record: &NewAuditRecord) -> Result<Added, DbErr> {
    let organization_id = match &new.organization {
        None => None,
        Some(name) => {
            let find = organization::Entity::find().filter(organization::Column::Name.eq(name));
            let Some(organization) = find.one(db).await? else {
                return Ok(Added::UnknownOrganization);
            };
            Some(organization.id)
        }
    };
    let folded = new.name.folded();
    let row = operator_account::ActiveModel {
        id: NotSet,
        name: Set(new.name.to_string()),
        name_folded: Set(folded.as_str().to_owned()),
        role: Set(new.role.as_str().to_owned()),
        organization_id: Set(organization_id),
        password_hash: Set(new.password.as_str().to_owned()),
        created_at: Set(new.created.as_micros()),
        signed_in_at: Set(None),
    };
    let on_conflict = OnConflict::column(operator_account::Column::NameFolded).do_nothing().to_owned();
    let insert = operator_account::Entity::insert(row).on_conflict(on_conflict);
    if insert.exec_without_returning(db).await? == 0 {
        return Ok(Added::NameTaken);
    }
    audit::store(db, record).await?;
    let row = named(folded.as_str()).find_also_related(organization::Entity).one(db).await?;
    row.map(Added::Row).ok_or(DbErr::RecordNotInserted)
}

async fn set_password(
    db: &impl ConnectionTrait,
    id: i64,
    password: &PasswordHash,
    record: &NewAuditRecord,
) -> Result<bool, DbErr> {
    let update = operator_account::Entity::update_many()
        .col_expr(operator_account::Column::PasswordHash, Expr::value(password.as_str()))
        .filter(operator_account::Column::Id.eq(id));
    if update.exec(db).await?.rows_affected == 0 {
        return Ok(false);
    }
    end_sessions(db, id).await?;
    audit::store(db, record).await?;
    Ok(true)
}

async fn remove(db: &impl ConnectionTrait, id: i64, record: &NewAuditRecord) -> Result<bool, DbErr> {
    // The row is locked first: a session or token that begins meanwhile waits, and finds no operator.
    if operator_account::Entity::find_by_id(id).lock_exclusive().one(db).await?.is_none() {
        return Ok(false);
    }
    end_sessions(db, id).await?;
    operator_token::Entity::delete_many().filter(operator_token::Column::OperatorId.eq(id)).exec(db).await?;
    operator_account::Entity::delete_by_id(id).exec(db).await?;
    audit::store(db, record).await?;
    Ok(true)
}

async fn end_sessions(db: &impl ConnectionTrait, operator: i64) -> Result<(), DbErr> {
    let delete = operator_session::Entity::delete_many().filter(operator_session::Column::OperatorId.eq(operator));
    delete.exec(db).await.map(drop)
}
