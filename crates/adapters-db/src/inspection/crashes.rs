//! The crash reports of several organizations, newest first.

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::crash_part;
use crate::entity::crash_report::{Column, Entity, Model};
use crate::page::{BUDGET, Pace, PageRow, Pages, merged};
use domain::caller::OrganizationId;
use domain::crash_report::CrashReport;
use domain::error::StoreError;
use domain::guid::{ComputerGuid, CrashReportId};
use domain::inspection::{CrashReportFilter, InspectedCrashReport, PartsTotal};
use domain::timestamp::Timestamp;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};
use std::future::ready;
use std::sync::Arc;
use uuid::Uuid;

/// Each organization is read in the order of its own index.
pub(super) fn list(
    db: &Arc<Connections>,
    organizations: &[OrganizationId],
    filter: CrashReportFilter,
) -> BoxStream<'static, Result<InspectedCrashReport, StoreError>> {
    let budget = BUDGET / organizations.len().max(1);
    let rows = |organization: &OrganizationId| {
        let before = Some((filter.to.map_or(i64::MAX, Timestamp::as_micros), Uuid::max()));
        Scan { db: db.clone(), organization: *organization, filter, before, pace: Pace::new(budget) }.rows()
    };
    let rows = merged(organizations.iter().map(rows).collect(), |one: &Row, other| other.key().cmp(&one.key()));
    rows.and_then(|row| ready(row.inspected())).boxed()
}

/// A report with the number of its parts and their bytes.
#[derive(FromQueryResult)]
struct Row {
    #[sea_orm(nested)]
    report: Model,
    parts: i64,
    size: i64,
}

impl PageRow for Row {
    fn bytes(&self) -> usize {
        let Model { application_name, os, user_name, note, .. } = &self.report;
        let texts = [application_name, os, user_name, note].into_iter().flatten().map(String::len).sum::<usize>();
        size_of::<Self>() + self.report.serial_number.len() + self.report.application_version.len() + texts
    }
}

impl Row {
    fn key(&self) -> (i64, Uuid) {
        (self.report.received_at, self.report.id)
    }

    fn inspected(self) -> Result<InspectedCrashReport, StoreError> {
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
        Ok(InspectedCrashReport { organization: OrganizationId(self.report.organization_id), report })
    }
}

/// Reads the reports of one organization page by page.
struct Scan {
    db: Arc<Connections>,
    organization: OrganizationId,
    filter: CrashReportFilter,
    /// Time and id of the last report read; the next page is older. `None` at the end.
    before: Option<(i64, Uuid)>,
    pace: Pace,
}

impl Pages for Scan {
    type Row = Row;

    async fn next_page(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let Some(before) = self.before else {
            return Ok(None);
        };
        let select = select(self.organization, &self.filter, before).limit(self.pace.limit);
        let page = self.pace.read::<Row>(&self.db, select.build(self.db.backend)).await?;
        self.before = page.rows.last().filter(|_| !page.last).map(Row::key);
        Ok(Some(page.rows))
    }
}

fn select(organization: OrganizationId, filter: &CrashReportFilter, before: (i64, Uuid)) -> Select<Entity> {
    let key = Expr::tuple([Column::ReceivedAt, Column::Id].map(ColumnTrait::into_expr));
    Entity::find()
        .expr_as(of_parts("count(*)"), "parts")
        .expr_as(of_parts("COALESCE(sum(content_size), 0)"), "size")
        .filter(Column::OrganizationId.eq(organization.0))
        .filter(key.lt(Expr::tuple([before.0.into(), before.1.into()])))
        .apply_if(filter.from, |select, from| select.filter(Column::ReceivedAt.gte(from.as_micros())))
        .apply_if(filter.computer, |select, computer| select.filter(Column::ComputerGuid.eq(computer.as_uuid())))
        .order_by_desc(Column::ReceivedAt)
        .order_by_desc(Column::Id)
}

/// A number over the parts of a report.
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

    #[tokio::test]
    async fn reports_are_read_in_the_order_of_an_index() {
        for engine in engines().await {
            engine.fill_all().await;
            let computer = Some(ComputerGuid::from(numbered(1)));
            let of_computer = CrashReportFilter { from: Some(at(0)), computer, ..CrashReportFilter::default() };
            for (index, filter) in
                [("crash_report_by_time", CrashReportFilter::default()), ("crash_report_of_computer", of_computer)]
            {
                let select = select(OrganizationId(7), &filter, (i64::MAX, Uuid::max())).limit(128);
                let plan = engine.plan(select.build(engine.db().backend)).await;
                // PostgreSQL has too few rows here to tell which index is cheaper.
                assert!(plan.contains(index) || plan.contains("crash_report_anywhere"), "{}:\n{plan}", engine.name);
                // The few parts of a report may be found in any way.
                assert!(!plan.contains("TEMP B-TREE") && !plan.contains("Sort"), "{}:\n{plan}", engine.name);
            }
        }
    }
}
