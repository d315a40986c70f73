//! The list of log entries, newest first (decision L8).

use super::filter::{Condition, IsText, condition, is_plain_text};
use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::log_entry::{Column, Entity};
use crate::page::{BUDGET, Pace, PageRow, Pages, Rows, merged};
use crate::text_head::is_text;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::inspection::InspectedLogEntry;
use domain::log_entry::{ListedLogEntry, LogFilter, LogNumber, LogType, Pattern};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, Order, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait, Select,
};
use std::sync::Arc;
use uuid::Uuid;

pub(super) fn list(
    db: Arc<Connections>,
    organization: OrganizationId,
    filter: LogFilter,
) -> BoxStream<'static, Result<ListedLogEntry, StoreError>> {
    entries(db, vec![organization], filter).map_ok(Row::listed).boxed()
}

/// The entries of these organizations, newest first. Each organization is read in the order of its own indexes: an
/// index over all organizations would cost every entry that is written.
pub(crate) fn entries(db: Arc<Connections>, organizations: Vec<OrganizationId>, filter: LogFilter) -> Rows<Row> {
    let start = async move {
        let newest = newest(&db).await?;
        let budget = BUDGET / organizations.len().max(1);
        let scan = |organization| Scan::new(db.clone(), organization, filter.clone(), newest, budget).rows();
        let lists = organizations.into_iter().map(scan).collect();
        Ok::<_, StoreError>(merged(lists, |one: &Row, other| {
            (other.received_at, other.id).cmp(&(one.received_at, one.id))
        }))
    };
    stream::once(start).try_flatten().boxed()
}

/// The highest number of an entry; `None` where there is none.
pub(crate) async fn newest(db: &Connections) -> Result<Option<i64>, StoreError> {
    let newest = Entity::find().select_only().column_as(Column::Id.max(), "newest").build(db.backend);
    let row = db.read(db.reads.query_one_raw(newest)).await?;
    Ok(row.and_then(|row| row.try_get_by_index::<Option<i64>>(0).ok().flatten()))
}

/// The listed columns of an entry, and its position, at which the next page begins.
#[derive(FromQueryResult)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) received_at: i64,
    organization_id: i64,
    log_type: String,
    user_name: String,
    source: String,
    version: String,
    computer: String,
    description: String,
    serial_number: String,
    computer_guid: Uuid,
}

impl PageRow for Row {
    fn bytes(&self) -> usize {
        let texts =
            [&self.user_name, &self.source, &self.version, &self.computer, &self.description, &self.serial_number];
        size_of::<Self>() + texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

impl Row {
    fn listed(self) -> ListedLogEntry {
        ListedLogEntry {
            user: self.user_name,
            source: self.source,
            version: self.version,
            computer: self.computer,
            description: self.description,
        }
    }

    /// The entry as the operator sees it.
    pub(crate) fn inspected(self) -> Result<InspectedLogEntry, StoreError> {
        let owner = Owner { what: "log entry", id: &self.id };
        Ok(InspectedLogEntry {
            number: LogNumber(self.id),
            organization: OrganizationId(self.organization_id),
            received: Timestamp::from_micros(self.received_at),
            log_type: owner.need(LogType::parse(&self.log_type))?,
            serial_number: self.serial_number.clone(),
            computer: self.computer_guid.into(),
            entry: self.listed(),
        })
    }
}

/// Takes the value of a filter from a row, as it is compared.
type Value = fn(&Row) -> &str;

/// The text filters of a list: each is a condition of the query, and those that a query can't express are checked on rows.
pub(crate) struct TextFilters {
    patterns: Vec<TextFilter>,
    /// What Description contains. No column holds it without case, so every row is read.
    search: Option<Folded>,
}

impl TextFilters {
    pub(crate) fn of(filter: &LogFilter) -> Self {
        Self { patterns: TextFilter::all_of(filter), search: filter.search.clone() }
    }

    /// Whether a row of the query matches.
    pub(crate) fn hold(&self, row: &Row) -> bool {
        let is_found = |search: &Folded| Folded::of(&row.description).as_str().contains(search.as_str());
        self.patterns.iter().all(|text| text.holds(row)) && self.search.as_ref().is_none_or(is_found)
    }
}

/// One text filter: what the database is asked for, its pattern, and the value that it is compared with.
struct TextFilter {
    condition: Condition,
    pattern: Pattern,
    value: Value,
}

impl TextFilter {
    fn all_of(filter: &LogFilter) -> Vec<Self> {
        let filters = [
            Self::given(filter.serial_number.as_ref(), "serial_folded", is_plain_text, |row| &row.serial_number),
            Self::given(filter.user.as_ref(), "user_folded", is_plain_text, |row| &row.user_name),
            Self::given(filter.version.as_ref(), "version_folded", is_plain_text, |row| &row.version),
            Self::given(filter.computer.as_ref(), "computer_folded", is_text, |row| &row.computer),
            Self::given(filter.source.as_ref(), "source_folded", is_text, |row| &row.source),
        ];
        filters.into_iter().flatten().collect()
    }

    fn given(pattern: Option<&Pattern>, column: &'static str, is_text: IsText, value: Value) -> Option<Self> {
        let pattern = pattern?.clone();
        Some(Self { condition: condition(column, is_text, &pattern), pattern, value })
    }

    /// Whether a row of the query matches the whole pattern, if the condition of the query was not sufficient.
    fn holds(&self, row: &Row) -> bool {
        self.condition.sufficient || self.pattern.matches(&Folded::of((self.value)(row)))
    }
}

/// Reads the entries of an organization page by page.
struct Scan {
    db: Arc<Connections>,
    organization: OrganizationId,
    filter: LogFilter,
    texts: TextFilters,
    /// Entries that are stored after the list begins are left out.
    newest: i64,
    /// Time and number of the last entry read; the next page is older. `None` at the end.
    before: Option<(i64, i64)>,
    pace: Pace,
}

impl Scan {
    fn new(
        db: Arc<Connections>,
        organization: OrganizationId,
        filter: LogFilter,
        newest: Option<i64>,
        budget: usize,
    ) -> Self {
        let before = newest.map(|_| (filter.to.map_or(i64::MAX, Timestamp::as_micros), i64::MAX));
        let (texts, newest) = (TextFilters::of(&filter), newest.unwrap_or_default());
        Self { db, organization, filter, texts, newest, before, pace: Pace::new(budget) }
    }
}

impl Pages for Scan {
    type Row = Row;

    async fn next_page(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let Some(before) = self.before else {
            return Ok(None);
        };
        let select = select(self.organization, &self.filter, &self.texts, before).limit(self.pace.limit);
        let page = self.pace.read::<Row>(&self.db, select.build(self.db.backend)).await?;
        self.before = page.rows.last().filter(|_| !page.last).map(|row| (row.received_at, row.id));
        let is_listed = |row: &Row| row.id <= self.newest && self.texts.hold(row);
        Ok(Some(page.rows.into_iter().filter(is_listed).collect()))
    }
}

/// The entries of an organization before a time and a number, newest first.
fn select(organization: OrganizationId, filter: &LogFilter, texts: &TextFilters, before: (i64, i64)) -> Select<Entity> {
    newest_before(matching(Some(organization), filter, texts), before)
}

/// What of `select` comes before a time and a number, newest first.
pub(super) fn newest_before(select: Select<Entity>, before: (i64, i64)) -> Select<Entity> {
    in_order(select.filter(position().lt(Expr::tuple([before.0.into(), before.1.into()]))))
}

/// What of `select` has this time and number, or comes after them.
pub(super) fn not_before(select: Select<Entity>, oldest: (i64, i64)) -> Select<Entity> {
    select.filter(position().gte(Expr::tuple([oldest.0.into(), oldest.1.into()])))
}

fn position() -> Expr {
    Expr::tuple([Column::ReceivedAt, Column::Id].map(ColumnTrait::into_expr))
}

pub(super) fn in_order(select: Select<Entity>) -> Select<Entity> {
    select.order_by(Column::ReceivedAt, Order::Desc).order_by(Column::Id, Order::Desc)
}

/// The columns of a [`Row`].
pub(super) fn listed_columns() -> Select<Entity> {
    Entity::find().select_only().columns([
        Column::Id,
        Column::ReceivedAt,
        Column::OrganizationId,
        Column::LogType,
        Column::UserName,
        Column::Source,
        Column::Version,
        Column::Computer,
        Column::Description,
        Column::SerialNumber,
        Column::ComputerGuid,
    ])
}

/// The entries that match all filters but `to`, which is where a list begins.
pub(crate) fn matching(
    organization: Option<OrganizationId>,
    filter: &LogFilter,
    texts: &TextFilters,
) -> Select<Entity> {
    restricted(listed_columns(), organization, filter, texts)
}

/// Adds the conditions of all filters but `to`.
pub(super) fn restricted(
    select: Select<Entity>,
    organization: Option<OrganizationId>,
    filter: &LogFilter,
    texts: &TextFilters,
) -> Select<Entity> {
    let select = select
        .apply_if(organization, |select, organization| select.filter(Column::OrganizationId.eq(organization.0)))
        .apply_if(filter.from, |select, from| select.filter(Column::ReceivedAt.gte(from.as_micros())))
        .apply_if(filter.computer_guid, |select, computer| select.filter(Column::ComputerGuid.eq(computer.as_uuid())))
        .apply_if(filter.log_type, |select, log_type| select.filter(Column::LogType.eq(log_type.as_str())));
    let texts = &texts.patterns;
    texts.iter().fold(select, |select, text| select.apply_if(text.condition.necessary.clone(), QueryFilter::filter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    #[tokio::test]
    async fn each_filter_is_read_in_the_order_of_an_index() {
        let none = LogFilter::default;
        let pattern = |text: &str| Some(Pattern::new(text));
        let time = Some(Timestamp::from_micros(1_001_000));
        let ways = [
            ("log_entry_by_source", LogFilter { source: pattern("Source 7"), ..none() }),
            ("log_entry_by_computer", LogFilter { computer: pattern("RIP 7"), ..none() }),
            ("log_entry_by_time", LogFilter { from: time, ..none() }),
            ("log_entry_by_time", LogFilter { to: time, ..none() }),
            ("log_entry_by_time", LogFilter { log_type: Some(LogType::Log), ..none() }),
            ("log_entry_by_time", LogFilter { user: pattern("*ser*"), ..none() }),
            ("log_entry_by_time", LogFilter { user: pattern("User 7"), ..none() }),
            ("log_entry_by_time", LogFilter { version: pattern("1.*"), from: time, ..none() }),
        ];
        for engine in engines().await {
            engine.fill().await;
            for (index, filter) in &ways {
                let texts = TextFilters::of(filter);
                let select = select(OrganizationId(1), filter, &texts, (1_002_000, 9)).limit(128);
                engine.assert_uses(index, select.build(engine.db().backend)).await;
            }
        }
    }
}
