//! The fleet: [`domain::fleet::FleetDirectory`] and [`domain::fleet::FleetRegistry`].

mod administration;
mod apply;
mod batch;
mod computers;
mod export;
mod former_names;
mod keys;
mod records;
mod users;
mod uses;

use crate::audit;
use crate::connections::Connections;
use crate::entity::{computer, device, fleet_version, job, queue};
use crate::error::FleetChangeError;
use crate::fleet_cache::RecordKind;
use async_trait::async_trait;
use domain::audit::NewAuditRecord;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::fleet::{
    Applied, Fleet, FleetAuthor, FleetDirectory, FleetRegistry, KeyRevocation, NewKey, Preview, RegistryError,
};
use domain::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
pub(crate) use records::Record;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter};
use std::sync::Arc;
use uuid::Uuid;

/// The known records in a database.
pub struct SqlFleetDirectory {
    db: Arc<Connections>,
}

impl SqlFleetDirectory {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }

    /// The name of a record of this organization.
    async fn find<E>(
        &self,
        kind: RecordKind,
        organization: OrganizationId,
        guid: Uuid,
    ) -> Result<Option<String>, StoreError>
    where
        E: EntityTrait,
        E::Model: Record<Entity = E>,
    {
        let query = async || {
            let own = E::find().filter(E::Model::is_of(organization.0));
            let select = own.filter(E::Model::is(guid)).filter(E::Model::is_live());
            let found = self.db.read(select.one(&self.db.reads)).await?;
            Ok(found.map(|record| record.name().to_owned()))
        };
        let version = self.db.fleet_version().await?;
        self.db.fleet_cache.records.get((version, organization, kind, guid), query).await
    }
}

#[async_trait]
impl FleetDirectory for SqlFleetDirectory {
    async fn find_computer(
        &self,
        organization: OrganizationId,
        guid: ComputerGuid,
    ) -> Result<Option<String>, StoreError> {
        self.find::<computer::Entity>(RecordKind::Computer, organization, guid.as_uuid()).await
    }

    async fn find_device(&self, organization: OrganizationId, guid: DeviceGuid) -> Result<Option<String>, StoreError> {
        self.find::<device::Entity>(RecordKind::Device, organization, guid.as_uuid()).await
    }

    async fn find_queue(&self, organization: OrganizationId, guid: QueueGuid) -> Result<Option<String>, StoreError> {
        self.find::<queue::Entity>(RecordKind::Queue, organization, guid.as_uuid()).await
    }

    async fn find_job(&self, organization: OrganizationId, guid: JobGuid) -> Result<Option<String>, StoreError> {
        self.find::<job::Entity>(RecordKind::Job, organization, guid.as_uuid()).await
    }
}

/// The fleet in a database, as the operator changes it.
pub struct SqlFleetRegistry {
    db: Arc<Connections>,
    /// Whose changes are recorded; `None` records none.
    author: Option<Arc<FleetAuthor>>,
}

impl SqlFleetRegistry {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db, author: None }
    }

    /// The same fleet, whose changes are recorded as this author's, in their transactions (decision P9).
    #[must_use]
    pub fn by(self, author: FleetAuthor) -> Self {
        Self { author: Some(Arc::new(author)), ..self }
    }

    /// Changes the fleet and increments its version. This process sees the change at once, others within seconds.
    async fn change<T, W>(&self, work: W) -> Result<T, RegistryError>
    where
        T: Send + 'static,
        W: for<'c> Fn(&'c DatabaseTransaction) -> BoxFuture<'c, Result<T, FleetChangeError>> + Send + Sync + 'static,
    {
        let work = Arc::new(work);
        let changed = self.db.write_without_timeout(move |transaction| {
            let work = work.clone();
            async move {
                let done = work(transaction).await?;
                // Last: the lock on this row is held for the shortest time.
                let next = fleet_version::Column::Number.into_expr().add(1);
                let update = fleet_version::Entity::update_many().col_expr(fleet_version::Column::Number, next);
                update.exec(transaction).await?;
                Ok::<_, FleetChangeError>(done)
            }
            .boxed()
        });
        let changed = changed.await;
        self.db.fleet_cache.forget_version();
        Ok(changed??)
    }
}

#[async_trait]
impl FleetRegistry for SqlFleetRegistry {
    async fn apply(&self, fleet: &Fleet, new_keys: &[NewKey], now: Timestamp) -> Result<Applied, RegistryError> {
        let file = Arc::new((fleet.clone(), new_keys.to_vec()));
        let author = self.author.clone();
        self.change(move |transaction| {
            let (file, author) = (file.clone(), author.clone());
            async move {
                let Some(author) = author else {
                    return apply::apply(transaction, &file.0, &file.1, now).await;
                };
                let preview = preview(transaction, &file.0, &file.1, now).await?;
                for record in author.applied(&file.0, &preview) {
                    audit::store(transaction, &record).await?;
                }
                Ok(preview.applied)
            }
            .boxed()
        })
        .await
    }

    async fn preview(&self, fleet: &Fleet, new_keys: &[NewKey], now: Timestamp) -> Result<Preview, RegistryError> {
        let file = Arc::new((fleet.clone(), new_keys.to_vec()));
        let preview = self.db.dry_run(move |transaction| {
            let file = file.clone();
            async move { preview(transaction, &file.0, &file.1, now).await }.boxed()
        });
        Ok(preview.await??)
    }

    async fn export(&self, organization: Option<String>) -> Result<Fleet, RegistryError> {
        Ok(export::export(&self.db, organization.as_deref()).await?)
    }

    async fn add_key(&self, key: &NewKey, now: Timestamp) -> Result<(), RegistryError> {
        let asked = Arc::new((key.clone(), self.author.clone()));
        self.change(move |transaction| {
            let asked = asked.clone();
            async move {
                let (key, author) = &*asked;
                keys::add(transaction, key, now).await?;
                record(transaction, author.as_ref().map(|author| author.key_issued(key))).await
            }
            .boxed()
        })
        .await
    }

    async fn revoke_keys(
        &self,
        organization: &str,
        user: &str,
        now: Timestamp,
    ) -> Result<KeyRevocation, RegistryError> {
        let asked = Arc::new((organization.to_owned(), user.to_owned(), self.author.clone()));
        self.change(move |transaction| {
            let asked = asked.clone();
            async move {
                let (organization, user, author) = &*asked;
                let done = keys::revoke(transaction, organization, user, now).await?;
                let author = author.as_ref().filter(|_| done.revoked > 0);
                record(transaction, author.map(|author| author.keys_revoked(organization, user, done.revoked))).await?;
                Ok(done)
            }
            .boxed()
        })
        .await
    }
}

/// Stores the audit record of a change, if it has an author.
async fn record(transaction: &DatabaseTransaction, record: Option<NewAuditRecord>) -> Result<(), FleetChangeError> {
    match record {
        Some(record) => Ok(audit::store(transaction, &record).await?),
        None => Ok(()),
    }
}

/// Applies a file and compares what it names before and after.
async fn preview(
    transaction: &DatabaseTransaction,
    fleet: &Fleet,
    new_keys: &[NewKey],
    now: Timestamp,
) -> Result<Preview, FleetChangeError> {
    let before = export::named(transaction, fleet).await?;
    let hashes = computers::hashes(transaction, fleet).await?;
    let applied = apply::apply(transaction, fleet, new_keys, now).await?;
    let after = export::named(transaction, fleet).await?;
    let hashes_after = computers::hashes(transaction, fleet).await?;
    let registered = before.organizations.iter().flat_map(|organization| &organization.computers);
    let changed = registered.map(|computer| computer.guid).filter(|guid| hashes.get(guid) != hashes_after.get(guid));
    let new_hashes = changed.collect();
    let other_organizations = export::other_organizations(transaction, fleet).await?;
    Ok(Preview { applied, before, after, new_hashes, other_organizations })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Database;
    use crate::testing::engines;
    use domain::testing::{ACME, a_fleet, acme_records, at};
    use std::time::{Duration, Instant};
    use tokio::time::sleep;

    /// Decision A6. A change by hand shows what is answered from memory.
    #[tokio::test]
    async fn an_answer_counts_until_another_process_changes_the_fleet() {
        for engine in engines().await {
            let job = acme_records().job;
            let other = Database::connect(&engine.config).await.unwrap();
            other.fleet_registry().apply(&a_fleet(), &[], at(0)).await.unwrap();
            let id = engine.number(&format!("SELECT id FROM organization WHERE name = '{ACME}'")).await;
            let named =
                async || engine.database.fleet_directory().find_job(OrganizationId(id), job).await.unwrap().unwrap();
            assert_eq!(named().await, "Order 17");
            engine.run("UPDATE job SET name = 'by hand'").await;
            // Longer than a version counts.
            sleep(Duration::from_millis(1500)).await;
            assert_eq!(named().await, "Order 17", "{}", engine.name);

            // It needn't be of the job.
            other.fleet_registry().revoke_keys(ACME, "Bob", at(1)).await.unwrap();
            let since = Instant::now();
            while named().await != "by hand" {
                assert!(since.elapsed() < Duration::from_secs(5), "{}", engine.name);
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
