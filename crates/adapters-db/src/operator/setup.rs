//! The codes of the first start (decision P2).

use super::{Added, SqlOperatorRepository, add, found};
use crate::entity::{fleet_version, operator_account, setup_code};
use async_trait::async_trait;
use domain::access::CredentialDigest;
use domain::audit::NewAuditRecord;
use domain::error::StoreError;
use domain::operator::{NewOperator, Operator, SetupRepository};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};
use std::sync::Arc;

#[async_trait]
impl SetupRepository for SqlOperatorRepository {
    async fn offer(&self, code: CredentialDigest, expires: Timestamp, now: Timestamp) -> Result<bool, StoreError> {
        let offered = self.db.write(move |transaction| {
            async move {
                let is_over = setup_code::Column::ExpiresAt.lte(now.as_micros());
                setup_code::Entity::delete_many().filter(is_over).exec(transaction).await?;
                if has_operator(transaction).await? {
                    return Ok(false);
                }
                let row = setup_code::ActiveModel {
                    digest: Set(code.as_bytes().to_vec()),
                    expires_at: Set(expires.as_micros()),
                };
                setup_code::Entity::insert(row).exec_without_returning(transaction).await?;
                Ok(true)
            }
            .boxed()
        });
        Ok(offered.await?)
    }

    async fn is_offered(&self, code: CredentialDigest, now: Timestamp) -> Result<bool, StoreError> {
        let find = setup_code::Entity::find_by_id(code.as_bytes().to_vec());
        let found = self.db.read(find.one(&self.db.reads)).await?;
        Ok(found.is_some_and(|row| row.expires_at > now.as_micros()))
    }

    async fn complete(
        &self,
        code: CredentialDigest,
        now: Timestamp,
        new: &NewOperator,
        record: &NewAuditRecord,
    ) -> Result<Option<Operator>, StoreError> {
        let asked = Arc::new((new.clone(), record.clone()));
        let completed = self.db.write(move |transaction| {
            let asked = asked.clone();
            async move { complete(transaction, code, now, &asked.0, &asked.1).await }.boxed()
        });
        match completed.await? {
            Some(Added::Row(row)) => Ok(Some(found(row)?.operator)),
            _ => Ok(None),
        }
    }
}

async fn complete(
    db: &impl ConnectionTrait,
    code: CredentialDigest,
    now: Timestamp,
    new: &NewOperator,
    record: &NewAuditRecord,
) -> Result<Option<Added>, DbErr> {
    // A row that is always there is the lock: of two completions with different codes the second one finds an operator.
    fleet_version::Entity::find().lock_exclusive().one(db).await?;
    let found = setup_code::Entity::find_by_id(code.as_bytes().to_vec()).one(db).await?;
    let is_valid = found.is_some_and(|row| row.expires_at > now.as_micros());
    if !is_valid || has_operator(db).await? {
        return Ok(None);
    }
    let added = add(db, new, record).await?;
    setup_code::Entity::delete_many().exec(db).await?;
    Ok(Some(added))
}

async fn has_operator(db: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(operator_account::Entity::find().limit(1).count(db).await? > 0)
}
