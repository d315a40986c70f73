//! Adds reports to the counts of their groups and subtracts them again.

use super::{Model, row, stored, write};
use crate::entity::crash_group::{Column, Entity};
use crate::entity::crash_group_tally::{Column as Tally, Entity as Tallies, Model as TallyRow};
use crate::entity::{crash_analysis, crash_pending, crash_report};
use domain::crash_group::{CrashGroup, CrashGroupId, GroupState, TallyKind};
use domain::crash_report::Os;
use domain::guid::ComputerGuid;
use domain::text::cut;
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, Select,
};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Limit for a value that is counted, in characters: an index entry of `PostgreSQL` is limited (ADR 10).
const MAX_VALUE: usize = 200;

/// The values of a report that its group counts.
pub(crate) struct Counted {
    pub(crate) received: Timestamp,
    pub(crate) application_version: String,
    values: Vec<(TallyKind, String)>,
}

impl From<&crash_report::Model> for Counted {
    fn from(report: &crash_report::Model) -> Self {
        let computer = report.computer_guid.map(|guid| (TallyKind::Computer, ComputerGuid::from(guid).to_string()));
        let others = [
            (TallyKind::Version, cut(&report.application_version, MAX_VALUE)),
            (TallyKind::OperatingSystem, Os::parse(report.os.as_deref()).as_str().to_owned()),
        ];
        Self {
            received: Timestamp::from_micros(report.received_at),
            application_version: report.application_version.clone(),
            values: others.into_iter().chain(computer).collect(),
        }
    }
}

/// The numbers to subtract from a group: reports, and reports of each value.
#[derive(Default)]
struct Counts {
    reports: i64,
    tallies: BTreeMap<(TallyKind, String), i64>,
}

/// Locks the rows of groups until the transaction ends, in the order of their ids. `SQLite` has one writer and needs no
/// lock.
pub(crate) async fn lock(transaction: &DatabaseTransaction, ids: &[CrashGroupId]) -> Result<Vec<Model>, DbErr> {
    let ids = ids.iter().map(|id| id.as_uuid());
    Entity::find().filter(Column::Id.is_in(ids)).order_by_asc(Column::Id).lock_exclusive().all(transaction).await
}

/// Adds a report to a group. The first report creates the group; a resolved group may regress.
pub(crate) async fn count(
    transaction: &DatabaseTransaction,
    group: &CrashGroup,
    report: &Counted,
) -> Result<(), DbErr> {
    let there = OnConflict::column(Column::Id).do_nothing().to_owned();
    let insert = Entity::insert(row(group).into_active_model()).on_conflict(there);
    insert.exec_without_returning(transaction).await?;
    let Some(locked) = lock(transaction, &[group.id]).await?.pop() else {
        return Err(DbErr::RecordNotFound("a crash group was removed".to_owned()));
    };
    let mut group = stored(locked).map_err(|error| DbErr::Custom(error.to_string()))?;
    group.reports += 1;
    group.first_seen = group.first_seen.min(report.received);
    group.last_seen = group.last_seen.max(report.received);
    if group.regresses(&report.application_version, report.received) {
        group.state = GroupState::Regressed;
    }
    write(transaction, &group).await?;
    let tally = |(kind, value): &(TallyKind, String)| TallyRow {
        group_id: group.id.as_uuid(),
        kind: kind.as_str().to_owned(),
        value: value.clone(),
        reports: 1,
    };
    let tallies: Vec<_> = report.values.iter().map(|value| tally(value).into_active_model()).collect();
    let one_more = Expr::col((Tallies, Tally::Reports)).add(1);
    let counted =
        OnConflict::columns([Tally::GroupId, Tally::Kind, Tally::Value]).value(Tally::Reports, one_more).to_owned();
    Tallies::insert_many(tallies).on_conflict(counted).exec_without_returning(transaction).await.map(drop)
}

/// Subtracts reports from their groups. [`remove_empty`] then removes empty groups.
pub(crate) async fn uncount(
    transaction: &DatabaseTransaction,
    reports: impl Iterator<Item = (CrashGroupId, Counted)>,
) -> Result<(), DbErr> {
    let mut counts: BTreeMap<CrashGroupId, Counts> = BTreeMap::new();
    for (group, report) in reports {
        let counts = counts.entry(group).or_default();
        counts.reports += 1;
        for value in report.values {
            *counts.tallies.entry(value).or_default() += 1;
        }
    }
    let ids: Vec<CrashGroupId> = counts.keys().copied().collect();
    lock(transaction, &ids).await?;
    for (group, Counts { reports, tallies }) in counts {
        let less = Expr::col(Column::Reports).sub(reports);
        let update = Entity::update_many().col_expr(Column::Reports, less).filter(Column::Id.eq(group.as_uuid()));
        update.exec(transaction).await?;
        for ((kind, value), reports) in tallies {
            let less = Expr::col(Tally::Reports).sub(reports);
            let update = Tallies::update_many()
                .col_expr(Tally::Reports, less)
                .filter(Tally::GroupId.eq(group.as_uuid()))
                .filter(Tally::Kind.eq(kind.as_str()))
                .filter(Tally::Value.eq(value));
            update.exec(transaction).await?;
        }
        let of_none = Tallies::delete_many().filter(Tally::GroupId.eq(group.as_uuid())).filter(Tally::Reports.lte(0));
        of_none.exec(transaction).await?;
    }
    Ok(())
}

/// Removes groups without a report unless an operator acknowledged or resolved them. The caller has removed the
/// analyses that refer to them.
pub(crate) async fn remove_empty(transaction: &DatabaseTransaction, ids: Vec<Uuid>) -> Result<(), DbErr> {
    let states = [GroupState::New, GroupState::Regressed].map(GroupState::as_str);
    let empty =
        Condition::all().add(Column::Id.is_in(ids)).add(Column::Reports.lte(0)).add(Column::State.is_in(states));
    Entity::delete_many().filter(empty).exec(transaction).await.map(drop)
}

/// Removes the analyses and queue entries of reports that are removed in this transaction.
pub(crate) async fn forget(
    transaction: &DatabaseTransaction,
    reports: Select<crash_report::Entity>,
) -> Result<(), DbErr> {
    let ids = || reports.clone().select_only().column(crash_report::Column::Id).into_query();
    // First, since the transaction that stores an analysis deletes this row first, too.
    let pending = crash_pending::Entity::delete_many().filter(crash_pending::Column::ReportId.in_subquery(ids()));
    pending.exec(transaction).await?;
    let analyzed = crash_analysis::Entity::delete_many().filter(crash_analysis::Column::ReportId.in_subquery(ids()));
    let analyzed = analyzed.exec_with_returning(transaction).await?;
    if analyzed.is_empty() {
        return Ok(());
    }
    let mut removed: BTreeMap<Uuid, Counted> =
        reports.clone().all(transaction).await?.iter().map(|report| (report.id, Counted::from(report))).collect();
    let counted: Vec<(CrashGroupId, Counted)> = analyzed
        .iter()
        .filter_map(|row| Some((CrashGroupId::from(row.group_id?), removed.remove(&row.report_id)?)))
        .collect();
    let groups: Vec<Uuid> = counted.iter().map(|(group, _)| group.as_uuid()).collect();
    uncount(transaction, counted.into_iter()).await?;
    remove_empty(transaction, groups).await
}
