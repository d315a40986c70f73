//! The log entries: [`domain::log_entry::LogRepository`].

mod filter;
mod list;
mod origin;

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
use origin::NewOrigin;
pub(crate) use origin::{OriginDigest, Origins};

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
        ("origin_id", Kind::BigInt),
        ("received_at", Kind::BigInt),
        ("log_type", Kind::Text),
        ("description", Kind::Text),
        ("source", Kind::Text),
        ("source_folded", Kind::Text),
        ("device_guid", Kind::Guid),
        ("queue_guid", Kind::Guid),
        ("job_guid", Kind::Guid),
        ("job_name", Kind::Text),
    ],
    on_conflict: "",
};

/// An entry on its way into the database.
pub(crate) struct NewRow {
    organization: OrganizationId,
    entry: NewLogEntry,
    /// Folded.
    source: String,
    origin: OriginDigest,
    /// The number of its origin; the table takes no row without one.
    origin_id: Option<i64>,
}

impl NewRow {
    fn new(organization: OrganizationId, entry: NewLogEntry) -> Self {
        let origin = origin::digest(organization, &entry);
        Self { organization, source: Folded::of(&entry.source).into_string(), entry, origin, origin_id: None }
    }

    /// Bytes of its texts.
    fn size(&self) -> usize {
        let entry = &self.entry;
        let of_origin = [&entry.user, &entry.version, &entry.computer, &entry.serial_number];
        let own = [&entry.description, &entry.source, &self.source];
        let job_name = entry.job_name.as_ref().map_or(0, String::len);
        own.iter().chain(&of_origin).map(|text| text.len()).sum::<usize>() + job_name
    }

    pub(crate) fn origin(&self) -> OriginDigest {
        self.origin
    }

    /// Takes the number of its origin if that is remembered; whether it has it.
    pub(crate) fn recall_origin(&mut self, origins: &Origins) -> bool {
        if self.origin_id.is_none() {
            self.origin_id = origins.number(&self.origin, self.entry.received);
        }
        self.origin_id.is_some()
    }

    /// Its origin, as it is to be stored.
    pub(crate) fn new_origin(&self) -> NewOrigin {
        NewOrigin::of(self.origin, self.organization, &self.entry)
    }

    /// Remembers the number of [`NewRow::new_origin`], which was stored as seen when this was received.
    pub(crate) fn remember_origin(&self, id: i64, origins: &Origins) {
        origins.learn(self.origin, id, self.entry.received);
    }

    /// Takes the number of its origin.
    pub(crate) fn take_origin(&mut self, id: i64) {
        self.origin_id = Some(id);
    }
}

impl Written for NewRow {
    const TABLE: &'static Table = &TABLE;

    fn write<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        let entry = &self.entry;
        cells.extend_from_slice(&[
            self.organization.0.into(),
            self.origin_id.into(),
            entry.received.as_micros().into(),
            Cell::Text(entry.log_type.as_str()),
            (&entry.description).into(),
            (&entry.source).into(),
            (&self.source).into(),
            entry.device_guid.map(DeviceGuid::as_uuid).into(),
            entry.queue_guid.map(QueueGuid::as_uuid).into(),
            entry.job_guid.map(JobGuid::as_uuid).into(),
            entry.job_name.as_ref().into(),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::log_entry::Pattern;
    use domain::testing::{a_log_entry, at};
    use futures_util::TryStreamExt;
    use futures_util::future::join_all;

    /// Whoever writes every origin with every batch would lose what origins are for.
    #[tokio::test]
    async fn an_origin_is_stored_once_and_noted_as_seen_once_an_hour() {
        for engine in engines().await {
            let logs = engine.database.logs();
            let add = async |second, computers: u32| {
                let entry = |number| NewLogEntry {
                    received: at(second),
                    computer: format!("RIP {number}"),
                    ..a_log_entry("x")
                };
                let added = (0..computers).map(|number| logs.add(OrganizationId(1), entry(number)));
                assert!(join_all(added).await.iter().all(Result::is_ok));
            };
            let (hour, first, second) = (3600, at(100).as_micros(), at(3700).as_micros());
            for (time, computers, seen) in [(100, 300, first), (99 + hour, 300, first), (100 + hour, 1, second)] {
                add(time, computers).await;
                assert_eq!(engine.number("SELECT count(*) FROM log_origin").await, 300, "{}", engine.name);
                assert_eq!(engine.number("SELECT max(seen_at) FROM log_origin").await, seen, "{}", engine.name);
            }
            assert_eq!(engine.number("SELECT min(seen_at) FROM log_origin").await, first, "{}", engine.name);
            // Another process, whose clock is behind.
            let other = crate::Database::connect(&engine.config).await.unwrap();
            let behind = NewLogEntry { received: at(50), computer: "RIP 0".to_owned(), ..a_log_entry("x") };
            other.logs().add(OrganizationId(1), behind).await.unwrap();
            assert_eq!(engine.number("SELECT count(*) FROM log_origin").await, 300, "{}", engine.name);
            assert_eq!(engine.number("SELECT max(seen_at) FROM log_origin").await, second, "{}", engine.name);
        }
    }

    /// As after a standby has taken over that lacks what was written last.
    #[tokio::test]
    async fn origins_are_not_taken_for_known_by_another_server() {
        let engine = engines().await.remove(1);
        let logs = engine.database.logs();
        logs.add(OrganizationId(1), a_log_entry("before")).await.unwrap();
        engine.run("DELETE FROM log_origin").await;
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()";
        engine.number(end).await;
        while logs.add(OrganizationId(1), a_log_entry("after")).await.is_err() {}
        let all = LogFilter { user: Some(Pattern::new("Ann")), ..LogFilter::default() };
        let other = crate::Database::connect(&engine.config).await.unwrap();
        let listed: Vec<_> = other.logs().list(OrganizationId(1), all).try_collect().await.unwrap();
        assert_eq!(listed.iter().map(|entry| &entry.description).collect::<Vec<_>>(), ["after"]);
    }
}
