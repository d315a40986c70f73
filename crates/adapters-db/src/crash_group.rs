//! The groups of crash reports: [`domain::crash_group::CrashGroupRepository`].
//!
//! Each change of a group or its tallies locks the row of the group first, so its counts agree.

mod count;

use crate::audit;
use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::crash_group::{Column, Entity, Model};
use crate::entity::{crash_analysis, crash_group_tally};
use crate::text_filter::holds;
use async_trait::async_trait;
use domain::audit::NewAuditRecord;
use domain::caller::OrganizationId;
use domain::crash_group::{
    CrashGroup, CrashGroupDetails, CrashGroupId, CrashGroupRepository, DailyReports, GroupCursor, GroupFilter,
    GroupSort, GroupState, GroupVersion, StateChange, Tally, TallyKind,
};
use domain::error::StoreError;
use domain::guid::ComputerGuid;
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::sea_query::{Expr, ExprTrait, Query, SelectStatement};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, DbBackend, DbErr, EntityTrait, FromQueryResult,
    IntoActiveModel, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, Statement,
};
use std::sync::Arc;
use uuid::Uuid;

use count::lock;
pub(crate) use count::{Counted, count, forget, remove_empty, uncount};

/// Microseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// The groups in a database.
pub struct SqlCrashGroupRepository {
    db: Arc<Connections>,
}

impl SqlCrashGroupRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

/// A group with its counts.
#[derive(FromQueryResult)]
struct Row {
    #[sea_orm(nested)]
    group: Model,
    versions: i64,
    computers: i64,
    systems: i64,
}

impl Row {
    fn details(self) -> Result<CrashGroupDetails, StoreError> {
        let id = CrashGroupId::from(self.group.id);
        let owner = Owner { what: "crash group", id: &id };
        Ok(CrashGroupDetails {
            versions: owner.size(self.versions)?,
            computers: owner.size(self.computers)?,
            operating_systems: owner.size(self.systems)?,
            group: stored(self.group)?,
        })
    }
}

#[async_trait]
impl CrashGroupRepository for SqlCrashGroupRepository {
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &GroupFilter,
        sort: GroupSort,
        after: Option<GroupCursor>,
        limit: u64,
    ) -> Result<Vec<CrashGroupDetails>, StoreError> {
        let select = page(organization, filter, sort, after, self.db.backend).limit(limit);
        let rows = self.db.read(select.into_model::<Row>().all(&self.db.reads)).await?;
        rows.into_iter().map(Row::details).collect()
    }

    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: CrashGroupId,
    ) -> Result<Option<CrashGroupDetails>, StoreError> {
        let select = select(organization).filter(Column::Id.eq(id.as_uuid()));
        self.db.read(select.into_model::<Row>().one(&self.db.reads)).await?.map(Row::details).transpose()
    }

    async fn tallies(&self, id: CrashGroupId, limit: u64) -> Result<Vec<Tally>, StoreError> {
        let mut tallies = Vec::new();
        for kind in TallyKind::ALL {
            let select = crash_group_tally::Entity::find()
                .filter(crash_group_tally::Column::GroupId.eq(id.as_uuid()))
                .filter(crash_group_tally::Column::Kind.eq(kind.as_str()))
                .order_by_desc(crash_group_tally::Column::Reports)
                .order_by_asc(crash_group_tally::Column::Value)
                .limit(limit);
            for row in self.db.read(select.all(&self.db.reads)).await? {
                let reports = Owner { what: "crash group", id: &id }.size(row.reports)?;
                tallies.push(Tally { kind, value: row.value, reports });
            }
        }
        Ok(tallies)
    }

    async fn daily(&self, ids: &[CrashGroupId], since: Timestamp) -> Result<Vec<DailyReports>, StoreError> {
        let select: Statement = self.db.backend.build(&daily(ids, since));
        let rows = self.db.read(DailyRow::find_by_statement(select).all(&self.db.reads)).await?;
        rows.into_iter().map(DailyRow::daily).collect()
    }

    async fn set_state(
        &self,
        organization: OrganizationId,
        id: CrashGroupId,
        change: StateChange,
        expected: &GroupVersion,
        now: Timestamp,
        record: &NewAuditRecord,
    ) -> Result<bool, StoreError> {
        let asked = Arc::new((change, expected.clone(), record.clone()));
        let changed = self.db.write(move |transaction| {
            let asked = asked.clone();
            async move {
                let (change, expected, record) = &*asked;
                let found = lock(transaction, &[id]).await?.pop();
                let Some(row) = found.filter(|row| row.organization_id == organization.0) else { return Ok(false) };
                let Ok(mut group) = stored(row) else { return Ok(false) };
                if group.version() != *expected {
                    return Ok(false);
                }
                group.change(change.clone(), now);
                write(transaction, &group).await?;
                audit::store(transaction, record).await?;
                Ok(true)
            }
            .boxed()
        });
        Ok(changed.await?)
    }
}

/// The number of reports of a group on one day.
#[derive(FromQueryResult)]
struct DailyRow {
    group_id: Uuid,
    day: i64,
    reports: i64,
}

impl DailyRow {
    fn daily(self) -> Result<DailyReports, StoreError> {
        let group = CrashGroupId::from(self.group_id);
        let reports = Owner { what: "crash group", id: &group }.size(self.reports)?;
        Ok(DailyReports { group, day: u32::try_from(self.day).unwrap_or(u32::MAX), reports })
    }
}

/// Counts reports by group and day, by the index `crash_analysis_of_group`.
fn daily(ids: &[CrashGroupId], since: Timestamp) -> SelectStatement {
    use crash_analysis::Column;
    let day = Column::ReceivedAt.into_expr().sub(since.as_micros()).div(DAY);
    let mut select = Query::select();
    select
        .column(Column::GroupId)
        .expr_as(day, "day")
        .expr_as(Expr::cust("count(*)").cast_as("bigint"), "reports")
        .from(crash_analysis::Entity)
        .and_where(Column::GroupId.is_in(ids.iter().map(|id| id.as_uuid())))
        .and_where(Column::ReceivedAt.gte(since.as_micros()))
        .group_by_col(Column::GroupId)
        .add_group_by([Expr::col("day")]);
    select
}

/// Writes all columns of a group. The caller has locked its row.
async fn write(transaction: &DatabaseTransaction, group: &CrashGroup) -> Result<(), DbErr> {
    row(group).into_active_model().reset_all().update(transaction).await.map(drop)
}

fn select(organization: Option<OrganizationId>) -> Select<Entity> {
    Entity::find()
        .expr_as(tallied(TallyKind::Version), "versions")
        .expr_as(tallied(TallyKind::Computer), "computers")
        .expr_as(tallied(TallyKind::OperatingSystem), "systems")
        .apply_if(organization, |select, organization| select.filter(Column::OrganizationId.eq(organization.0)))
}

fn page(
    organization: Option<OrganizationId>,
    filter: &GroupFilter,
    sort: GroupSort,
    after: Option<GroupCursor>,
    backend: DbBackend,
) -> Select<Entity> {
    let value = match sort {
        GroupSort::LastSeen => Column::LastSeenAt,
        GroupSort::FirstSeen => Column::FirstSeenAt,
        GroupSort::Reports => Column::Reports,
    };
    let key = Expr::tuple([value, Column::Id].map(ColumnTrait::into_expr));
    select(organization)
        .apply_if(filter.state, |select, state| select.filter(Column::State.eq(state.as_str())))
        .apply_if(filter.application_name.as_deref(), |select, name| select.filter(Column::ApplicationName.eq(name)))
        .apply_if(filter.search.as_deref(), |select, text| {
            select.filter(holds(Column::Signature.into_expr(), text, backend))
        })
        .apply_if(filter.computer, |select, computer| select.filter(is_of(computer)))
        .apply_if(after, |select, after| {
            let last = Expr::tuple([after.value.into(), after.id.as_uuid().into()]);
            select.filter(key.lt(last))
        })
        .order_by_desc(value)
        .order_by_desc(Column::Id)
}

/// A condition: the group has a report of this computer.
fn is_of(computer: ComputerGuid) -> Expr {
    let mut tallies = Query::select();
    tallies.expr(Expr::val(1)).from(crash_group_tally::Entity);
    tallies.and_where(crash_group_tally::Column::GroupId.into_expr().eq(Column::Id.into_expr()));
    tallies.and_where(crash_group_tally::Column::Kind.eq(TallyKind::Computer.as_str()));
    tallies.and_where(crash_group_tally::Column::Value.eq(computer.to_string()));
    Expr::exists(tallies)
}

/// A subquery for the number of different values of one kind.
fn tallied(kind: TallyKind) -> Expr {
    let mut tallies = Query::select();
    tallies.expr(Expr::cust("count(*)").cast_as("bigint")).from(crash_group_tally::Entity);
    tallies.and_where(crash_group_tally::Column::GroupId.into_expr().eq(Column::Id.into_expr()));
    tallies.and_where(crash_group_tally::Column::Kind.eq(kind.as_str()));
    Expr::SubQuery(None, Box::new(tallies.into()))
}

fn row(group: &CrashGroup) -> Model {
    Model {
        id: group.id.as_uuid(),
        organization_id: group.organization.0,
        application_name: group.application_name.clone(),
        signature: group.signature.clone(),
        algorithm: i32::try_from(group.algorithm).unwrap_or(i32::MAX),
        state: group.state.as_str().to_owned(),
        resolved_in: group.resolved_in.clone(),
        resolved_at: group.resolved_at.map(Timestamp::as_micros),
        first_seen_at: group.first_seen.as_micros(),
        last_seen_at: group.last_seen.as_micros(),
        reports: i64::try_from(group.reports).unwrap_or(i64::MAX),
    }
}

pub(crate) fn stored(row: Model) -> Result<CrashGroup, StoreError> {
    let id = CrashGroupId::from(row.id);
    let owner = Owner { what: "crash group", id: &id };
    Ok(CrashGroup {
        id,
        organization: OrganizationId(row.organization_id),
        application_name: row.application_name,
        signature: row.signature,
        algorithm: owner.need(u32::try_from(row.algorithm).ok())?,
        state: owner.need(GroupState::parse(&row.state))?,
        resolved_in: row.resolved_in,
        resolved_at: row.resolved_at.map(Timestamp::from_micros),
        first_seen: Timestamp::from_micros(row.first_seen_at),
        last_seen: Timestamp::from_micros(row.last_seen_at),
        reports: owner.size(row.reports)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    #[tokio::test]
    async fn groups_are_read_in_the_order_of_an_index() {
        for engine in engines().await {
            engine.fill_all().await;
            let (backend, filter) = (engine.db().backend, GroupFilter::default());
            for (sort, own, all) in [
                (GroupSort::LastSeen, "crash_group_by_time", "crash_group_anywhere_by_time"),
                (GroupSort::FirstSeen, "crash_group_by_first", "crash_group_anywhere_by_first"),
                (GroupSort::Reports, "crash_group_by_reports", "crash_group_anywhere_by_reports"),
            ] {
                for (index, organization) in [(own, Some(OrganizationId(7))), (all, None)] {
                    let select = page(organization, &filter, sort, None, backend).limit(50);
                    let plan = engine.plan(select.build(backend)).await;
                    // PostgreSQL has too few rows here to tell which of the two is cheaper.
                    assert!(plan.contains(index) || plan.contains(all), "{}:\n{plan}", engine.name);
                    assert!(!plan.contains("TEMP B-TREE") && !plan.contains("Sort"), "{}:\n{plan}", engine.name);
                }
            }
            let days = engine.plan(backend.build(&daily(&[CrashGroupId::from(Uuid::nil())], Timestamp::EPOCH))).await;
            assert!(days.contains("crash_analysis_of_group"), "{}:\n{days}", engine.name);
        }
    }
}
