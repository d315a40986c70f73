//! Refusals that are kept for a while: [`domain::refusal::RefusalRepository`].

use crate::connections::Connections;
use crate::convert::Owner as Row;
use crate::entity::{organization, refusal};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ComputerGuid;
use domain::refusal::{
    CredentialKind, KEPT_OF_UNKNOWN, KEPT_PER_OWNER, NewRefusal, Owner, RefusalFilter, RefusalRepository, Refused,
};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, DbErr, EntityTrait, FromQueryResult, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, Select,
};
use std::collections::HashSet;
use std::sync::Arc;

/// The refusals in a database.
pub struct SqlRefusalRepository {
    db: Arc<Connections>,
}

impl SqlRefusalRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl RefusalRepository for SqlRefusalRepository {
    async fn add(&self, refusals: &[NewRefusal]) -> Result<(), StoreError> {
        if refusals.is_empty() {
            return Ok(());
        }
        let refusals: Arc<[NewRefusal]> = refusals.into();
        let added = self.db.write(move |transaction| {
            let refusals = refusals.clone();
            async move { add(transaction, &refusals).await }.boxed()
        });
        Ok(added.await?)
    }

    async fn prune(&self, before: Timestamp, limit: u64) -> Result<u64, StoreError> {
        let pruned = self.db.write(move |transaction| {
            async move {
                let old = refusal::Column::Id.in_subquery(old(before, limit).into_query());
                Ok(refusal::Entity::delete_many().filter(old).exec(transaction).await?.rows_affected)
            }
            .boxed()
        });
        Ok(pruned.await?)
    }

    async fn page(
        &self,
        filter: &RefusalFilter,
        after: Option<(Timestamp, i64)>,
        limit: u64,
    ) -> Result<Vec<Refused>, StoreError> {
        let rows = page(filter, after, limit).into_model::<Listed>().all(&self.db.reads);
        self.db.read(rows).await?.into_iter().map(Listed::refused).collect()
    }
}

/// The oldest refusals before a time.
fn old(before: Timestamp, limit: u64) -> Select<refusal::Entity> {
    refusal::Entity::find()
        .select_only()
        .column(refusal::Column::Id)
        .filter(refusal::Column::ReceivedAt.lt(before.as_micros()))
        .order_by_asc(refusal::Column::ReceivedAt)
        .order_by_asc(refusal::Column::Id)
        .limit(limit)
}

/// Refusals with the name of their organization, the newest first.
fn page(filter: &RefusalFilter, after: Option<(Timestamp, i64)>, limit: u64) -> Select<refusal::Entity> {
    use refusal::Column;
    let mut select = refusal::Entity::find()
        .column_as(organization::Column::Name, "organization_name")
        .apply_if(filter.organization.clone(), |select, name| select.filter(organization::Column::Name.eq(name)))
        .apply_if(filter.computer, |select, computer| select.filter(Column::ComputerGuid.eq(computer.as_uuid())))
        .apply_if(filter.since, |select, since| select.filter(Column::ReceivedAt.gte(since.as_micros())))
        .apply_if(after, |select, (at, id)| {
            let key = Expr::tuple([Column::ReceivedAt, Column::Id].map(ColumnTrait::into_expr));
            select.filter(key.lt(Expr::tuple([at.as_micros().into(), id.into()])))
        })
        .order_by_desc(Column::ReceivedAt)
        .order_by_desc(Column::Id)
        .limit(limit);
    // The caller's organization, else that of the computer that was named.
    let organization =
        Func::coalesce([Column::OrganizationId, Column::NamedOrganizationId].map(ColumnTrait::into_expr));
    let joined = organization::Column::Id.into_expr().eq(organization);
    QuerySelect::query(&mut select).left_join(organization::Entity, joined);
    select
}

/// Stores refusals and removes the oldest ones of their owners.
async fn add(transaction: &DatabaseTransaction, refusals: &[NewRefusal]) -> Result<(), DbErr> {
    let rows = refusals.iter().map(new_row);
    refusal::Entity::insert_many(rows).exec_without_returning(transaction).await?;
    let owners: HashSet<&Owner> = refusals.iter().map(|refusal| &refusal.owner).collect();
    for owner in &owners {
        trim(transaction, &of_owner(owner), KEPT_PER_OWNER).await?;
    }
    if owners.iter().any(|owner| matches!(owner, Owner::Address(_))) {
        trim(transaction, &of_unknown(), KEPT_OF_UNKNOWN).await?;
    }
    Ok(())
}

/// Removes the refusals of `group` but the newest `kept`.
async fn trim(transaction: &DatabaseTransaction, group: &Condition, kept: u64) -> Result<(), DbErr> {
    let Some(newest) = newest_to_remove(group, kept).into_tuple::<i64>().one(transaction).await? else {
        return Ok(());
    };
    let removed = refusal::Entity::delete_many().filter(group.clone()).filter(refusal::Column::Id.lte(newest));
    removed.exec(transaction).await.map(drop)
}

fn newest_to_remove(group: &Condition, kept: u64) -> Select<refusal::Entity> {
    refusal::Entity::find()
        .select_only()
        .column(refusal::Column::Id)
        .filter(group.clone())
        .order_by_desc(refusal::Column::Id)
        .offset(kept)
        .limit(1)
}

fn of_owner(owner: &Owner) -> Condition {
    match owner {
        Owner::Organization(id) => Condition::all().add(refusal::Column::OrganizationId.eq(id.0)),
        Owner::Address(address) => of_unknown().add(refusal::Column::Address.eq(address.as_str())),
    }
}

/// All callers whose organization isn't known.
fn of_unknown() -> Condition {
    Condition::all().add(refusal::Column::OrganizationId.is_null())
}

fn new_row(refusal: &NewRefusal) -> refusal::ActiveModel {
    let (organization_id, address) = match &refusal.owner {
        Owner::Organization(id) => (Some(id.0), refusal.address.clone()),
        Owner::Address(address) => (None, Some(address.clone())),
    };
    refusal::ActiveModel {
        id: NotSet,
        received_at: Set(refusal.at.as_micros()),
        organization_id: Set(organization_id),
        address: Set(address),
        operation: Set(refusal.operation.clone()),
        credential: Set(refusal.credential.as_str().to_owned()),
        user_name: Set(refusal.user.clone()),
        computer_guid: Set(refusal.computer.map(ComputerGuid::as_uuid)),
        status: Set(refusal.status.into()),
        reason: Set(refusal.reason.clone()),
        detail: Set(refusal.detail.clone()),
        request_id: Set(refusal.request_id.clone()),
        serial_number: Set(refusal.serial_number.clone()),
        application_version: Set(refusal.application_version.clone()),
        named_organization_id: Set(refusal.named.map(|organization| organization.0)),
    }
}

#[derive(FromQueryResult)]
struct Listed {
    #[sea_orm(nested)]
    refusal: refusal::Model,
    organization_name: Option<String>,
}

impl Listed {
    fn refused(self) -> Result<Refused, StoreError> {
        let refusal = self.refusal;
        let row = Row { what: "refusal", id: &refusal.id };
        let credential = CredentialKind::ALL.into_iter().find(|kind| kind.as_str() == refusal.credential);
        let (credential, status) = (row.need(credential)?, row.need(u16::try_from(refusal.status).ok())?);
        let owner = match refusal.organization_id {
            Some(id) => Owner::Organization(OrganizationId(id)),
            None => Owner::Address(refusal.address.clone().unwrap_or_default()),
        };
        let number = refusal.id;
        let refusal = NewRefusal {
            at: Timestamp::from_micros(refusal.received_at),
            owner,
            operation: refusal.operation,
            credential,
            user: refusal.user_name,
            computer: refusal.computer_guid.map(ComputerGuid::from),
            named: refusal.named_organization_id.map(OrganizationId),
            serial_number: refusal.serial_number,
            application_version: refusal.application_version,
            address: refusal.address,
            status,
            reason: refusal.reason,
            detail: refusal.detail,
            request_id: refusal.request_id,
        };
        Ok(Refused { number, organization: self.organization_name, refusal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    const MANY: &str = "INSERT INTO refusal (received_at, organization_id, address, operation, credential, status,
            reason, detail, request_id, serial_number, application_version)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
        SELECT 1000000 + n, CASE WHEN n % 2 = 0 THEN n % 20 END, 'address ' || (n % 50), 'add_log', 'none', 400,
            'reason', 'detail', 'request', '', '' FROM numbers";

    #[tokio::test]
    async fn lists_and_trims_go_by_an_index() {
        for engine in engines().await {
            engine.run(MANY).await;
            engine.run("ANALYZE").await;
            let backend = engine.db().backend;
            let since = Some(Timestamp::from_micros(1_002_000));
            let newest = page(&RefusalFilter { since, ..RefusalFilter::default() }, None, 50);
            engine.assert_uses("refusal_by_time", newest.build(backend)).await;
            engine.assert_uses("refusal_by_time", old(Timestamp::from_micros(1_002_000), 50).build(backend)).await;
            let organization = of_owner(&Owner::Organization(OrganizationId(1)));
            let of_organization = newest_to_remove(&organization, 200).build(backend);
            engine.assert_uses("refusal_of_organization", of_organization).await;
            let address = of_owner(&Owner::Address("192.0.2.1".to_owned()));
            engine.assert_uses("refusal_of_address", newest_to_remove(&address, 200).build(backend)).await;
            // It has no condition but that of its index, which is read from its end up to the bound.
            let plan = engine.plan(newest_to_remove(&of_unknown(), 5_000).build(backend)).await;
            assert!(plan.contains("refusal_of_unknown"), "{}:\n{plan}", engine.name);
            assert!(!plan.contains("Seq Scan") && !plan.contains("TEMP B-TREE"), "{}:\n{plan}", engine.name);
        }
    }
}
