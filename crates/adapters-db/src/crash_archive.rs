//! The crash reports for operators: [`domain::crash_report::CrashReportArchive`].

use crate::connections::Connections;
use crate::convert::Owner;
use crate::crash_report::find;
use crate::entity::crash_report::{Column, Entity, Model};
use crate::entity::{computer, crash_analysis, crash_part};
use crate::text_head::is_text;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::crash_group::CrashGroupId;
use domain::crash_report::{
    ArchivedReport, CrashReport, CrashReportArchive, ReportCursor, ReportFilter, StoredCrashReport,
};
use domain::error::StoreError;
use domain::guid::{ComputerGuid, CrashReportId};
use domain::inspection::PartsTotal;
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait, Order, Query, SelectStatement};
use sea_orm::{ColumnTrait, FromQueryResult, Iterable, Statement};
use std::sync::Arc;
use uuid::Uuid;

/// The crash reports in a database, read only.
pub struct SqlCrashReportArchive {
    db: Arc<Connections>,
}

impl SqlCrashReportArchive {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl CrashReportArchive for SqlCrashReportArchive {
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &ReportFilter,
        after: Option<ReportCursor>,
        limit: u64,
    ) -> Result<Vec<ArchivedReport>, StoreError> {
        let select: Statement = self.db.backend.build(&select(organization, filter, after, limit));
        let rows = self.db.read(Row::find_by_statement(select).all(&self.db.reads)).await?;
        rows.into_iter().map(Row::archived).collect()
    }

    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: CrashReportId,
    ) -> Result<Option<(OrganizationId, StoredCrashReport)>, StoreError> {
        find(&self.db, organization, id).await
    }
}

/// A report with the number of its parts, their bytes, and its signature.
#[derive(FromQueryResult)]
struct Row {
    #[sea_orm(nested)]
    report: Model,
    parts: i64,
    size: i64,
    group_id: Option<Uuid>,
    signature: Option<String>,
    failure: Option<String>,
}

impl Row {
    fn archived(self) -> Result<ArchivedReport, StoreError> {
        let id = CrashReportId::from(self.report.id);
        let owner = Owner { what: "crash report", id: &id };
        let report = CrashReport {
            id,
            received: Timestamp::from_micros(self.report.received_at),
            application_name: self.report.application_name,
            os: self.report.os,
            user: self.report.user_name,
            computer: self.report.computer_guid.map(ComputerGuid::from),
            serial_number: self.report.serial_number,
            application_version: self.report.application_version,
            note: self.report.note,
            parts: PartsTotal { count: owner.size(self.parts)?, size: owner.size(self.size)? },
        };
        Ok(ArchivedReport {
            organization: OrganizationId(self.report.organization_id),
            report,
            group: self.group_id.map(CrashGroupId::from),
            signature: self.signature.map(Ok).or_else(|| self.failure.map(Err)),
        })
    }
}

/// A page of reports. The reports of a group are read by the index of `crash_analysis`, all others by an index of
/// `crash_report`.
fn select(
    organization: Option<OrganizationId>,
    filter: &ReportFilter,
    after: Option<ReportCursor>,
    limit: u64,
) -> SelectStatement {
    let report = |column| Expr::col((Entity, column));
    let analysis = |column| Expr::col((crash_analysis::Entity, column));
    let same = || analysis(crash_analysis::Column::ReportId).equals((Entity, Column::Id));
    let mut select = Query::select();
    select
        .columns(Column::iter().map(|column| (Entity, column)))
        .columns(
            [crash_analysis::Column::GroupId, crash_analysis::Column::Signature, crash_analysis::Column::Failure]
                .map(|column| (crash_analysis::Entity, column)),
        )
        .expr_as(of_parts("count(*)"), "parts")
        .expr_as(of_parts("COALESCE(sum(content_size), 0)"), "size");
    let (time, id) = if let Some(group) = filter.group {
        select
            .from(crash_analysis::Entity)
            .inner_join(Entity, same())
            .and_where(analysis(crash_analysis::Column::GroupId).eq(group.as_uuid()));
        (analysis(crash_analysis::Column::ReceivedAt), analysis(crash_analysis::Column::ReportId))
    } else {
        select.from(Entity).left_join(crash_analysis::Entity, same());
        (report(Column::ReceivedAt), report(Column::Id))
    };
    match organization {
        Some(organization) => {
            select.and_where(report(Column::OrganizationId).eq(organization.0));
        }
        // The index `crash_report_of_computer` begins with the organization, so that of the computer is looked up.
        None if filter.computer.is_some() && filter.group.is_none() => {
            select.and_where(report(Column::OrganizationId).eq(owner_of(filter.computer)));
        }
        None => {}
    }
    if let Some(computer) = filter.computer {
        select.and_where(report(Column::ComputerGuid).eq(computer.as_uuid()));
    }
    if let Some(version) = &filter.version {
        select.and_where(is_text("application_version", version));
    }
    if let Some(from) = filter.from {
        select.and_where(time.clone().gte(from.as_micros()));
    }
    if let Some(to) = filter.to {
        select.and_where(time.clone().lte(to.as_micros()));
    }
    if let Some(after) = after {
        let last = Expr::tuple([after.received.as_micros().into(), after.id.as_uuid().into()]);
        select.and_where(Expr::tuple([time.clone(), id.clone()]).lt(last));
    }
    select.order_by_expr(time, Order::Desc).order_by_expr(id, Order::Desc).limit(limit);
    select
}

/// A subquery for the organization of a computer.
fn owner_of(computer: Option<ComputerGuid>) -> Expr {
    let mut owner = Query::select();
    owner.column(computer::Column::OrganizationId).from(computer::Entity);
    owner.and_where(computer::Column::Guid.into_expr().eq(computer.map(ComputerGuid::as_uuid)));
    Expr::SubQuery(None, Box::new(owner.into()))
}

/// A subquery for an aggregate over the parts of a report.
fn of_parts(number: &'static str) -> Expr {
    let mut parts = Query::select();
    parts.expr(Expr::cust(number).cast_as("bigint")).from(crash_part::Entity);
    parts.and_where(crash_part::Column::ReportId.into_expr().eq(Column::Id.into_expr()));
    Expr::SubQuery(None, Box::new(parts.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::testing::{at, numbered};

    const MANY: &[&str] = &[
        "INSERT INTO crash_report (id, organization_id, received_at, computer_guid, serial_number, application_version)
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
            SELECT {guid}, n % 20, 1000000 + n, {guid}, 'SN', '9.' || (n % 40) FROM numbers",
        "INSERT INTO crash_group (id, organization_id, signature, algorithm, state, first_seen_at, last_seen_at, reports)
            SELECT id, organization_id, 'a', 1, 'new', received_at, received_at, 1 FROM crash_report
            WHERE received_at < 1000100",
        "INSERT INTO crash_analysis (report_id, group_id, received_at, algorithm, signature, analyzed_at)
            SELECT id, (SELECT id FROM crash_group WHERE received_at % 90 = first_seen_at - 1000001), received_at, 1, 'a', 0
            FROM crash_report",
    ];

    #[tokio::test]
    async fn archived_reports_are_read_in_the_order_of_an_index() {
        for engine in engines().await {
            let guid = if engine.name == "SQLite" { "randomblob(16)" } else { "gen_random_uuid()" };
            for sql in MANY {
                engine.run(&sql.replace("{guid}", guid)).await;
            }
            engine.run("ANALYZE").await;
            let all = ReportFilter::default;
            let group = Some(CrashGroupId::from(numbered(3)));
            let computer = Some(ComputerGuid::from(numbered(1)));
            let after = Some(ReportCursor { received: at(0), id: CrashReportId::from(numbered(1)) });
            for (index, organization, filter) in [
                ("crash_report_anywhere", None, all()),
                ("crash_report_by_time", Some(OrganizationId(7)), all()),
                ("crash_report_of_computer", Some(OrganizationId(7)), ReportFilter { computer, ..all() }),
                ("crash_report_of_computer", None, ReportFilter { computer, ..all() }),
                ("crash_report_of_version", None, ReportFilter { version: Some("9.4".to_owned()), ..all() }),
                ("crash_analysis_of_group", None, ReportFilter { group, ..all() }),
            ] {
                let plan = engine.plan(engine.db().backend.build(&select(organization, &filter, after, 51))).await;
                assert!(plan.contains(index), "{} {filter:?}:\n{plan}", engine.name);
                // The few parts of a report may be found in any way.
                assert!(!plan.contains("TEMP B-TREE") && !plan.contains("Sort"), "{}:\n{plan}", engine.name);
            }
            // The few reports of a computer in a group may be sorted.
            let both = ReportFilter { group, computer, ..all() };
            let both = select(Some(OrganizationId(7)), &both, after, 51);
            let plan = engine.plan(engine.db().backend.build(&both)).await;
            let uses_an_index =
                ["crash_analysis_of_group", "crash_report_of_computer"].iter().any(|it| plan.contains(it));
            assert!(uses_an_index, "{}:\n{plan}", engine.name);
        }
    }
}
