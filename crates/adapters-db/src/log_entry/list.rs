//! The list of log entries, newest first (decision L8).

use super::filter::{Condition, IsText, condition, is_plain_text};
use crate::convert::Owner;
use crate::core::Core;
use crate::entity::log_entry::{Column, Entity};
use crate::entity::log_origin;
use crate::page::{BUDGET, Pace, PageRow, Pages, Rows, merged};
use crate::text_head::is_text;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::inspection::InspectedLogEntry;
use domain::log_entry::{ListedLogEntry, LogFilter, LogType, Pattern};
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

pub(super) fn list(
    core: Arc<Core>,
    organization: OrganizationId,
    filter: LogFilter,
) -> BoxStream<'static, Result<ListedLogEntry, StoreError>> {
    entries(core, vec![organization], filter).map_ok(Row::listed).boxed()
}

/// Origins that are read each in the order of its own entries, of all organizations of a list, but one of each at least; where
/// more match, all entries are gone through.
const FEW: usize = 64;

/// The entries of these organizations, each of which is read in the order of its own indexes: one of all
/// organizations would cost every entry that is written.
pub(crate) fn entries(core: Arc<Core>, organizations: Vec<OrganizationId>, filter: LogFilter) -> Rows<Row> {
    let start = async move {
        let newest = newest(&core).await?;
        let few = (FEW / organizations.len().max(1)).max(1);
        let mut ways = Vec::new();
        for organization in organizations {
            match few_origins(&core, organization, &filter, few).await? {
                Some(origins) => ways.extend(origins.into_iter().map(|origin| (organization, Some(origin)))),
                None => ways.push((organization, None)),
            }
        }
        let budget = BUDGET / ways.len().max(1);
        let scan = |way| Scan::new(core.clone(), way, filter.clone(), newest, budget).rows();
        let lists = ways.into_iter().map(scan).collect();
        Ok::<_, StoreError>(merged(lists, |one: &Row, other| {
            (other.received_at, other.id).cmp(&(one.received_at, one.id))
        }))
    };
    stream::once(start).try_flatten().boxed()
}

/// The origins whose entries may match; `None` where they are more than `few`, or all.
async fn few_origins(
    core: &Core,
    organization: OrganizationId,
    filter: &LogFilter,
    few: usize,
) -> Result<Option<Vec<i64>>, StoreError> {
    let texts = TextFilter::of_origin(filter);
    if texts.is_empty() {
        return Ok(None);
    }
    let select = origins(organization, &texts).limit(few as u64 + 1).build(core.backend);
    let rows = core.read(core.reads.query_all_raw(select)).await?;
    if rows.len() > few {
        return Ok(None);
    }
    rows.iter().map(|row| row.try_get_by_index(0).map_err(StoreError::other)).collect::<Result<_, _>>().map(Some)
}

fn origins(organization: OrganizationId, texts: &[TextFilter]) -> Select<log_origin::Entity> {
    let select = log_origin::Entity::find()
        .select_only()
        .column(log_origin::Column::Id)
        .filter(log_origin::Column::OrganizationId.eq(organization.0));
    with_conditions(select, texts)
}

/// The highest number of an entry; `None` where there is none.
pub(crate) async fn newest(core: &Core) -> Result<Option<i64>, StoreError> {
    let newest = Entity::find().select_only().column_as(Column::Id.max(), "newest").build(core.backend);
    let row = core.read(core.reads.query_one_raw(newest)).await?;
    Ok(row.and_then(|row| row.try_get_by_index::<Option<i64>>(0).ok().flatten()))
}

/// What of an entry is listed, and what the next page begins at.
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
            organization: OrganizationId(self.organization_id),
            received: Timestamp::from_micros(self.received_at),
            log_type: owner.need(LogType::parse(&self.log_type))?,
            serial_number: self.serial_number.clone(),
            entry: self.listed(),
        })
    }
}

/// Takes the value of a filter from a row, as it is compared.
type Value = fn(&Row) -> Folded;

/// One text filter: what the database is asked for, its pattern, and the value that it is compared with.
pub(crate) struct TextFilter {
    condition: Condition,
    pattern: Pattern,
    value: Value,
}

impl TextFilter {
    pub(crate) fn all_of(filter: &LogFilter) -> Vec<Self> {
        let mut all = Self::of_origin(filter);
        all.extend(Self::of_entry(filter));
        all
    }

    /// Those of what an entry has in common with others of its origin.
    fn of_origin(filter: &LogFilter) -> Vec<Self> {
        let given = |pattern, column, value| Self::given(pattern, column, is_plain_text, value);
        let filters = [
            given(filter.serial_number.as_ref(), "serial_folded", |row| Folded::of(&row.serial_number)),
            given(filter.user.as_ref(), "user_folded", |row| Folded::of(&row.user_name)),
            given(filter.version.as_ref(), "version_folded", |row| Folded::of(&row.version)),
            given(filter.computer.as_ref(), "computer_folded", |row| Folded::of(&row.computer)),
        ];
        filters.into_iter().flatten().collect()
    }

    /// That of what is an entry's own.
    fn of_entry(filter: &LogFilter) -> Option<Self> {
        Self::given(filter.source.as_ref(), "source_folded", is_text, |row| Folded::of(&row.source))
    }

    fn given(pattern: Option<&Pattern>, column: &'static str, is_text: IsText, value: Value) -> Option<Self> {
        let pattern = pattern?.clone();
        Some(Self { condition: condition(column, is_text, &pattern), pattern, value })
    }

    /// Whether a row that the database has found matches: what the database was not asked for.
    pub(crate) fn holds(&self, row: &Row) -> bool {
        self.condition.sufficient || self.pattern.matches(&(self.value)(row))
    }
}

/// An organization, and the one of its origins whose entries are read; `None` for those of all.
type Way = (OrganizationId, Option<i64>);

/// The way through the entries.
struct Scan {
    core: Arc<Core>,
    way: Way,
    filter: LogFilter,
    texts: Vec<TextFilter>,
    /// Those of them that the database is asked for.
    asked: Vec<TextFilter>,
    /// Entries that were stored after the list began are none of it.
    newest: i64,
    /// Time and number of the last entry; what is before it follows. `None` at the end.
    before: Option<(i64, i64)>,
    pace: Pace,
}

impl Scan {
    fn new(core: Arc<Core>, way: Way, filter: LogFilter, newest: Option<i64>, budget: usize) -> Self {
        let before = newest.map(|_| (filter.to.map_or(i64::MAX, Timestamp::as_micros), i64::MAX));
        let texts = TextFilter::all_of(&filter);
        let newest = newest.unwrap_or_default();
        Self { core, way, asked: asked(way, &filter), filter, texts, newest, before, pace: Pace::new(budget) }
    }
}

impl Pages for Scan {
    type Row = Row;

    async fn next_page(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let Some(before) = self.before else {
            return Ok(None);
        };
        let select = select(self.way, &self.filter, &self.asked, before).limit(self.pace.limit);
        let page = self.pace.read::<Row>(&self.core, select.build(self.core.backend)).await?;
        self.before = page.rows.last().filter(|_| !page.last).map(|row| (row.received_at, row.id));
        let is_listed = |row: &Row| row.id <= self.newest && self.texts.iter().all(|text| text.holds(row));
        Ok(Some(page.rows.into_iter().filter(is_listed).collect()))
    }
}

/// An origin was chosen by what it holds. To ask for that again would make the engine expect fewer entries of it.
fn asked((_, origin): Way, filter: &LogFilter) -> Vec<TextFilter> {
    match origin {
        Some(_) => TextFilter::of_entry(filter).into_iter().collect(),
        None => TextFilter::all_of(filter),
    }
}

fn select((organization, origin): Way, filter: &LogFilter, texts: &[TextFilter], before: (i64, i64)) -> Select<Entity> {
    let place = Expr::tuple([Column::ReceivedAt, Column::Id].map(ColumnTrait::into_expr));
    matching(Some(organization), filter, texts)
        .apply_if(origin, |select, origin| select.filter(Column::OriginId.eq(origin)))
        .filter(place.lt(Expr::tuple([before.0.into(), before.1.into()])))
        .order_by(Column::ReceivedAt, Order::Desc)
        .order_by(Column::Id, Order::Desc)
}

/// The entries that match, but for the end of their time: a list begins there.
pub(crate) fn matching(
    organization: Option<OrganizationId>,
    filter: &LogFilter,
    texts: &[TextFilter],
) -> Select<Entity> {
    let mut select = Entity::find()
        .select_only()
        .columns([
            Column::Id,
            Column::ReceivedAt,
            Column::OrganizationId,
            Column::LogType,
            Column::Source,
            Column::Description,
        ])
        .columns([
            log_origin::Column::UserName,
            log_origin::Column::Version,
            log_origin::Column::Computer,
            log_origin::Column::SerialNumber,
        ])
        .apply_if(organization, |select, organization| select.filter(Column::OrganizationId.eq(organization.0)))
        .apply_if(filter.from, |select, from| select.filter(Column::ReceivedAt.gte(from.as_micros())))
        .apply_if(filter.log_type, |select, log_type| select.filter(Column::LogType.eq(log_type.as_str())));
    // The sign keeps the engines from reading by origin and sorting: SQLite would do so whatever the filter.
    let origin = log_origin::Column::Id.into_expr().eq(Expr::cust("+log_entry.origin_id"));
    // Should a number ever name another origin than it did, nobody sees names of another organization.
    let is_own = log_origin::Column::OrganizationId.into_expr().eq(Column::OrganizationId.into_expr());
    QuerySelect::query(&mut select).inner_join(log_origin::Entity, origin.and(is_own));
    with_conditions(select, texts)
}

/// What the database is asked for of these filters.
fn with_conditions<E: EntityTrait>(select: Select<E>, texts: &[TextFilter]) -> Select<E> {
    texts.iter().fold(select, |select, text| select.apply_if(text.condition.necessary.clone(), QueryFilter::filter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::log_entry::LogRepository;

    #[tokio::test]
    async fn each_filter_is_read_in_the_order_of_an_index() {
        let none = LogFilter::default;
        let pattern = |text: &str| Some(Pattern::new(text));
        let time = Some(Timestamp::from_micros(1_001_000));
        let (all, origin) = ((OrganizationId(1), None), (OrganizationId(1), Some(3)));
        let user = || LogFilter { user: pattern("User 7"), ..none() };
        let ways = [
            ("log_entry_by_source", all, LogFilter { source: pattern("Source 7"), ..none() }),
            ("log_entry_by_time", all, LogFilter { from: time, ..none() }),
            ("log_entry_by_time", all, LogFilter { to: time, ..none() }),
            ("log_entry_by_time", all, LogFilter { log_type: Some(LogType::Log), ..none() }),
            ("log_entry_by_time", all, LogFilter { user: pattern("*ser*"), ..none() }),
            ("log_entry_by_time", all, user()),
            ("log_entry_by_origin", origin, user()),
            ("log_entry_by_origin", origin, LogFilter { version: pattern("1.*"), from: time, ..user() }),
        ];
        for engine in engines().await {
            engine.fill().await;
            for (index, way, filter) in &ways {
                let select = select(*way, filter, &asked(*way, filter), (1_002_000, 9)).limit(128);
                engine.assert_uses(index, select.build(engine.core().backend)).await;
            }
            let origins = origins(OrganizationId(1), &TextFilter::of_origin(&user())).limit(9);
            engine.assert_uses("log_origin_of_organization", origins.build(engine.core().backend)).await;
        }
    }

    /// However many origins match, the same is listed.
    #[tokio::test]
    async fn few_origins_are_read_one_by_one() {
        for engine in engines().await {
            engine.fill().await;
            // Of ten entries each.
            for (version, few) in [("1.0.7", Some(2)), ("1.0.*7", Some(10)), ("2*", Some(0)), ("*", None)] {
                let filter = LogFilter { version: Some(Pattern::new(version)), ..LogFilter::default() };
                let origins = few_origins(engine.core(), OrganizationId(1), &filter, FEW).await.unwrap();
                let origins = origins.map(|origins| origins.len());
                assert_eq!(origins, few, "{} {version}", engine.name);
                let listed = engine.database.logs().list(OrganizationId(1), filter);
                let numbers: Vec<u32> = listed
                    .map_ok(|entry| entry.description.trim_start_matches("Description ").parse::<u32>().unwrap())
                    .try_collect()
                    .await
                    .unwrap();
                assert!(numbers.is_sorted_by(|one, other| one > other), "{} {version}", engine.name);
                assert_eq!(numbers.len(), origins.unwrap_or(100) * 10, "{} {version}", engine.name);
            }
        }
    }
}
