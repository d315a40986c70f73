//! The list of an organization's log entries, newest first (decision L8).

use super::filter::{Condition, condition};
use crate::core::Core;
use crate::entity::log_entry::{Column, Entity};
use crate::page::{BUDGET, Pace, PageRow};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::log_entry::{ListedLogEntry, LogFilter, Pattern};
use domain::text::Folded;
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
    let start = async move {
        let scan = Scan::begin(core, organization, filter).await?;
        let pages = stream::try_unfold(scan, |mut scan| async {
            let page = scan.next_page().await?;
            Ok(page.map(|entries| (stream::iter(entries.into_iter().map(Ok)), scan)))
        });
        Ok::<_, StoreError>(pages.try_flatten())
    };
    stream::once(start).try_flatten().boxed()
}

/// What of an entry is listed, and what the next page begins at.
#[derive(FromQueryResult)]
struct Row {
    id: i64,
    received_at: i64,
    user_name: String,
    source: String,
    version: String,
    computer: String,
    description: String,
    serial_folded: String,
}

impl PageRow for Row {
    fn bytes(&self) -> usize {
        let texts =
            [&self.user_name, &self.source, &self.version, &self.computer, &self.description, &self.serial_folded];
        size_of::<Self>() + texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

impl From<Row> for ListedLogEntry {
    fn from(row: Row) -> Self {
        Self {
            user: row.user_name,
            source: row.source,
            version: row.version,
            computer: row.computer,
            description: row.description,
        }
    }
}

/// Takes the value of a filter from a row, as it is compared.
type Value = fn(&Row) -> Folded;

/// One text filter: what the database is asked for, its pattern, and the value that it is compared with.
struct TextFilter {
    condition: Condition,
    pattern: Pattern,
    value: Value,
}

impl TextFilter {
    fn all_of(filter: &LogFilter) -> Vec<Self> {
        let filters: [(_, _, Value); 5] = [
            (&filter.serial_number, "serial_folded", |row| Folded::from_stored(row.serial_folded.clone())),
            (&filter.user, "user_folded", |row| Folded::of(&row.user_name)),
            (&filter.source, "source_folded", |row| Folded::of(&row.source)),
            (&filter.version, "version_folded", |row| Folded::of(&row.version)),
            (&filter.computer, "computer_folded", |row| Folded::of(&row.computer)),
        ];
        let given = filters
            .into_iter()
            .filter_map(|(pattern, column, value)| pattern.clone().map(|pattern| (pattern, column, value)))
            .map(|(pattern, column, value)| Self { condition: condition(column, &pattern), pattern, value });
        given.collect()
    }
}

/// The way through the entries.
struct Scan {
    core: Arc<Core>,
    organization: OrganizationId,
    filter: LogFilter,
    texts: Vec<TextFilter>,
    /// Entries that were stored after the list began are none of it.
    newest: i64,
    /// Time and number of the last entry; what is before it follows. `None` at the end.
    before: Option<(i64, i64)>,
    pace: Pace,
}

impl Scan {
    async fn begin(core: Arc<Core>, organization: OrganizationId, filter: LogFilter) -> Result<Self, StoreError> {
        let newest = Entity::find().select_only().column_as(Column::Id.max(), "newest").build(core.backend);
        let row = core.read(core.reads.query_one_raw(newest)).await?;
        let newest = row.and_then(|row| row.try_get_by_index::<Option<i64>>(0).ok().flatten());
        let before = newest.map(|_| (filter.to.map_or(i64::MAX, domain::timestamp::Timestamp::as_micros), i64::MAX));
        let texts = TextFilter::all_of(&filter);
        let newest = newest.unwrap_or_default();
        Ok(Self { core, organization, filter, texts, newest, before, pace: Pace::new(BUDGET) })
    }

    async fn next_page(&mut self) -> Result<Option<Vec<ListedLogEntry>>, StoreError> {
        let Some(before) = self.before else {
            return Ok(None);
        };
        let select = select(self.organization, &self.filter, &self.texts, before).limit(self.pace.limit);
        let page = self.pace.read::<Row>(&self.core, select.build(self.core.backend)).await?;
        self.before = page.rows.last().filter(|_| !page.last).map(|row| (row.received_at, row.id));
        let matching = page.rows.into_iter().filter(|row| row.id <= self.newest && self.matches(row));
        Ok(Some(matching.map(ListedLogEntry::from).collect()))
    }

    /// What the database was not asked for.
    fn matches(&self, row: &Row) -> bool {
        self.texts.iter().all(|text| text.condition.sufficient || text.pattern.matches(&(text.value)(row)))
    }
}

fn select(
    organization: OrganizationId,
    filter: &LogFilter,
    texts: &[TextFilter],
    before: (i64, i64),
) -> Select<Entity> {
    let place = Expr::tuple([Expr::col(Column::ReceivedAt), Expr::col(Column::Id)]);
    let select = Entity::find()
        .select_only()
        .columns([
            Column::Id,
            Column::ReceivedAt,
            Column::UserName,
            Column::Source,
            Column::Version,
            Column::Computer,
            Column::Description,
            Column::SerialFolded,
        ])
        .filter(Column::OrganizationId.eq(organization.0))
        .filter(place.lt(Expr::tuple([before.0.into(), before.1.into()])))
        .apply_if(filter.from, |select, from| select.filter(Column::ReceivedAt.gte(from.as_micros())))
        .apply_if(filter.log_type, |select, log_type| select.filter(Column::LogType.eq(log_type.as_str())))
        .order_by(Column::ReceivedAt, Order::Desc)
        .order_by(Column::Id, Order::Desc);
    texts.iter().fold(select, |select, text| select.apply_if(text.condition.necessary.clone(), QueryFilter::filter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::log_entry::LogType;
    use domain::timestamp::Timestamp;

    #[tokio::test]
    async fn each_filter_is_read_in_the_order_of_an_index() {
        let pattern = |text: &str| Some(Pattern::new(text));
        let none = LogFilter::default;
        let time = Some(Timestamp::from_micros(1_001_000));
        let filters = [
            ("log_entry_by_serial", LogFilter { serial_number: pattern("SN 7"), ..none() }),
            ("log_entry_by_user", LogFilter { user: pattern("User 7"), ..none() }),
            ("log_entry_by_source", LogFilter { source: pattern("Source 7"), ..none() }),
            ("log_entry_by_version", LogFilter { version: pattern("1.0.7"), ..none() }),
            ("log_entry_by_computer", LogFilter { computer: pattern("RIP 7"), ..none() }),
            ("log_entry_by_time", LogFilter { from: time, ..none() }),
            ("log_entry_by_time", LogFilter { to: time, ..none() }),
            ("log_entry_by_time", LogFilter { log_type: Some(LogType::Log), ..none() }),
            ("log_entry_by_time", LogFilter { user: pattern("*ser*"), ..none() }),
            ("log_entry_by_user", LogFilter { user: pattern("User 7"), version: pattern("1.*"), from: time, ..none() }),
        ];
        for engine in engines().await {
            engine.fill().await;
            for (index, filter) in &filters {
                let texts = TextFilter::all_of(filter);
                let select = select(OrganizationId(1), filter, &texts, (1_002_000, 9)).limit(128);
                engine.assert_uses(index, select.build(engine.core().backend)).await;
            }
        }
    }
}
