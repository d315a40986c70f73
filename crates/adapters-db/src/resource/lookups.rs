//! Lookups of resources that arrive while earlier ones run share the next query (ADR 63).

use crate::connections::Connections;
use crate::entity::resource::{Column, Entity, Model};
use crate::error::{store_error, unavailable};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ResourceGuid;
use sea_orm::{ColumnTrait, Condition, DbErr, EntityTrait, ExprTrait, QueryFilter, Select};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use uuid::Uuid;

/// Queries at a time. Each takes a connection that the concurrency limit doesn't count.
pub(crate) const MAX_RUNNING: u32 = 2;

/// Lookups of one query. A row may have a mebibyte of Meta, and all rows of a query are in memory at once.
const MAX_BATCH: usize = 32;

/// Lookups that wait for a query.
const MAX_QUEUED: usize = 1024;

/// Organization and GUID.
type Key = (i64, Uuid);

struct Lookup {
    key: Key,
    caller: oneshot::Sender<Result<Option<Model>, DbErr>>,
}

/// Gathers lookups. A lookup that finds no query running is run at once.
#[derive(Clone)]
pub(crate) struct ResourceLookups {
    db: Arc<Connections>,
    queue: mpsc::Sender<Lookup>,
}

impl ResourceLookups {
    /// Starts the task that runs the queries. It ends when all clones are dropped.
    pub(crate) fn start(db: &Arc<Connections>) -> Self {
        let (queue, lookups) = mpsc::channel(MAX_QUEUED);
        db.runtime.spawn(run(db.clone(), lookups));
        Self { db: db.clone(), queue }
    }

    /// The resource of an organization, read by a query that begins after this call.
    ///
    /// # Errors
    /// `Overloaded` where the queue stays full for half of the timeout.
    pub(crate) async fn find(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
    ) -> Result<Option<Model>, StoreError> {
        let closed = || unavailable("the database is closed");
        let (caller, found) = oneshot::channel();
        let lookup = Lookup { key: (organization.0, guid.as_uuid()), caller };
        let found = self.db.in_time(async {
            let queued = timeout(self.db.timeout / 2, self.queue.send(lookup)).await;
            queued.map_err(|_| StoreError::Overloaded)?.map_err(|_| closed())?;
            found.await.map_err(|_| closed())?.map_err(store_error)
        });
        found.await?
    }
}

async fn run(db: Arc<Connections>, mut queue: mpsc::Receiver<Lookup>) {
    let running = Arc::new(Semaphore::new(MAX_RUNNING as usize));
    while let Ok(permit) = running.clone().acquire_owned().await {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        if queue.recv_many(&mut batch, MAX_BATCH).await == 0 {
            return;
        }
        let db = db.clone();
        tokio::spawn(async move {
            answer(&db, batch).await;
            drop(permit);
        });
    }
}

/// Runs one query for the lookups whose callers still wait.
async fn answer(db: &Connections, mut batch: Vec<Lookup>) {
    batch.retain(|lookup| !lookup.caller.is_closed());
    let keys: Vec<Key> = batch.iter().map(|lookup| lookup.key).collect();
    if keys.is_empty() {
        return;
    }
    let found = find_all(db, &keys).await.inspect_err(|error| db.lost_sessions.report(error));
    for Lookup { key, caller } in batch {
        let found = found.as_ref().map(|found| found.get(&key).cloned());
        // The caller may have gone away.
        let _ = caller.send(found.map_err(Clone::clone));
    }
}

async fn find_all(db: &Connections, keys: &[Key]) -> Result<HashMap<Key, Model>, DbErr> {
    let rows = by_keys(keys).all(&db.reads).await?;
    Ok(rows.into_iter().map(|row| ((row.organization_id, row.guid), row)).collect())
}

/// The last key is repeated up to a power of two, so that a connection prepares few different statements.
pub(super) fn by_keys(keys: &[Key]) -> Select<Entity> {
    let is_key = |&(organization, guid)| Column::OrganizationId.eq(organization).and(Column::Guid.eq(guid));
    let repeated = keys.last().into_iter().cycle().take(keys.len().next_power_of_two() - keys.len());
    let any_key = keys.iter().chain(repeated).map(is_key).fold(Condition::any(), Condition::add);
    Entity::find().filter(any_key)
}
