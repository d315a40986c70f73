//! Every database port in memory: one state with one lock, so that each method is one atomic step.

mod activity;
mod administration;
mod archive;
mod crash_groups;
mod device_board;
mod device_history;
mod directories;
mod fleet_state;
mod inspection;
mod ledger;
mod operators;
mod overview;
mod records;
mod refusals;
mod registry;
mod resource_catalog;
mod resources;
mod retention;
mod search;
mod timeline;

use crate::blob::BlobKey;
use crate::caller::OrganizationId;
use crate::crash_report::StoredCrashReport;
use crate::device_history::InkForecast;
use crate::device_status::DeviceStatus;
use crate::error::StoreError;
use crate::fleet::FleetAuthor;
use crate::guid::{DeviceGuid, ResourceGuid};
use crate::resource::StoredResource;
use crate::timestamp::Timestamp;
use activity::Activity;
use crash_groups::CrashGroups;
use device_history::HistoryRecord;
use fleet_state::FleetState;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use operators::Operators;
use records::LoggedEntry;
use refusals::Refusals;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The database in memory. Clones share it. Its organizations are registered through
/// [`crate::fleet::FleetRegistry`], as everywhere; records of others can be stored as well.
#[derive(Clone, Default)]
pub struct InMemoryStore {
    state: Arc<Mutex<State>>,
    /// The author of changes of the fleet; `None` records no changes.
    author: Option<FleetAuthor>,
}

#[derive(Default)]
struct State {
    failing: bool,
    fleet: FleetState,
    resources: BTreeMap<(OrganizationId, ResourceGuid), StoredResource>,
    discarded: HashMap<BlobKey, Timestamp>,
    /// In the order of receipt.
    logs: Vec<(OrganizationId, LoggedEntry)>,
    last_log_number: i64,
    crash_reports: Vec<(OrganizationId, StoredCrashReport)>,
    statuses: HashMap<(OrganizationId, DeviceGuid), DeviceStatus>,
    device_history: Vec<(OrganizationId, HistoryRecord)>,
    forecasts: HashMap<(OrganizationId, DeviceGuid), Vec<InkForecast>>,
    activity: Activity,
    refusals: Refusals,
    operators: Operators,
    crash_groups: CrashGroups,
}

impl InMemoryStore {
    /// An empty database.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same database, in which the changes of the fleet are recorded as this author's.
    #[must_use]
    pub fn by(&self, author: FleetAuthor) -> Self {
        Self { author: Some(author), ..self.clone() }
    }

    /// Makes every later call fail, or none.
    pub fn set_failing(&self, failing: bool) {
        self.lock().failing = failing;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn working(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let state = self.lock();
        if state.failing { Err(StoreError::other("the database was output to fail")) } else { Ok(state) }
    }

    /// Streams what `read` finds once the stream is asked for its first item.
    fn stream<T, I>(
        &self,
        read: impl FnOnce(&State) -> Vec<I> + Send + 'static,
        convert: impl FnMut(I) -> T + Send + 'static,
    ) -> BoxStream<'static, Result<T, StoreError>>
    where
        T: Send + 'static,
        I: Send + 'static,
    {
        let store = self.clone();
        let rows = async move {
            let rows = read(&*store.working()?);
            Ok::<_, StoreError>(stream::iter(rows.into_iter().map(convert).map(Ok)))
        };
        stream::once(rows).try_flatten().boxed()
    }
}
