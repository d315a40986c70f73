//! The figures of the first page: [`domain::overview::OverviewRepository`].

use crate::connections::Connections;
use crate::convert::Owner;
use crate::crash_group;
use crate::entity::{crash_group as groups, log_entry, organization, refusal};
use crate::fleet_cache::shared;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::crash_group::GroupState;
use domain::error::StoreError;
use domain::overview::{HourFigure, OverviewRepository, ReasonFigure, UnsettledGroups};
use domain::resource::Domain;
use domain::timestamp::Timestamp;
use moka::future::Cache;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
    Statement, Value,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The length of an interval in microseconds. The log entries of a past interval are counted once.
const INTERVAL: i64 = 300_000_000;
const HOUR: i64 = 12 * INTERVAL;

/// An entry is stored within this time after its receipt, in microseconds.
const SETTLED_AFTER: i64 = 60_000_000;

/// Limit for cached intervals: a day of 200 organizations, some 10 MB.
const MAX_INTERVALS: u64 = 60_000;

/// The lifetime of the cached number of outdated resources: each count reads all fetches of computers.
const OUTDATED_LIFETIME: Duration = Duration::from_mins(1);

/// The figures of the first page in a database. Clones share what is cached.
#[derive(Clone)]
pub struct SqlOverviewRepository {
    db: Arc<Connections>,
    /// The number of log entries in a past interval, by organization (`None` for all) and number of the interval since
    /// 1970.
    intervals: Cache<(Option<i64>, i64), u64>,
    outdated: Cache<Option<i64>, u64>,
}

impl SqlOverviewRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self {
            db,
            intervals: Cache::builder().max_capacity(MAX_INTERVALS).time_to_live(Duration::from_hours(25)).build(),
            outdated: Cache::builder().max_capacity(1_000).time_to_live(OUTDATED_LIFETIME).build(),
        }
    }

    async fn number(&self, statement: Statement) -> Result<u64, StoreError> {
        #[derive(FromQueryResult)]
        struct Number {
            number: i64,
        }
        let number = self.db.read(Number::find_by_statement(statement).one(&self.db.reads)).await?;
        Owner { what: "figure", id: &"number" }.size(number.map_or(0, |number| number.number))
    }
}

#[async_trait]
impl OverviewRepository for SqlOverviewRepository {
    async fn unsettled_groups(
        &self,
        organization: Option<OrganizationId>,
        limit: u64,
    ) -> Result<UnsettledGroups, StoreError> {
        let count = group_counts(organization).into_tuple::<(String, i64)>().all(&self.db.reads);
        let counts: BTreeMap<String, i64> = self.db.read(count).await?.into_iter().collect();
        let count = |state: GroupState| counts.get(state.as_str()).copied().unwrap_or_default().cast_unsigned();
        let first = unsettled(organization)
            .order_by_desc(groups::Column::LastSeenAt)
            .order_by_desc(groups::Column::Id)
            .limit(limit);
        let first = self.db.read(first.all(&self.db.reads)).await?;
        Ok(UnsettledGroups {
            new: count(GroupState::New),
            regressed: count(GroupState::Regressed),
            first: first.into_iter().map(crash_group::stored).collect::<Result<_, _>>()?,
        })
    }

    async fn refusals_by_reason(
        &self,
        organization: Option<OrganizationId>,
        since: Timestamp,
    ) -> Result<Vec<ReasonFigure>, StoreError> {
        let rows = reasons(organization, since).into_tuple::<(String, i64)>().all(&self.db.reads);
        let figure = |(reason, refusals): (String, i64)| ReasonFigure { reason, refusals: refusals.cast_unsigned() };
        let mut figures: Vec<ReasonFigure> = self.db.read(rows).await?.into_iter().map(figure).collect();
        figures
            .sort_by(|one, other| (Reverse(one.refusals), &one.reason).cmp(&(Reverse(other.refusals), &other.reason)));
        Ok(figures)
    }

    async fn log_entries_by_hour(
        &self,
        organization: Option<OrganizationId>,
        now: Timestamp,
        hours: u32,
    ) -> Result<Vec<HourFigure>, StoreError> {
        let scope = organization.map(|organization| organization.0);
        let last_hour = now.as_micros().div_euclid(HOUR);
        let first_hour = last_hour + 1 - i64::from(hours);
        let (first, end) = (first_hour * (HOUR / INTERVAL), (last_hour + 1) * (HOUR / INTERVAL));
        let settled = (now.as_micros() - SETTLED_AFTER).div_euclid(INTERVAL);
        let mut counts = BTreeMap::new();
        let mut interval = first;
        while interval < end {
            let Some(count) = self.intervals.get(&(scope, interval)).await else { break };
            counts.insert(interval, count);
            interval += 1;
        }
        let rows = intervals(organization, interval, end).into_tuple::<(i64, i64)>().all(&self.db.reads);
        let counted: BTreeMap<i64, i64> = self.db.read(rows).await?.into_iter().collect();
        for interval in interval..end {
            let count = counted.get(&interval).copied().unwrap_or_default().cast_unsigned();
            counts.insert(interval, count);
            if interval < settled {
                self.intervals.insert((scope, interval), count).await;
            }
        }
        let hour = |hour: i64| {
            let from = hour * (HOUR / INTERVAL);
            let entries = counts.range(from..from + HOUR / INTERVAL).map(|(_, count)| count).sum();
            HourFigure { from: Timestamp::from_micros(hour * HOUR), entries }
        };
        Ok((first_hour..=last_hour).map(hour).collect())
    }

    async fn outdated_resources(&self, organization: Option<OrganizationId>) -> Result<u64, StoreError> {
        let scope = organization.map(|organization| organization.0);
        let count = self.number(outdated(&self.db, scope));
        self.outdated.try_get_with(scope, count).await.map_err(shared)
    }
}

/// The groups with a report that are new or regressed.
fn unsettled(organization: Option<OrganizationId>) -> Select<groups::Entity> {
    groups::Entity::find()
        .filter(groups::Column::State.is_in([GroupState::New, GroupState::Regressed].map(GroupState::as_str)))
        .filter(groups::Column::Reports.gt(0))
        .apply_if(organization, |select, organization| select.filter(groups::Column::OrganizationId.eq(organization.0)))
}

fn group_counts(organization: Option<OrganizationId>) -> Select<groups::Entity> {
    unsettled(organization)
        .select_only()
        .column(groups::Column::State)
        .column_as(groups::Column::Id.count(), "number")
        .group_by(groups::Column::State)
}

/// Counts refusals by reason. Few are stored for each organization, so all of the period are read.
fn reasons(organization: Option<OrganizationId>, since: Timestamp) -> Select<refusal::Entity> {
    use refusal::Column;
    let is_of = |organization: OrganizationId| {
        let named =
            Condition::all().add(Column::OrganizationId.is_null()).add(Column::NamedOrganizationId.eq(organization.0));
        Condition::any().add(Column::OrganizationId.eq(organization.0)).add(named)
    };
    refusal::Entity::find()
        .select_only()
        .column(Column::Reason)
        .column_as(Column::Id.count(), "number")
        .filter(Column::ReceivedAt.gte(since.as_micros()))
        .apply_if(organization, |select, organization| select.filter(is_of(organization)))
        .group_by(Column::Reason)
}

/// Counts log entries by interval, from interval `from` to before `to`. For all organizations their ids are listed,
/// since the index begins with the organization.
fn intervals(organization: Option<OrganizationId>, from: i64, to: i64) -> Select<log_entry::Entity> {
    use log_entry::Column;
    let all = || Query::select().column(organization::Column::Id).from(organization::Entity).take();
    let is_of = match organization {
        Some(organization) => Column::OrganizationId.eq(organization.0),
        None => Column::OrganizationId.in_subquery(all()),
    };
    log_entry::Entity::find()
        .select_only()
        .expr_as(Column::ReceivedAt.into_expr().div(Expr::cust(INTERVAL.to_string())), "interval")
        .column_as(Column::Id.count(), "number")
        .filter(is_of)
        .filter(Column::ReceivedAt.gte(from * INTERVAL))
        .filter(Column::ReceivedAt.lt(to * INTERVAL))
        .group_by(Expr::col("interval"))
}

/// Counts the resources of which a registered computer has an outdated content and which its clients may see. The inner query reads the few different
/// contents of each resource from an index; computers are looked up for outdated contents only. This is SQL text, since
/// the query builder can't refer to columns of a derived table.
fn outdated(db: &Connections, organization: Option<i64>) -> Statement {
    let public = Domain::Public.as_str();
    let of_organization = if organization.is_some() { "AND computer.organization_id = $1" } else { "" };
    let sql = format!(
        "SELECT count(*) AS number FROM (
            SELECT DISTINCT content.organization_id, content.resource_guid
            FROM (SELECT DISTINCT organization_id, resource_guid, checksum FROM computer_fetch) AS content
            JOIN resource ON resource.organization_id = content.organization_id
                AND resource.guid = content.resource_guid AND resource.checksum <> content.checksum
            WHERE EXISTS (
                SELECT 1 FROM computer_fetch JOIN computer ON computer.guid = computer_fetch.computer_guid
                WHERE computer_fetch.organization_id = content.organization_id
                    AND computer_fetch.resource_guid = content.resource_guid
                    AND computer_fetch.checksum = content.checksum
                    AND computer.retired_at IS NULL {of_organization}
                    AND (computer.organization_id = content.organization_id OR resource.domain = '{public}'
                        AND content.organization_id IN (SELECT id FROM organization WHERE publisher)))
        ) AS outdated"
    );
    db.statement(&sql, organization.map(Value::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    const FETCHES: &str =
        "INSERT INTO computer_fetch (computer_guid, organization_id, resource_guid, fetched_at, checksum)
        SELECT {guid}, organization_id, guid, 1, 'other' FROM resource";

    #[tokio::test]
    async fn figures_are_counted_by_indexes() {
        for engine in engines().await {
            engine.fill_all().await;
            let guid = if engine.name == "SQLite" { "randomblob(16)" } else { "gen_random_uuid()" };
            engine.run(&FETCHES.replace("{guid}", guid)).await;
            engine.run("ANALYZE").await;
            let backend = engine.db().backend;
            for organization in [None, Some(OrganizationId(1))] {
                let plan = engine.plan(intervals(organization, 0, 5).build(backend)).await;
                // Of a table as small as this, PostgreSQL may choose another index that begins with the organization.
                assert!(plan.contains("log_entry_by_"), "{}:\n{plan}", engine.name);
                assert!(!plan.contains("SCAN log_entry") && !plan.contains("Seq Scan on log"), "{plan}");
                let plan = engine.plan(outdated(engine.db(), organization.map(|id| id.0))).await;
                assert!(plan.contains("computer_fetch_of_content"), "{}:\n{plan}", engine.name);
            }
            let recent = reasons(None, Timestamp::from_micros(1 << 50)).build(backend);
            let plan = engine.plan(recent).await;
            assert!(plan.contains("refusal_by_time"), "{}:\n{plan}", engine.name);
        }
    }

    /// The entries of a past interval are counted once.
    #[tokio::test]
    async fn hours_that_are_over_come_from_memory() {
        for engine in engines().await {
            engine.fill_all().await;
            let figures = engine.database.overview();
            let now = Timestamp::from_micros(2 * HOUR);
            let count = async || -> u64 {
                let hours = figures.log_entries_by_hour(Some(OrganizationId(1)), now, 3).await.unwrap();
                hours.iter().map(|hour| hour.entries).sum()
            };
            let before = count().await;
            assert!(before > 500, "{before}");
            engine.run("DELETE FROM log_entry").await;
            assert_eq!(count().await, before, "{}", engine.name);
        }
    }
}
