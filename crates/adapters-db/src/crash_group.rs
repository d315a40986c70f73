//! The groups of crash reports: [`domain::crash_group::CrashGroupRepository`].
//!
//! Whoever changes a group or its tallies locks its row first, so the numbers agree.

mod count;

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::crash_group::{Column, Entity, Model};
use crate::entity::crash_group_tally;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::crash_group::{
    CrashGroup, CrashGroupDetails, CrashGroupId, CrashGroupRepository, GroupCursor, GroupFilter, GroupState,
    StateChange, Tally, TallyKind,
};
use domain::error::StoreError;
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr, Query};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, DbBackend, DbErr, EntityTrait, FromQueryResult,
    IntoActiveModel, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::sync::Arc;

use count::lock;
pub(crate) use count::{Counted, count, forget, remove_empty, uncount};

/// The groups in a database.
pub struct SqlCrashGroupRepository {
    db: Arc<Connections>,
}

impl SqlCrashGroupRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

/// A group with its numbers.
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
        organizations: &[OrganizationId],
        filter: &GroupFilter,
        after: Option<GroupCursor>,
        limit: u64,
    ) -> Result<Vec<CrashGroupDetails>, StoreError> {
        let select = select(organizations, filter, after, self.db.backend).limit(limit);
        let rows = self.db.read(select.into_model::<Row>().all(&self.db.reads)).await?;
        rows.into_iter().map(Row::details).collect()
    }

    async fn find(
        &self,
        organizations: &[OrganizationId],
        id: CrashGroupId,
    ) -> Result<Option<CrashGroupDetails>, StoreError> {
        let select = select(organizations, &GroupFilter::default(), None, self.db.backend);
        let select = select.filter(Column::Id.eq(id.as_uuid()));
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

    async fn set_state(
        &self,
        organization: OrganizationId,
        id: CrashGroupId,
        change: StateChange,
        now: Timestamp,
    ) -> Result<Option<(CrashGroup, CrashGroup)>, StoreError> {
        let changed = self.db.write(move |transaction| {
            let change = change.clone();
            async move {
                let found = lock(transaction, &[id]).await?.pop();
                let Some(row) = found.filter(|row| row.organization_id == organization.0) else { return Ok(None) };
                let Ok(before) = stored(row) else { return Ok(None) };
                let mut after = before.clone();
                after.change(change, now);
                write(transaction, &after).await?;
                Ok(Some((before, after)))
            }
            .boxed()
        });
        Ok(changed.await?)
    }
}

/// Writes all columns of a group whose row is locked.
async fn write(transaction: &DatabaseTransaction, group: &CrashGroup) -> Result<(), DbErr> {
    row(group).into_active_model().reset_all().update(transaction).await.map(drop)
}

fn select(
    organizations: &[OrganizationId],
    filter: &GroupFilter,
    after: Option<GroupCursor>,
    backend: DbBackend,
) -> Select<Entity> {
    let key = Expr::tuple([Column::LastSeenAt, Column::Id].map(ColumnTrait::into_expr));
    Entity::find()
        .expr_as(tallied(TallyKind::Version), "versions")
        .expr_as(tallied(TallyKind::Computer), "computers")
        .expr_as(tallied(TallyKind::OperatingSystem), "systems")
        .filter(Column::OrganizationId.is_in(organizations.iter().map(|organization| organization.0)))
        .apply_if(filter.state, |select, state| select.filter(Column::State.eq(state.as_str())))
        .apply_if(filter.application_name.as_deref(), |select, name| select.filter(Column::ApplicationName.eq(name)))
        .apply_if(filter.search.as_deref(), |select, text| select.filter(holds(text, backend)))
        .apply_if(after, |select, after| {
            let last = Expr::tuple([after.last_seen.as_micros().into(), after.id.as_uuid().into()]);
            select.filter(key.lt(last))
        })
        .order_by_desc(Column::LastSeenAt)
        .order_by_desc(Column::Id)
}

/// Whether a signature holds this text. `SQLite` folds ASCII only.
fn holds(text: &str, backend: DbBackend) -> Expr {
    let text = if backend == DbBackend::Postgres { text.to_lowercase() } else { text.to_ascii_lowercase() };
    let pattern: String = text
        .chars()
        .flat_map(|character| if "%_\\".contains(character) { vec!['\\', character] } else { vec![character] })
        .collect();
    let like = LikeExpr::new(format!("%{pattern}%")).escape('\\');
    Expr::from(Func::lower(Column::Signature.into_expr())).like(like)
}

/// The number of different values of one kind.
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
            let select = select(&[OrganizationId(7)], &GroupFilter::default(), None, engine.db().backend).limit(50);
            let plan = engine.plan(select.build(engine.db().backend)).await;
            assert!(plan.contains("crash_group_by_time"), "{}:\n{plan}", engine.name);
            assert!(!plan.contains("TEMP B-TREE") && !plan.contains("Sort"), "{}:\n{plan}", engine.name);
        }
    }
}
