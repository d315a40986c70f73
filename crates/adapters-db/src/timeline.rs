//! Timelines: [`domain::timeline::TimelineRepository`]. Each kind of event has its own query, which reads at most one
//! page of rows by an index. The page is the newest events of all kinds.

use crate::connections::Connections;
use crate::convert::Owner;
use crate::device_history::change;
use crate::entity::{
    computer, computer_fetch, crash_report, device, device_history, former_name, log_entry, refusal, resource,
};
use crate::fleet::Record;
use crate::resource::is_visible_to;
use crate::text_head::is_text;
use async_trait::async_trait;
use domain::activity::ResourceKey;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::{ComputerGuid, CrashReportId, DeviceGuid, ResourceGuid};
use domain::log_entry::LogType;
use domain::text::Folded;
use domain::timeline::{
    EventId, FORMER_NAMES, Subject, TimelineCursor, TimelineDetails, TimelineEvent, TimelineRepository,
};
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, EntityTrait, FromQueryResult, JoinType, QueryFilter, QueryOrder, QuerySelect, RelationTrait, Select,
    Value,
};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use uuid::Uuid;

/// Timelines in a database.
pub struct SqlTimelineRepository {
    db: Arc<Connections>,
}

impl SqlTimelineRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }

    async fn of_computer(
        &self,
        organization: OrganizationId,
        guid: ComputerGuid,
        page: Page,
    ) -> Result<Vec<TimelineEvent>, StoreError> {
        let computer = computer::Entity::find_by_id(guid.as_uuid());
        let computer = computer.filter(computer::Column::OrganizationId.eq(organization.0));
        let Some(computer) = self.db.read(computer.one(&self.db.reads)).await? else {
            return Ok(Vec::new());
        };
        let mut events = Vec::new();
        for name in self.names_of(&computer).await? {
            let entries = log_entries_of_computer(organization, guid, &name, page);
            events.extend(self.read(entries, LogRow::event).await?);
        }
        events.extend(self.read(crash_reports(organization, guid, page), |row: CrashRow| Ok(row.event())).await?);
        events.extend(self.read(refusals(guid, page), |row: RefusalRow| Ok(row.event())).await?);
        events.extend(self.read(fetches(organization, guid, page), FetchRow::event).await?);
        Ok(events)
    }

    async fn of_device(
        &self,
        organization: OrganizationId,
        guid: DeviceGuid,
        page: Page,
    ) -> Result<Vec<TimelineEvent>, StoreError> {
        let device = device::Entity::find_by_id(guid.as_uuid());
        let device = device.filter(device::Column::OrganizationId.eq(organization.0));
        let Some(device) = self.db.read(device.one(&self.db.reads)).await? else {
            return Ok(Vec::new());
        };
        let mut events = Vec::new();
        for name in self.names_of(&device).await? {
            let entries = log_entries_of_device(organization, guid, &name, page);
            events.extend(self.read(entries, LogRow::event).await?);
        }
        events.extend(self.read(changes(organization, guid, page), ChangeRow::event).await?);
        Ok(events)
    }

    /// The present name of a record and its former names, folded, each once.
    async fn names_of<R: Record>(&self, record: &R) -> Result<BTreeSet<String>, StoreError> {
        let former = former_names(R::WORD, record.guid()).into_tuple::<String>().all(&self.db.reads);
        let mut names: BTreeSet<String> = self.db.read(former).await?.into_iter().collect();
        names.insert(Folded::of(record.name()).into_string());
        Ok(names)
    }

    async fn read<E: EntityTrait, Row: FromQueryResult + Send + Sync>(
        &self,
        select: Select<E>,
        event: fn(Row) -> Result<TimelineEvent, StoreError>,
    ) -> Result<Vec<TimelineEvent>, StoreError> {
        let rows = self.db.read(select.into_model::<Row>().all(&self.db.reads)).await?;
        rows.into_iter().map(event).collect()
    }
}

#[async_trait]
impl TimelineRepository for SqlTimelineRepository {
    async fn page(
        &self,
        organization: OrganizationId,
        subject: Subject,
        before: Option<TimelineCursor>,
        limit: u32,
    ) -> Result<Vec<TimelineEvent>, StoreError> {
        let page = Page { before, limit };
        let mut events = match subject {
            Subject::Computer(guid) => self.of_computer(organization, guid, page).await?,
            Subject::Device(guid) => self.of_device(organization, guid, page).await?,
        };
        events.sort_by_key(|event| Reverse(event.cursor));
        events.truncate(limit as usize);
        Ok(events)
    }
}

/// The position and length of a page.
#[derive(Clone, Copy)]
struct Page {
    before: Option<TimelineCursor>,
    limit: u32,
}

/// The kinds of events, in the order of [`EventId`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    StateChange,
    Fetch,
    LogEntry,
    CrashReport,
    Refusal,
}

/// The kind of an event, and the values of its id columns.
fn columns_of(id: EventId) -> (Kind, Vec<Value>) {
    match id {
        EventId::StateChange => (Kind::StateChange, Vec::new()),
        EventId::Fetch(key) => (Kind::Fetch, vec![key.organization.0.into(), key.guid.as_uuid().into()]),
        EventId::LogEntry(id) => (Kind::LogEntry, vec![id.into()]),
        EventId::CrashReport(id) => (Kind::CrashReport, vec![id.as_uuid().into()]),
        EventId::Refusal(number) => (Kind::Refusal, vec![number.into()]),
    }
}

/// Selects the newest events of one kind before the cursor. `time` and `id` are the sorted columns of its index.
fn newest<E: EntityTrait>(select: Select<E>, kind: Kind, time: E::Column, id: &[E::Column], page: Page) -> Select<E> {
    let mut select = id.iter().fold(select.order_by_desc(time), |select, column| select.order_by_desc(*column));
    if let Some(before) = page.before {
        let (at, (kind_of_cursor, id_of_cursor)) = (before.at.as_micros(), columns_of(before.id));
        select = select.filter(if kind < kind_of_cursor {
            time.lte(at)
        } else if kind > kind_of_cursor || id.is_empty() {
            time.lt(at)
        } else {
            let key = Expr::tuple([time].iter().chain(id).copied().map(ColumnTrait::into_expr));
            key.lt(Expr::tuple([Value::from(at)].into_iter().chain(id_of_cursor).map(Expr::val)))
        });
    }
    select.limit(u64::from(page.limit))
}

/// The first [`TimelineDetails::MAX_TEXT`] characters of a column.
fn cut(column: &str) -> Expr {
    Expr::cust(format!("substr({column}, 1, {})", TimelineDetails::MAX_TEXT))
}

fn event(at: i64, id: EventId, details: TimelineDetails) -> TimelineEvent {
    TimelineEvent { cursor: TimelineCursor { at: Timestamp::from_micros(at), id }, details }
}

#[derive(FromQueryResult)]
struct LogRow {
    id: i64,
    received_at: i64,
    log_type: String,
    description: String,
    user_name: String,
    source: String,
    version: String,
}

impl LogRow {
    fn event(self) -> Result<TimelineEvent, StoreError> {
        let owner = Owner { what: "log entry", id: &self.id };
        let details = TimelineDetails::LogEntry {
            log_type: owner.need(LogType::parse(&self.log_type))?,
            description: self.description,
            user: self.user_name,
            source: self.source,
            version: self.version,
        };
        Ok(event(self.received_at, EventId::LogEntry(self.id), details))
    }
}

fn log_entries(organization: OrganizationId, page: Page) -> Select<log_entry::Entity> {
    use log_entry::Column;
    let select = log_entry::Entity::find()
        .select_only()
        .columns([Column::Id, Column::ReceivedAt, Column::LogType, Column::UserName, Column::Source, Column::Version])
        .expr_as(cut("description"), "description")
        .filter(Column::OrganizationId.eq(organization.0));
    newest(select, Kind::LogEntry, Column::ReceivedAt, &[Column::Id], page)
}

/// The last former names of a computer or device, folded.
fn former_names(kind: &str, guid: Uuid) -> Select<former_name::Entity> {
    former_name::Entity::find()
        .select_only()
        .column(former_name::Column::NameFolded)
        .filter(former_name::Column::Kind.eq(kind))
        .filter(former_name::Column::RecordGuid.eq(guid))
        .order_by_desc(former_name::Column::Number)
        .limit(FORMER_NAMES as u64)
}

/// The entries that were received under one name of the computer. An index by GUID would make each insert of an entry
/// slower.
fn log_entries_of_computer(
    organization: OrganizationId,
    guid: ComputerGuid,
    name: &str,
    page: Page,
) -> Select<log_entry::Entity> {
    log_entries(organization, page)
        .filter(is_text("computer_folded", name))
        .filter(log_entry::Column::ComputerGuid.eq(guid.as_uuid()))
}

/// The entries that were received under one name of the device, which is their source (decision L4).
fn log_entries_of_device(
    organization: OrganizationId,
    guid: DeviceGuid,
    name: &str,
    page: Page,
) -> Select<log_entry::Entity> {
    log_entries(organization, page)
        .filter(is_text("source_folded", name))
        .filter(log_entry::Column::DeviceGuid.eq(guid.as_uuid()))
}

#[derive(FromQueryResult)]
struct CrashRow {
    id: Uuid,
    received_at: i64,
    application_name: Option<String>,
    application_version: String,
}

impl CrashRow {
    fn event(self) -> TimelineEvent {
        let Self { application_name, application_version, .. } = self;
        let details = TimelineDetails::CrashReport { application_name, application_version };
        event(self.received_at, EventId::CrashReport(CrashReportId::from(self.id)), details)
    }
}

fn crash_reports(organization: OrganizationId, computer: ComputerGuid, page: Page) -> Select<crash_report::Entity> {
    use crash_report::Column;
    let select = crash_report::Entity::find()
        .select_only()
        .columns([Column::Id, Column::ReceivedAt, Column::ApplicationName, Column::ApplicationVersion])
        .filter(Column::OrganizationId.eq(organization.0))
        .filter(Column::ComputerGuid.eq(computer.as_uuid()));
    newest(select, Kind::CrashReport, Column::ReceivedAt, &[Column::Id], page)
}

#[derive(FromQueryResult)]
struct RefusalRow {
    id: i64,
    received_at: i64,
    operation: String,
    reason: String,
    detail: String,
}

impl RefusalRow {
    fn event(self) -> TimelineEvent {
        let Self { operation, reason, detail, .. } = self;
        event(self.received_at, EventId::Refusal(self.id), TimelineDetails::Refusal { operation, reason, detail })
    }
}

fn refusals(computer: ComputerGuid, page: Page) -> Select<refusal::Entity> {
    use refusal::Column;
    let select = refusal::Entity::find()
        .select_only()
        .columns([Column::Id, Column::ReceivedAt, Column::Operation, Column::Reason, Column::Detail])
        .filter(Column::ComputerGuid.eq(computer.as_uuid()));
    newest(select, Kind::Refusal, Column::ReceivedAt, &[Column::Id], page)
}

#[derive(FromQueryResult)]
struct FetchRow {
    organization_id: i64,
    resource_guid: Uuid,
    fetched_at: i64,
    checksum: String,
    /// The name of the resource; `None` if it was deleted or the organization may not see it.
    name: Option<String>,
}

impl FetchRow {
    fn event(self) -> Result<TimelineEvent, StoreError> {
        let guid = ResourceGuid::from(self.resource_guid);
        let checksum = Owner { what: "fetch of a resource", id: &guid }.checksum(&self.checksum)?;
        let key = ResourceKey { organization: OrganizationId(self.organization_id), guid };
        Ok(event(self.fetched_at, EventId::Fetch(key), TimelineDetails::Fetch { name: self.name, checksum }))
    }
}

fn fetches(organization: OrganizationId, computer: ComputerGuid, page: Page) -> Select<computer_fetch::Entity> {
    use computer_fetch::Column;
    let resource = computer_fetch::Relation::Resource.def().on_condition(move |_, _| is_visible_to(organization));
    let select = computer_fetch::Entity::find()
        .select_only()
        .columns([Column::OrganizationId, Column::ResourceGuid, Column::FetchedAt, Column::Checksum])
        .column(resource::Column::Name)
        .join(JoinType::LeftJoin, resource)
        .filter(Column::ComputerGuid.eq(computer.as_uuid()));
    newest(select, Kind::Fetch, Column::FetchedAt, &[Column::OrganizationId, Column::ResourceGuid], page)
}

#[derive(FromQueryResult)]
struct ChangeRow {
    device_guid: Uuid,
    received_at: i64,
    status: String,
    connection_state: Option<String>,
    message: Option<String>,
    connection_message: Option<String>,
}

impl ChangeRow {
    fn event(self) -> Result<TimelineEvent, StoreError> {
        let change = change(device_history::Model {
            organization_id: 0,
            device_guid: self.device_guid,
            received_at: self.received_at,
            status: self.status,
            connection_state: self.connection_state,
            is_change: true,
            message: self.message,
            connection_message: self.connection_message,
            temperature: None,
            remaining_inks: None,
            queue_measure: None,
            queue_amount: None,
        })?;
        Ok(event(self.received_at, EventId::StateChange, TimelineDetails::StateChange(change)))
    }
}

fn changes(organization: OrganizationId, device: DeviceGuid, page: Page) -> Select<device_history::Entity> {
    use device_history::Column;
    let select = device_history::Entity::find()
        .select_only()
        .columns([Column::DeviceGuid, Column::ReceivedAt, Column::Status, Column::ConnectionState])
        .expr_as(cut("message"), "message")
        .expr_as(cut("connection_message"), "connection_message")
        .filter(Column::OrganizationId.eq(organization.0))
        .filter(Column::DeviceGuid.eq(device.as_uuid()))
        .filter(Expr::col(Column::IsChange));
    newest(select, Kind::StateChange, Column::ReceivedAt, &[], page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use sea_orm::{DbBackend, QueryTrait};

    const ROWS: &[&str] = &[
        "INSERT INTO computer_fetch (computer_guid, organization_id, resource_guid, fetched_at, checksum)
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
            SELECT {few}, 1, {guid}, n, '' FROM numbers",
        "INSERT INTO crash_report (id, organization_id, received_at, computer_guid, serial_number, application_version)
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
            SELECT {guid}, 1, n, {few}, '', '' FROM numbers",
        "INSERT INTO refusal (received_at, computer_guid, address, operation, credential, status, reason, detail,
            request_id, serial_number, application_version)
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
            SELECT n, {few}, '', '', 'none', 400, '', '', '', '', '' FROM numbers",
        "INSERT INTO device_history (organization_id, device_guid, received_at, status, is_change)
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
            SELECT 1, {few}, n, 'Idle', n % 2 = 0 FROM numbers",
    ];

    /// Decision I12: each kind of event is read by its index, from the cursor on.
    #[tokio::test]
    async fn every_kind_of_event_is_found_by_an_index() {
        let guid = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
        for engine in engines().await {
            engine.fill().await;
            let (random, few) = match engine.db().backend {
                DbBackend::Postgres => ("md5(n::text)::uuid", "md5((n % 100)::text)::uuid"),
                _ => ("randomblob(16)", "CAST(printf('%016d', n % 100) AS blob)"),
            };
            for sql in ROWS {
                engine.run(&sql.replace("{guid}", random).replace("{few}", few)).await;
            }
            engine.run("ANALYZE").await;
            let (backend, acme) = (engine.db().backend, OrganizationId(1));
            let key = ResourceKey { organization: acme, guid: guid.into() };
            let ids = [
                EventId::StateChange,
                EventId::Fetch(key),
                EventId::LogEntry(5),
                EventId::CrashReport(guid.into()),
                EventId::Refusal(5),
            ];
            let cursors = ids.map(|id| Some(TimelineCursor { at: Timestamp::from_micros(2_000), id }));
            for before in [None].into_iter().chain(cursors) {
                let page = Page { before, limit: 50 };
                for (index, statement) in [
                    ("log_entry_by_computer", log_entries_of_computer(acme, guid.into(), "rip 7", page).build(backend)),
                    ("log_entry_by_source", log_entries_of_device(acme, guid.into(), "source 7", page).build(backend)),
                    ("crash_report_of_computer", crash_reports(acme, guid.into(), page).build(backend)),
                    ("refusal_of_computer", refusals(guid.into(), page).build(backend)),
                    ("device_history_changes", changes(acme, guid.into(), page).build(backend)),
                ] {
                    engine.assert_uses(index, statement).await;
                }
                let plan = engine.plan(fetches(acme, guid.into(), page).build(backend)).await;
                assert!(plan.contains("computer_fetch_by_time"), "{}:\n{plan}", engine.name);
                assert!(!plan.contains("Sort") && !plan.contains("TEMP B-TREE"), "{}:\n{plan}", engine.name);
            }
        }
    }
}
