//! The fleet: [`domain::fleet::FleetDirectory`] and [`domain::fleet::FleetRegistry`].

mod apply;
mod batch;
mod computers;
mod export;
mod keys;
mod records;
mod uses;

use crate::answers::RecordKind;
use crate::core::{Core, Work};
use crate::entity::{computer, device, job, queue};
use crate::error::RegistryFault;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::fleet::{Applied, Fleet, FleetDirectory, FleetRegistry, KeyRevocation, NewKey, Preview, RegistryError};
use domain::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid};
use domain::timestamp::Timestamp;
use records::Record;
use sea_orm::{ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter};
use std::sync::Arc;
use uuid::Uuid;

/// The known records in a database.
pub struct SqlFleetDirectory {
    core: Arc<Core>,
}

impl SqlFleetDirectory {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
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
        let ask = async || {
            let select = E::find().filter(E::Model::is(guid)).filter(E::Model::is_of(organization.0));
            let found = self.core.read(select.one(&self.core.reads)).await?;
            Ok(found.map(|record| record.name().to_owned()))
        };
        let version = self.core.fleet_version().await?;
        self.core.answers.records.get((version, organization, kind, guid), ask).await
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
    core: Arc<Core>,
}

impl SqlFleetRegistry {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Changes the fleet to the end, and looks at its version anew. Other processes do so in time.
    async fn change<W>(&self, work: W) -> Result<W::Done, RegistryError>
    where
        W: Work<Fault = RegistryFault>,
    {
        let changed = self.core.write_at_length(Change(work)).await;
        self.core.answers.forget_version();
        Ok(changed??)
    }
}

#[async_trait]
impl FleetRegistry for SqlFleetRegistry {
    async fn apply(&self, fleet: &Fleet, new_keys: &[NewKey], now: Timestamp) -> Result<Applied, RegistryError> {
        let work = Apply { fleet: fleet.clone(), new_keys: new_keys.to_vec(), now };
        self.change(work).await
    }

    async fn preview(&self, fleet: &Fleet, new_keys: &[NewKey], now: Timestamp) -> Result<Preview, RegistryError> {
        let apply = Apply { fleet: fleet.clone(), new_keys: new_keys.to_vec(), now };
        Ok(self.core.try_out(TryApply(apply)).await??)
    }

    async fn export(&self, organization: Option<String>) -> Result<Fleet, RegistryError> {
        Ok(export::export(&self.core, organization.as_deref()).await?)
    }

    async fn add_key(&self, key: &NewKey, now: Timestamp) -> Result<(), RegistryError> {
        self.change(AddKey { key: key.clone(), now }).await
    }

    async fn revoke_keys(
        &self,
        organization: &str,
        user: &str,
        now: Timestamp,
    ) -> Result<KeyRevocation, RegistryError> {
        let work = RevokeKeys { organization: organization.to_owned(), user: user.to_owned(), now };
        self.change(work).await
    }
}

/// A change to the fleet, which has another version afterwards.
struct Change<W>(W);

#[async_trait]
impl<W: Work<Fault = RegistryFault>> Work for Change<W> {
    type Done = W::Done;
    type Fault = RegistryFault;

    async fn run(&self, transaction: &DatabaseTransaction) -> Result<W::Done, RegistryFault> {
        let done = self.0.run(transaction).await?;
        // Last: who holds this row has nothing left to wait for.
        transaction.execute_unprepared("UPDATE fleet_version SET number = number + 1").await?;
        Ok(done)
    }
}

struct Apply {
    fleet: Fleet,
    new_keys: Vec<NewKey>,
    now: Timestamp,
}

#[async_trait]
impl Work for Apply {
    type Done = Applied;
    type Fault = RegistryFault;

    async fn run(&self, transaction: &DatabaseTransaction) -> Result<Applied, RegistryFault> {
        apply::apply(transaction, &self.fleet, &self.new_keys, self.now).await
    }
}

/// Applies a file between two looks at what it names.
struct TryApply(Apply);

#[async_trait]
impl Work for TryApply {
    type Done = Preview;
    type Fault = RegistryFault;

    async fn run(&self, transaction: &DatabaseTransaction) -> Result<Preview, RegistryFault> {
        let fleet = &self.0.fleet;
        let before = export::named(transaction, fleet).await?;
        let hashes = computers::hashes(transaction, fleet).await?;
        let applied = self.0.run(transaction).await?;
        let after = export::named(transaction, fleet).await?;
        let hashes_after = computers::hashes(transaction, fleet).await?;
        let registered = before.organizations.iter().flat_map(|organization| &organization.computers);
        let changed =
            registered.map(|computer| computer.guid).filter(|guid| hashes.get(guid) != hashes_after.get(guid));
        let new_hashes = changed.collect();
        Ok(Preview { applied, before, after, new_hashes })
    }
}

struct AddKey {
    key: NewKey,
    now: Timestamp,
}

#[async_trait]
impl Work for AddKey {
    type Done = ();
    type Fault = RegistryFault;

    async fn run(&self, transaction: &DatabaseTransaction) -> Result<(), RegistryFault> {
        keys::add(transaction, &self.key, self.now).await
    }
}

struct RevokeKeys {
    organization: String,
    user: String,
    now: Timestamp,
}

#[async_trait]
impl Work for RevokeKeys {
    type Done = KeyRevocation;
    type Fault = RegistryFault;

    async fn run(&self, transaction: &DatabaseTransaction) -> Result<KeyRevocation, RegistryFault> {
        keys::revoke(transaction, &self.organization, &self.user, self.now).await
    }
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
