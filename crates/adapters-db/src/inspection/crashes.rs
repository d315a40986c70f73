//! The crash reports of several organizations, newest first.

use crate::connections::Connections;
use crate::convert::Owner;
use crate::page::{BUDGET, Pace, PageRow, Pages, merged};
use domain::caller::OrganizationId;
use domain::crash_report::CrashReport;
use domain::error::StoreError;
use domain::guid::{ComputerGuid, CrashReportId};
use domain::inspection::{CrashReportFilter, InspectedCrashReport, PartsTotal};
use domain::timestamp::Timestamp;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::{FromQueryResult, Statement, Value};
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
    rows.and_then(|row| ready(row.report())).boxed()
}

/// A report and what its parts come to.
#[derive(FromQueryResult)]
struct Row {
    id: Uuid,
    organization_id: i64,
    received_at: i64,
    application_name: Option<String>,
    os: Option<String>,
    user_name: Option<String>,
    computer_guid: Option<Uuid>,
    serial_number: String,
    application_version: String,
    note: Option<String>,
    parts: i64,
    size: i64,
}

impl PageRow for Row {
    fn bytes(&self) -> usize {
        let texts = [&self.application_name, &self.os, &self.user_name, &self.note];
        let texts = texts.iter().map(|text| text.as_ref().map_or(0, String::len)).sum::<usize>();
        size_of::<Self>() + self.serial_number.len() + self.application_version.len() + texts
    }
}

impl Row {
    fn key(&self) -> (i64, Uuid) {
        (self.received_at, self.id)
    }

    fn report(self) -> Result<InspectedCrashReport, StoreError> {
        let id = CrashReportId::from(self.id);
        let owner = Owner { what: "crash report", id: &id };
        let report = CrashReport {
            id,
            received: Timestamp::from_micros(self.received_at),
            application_name: self.application_name,
            os: self.os,
            user: self.user_name,
            computer: self.computer_guid.map(ComputerGuid::from),
            serial_number: self.serial_number,
            application_version: self.application_version,
            note: self.note,
            parts: PartsTotal { count: owner.size(self.parts)?, size: owner.size(self.size)? },
        };
        Ok(InspectedCrashReport { organization: OrganizationId(self.organization_id), report })
    }
}

/// The way through the reports of one organization.
struct Scan {
    db: Arc<Connections>,
    organization: OrganizationId,
    filter: CrashReportFilter,
    /// Time and id of the last report; what is before it follows. `None` at the end.
    before: Option<(i64, Uuid)>,
    pace: Pace,
}

impl Pages for Scan {
    type Row = Row;

    async fn next_page(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let Some(before) = self.before else {
            return Ok(None);
        };
        let statement = page(&self.db, self.organization, &self.filter, before, self.pace.limit);
        let page = self.pace.read::<Row>(&self.db, statement).await?;
        self.before = page.rows.last().filter(|_| !page.last).map(|row| (row.received_at, row.id));
        Ok(Some(page.rows))
    }
}

fn page(
    db: &Connections,
    organization: OrganizationId,
    filter: &CrashReportFilter,
    before: (i64, Uuid),
    limit: u64,
) -> Statement {
    let mut values: Vec<Value> =
        vec![organization.0.into(), before.0.into(), before.1.into(), i64::try_from(limit).unwrap_or(i64::MAX).into()];
    let mut condition = |condition: &str, value: Option<Value>| match value {
        Some(value) => {
            values.push(value);
            format!("AND {condition} ${}", values.len())
        }
        None => String::new(),
    };
    let from = condition("received_at >=", filter.from.map(|from| from.as_micros().into()));
    let computer = condition("computer_guid =", filter.computer.map(|computer| computer.as_uuid().into()));
    let of_parts = |what: &str| format!("(SELECT {what} FROM crash_part WHERE report_id = crash_report.id)");
    let sql = format!(
        "SELECT crash_report.*, {} AS parts, CAST({} AS bigint) AS size FROM crash_report
        WHERE organization_id = $1 AND (received_at, id) < ($2, $3) {from} {computer}
        ORDER BY received_at DESC, id DESC LIMIT $4",
        of_parts("count(*)"),
        of_parts("COALESCE(sum(content_size), 0)")
    );
    db.statement(&sql, values)
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
            for filter in [
                CrashReportFilter::default(),
                CrashReportFilter { from: Some(at(0)), computer, ..CrashReportFilter::default() },
            ] {
                let page = page(engine.db(), OrganizationId(7), &filter, (i64::MAX, Uuid::max()), 128);
                let plan = engine.plan(page).await;
                assert!(plan.contains("crash_report_by_time"), "{}:\n{plan}", engine.name);
                // The few parts of a report may be found in any way.
                assert!(!plan.contains("TEMP B-TREE") && !plan.contains("Sort"), "{}:\n{plan}", engine.name);
            }
        }
    }
}
