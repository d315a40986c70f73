//! What the server's stores hold, read through the ports.

use bytes::{Bytes, BytesMut};
use domain::blob::{BlobKey, BlobKind, BlobStore};
use domain::caller::OrganizationId;
use domain::contract::Stores;
use domain::crash_report::StoredCrashReport;
use domain::device_status::DeviceStatus;
use domain::guid::{CrashReportId, DeviceGuid};
use domain::log_entry::{ListedLogEntry, LogFilter};
use futures_util::TryStreamExt;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// The stores, and the runtime on which they were opened.
pub struct Kept {
    pub stores: Stores,
    pub blobs: Arc<dyn BlobStore>,
    pub runtime: Runtime,
}

impl Kept {
    /// All log entries of an organization, the newest first.
    pub fn log_entries(&self, organization: OrganizationId) -> Vec<ListedLogEntry> {
        let entries = self.stores.logs.list(organization, LogFilter::default());
        self.runtime.block_on(entries.try_collect()).unwrap()
    }

    pub fn crash_report(&self, organization: OrganizationId, id: CrashReportId) -> Option<StoredCrashReport> {
        self.runtime.block_on(self.stores.crash_reports.find(organization, id)).unwrap()
    }

    pub fn device_status(&self, organization: OrganizationId, device: DeviceGuid) -> Option<DeviceStatus> {
        self.runtime.block_on(self.stores.device_statuses.find(organization, device)).unwrap()
    }

    /// How many claims on contents of this kind the records of all organizations have.
    pub fn claims(&self, kind: BlobKind) -> usize {
        let claims: Vec<_> = self.runtime.block_on(self.stores.ledger.references().try_collect()).unwrap();
        claims.iter().filter(|claim| claim.key.as_str().starts_with(kind.folder())).count()
    }

    /// The keys of all contents.
    pub fn contents(&self) -> Vec<BlobKey> {
        let entries: Vec<_> = self.runtime.block_on(self.blobs.list().try_collect()).unwrap();
        let mut keys: Vec<_> = entries.into_iter().map(|entry| entry.key).collect();
        keys.sort();
        keys
    }

    pub fn content(&self, key: &BlobKey) -> Option<Bytes> {
        self.runtime.block_on(async {
            let content = self.blobs.read(key, None).await.unwrap()?;
            Some(content.try_collect::<BytesMut>().await.unwrap().freeze())
        })
    }

    /// Puts another content in the place of one, as no use case does.
    pub fn damage(&self, key: &BlobKey, content: Vec<u8>) {
        self.runtime.block_on(async {
            self.blobs.delete(key).await.unwrap();
            let mut writer = self.blobs.create(key).await.unwrap();
            writer.write(content.into()).await.unwrap();
            writer.finish().await.unwrap();
        });
    }
}
