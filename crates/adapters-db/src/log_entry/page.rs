//! One page of log entries, of one organization or of all, newest first.
//!
//! Each organization is read by its own indexes, as in a list: the keys of its newest entries, then the whole entries of
//! the newest keys of all. A filter without an index is searched for in windows of time, so that a page of few matches
//! takes no longer than others: it ends where it came to.

use super::list::{Row, TextFilters, in_order, listed_columns, newest_before, not_before, restricted};
use crate::connections::Connections;
use crate::entity::log_entry::{Column, Entity};
use crate::entity::organization;
use crate::page::{BUDGET, Pace, PageRow};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::inspection::InspectedLogEntry;
use domain::log_entry::{LogCursor, LogFilter, LogNumber, Pattern};
use domain::page::{Page, PageRequest};
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{Alias, Asterisk, Order, Query, SelectStatement, UnionType};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select, Statement,
};
use std::cmp::Reverse;

/// Organizations of one query. An engine may allow 500 unions.
const MAX_ORGANIZATIONS: usize = 200;

/// Rows that are searched for one page of few matches. Then the page ends, and the next one goes on there.
const MAX_SEARCHED: u64 = 20_000;

/// Rows of the first window, and how each following one grows.
const FIRST_WINDOW: u64 = 1_000;
const GROWTH: u64 = 4;

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
    let (mut found, mut searched, mut bytes, mut window) = (Vec::new(), 0, 0, FIRST_WINDOW);
    loop {
        let oldest = if search.is_by_index() { None } else { search.key_after(db, before, window).await? };
        let round = search.read(db, Range { before, oldest }, rows).await?;
        for row in round.rows {
            before = (row.received_at, row.id);
            searched += 1;
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
            let Some(oldest) = oldest else {
                return Ok(Page { items: found, next: None });
            };
            before = oldest;
            searched += window;
            window *= GROWTH;
        }
        if searched >= MAX_SEARCHED || bytes >= BUDGET {
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

/// Which rows are read: times and numbers before one, and down to another.
#[derive(Clone, Copy)]
struct Range {
    before: (i64, i64),
    oldest: Option<(i64, i64)>,
}

struct Search<'a> {
    organizations: Vec<OrganizationId>,
    filter: &'a LogFilter,
    texts: TextFilters,
}

impl Search<'_> {
    /// Whether an index leads to what matches; else every row of a range is read.
    fn is_by_index(&self) -> bool {
        let LogFilter {
            serial_number,
            user,
            source,
            version,
            computer,
            computer_guid,
            log_type,
            search,
            from: _,
            to: _,
        } = self.filter;
        let is_whole = |pattern: &Option<Pattern>| pattern.as_ref().is_some_and(|text| text.pieces().len() == 1);
        let texts = [serial_number, user, source, version, computer];
        let is_free = texts.iter().all(|text| text.is_none()) && computer_guid.is_none() && log_type.is_none();
        (is_free && search.is_none()) || is_whole(source) || is_whole(computer)
    }

    /// The time and number of the row that comes so many places after others; `None` where there are not so many.
    async fn key_after(
        &self,
        db: &Connections,
        before: (i64, i64),
        places: u64,
    ) -> Result<Option<(i64, i64)>, StoreError> {
        let mut newest = None;
        for organizations in self.organizations.chunks(MAX_ORGANIZATIONS) {
            let keys = |id| {
                let own = key_columns().filter(Column::OrganizationId.eq(id));
                let own =
                    own.apply_if(self.filter.from, |own, from| own.filter(Column::ReceivedAt.gte(from.as_micros())));
                newest_before(own, before).limit(places).into_query()
            };
            let mut key = newest_of(organizations.iter().map(|id| keys(id.0)), Column::ReceivedAt);
            let key = key.column(Column::Id).limit(1).offset(places - 1);
            let row = db.read(db.reads.query_one_raw(db.backend.build(&*key))).await?;
            let key = row.map(|row| row.try_get_many_by_index::<(i64, i64)>());
            newest = newest.max(key.transpose().map_err(StoreError::other)?);
        }
        Ok(newest)
    }

    async fn read(&self, db: &Connections, range: Range, limit: u64) -> Result<Round, StoreError> {
        let (mut rows, mut oldest) = (Vec::new(), None);
        for organizations in self.organizations.chunks(MAX_ORGANIZATIONS) {
            let mut reader = Pace::new(BUDGET);
            reader.limit = limit;
            let page = reader.read::<Row>(db, self.statement(db.backend, organizations, range, limit)).await?;
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

    fn statement(&self, backend: DbBackend, organizations: &[OrganizationId], range: Range, limit: u64) -> Statement {
        let newest = |columns, organization| {
            let matching = restricted(columns, Some(organization), self.filter, &self.texts);
            let matching = matching.apply_if(range.oldest, not_before);
            newest_before(matching, range.before).limit(limit)
        };
        if let [organization] = organizations {
            return newest(listed_columns(), *organization).build(backend);
        }
        let keys = organizations.iter().map(|organization| newest(key_columns(), *organization).into_query());
        let newest = newest_of(keys, Column::Id).limit(limit).to_owned();
        in_order(listed_columns().filter(Column::Id.in_subquery(newest))).build(backend)
    }
}

fn key_columns() -> Select<Entity> {
    Entity::find().select_only().columns([Column::Id, Column::ReceivedAt])
}

/// A column of the keys of several lists in one order, newest first.
fn newest_of(lists: impl Iterator<Item = SelectStatement>, column: Column) -> SelectStatement {
    let all = lists.map(|keys| Query::select().column(Asterisk).from_subquery(keys, Alias::new("newest")).to_owned());
    let all = all.reduce(|mut all, keys| all.union(UnionType::All, keys).to_owned()).unwrap_or_default();
    Query::select()
        .column(column)
        .from_subquery(all, Alias::new("candidates"))
        .order_by(Column::ReceivedAt, Order::Desc)
        .order_by(Column::Id, Order::Desc)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

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
            let range = Range { before: (1_002_000, 9), oldest: Some((1_000_100, 1)) };
            for (index, filter) in &filters {
                let search = Search { organizations: organizations.clone(), filter, texts: TextFilters::of(filter) };
                let backend = engine.db().backend;
                let one = search.statement(backend, &organizations[..1], range, 51);
                engine.assert_uses(index, one).await;
                let plan = engine.plan(search.statement(backend, &organizations, range, 51)).await;
                assert_eq!(plan.matches(index).count(), 3, "{}:\n{plan}", engine.name);
                assert!(!plan.contains("Seq Scan") && !plan.contains("SCAN log_entry"), "{}:\n{plan}", engine.name);
            }
        }
    }

    #[tokio::test]
    async fn a_window_ends_at_the_row_that_comes_so_many_places_after_others() {
        for engine in engines().await {
            engine.fill().await;
            let filter = LogFilter::default();
            let organizations = vec![OrganizationId(1), OrganizationId(2)];
            let search = Search { organizations, filter: &filter, texts: TextFilters::of(&filter) };
            let key = async |before, places| search.key_after(engine.db(), before, places).await.unwrap();
            // Two of three rows belong to these organizations.
            let latest = (i64::MAX, i64::MAX);
            let first = key(latest, 1).await.unwrap();
            assert_eq!(key(latest, 2).await, key(first, 1).await, "{}", engine.name);
            assert_eq!(key(latest, 2_000).await.map(|key| key.0), Some(1_000_001), "{}", engine.name);
            assert_eq!(key(latest, 2_001).await, None, "{}", engine.name);
        }
    }
}
