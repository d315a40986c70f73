//! Ports that fail when a test says so, and otherwise pass calls on: how the interface words a failure
//! doesn't depend on that. What makes the stores themselves fail is for the end-to-end tests.

use async_trait::async_trait;
use domain::access::{CredentialDigest, CredentialDirectory, KeyHolder, RegisteredComputer};
use domain::blob::{BlobEntry, BlobKey, BlobStore, BlobWriter, ByteStream};
use domain::caller::OrganizationId;
use domain::contract::Stores;
use domain::crash_report::{CrashReportRepository, NewCrashReport, StoredCrashReport};
use domain::device_status::{DeviceStatus, DeviceStatusRepository};
use domain::error::{StoreError, WriteError};
use domain::guid::{CrashReportId, DeviceGuid};
use domain::log_entry::{ListedLogEntry, LogFilter, LogRepository, NewLogEntry};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The cause of every failure.
pub const CAUSE: &str = "the store was output to fail";

/// The ports that can fail, each by its own switch.
#[derive(Default)]
pub struct Failing {
    pub credentials: Switch,
    /// Of look-ups of credentials, hence of every operation: more are waiting than can be answered.
    pub turns: Switch,
    pub logs: Switch,
    pub blobs: Switch,
    /// Of log entries, crash reports and statuses: there is none.
    pub room: Switch,
}

impl Failing {
    /// These ports before the stores.
    pub fn before(
        &self,
        stores: &Stores,
        blobs: &Arc<dyn BlobStore>,
    ) -> (Arc<dyn CredentialDirectory>, Arc<dyn LogRepository>, Arc<dyn BlobStore>) {
        let credentials: Arc<dyn CredentialDirectory> =
            Arc::new(Switched { port: stores.credentials.clone(), switch: self.credentials.clone(), error: failed });
        (
            Arc::new(Switched { port: credentials, switch: self.turns.clone(), error: full }),
            Arc::new(Switched { port: stores.logs.clone(), switch: self.logs.clone(), error: failed }),
            Arc::new(Switched { port: blobs.clone(), switch: self.blobs.clone(), error: failed }),
        )
    }

    /// These ports with a queue that may be full.
    pub fn queued(
        &self,
        logs: Arc<dyn LogRepository>,
        crash_reports: Arc<dyn CrashReportRepository>,
        device_statuses: Arc<dyn DeviceStatusRepository>,
    ) -> (Arc<dyn LogRepository>, Arc<dyn CrashReportRepository>, Arc<dyn DeviceStatusRepository>) {
        let (switch, error) = (&self.room, full as fn() -> StoreError);
        (
            Arc::new(Switched { port: logs, switch: switch.clone(), error }),
            Arc::new(Switched { port: crash_reports, switch: switch.clone(), error }),
            Arc::new(Switched { port: device_statuses, switch: switch.clone(), error }),
        )
    }
}

/// Whether a port fails. Clones switch the same port.
#[derive(Clone, Default)]
pub struct Switch(Arc<AtomicBool>);

impl Switch {
    /// From now on every call fails, or none does.
    pub fn set(&self, failing: bool) {
        self.0.store(failing, Ordering::SeqCst);
    }
}

struct Switched<T: ?Sized> {
    port: Arc<T>,
    switch: Switch,
    error: fn() -> StoreError,
}

fn failed() -> StoreError {
    StoreError::other(CAUSE)
}

fn full() -> StoreError {
    StoreError::Overloaded
}

impl<T: ?Sized> Switched<T> {
    fn working(&self) -> Result<&T, StoreError> {
        if self.switch.0.load(Ordering::SeqCst) { Err((self.error)()) } else { Ok(&self.port) }
    }
}

#[async_trait]
impl CredentialDirectory for Switched<dyn CredentialDirectory> {
    async fn find_key_holder(&self, mis_key: CredentialDigest) -> Result<Option<KeyHolder>, StoreError> {
        self.working()?.find_key_holder(mis_key).await
    }

    async fn find_computer(&self, hardware_hash: CredentialDigest) -> Result<Option<RegisteredComputer>, StoreError> {
        self.working()?.find_computer(hardware_hash).await
    }
}

#[async_trait]
impl LogRepository for Switched<dyn LogRepository> {
    async fn add(&self, organization: OrganizationId, entry: NewLogEntry) -> Result<(), StoreError> {
        self.working()?.add(organization, entry).await
    }

    fn list(
        &self,
        organization: OrganizationId,
        filter: LogFilter,
    ) -> BoxStream<'static, Result<ListedLogEntry, StoreError>> {
        match self.working() {
            Ok(port) => port.list(organization, filter),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
}

#[async_trait]
impl CrashReportRepository for Switched<dyn CrashReportRepository> {
    async fn add(&self, organization: OrganizationId, report: NewCrashReport) -> Result<(), WriteError> {
        self.working()?.add(organization, report).await
    }

    async fn find(
        &self,
        organization: OrganizationId,
        id: CrashReportId,
    ) -> Result<Option<StoredCrashReport>, StoreError> {
        self.working()?.find(organization, id).await
    }
}

#[async_trait]
impl DeviceStatusRepository for Switched<dyn DeviceStatusRepository> {
    async fn put(&self, organization: OrganizationId, status: DeviceStatus) -> Result<(), StoreError> {
        self.working()?.put(organization, status).await
    }

    async fn find(&self, organization: OrganizationId, device: DeviceGuid) -> Result<Option<DeviceStatus>, StoreError> {
        self.working()?.find(organization, device).await
    }
}

#[async_trait]
impl BlobStore for Switched<dyn BlobStore> {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>, StoreError> {
        self.working()?.create(key).await
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        self.working()?.read(key, range).await
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), StoreError> {
        self.working()?.delete(key).await
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>, StoreError> {
        self.working()?.size(key).await
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        match self.working() {
            Ok(port) => port.list(),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        self.working()?.sweep_unfinished().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.working()?.ping().await
    }
}
