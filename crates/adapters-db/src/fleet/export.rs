//! The registered fleet in the form of a file, without credentials.

use super::keys::find_organization;
use super::records::Record;
use crate::connections::Connections;
use crate::entity::{computer, device, job, organization, queue, resource_use, user_account};
use crate::error::FleetChangeError;
use domain::fleet::{Computer, Device, Fleet, FleetConflict, FleetOrganization, FleetRecord, Job, Queue, User};
use domain::guid::ResourceGuid;
use sea_orm::{
    AccessMode, ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, IsolationLevel, QueryFilter, QueryOrder,
    QueryTrait, TransactionTrait,
};
use std::collections::HashMap;
use uuid::Uuid;

/// All of the fleet or one organization, as of one point in time; sorted by name, then GUID.
pub(super) async fn export(db: &Connections, organization: Option<&str>) -> Result<Fleet, FleetChangeError> {
    // A transaction of SQLite sees one point in time as it is.
    let is_postgres = db.backend == DbBackend::Postgres;
    let isolation = is_postgres.then_some(IsolationLevel::RepeatableRead);
    let access = is_postgres.then_some(AccessMode::ReadOnly);
    let snapshot = db.reads.begin_with_config(isolation, access).await?;
    let fleet = read(&snapshot, organization).await;
    // Nothing was written: how the transaction ends makes no difference.
    let _ = snapshot.rollback().await;
    fleet
}

/// The organizations that `fleet` names, as far as they are registered.
pub(super) async fn named(db: &impl ConnectionTrait, fleet: &Fleet) -> Result<Fleet, FleetChangeError> {
    let mut organizations = Vec::new();
    for organization in &fleet.organizations {
        match read(db, Some(&organization.name)).await {
            Ok(found) => organizations.extend(found.organizations),
            Err(FleetChangeError::Conflict(FleetConflict::NotFound { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Fleet { organizations })
}

/// The names of the organizations that `fleet` doesn't name, in order.
pub(super) async fn other_organizations(db: &impl ConnectionTrait, fleet: &Fleet) -> Result<Vec<String>, DbErr> {
    let is_named = |name: &String| fleet.organizations.iter().any(|named| named.name == *name);
    let rows = organization::Entity::find().all(db).await?;
    let mut names: Vec<String> = rows.into_iter().map(|row| row.name).filter(|name| !is_named(name)).collect();
    names.sort();
    Ok(names)
}

async fn read(db: &impl ConnectionTrait, organization: Option<&str>) -> Result<Fleet, FleetChangeError> {
    let (mut organizations, only) = match organization {
        Some(name) => {
            let organization = find_organization(db, name).await?;
            let id = organization.id;
            (vec![organization], Some(id))
        }
        None => (organization::Entity::find().all(db).await?, None),
    };
    organizations.sort_by(|one, other| one.name.cmp(&other.name));
    let mut records = Records::read(db, only).await?;
    Ok(Fleet { organizations: organizations.into_iter().map(|row| records.take(row)).collect() })
}

/// The records by organization, each list by name, then GUID.
struct Records {
    user_names: HashMap<i64, String>,
    users: HashMap<i64, Vec<User>>,
    computers: HashMap<i64, Vec<computer::Model>>,
    devices: HashMap<i64, Vec<device::Model>>,
    queues: HashMap<i64, Vec<queue::Model>>,
    jobs: HashMap<i64, Vec<job::Model>>,
    used: HashMap<(String, Uuid), Vec<ResourceGuid>>,
    retired: HashMap<i64, Vec<FleetRecord>>,
}

impl Records {
    async fn read(db: &impl ConnectionTrait, only: Option<i64>) -> Result<Self, DbErr> {
        let users = user_account::Entity::find()
            .apply_if(only, |select, id| select.filter(user_account::Column::OrganizationId.eq(id)));
        let mut users = users.all(db).await?;
        users.sort_by(|one, other| one.name.cmp(&other.name));
        let mut used: HashMap<_, Vec<_>> = HashMap::new();
        let rows = resource_use::Entity::find()
            .apply_if(only, |select, id| select.filter(resource_use::Column::OrganizationId.eq(id)))
            .order_by_asc(resource_use::Column::ResourceGuid);
        for row in rows.all(db).await? {
            used.entry((row.kind, row.record_guid)).or_default().push(ResourceGuid::from(row.resource_guid));
        }
        let mut retired: HashMap<i64, Vec<FleetRecord>> = HashMap::new();
        for user in users.iter().filter(|user| user.retired_at.is_some()) {
            retired.entry(user.organization_id).or_default().push(FleetRecord::User(user.name.clone()));
        }
        let user_names = users.iter().map(|user| (user.id, user.name.clone())).collect();
        let users = users.into_iter().map(|user| (user.organization_id, User { name: user.name, mis_key: None }));
        Ok(Self {
            user_names,
            users: grouped(users),
            computers: records::<computer::Entity>(db, only, &mut retired).await?,
            devices: records::<device::Entity>(db, only, &mut retired).await?,
            queues: records::<queue::Entity>(db, only, &mut retired).await?,
            jobs: records::<job::Entity>(db, only, &mut retired).await?,
            used,
            retired,
        })
    }

    fn take(&mut self, organization: organization::Model) -> FleetOrganization {
        let id = organization.id;
        let computers = self.computers.remove(&id).unwrap_or_default();
        let computer = |row: computer::Model| Computer {
            guid: row.guid.into(),
            name: Some(row.name),
            hardware_hash: None,
            serial_number: row.serial_number,
            user: row.user_id.and_then(|user| self.user_names.get(&user).cloned()),
        };
        let computers = computers.into_iter().map(computer).collect();
        let device = |row: device::Model| Device { guid: row.guid.into(), name: Some(row.name) };
        let queues = self.queues.remove(&id).unwrap_or_default();
        let queue = |row: queue::Model| Queue {
            guid: row.guid.into(),
            name: Some(row.name),
            device: row.device_guid.map(Into::into),
            uses: Some(self.used.remove(&(queue::Model::WORD.to_owned(), row.guid)).unwrap_or_default()),
        };
        let queues = queues.into_iter().map(queue).collect();
        let jobs = self.jobs.remove(&id).unwrap_or_default();
        let job = |row: job::Model| Job {
            guid: row.guid.into(),
            name: Some(row.name),
            queue: row.queue_guid.map(Into::into),
            uses: Some(self.used.remove(&(job::Model::WORD.to_owned(), row.guid)).unwrap_or_default()),
        };
        FleetOrganization {
            name: organization.name,
            publisher: Some(organization.publisher),
            users: self.users.remove(&id).unwrap_or_default(),
            computers,
            devices: self.devices.remove(&id).unwrap_or_default().into_iter().map(device).collect(),
            queues,
            jobs: jobs.into_iter().map(job).collect(),
            retired: self.retired.remove(&id).unwrap_or_default().into_iter().collect(),
        }
    }
}

/// The records of one kind; adds those that are retired to `retired`.
async fn records<E>(
    db: &impl ConnectionTrait,
    only: Option<i64>,
    retired: &mut HashMap<i64, Vec<FleetRecord>>,
) -> Result<HashMap<i64, Vec<E::Model>>, DbErr>
where
    E: EntityTrait,
    E::Model: Record<Entity = E>,
{
    let select = E::find().apply_if(only, |select, id| select.filter(E::Model::is_of(id)));
    let mut records = select.all(db).await?;
    for record in records.iter().filter(|record| record.is_retired()) {
        retired.entry(record.organization()).or_default().push(record.record());
    }
    records.sort_by(|one, other| (one.name(), one.guid()).cmp(&(other.name(), other.guid())));
    Ok(grouped(records.into_iter().map(|record| (record.organization(), record))))
}

fn grouped<T>(records: impl Iterator<Item = (i64, T)>) -> HashMap<i64, Vec<T>> {
    let mut groups: HashMap<i64, Vec<T>> = HashMap::new();
    for (organization, record) in records {
        groups.entry(organization).or_default().push(record);
    }
    groups
}
