//! The log entries: [`domain::log_entry::LogRepository`].

mod filter;
mod list;
mod page;

use crate::connections::Connections;
use crate::entity::log_entry;
use crate::error::FailedTransaction;
use crate::group_commit::{BatchWriter, GroupCommit};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::{DeviceGuid, JobGuid, QueueGuid};
use domain::log_entry::{ListedLogEntry, LogFilter, LogRepository, NewLogEntry};
use domain::text::Folded;
use futures_util::stream::BoxStream;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::{DatabaseConnection, DbErr, EntityTrait};
use std::sync::Arc;

pub(crate) use list::{Row, TextFilters, entries, matching, newest};
pub(crate) use page::page;

/// The log entries in a database. Entries that arrive together are committed together.
pub struct SqlLogRepository {
    db: Arc<Connections>,
    commits: Arc<GroupCommit<log_entry::ActiveModel>>,
}

impl SqlLogRepository {
    pub(crate) fn new(db: Arc<Connections>, commits: Arc<GroupCommit<log_entry::ActiveModel>>) -> Self {
        Self { db, commits }
    }
}

#[async_trait]
impl LogRepository for SqlLogRepository {
    async fn add(&self, organization: OrganizationId, entry: NewLogEntry) -> Result<(), StoreError> {
        let bytes = text_bytes(&entry);
        Ok(self.commits.add(new_row(organization, entry), bytes).await?)
    }

    fn list(
        &self,
        organization: OrganizationId,
        filter: LogFilter,
    ) -> BoxStream<'static, Result<ListedLogEntry, StoreError>> {
        list::list(self.db.clone(), organization, filter)
    }
}

/// Writes batches of log entries.
pub(crate) struct LogWriter(pub(crate) DatabaseConnection);

#[async_trait]
impl BatchWriter for LogWriter {
    type Row = log_entry::ActiveModel;

    async fn write(&self, rows: &[log_entry::ActiveModel]) -> Result<(), FailedTransaction<DbErr>> {
        let insert = log_entry::Entity::insert_many(rows.iter().cloned());
        // The statement commits by itself, so its failure may be that of the commit.
        insert.exec_without_returning(&self.0).await.map(drop).map_err(FailedTransaction::in_commit)
    }
}

fn new_row(organization: OrganizationId, entry: NewLogEntry) -> log_entry::ActiveModel {
    let folded = |text: &str| Set(Folded::of(text).into_string());
    log_entry::ActiveModel {
        id: NotSet,
        organization_id: Set(organization.0),
        received_at: Set(entry.received.as_micros()),
        log_type: Set(entry.log_type.as_str().to_owned()),
        description: Set(entry.description),
        user_folded: folded(&entry.user),
        user_name: Set(entry.user),
        source_folded: folded(&entry.source),
        source: Set(entry.source),
        version_folded: folded(&entry.version),
        version: Set(entry.version),
        computer_folded: folded(&entry.computer),
        computer: Set(entry.computer),
        serial_folded: folded(&entry.serial_number),
        serial_number: Set(entry.serial_number),
        computer_guid: Set(entry.computer_guid.as_uuid()),
        device_guid: Set(entry.device_guid.map(DeviceGuid::as_uuid)),
        queue_guid: Set(entry.queue_guid.map(QueueGuid::as_uuid)),
        job_guid: Set(entry.job_guid.map(JobGuid::as_uuid)),
        job_name: Set(entry.job_name),
        application_version: Set(entry.application_version),
    }
}

/// Bytes of the texts; those with a folded column count twice.
fn text_bytes(entry: &NewLogEntry) -> usize {
    let twice = [&entry.user, &entry.source, &entry.version, &entry.computer, &entry.serial_number];
    let twice: usize = twice.into_iter().map(|text| 2 * text.len()).sum();
    twice + entry.description.len() + entry.job_name.as_ref().map_or(0, String::len)
}
