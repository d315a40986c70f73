//! The computers of an organization and what each sent last, by name, then GUID.

use crate::activity::last_request;
use crate::connections::Connections;
use crate::entity::{computer, computer_seen, crash_report, log_entry, user_account};
use crate::page::{BUDGET, Pace, PageRow, Pages};
use crate::text_head::{head, head_of};
use domain::activity::LastRequest;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::inspection::{InspectedComputer, LastSeen};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use sea_orm::sea_query::{Expr, ExprTrait, Func, Query, SelectStatement, WindowStatement};
use sea_orm::{
    ColumnTrait, DbBackend, DbErr, EntityTrait, FromQueryResult, Order, QueryFilter, QueryOrder, QueryResult,
    QuerySelect, QueryTrait, SelectTwo, Statement,
};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

pub(super) fn list(
    db: Arc<Connections>,
    organization: OrganizationId,
) -> BoxStream<'static, Result<InspectedComputer, StoreError>> {
    Scan { db, organization, pace: Pace::new(BUDGET), after: None, is_at_end: false }.rows().boxed()
}

/// A computer and, where it has one, its user.
struct Row {
    computer: computer::Model,
    user: Option<user_account::Model>,
}

impl FromQueryResult for Row {
    /// Reads the columns of a select of two entities, which sea-orm names `A_…` and `B_…`.
    fn from_query_result(row: &QueryResult, _: &str) -> Result<Self, DbErr> {
        Ok(Self {
            computer: computer::Model::from_query_result(row, "A_")?,
            user: user_account::Model::from_query_result_optional(row, "B_")?,
        })
    }
}

impl PageRow for Row {
    fn bytes(&self) -> usize {
        let serial_number = self.computer.serial_number.as_ref().map_or(0, String::len);
        // The name is sent back to look for log entries.
        size_of::<Self>() + 3 * self.computer.name.len() + serial_number
    }
}

/// The time and version of the last record of each computer. Computers without one are left out.
#[derive(FromQueryResult)]
struct Seen {
    guid: Uuid,
    received_at: Option<i64>,
    application_version: Option<String>,
}

/// Reads the computers page by page.
struct Scan {
    db: Arc<Connections>,
    organization: OrganizationId,
    pace: Pace,
    /// Name and GUID of the last computer read.
    after: Option<(String, Uuid)>,
    is_at_end: bool,
}

impl Pages for Scan {
    type Row = InspectedComputer;

    async fn next_page(&mut self) -> Result<Option<Vec<InspectedComputer>>, StoreError> {
        if self.is_at_end {
            return Ok(None);
        }
        let select = page(self.db.backend, self.organization, self.after.clone()).limit(self.pace.limit);
        let page = self.pace.read::<Row>(&self.db, select.build(self.db.backend)).await?;
        self.is_at_end = page.last;
        self.after = page.rows.last().map(|row| (row.computer.name.clone(), row.computer.guid));
        if page.rows.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let computers: Vec<&computer::Model> = page.rows.iter().map(|row| &row.computer).collect();
        let mut entries = self.seen(&last_log_entries(self.organization, &computers)).await?;
        let mut reports = self.seen(&last_crash_reports(self.organization, &computers)).await?;
        let mut requests = self.last_requests(&computers).await?;
        let inspected = |row: Row| InspectedComputer {
            guid: row.computer.guid.into(),
            name: row.computer.name,
            serial_number: row.computer.serial_number,
            user: row.user.map(|user| user.name),
            is_retired: row.computer.retired_at.is_some(),
            last_request: requests.remove(&row.computer.guid),
            last_log_entry: entries.remove(&row.computer.guid),
            last_crash_report: reports.remove(&row.computer.guid),
        };
        Ok(Some(page.rows.into_iter().map(inspected).collect()))
    }
}

impl Scan {
    async fn last_requests(&self, computers: &[&computer::Model]) -> Result<HashMap<Uuid, LastRequest>, StoreError> {
        let guids = computers.iter().map(|computer| computer.guid);
        let select = computer_seen::Entity::find().filter(computer_seen::Column::ComputerGuid.is_in(guids));
        let rows = self.db.read(select.all(&self.db.reads)).await?;
        let request = |row: computer_seen::Model| {
            let request = last_request(row.seen_at, row.address, row.serial_number, row.application_version);
            (row.computer_guid, request)
        };
        Ok(rows.into_iter().map(request).collect())
    }

    async fn seen(&self, select: &SelectStatement) -> Result<HashMap<Uuid, LastSeen>, StoreError> {
        let select: Statement = self.db.backend.build(select);
        let rows = self.db.read(Seen::find_by_statement(select).all(&self.db.reads)).await?;
        let seen = rows.into_iter().filter_map(|row| {
            let at = Timestamp::from_micros(row.received_at?);
            Some((row.guid, LastSeen { at, application_version: row.application_version.unwrap_or_default() }))
        });
        Ok(seen.collect())
    }
}

/// An organization has so few computers that each page may sort them: no index serves this order.
fn page(
    backend: DbBackend,
    organization: OrganizationId,
    after: Option<(String, Uuid)>,
) -> SelectTwo<computer::Entity, user_account::Entity> {
    use computer::Column;
    // The builder knows no collations. PostgreSQL would compare by the language of the database.
    let name = || match backend {
        DbBackend::Postgres => Expr::cust(r#""computer"."name" COLLATE "C""#),
        _ => Column::Name.into_expr(),
    };
    computer::Entity::find()
        .find_also_related(user_account::Entity)
        .filter(Column::OrganizationId.eq(organization.0))
        .apply_if(after, |select, (after, guid)| {
            let is_next = name().gt(after.as_str()).or(name().eq(after).and(Column::Guid.gt(guid)));
            select.filter(is_next)
        })
        .order_by(name(), Order::Asc)
        .order_by_asc(Column::Guid)
}

/// The newest log entry of each computer, found by its name: an index over the GUIDs would cost every entry that is
/// written.
fn last_log_entries(organization: OrganizationId, computers: &[&computer::Model]) -> SelectStatement {
    use log_entry::Column;
    let given = computers.iter().map(|computer| {
        let folded = Folded::of(&computer.name).into_string();
        (computer.guid, head(&folded).to_owned(), folded)
    });
    let newest = |column: Column| {
        let select = Query::select()
            .column(column)
            .from(log_entry::Entity)
            .and_where(Column::OrganizationId.eq(organization.0))
            .and_where(head_of("computer_folded").eq(Expr::col((GIVEN, "column2"))))
            .and_where(Column::ComputerFolded.into_expr().eq(Expr::col((GIVEN, "column3"))))
            .and_where(Column::ComputerGuid.into_expr().eq(Expr::col((GIVEN, "column1"))))
            .order_by(Column::ReceivedAt, Order::Desc)
            .order_by(Column::Id, Order::Desc)
            .limit(1)
            .take();
        Expr::SubQuery(None, Box::new(select.into()))
    };
    Query::select()
        .expr_as(Expr::col((GIVEN, "column1")), "guid")
        .expr_as(newest(Column::ReceivedAt), "received_at")
        .expr_as(newest(Column::ApplicationVersion), "application_version")
        .from_values(given, GIVEN)
        .take()
}

/// The computers that are asked for; engines call the columns of such a table `column1` and so on.
const GIVEN: &str = "given";

/// The newest crash report of each computer. There are so few that all of them are read.
fn last_crash_reports(organization: OrganizationId, computers: &[&computer::Model]) -> SelectStatement {
    use crash_report::Column;
    let newest_first = WindowStatement::partition_by(Column::ComputerGuid)
        .order_by(Column::ReceivedAt, Order::Desc)
        .order_by(Column::Id, Order::Desc)
        .take();
    let reports = Query::select()
        .expr_as(Column::ComputerGuid.into_expr(), "guid")
        .columns([Column::ReceivedAt, Column::ApplicationVersion])
        .expr_window_as(Func::cust("ROW_NUMBER"), newest_first, "place")
        .from(crash_report::Entity)
        .and_where(Column::OrganizationId.eq(organization.0))
        .and_where(Column::ComputerGuid.is_in(computers.iter().map(|computer| computer.guid)))
        .take();
    Query::select()
        .columns(["guid", "received_at", "application_version"])
        .from_subquery(reports, "reports")
        .and_where(Expr::col("place").eq(1))
        .take()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    #[tokio::test]
    async fn the_newest_entry_of_a_computer_is_found_by_an_index() {
        for engine in engines().await {
            engine.fill_all().await;
            let computer = computer::Model {
                guid: Uuid::nil(),
                organization_id: 1,
                name: "RIP 7".to_owned(),
                serial_number: None,
                serial_folded: None,
                user_id: None,
                retired_at: None,
            };
            let select = last_log_entries(OrganizationId(1), &[&computer]);
            let plan = engine.plan(engine.db().backend.build(&select)).await;
            assert!(plan.contains("log_entry_by_computer"), "{}:\n{plan}", engine.name);
            assert!(!plan.contains("TEMP B-TREE") && !plan.contains("Sort"), "{}:\n{plan}", engine.name);
        }
    }
}
