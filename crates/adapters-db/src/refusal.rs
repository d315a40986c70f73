//! Refusals that are kept for a while: [`domain::refusal::RefusalRepository`].

use crate::connections::Connections;
use crate::convert::Owner as Row;
use crate::entity::{computer, organization, refusal};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ComputerGuid;
use domain::refusal::{
    CredentialKind, KEPT_OF_UNKNOWN, KEPT_PER_OWNER, NewRefusal, Owner, ReasonCount, RefusalCursor, RefusalFilter,
    RefusalRepository, Refused, RefusedComputer,
};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, DbErr, EntityTrait, FromQueryResult, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, Select, SelectTwo,
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
        after: Option<RefusalCursor>,
        limit: u64,
    ) -> Result<Vec<Refused>, StoreError> {
        let rows = page(filter, after, limit).into_model::<Listed>().all(&self.db.reads);
        self.db.read(rows).await?.into_iter().map(Listed::refused).collect()
    }

    async fn count(
        &self,
        organization: Option<OrganizationId>,
        since: Timestamp,
    ) -> Result<Vec<ReasonCount>, StoreError> {
        let rows = count(organization, since).into_tuple::<(String, i64, i64)>().all(&self.db.reads);
        let counted = |(reason, count, last): (String, i64, i64)| {
            let count = Row { what: "refusals of", id: &reason }.size(count)?;
            Ok(ReasonCount { reason, count, last: Timestamp::from_micros(last) })
        };
        let mut counts = self.db.read(rows).await?.into_iter().map(counted).collect::<Result<Vec<_>, StoreError>>()?;
        counts.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.reason.cmp(&other.reason)));
        Ok(counts)
    }

    async fn computers(
        &self,
        guids: &[ComputerGuid],
        serial_numbers: &[Folded],
    ) -> Result<Vec<RefusedComputer>, StoreError> {
        let rows = self.db.read(computers(guids, serial_numbers).all(&self.db.reads)).await?;
        let found = |(computer, organization): (computer::Model, Option<organization::Model>)| {
            let row = Row { what: "computer", id: &computer.guid };
            let organization = row.need(organization)?;
            Ok(RefusedComputer {
                guid: computer.guid.into(),
                organization: OrganizationId(organization.id),
                organization_name: organization.name,
                name: computer.name,
                serial_number: computer.serial_folded.map(Folded::from_stored),
                is_retired: computer.retired_at.is_some(),
            })
        };
        rows.into_iter().map(found).collect()
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
fn page(filter: &RefusalFilter, after: Option<RefusalCursor>, limit: u64) -> Select<refusal::Entity> {
    use refusal::Column;
    let mut select = refusal::Entity::find()
        .column_as(organization::Column::Name, "organization_name")
        .apply_if(filter.organization, |select, id| select.filter(seen_by(id)))
        .apply_if(filter.reason.as_deref(), |select, reason| select.filter(Column::Reason.eq(reason)))
        .apply_if(filter.computer, |select, computer| select.filter(Column::ComputerGuid.eq(computer.as_uuid())))
        .apply_if(filter.since, |select, since| select.filter(Column::ReceivedAt.gte(since.as_micros())))
        .apply_if(after, |select, RefusalCursor { at, number }| {
            let key = Expr::tuple([Column::ReceivedAt, Column::Id].map(ColumnTrait::into_expr));
            select.filter(key.lt(Expr::tuple([at.as_micros().into(), number.into()])))
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

/// The caller's organization, or that of the computer that was named, is this one.
fn seen_by(organization: OrganizationId) -> Condition {
    let named = of_unknown().add(refusal::Column::NamedOrganizationId.eq(organization.0));
    Condition::any().add(refusal::Column::OrganizationId.eq(organization.0)).add(named)
}

fn count(organization: Option<OrganizationId>, since: Timestamp) -> Select<refusal::Entity> {
    use refusal::Column;
    refusal::Entity::find()
        .select_only()
        .column(Column::Reason)
        .column_as(Column::Id.count(), "count")
        .column_as(Column::ReceivedAt.max(), "last")
        .apply_if(organization, |select, id| select.filter(seen_by(id)))
        .filter(Column::ReceivedAt.gte(since.as_micros()))
        .group_by(Column::Reason)
}

/// Computers are few thousands: no index serves a search by serial numbers.
fn computers(guids: &[ComputerGuid], serial_numbers: &[Folded]) -> SelectTwo<computer::Entity, organization::Entity> {
    let guids = guids.iter().map(|guid| guid.as_uuid());
    let serial_numbers = serial_numbers.iter().map(Folded::as_str);
    let is_asked_for = Condition::any()
        .add(computer::Column::Guid.is_in(guids))
        .add(computer::Column::SerialFolded.is_in(serial_numbers));
    computer::Entity::find().find_also_related(organization::Entity).filter(is_asked_for)
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
            let after = Some(RefusalCursor { at: Timestamp::from_micros(1_002_000), number: 9 });
            for organization in [None, Some(OrganizationId(1))] {
                let filter =
                    RefusalFilter { organization, reason: Some("reason".to_owned()), ..RefusalFilter::default() };
                engine.assert_uses("refusal_by_time", page(&filter, after, 51).build(backend)).await;
                let plan = engine.plan(count(organization, Timestamp::from_micros(1_003_500)).build(backend)).await;
                assert!(plan.contains("refusal_by_time"), "{}:\n{plan}", engine.name);
            }
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
