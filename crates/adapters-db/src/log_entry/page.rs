//! One page of log entries, of one organization or of all, newest first.
//!
//! Each organization is read by its own indexes, as in a list: the keys of its newest entries, then the whole entries of
//! the newest keys of all.

use super::list::{Row, TextFilters, in_order, listed_columns, newest_before, restricted};
use crate::connections::Connections;
use crate::entity::log_entry::{Column, Entity};
use crate::entity::organization;
use crate::page::{BUDGET, Pace, PageRow};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::inspection::InspectedLogEntry;
use domain::log_entry::{LogCursor, LogFilter, LogNumber};
use domain::page::{Page, PageRequest};
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{Alias, Asterisk, Order, Query, SelectStatement, UnionType};
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Statement};
use std::cmp::Reverse;

/// Organizations of one query. An engine may allow 500 unions.
const MAX_ORGANIZATIONS: usize = 200;

/// Rows that are read for one page of few matches. Then the page ends, and the next one goes on there.
const MAX_READ: usize = 20_000;

/// Rows of one query at most.
const MAX_ROWS: u64 = 1024;

/// A page of the entries that match.
pub(crate) async fn page(
    db: &Connections,
    organization: Option<OrganizationId>,
    filter: &LogFilter,
    asked: &PageRequest<LogCursor>,
) -> Result<Page<InspectedLogEntry, LogCursor>, StoreError> {
    let organizations = match organization {
        Some(id) => vec![id],
        None => organizations(db).await?,
    };
    let search = Search { organizations, filter, texts: TextFilters::of(filter) };
    let limit = usize::try_from(asked.limit).unwrap_or(usize::MAX);
    let latest = (filter.to.map_or(i64::MAX, Timestamp::as_micros), i64::MAX);
    let after = asked.after.map_or(latest, |after| (after.received.as_micros(), after.number.0));
    let (mut before, mut rows) = (after.min(latest), asked.rows());
    let (mut found, mut read, mut bytes) = (Vec::new(), 0, 0);
    loop {
        let round = search.read(db, before, rows).await?;
        for row in round.rows {
            before = (row.received_at, row.id);
            read += 1;
            if search.texts.hold(&row) {
                if found.len() == limit {
                    let next = found.last().map(InspectedLogEntry::cursor);
                    return Ok(Page { items: found, next });
                }
                bytes += row.bytes();
                found.push(row.inspected()?);
            }
        }
        if round.is_last {
            return Ok(Page { items: found, next: None });
        }
        if read >= MAX_READ || bytes >= BUDGET {
            let next = LogCursor { received: Timestamp::from_micros(before.0), number: LogNumber(before.1) };
            return Ok(Page { items: found, next: Some(next) });
        }
        rows = (rows * 2).min(MAX_ROWS);
    }
}

async fn organizations(db: &Connections) -> Result<Vec<OrganizationId>, StoreError> {
    let ids = organization::Entity::find().select_only().column(organization::Column::Id).into_tuple::<i64>();
    Ok(db.read(ids.all(&db.reads)).await?.into_iter().map(OrganizationId).collect())
}

/// The newest rows that a query can tell from others.
struct Round {
    rows: Vec<Row>,
    /// Whether no row follows.
    is_last: bool,
}

struct Search<'a> {
    organizations: Vec<OrganizationId>,
    filter: &'a LogFilter,
    texts: TextFilters,
}

impl Search<'_> {
    async fn read(&self, db: &Connections, before: (i64, i64), limit: u64) -> Result<Round, StoreError> {
        let (mut rows, mut oldest) = (Vec::new(), None);
        for organizations in self.organizations.chunks(MAX_ORGANIZATIONS) {
            let mut reader = Pace::new(BUDGET);
            reader.limit = limit;
            let page = reader.read::<Row>(db, self.statement(db.backend, organizations, before, limit)).await?;
            if !page.last {
                // Rows of these organizations follow, so nothing older may be given yet.
                oldest = oldest.max(page.rows.last().map(|row| (row.received_at, row.id)));
            }
            rows.extend(page.rows);
        }
        rows.sort_by_key(|row: &Row| Reverse((row.received_at, row.id)));
        rows.retain(|row| oldest.is_none_or(|oldest| (row.received_at, row.id) >= oldest));
        Ok(Round { rows, is_last: oldest.is_none() })
    }

    fn statement(
        &self,
        backend: DbBackend,
        organizations: &[OrganizationId],
        before: (i64, i64),
        limit: u64,
    ) -> Statement {
        let newest = |columns, organization| {
            newest_before(restricted(columns, Some(organization), self.filter, &self.texts), before).limit(limit)
        };
        if let [organization] = organizations {
            return newest(listed_columns(), *organization).build(backend);
        }
        let key = || Entity::find().select_only().columns([Column::Id, Column::ReceivedAt]);
        let keys = organizations.iter().map(|organization| newest(key(), *organization).into_query());
        let keys =
            keys.map(|keys| Query::select().column(Asterisk).from_subquery(keys, Alias::new("newest")).to_owned());
        let keys = keys.reduce(|mut all, keys| all.union(UnionType::All, keys).to_owned()).unwrap_or_default();
        let newest_of_all: SelectStatement = Query::select()
            .column(Column::Id)
            .from_subquery(keys, Alias::new("candidates"))
            .order_by(Column::ReceivedAt, Order::Desc)
            .order_by(Column::Id, Order::Desc)
            .limit(limit)
            .to_owned();
        in_order(listed_columns().filter(Column::Id.in_subquery(newest_of_all))).build(backend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::log_entry::Pattern;

    #[tokio::test]
    async fn each_organization_of_a_page_is_read_by_its_own_index() {
        let none = LogFilter::default;
        let filters = [
            ("log_entry_by_time", none()),
            ("log_entry_by_time", LogFilter { user: Some(Pattern::new("*ser*")), ..none() }),
            ("log_entry_by_source", LogFilter { source: Some(Pattern::new("Source 7")), ..none() }),
            ("log_entry_by_computer", LogFilter { computer: Some(Pattern::new("RIP 7")), ..none() }),
        ];
        for engine in engines().await {
            engine.fill().await;
            let organizations = vec![OrganizationId(1), OrganizationId(2), OrganizationId(3)];
            for (index, filter) in &filters {
                let search = Search { organizations: organizations.clone(), filter, texts: TextFilters::of(filter) };
                let backend = engine.db().backend;
                let one = search.statement(backend, &organizations[..1], (1_002_000, 9), 51);
                engine.assert_uses(index, one).await;
                let plan = engine.plan(search.statement(backend, &organizations, (1_002_000, 9), 51)).await;
                assert_eq!(plan.matches(index).count(), 3, "{}:\n{plan}", engine.name);
                assert!(!plan.contains("Seq Scan") && !plan.contains("SCAN log_entry"), "{}:\n{plan}", engine.name);
            }
        }
    }
}
