//! The log entries: [`domain::log_entry::LogRepository`].

mod filter;
mod list;

use crate::core::Core;
use crate::group_commit::{Cell, GroupCommit, Kind, Record, Table, Written};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::{DeviceGuid, JobGuid, QueueGuid};
use domain::log_entry::{ListedLogEntry, LogFilter, LogRepository, NewLogEntry};
use domain::text::Folded;
use futures_util::stream::BoxStream;
use std::sync::Arc;

pub(crate) use list::{Row, TextFilter, entries, matching, newest};

/// The log entries in a database. Entries that arrive together are committed together.
pub struct SqlLogRepository {
    core: Arc<Core>,
    group: Arc<GroupCommit>,
}

impl SqlLogRepository {
    pub(crate) fn new(core: Arc<Core>, group: Arc<GroupCommit>) -> Self {
        Self { core, group }
    }
}

#[async_trait]
impl LogRepository for SqlLogRepository {
    async fn add(&self, organization: OrganizationId, entry: NewLogEntry) -> Result<(), StoreError> {
        let row = NewRow::new(organization, entry);
        let bytes = row.size();
        self.group.add(Record::Log(Box::new(row)), bytes).await
    }

    fn list(
        &self,
        organization: OrganizationId,
        filter: LogFilter,
    ) -> BoxStream<'static, Result<ListedLogEntry, StoreError>> {
        list::list(self.core.clone(), organization, filter)
    }
}

/// Log entries as batches write them; the database numbers them.
pub(crate) static TABLE: Table = Table {
    name: "log_entry",
    columns: &[
        ("organization_id", Kind::BigInt),
        ("received_at", Kind::BigInt),
        ("log_type", Kind::Text),
        ("description", Kind::Text),
        ("user_name", Kind::Text),
        ("user_folded", Kind::Text),
        ("source", Kind::Text),
        ("source_folded", Kind::Text),
        ("version", Kind::Text),
        ("version_folded", Kind::Text),
        ("computer", Kind::Text),
        ("computer_folded", Kind::Text),
        ("serial_number", Kind::Text),
        ("serial_folded", Kind::Text),
        ("computer_guid", Kind::Guid),
        ("device_guid", Kind::Guid),
        ("queue_guid", Kind::Guid),
        ("job_guid", Kind::Guid),
        ("job_name", Kind::Text),
        ("application_version", Kind::Text),
    ],
    on_conflict: "",
};

/// An entry on its way into the database.
pub(crate) struct NewRow {
    organization: OrganizationId,
    entry: NewLogEntry,
    user: String,
    source: String,
    version: String,
    computer: String,
    serial_number: String,
}

impl NewRow {
    fn new(organization: OrganizationId, entry: NewLogEntry) -> Self {
        let folded = |text: &str| Folded::of(text).into_string();
        Self {
            organization,
            user: folded(&entry.user),
            source: folded(&entry.source),
            version: folded(&entry.version),
            computer: folded(&entry.computer),
            serial_number: folded(&entry.serial_number),
            entry,
        }
    }

    /// Bytes of its texts.
    fn size(&self) -> usize {
        let entry = &self.entry;
        let kept = [&entry.description, &entry.user, &entry.source, &entry.version, &entry.computer];
        let folded = [&self.user, &self.source, &self.version, &self.computer, &self.serial_number];
        let job_name = entry.job_name.as_ref().map_or(0, String::len);
        kept.iter().chain(&folded).map(|text| text.len()).sum::<usize>() + job_name
    }
}

impl Written for NewRow {
    const TABLE: &'static Table = &TABLE;

    fn write<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let entry = &self.entry;
        cells.extend_from_slice(&[
            self.organization.0.into(),
            entry.received.as_micros().into(),
            Cell::Text(entry.log_type.as_str()),
            (&entry.description).into(),
            (&entry.user).into(),
            (&self.user).into(),
            (&entry.source).into(),
            (&self.source).into(),
            (&entry.version).into(),
            (&self.version).into(),
            (&entry.computer).into(),
            (&self.computer).into(),
            (&entry.serial_number).into(),
            (&self.serial_number).into(),
            entry.computer_guid.as_uuid().into(),
            entry.device_guid.map(DeviceGuid::as_uuid).into(),
            entry.queue_guid.map(QueueGuid::as_uuid).into(),
            entry.job_guid.map(JobGuid::as_uuid).into(),
            entry.job_name.as_ref().into(),
            (&entry.application_version).into(),
        ]);
    }
}
