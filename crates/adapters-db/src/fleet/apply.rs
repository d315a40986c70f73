//! Applies a fleet file: all of it in one transaction, many rows with each statement (decision O2).

use super::batch::{find_in, put};
use super::records::{Record, record_name, register, set};
use super::users::register_users;
use super::{computers, keys, uses};
use crate::entity::{device, job, organization, queue};
use crate::error::FleetChangeError;
use domain::fleet::{Applied, Fleet, FleetConflict, FleetOrganization, FleetRecord, Job, NewKey, Queue, SimilarName};
use domain::guid::{DeviceGuid, QueueGuid};
use domain::timestamp::Timestamp;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeSet, HashMap, HashSet};
use uuid::Uuid;

pub(super) async fn apply(
    db: &impl ConnectionTrait,
    fleet: &Fleet,
    new_keys: &[NewKey],
    now: Timestamp,
) -> Result<Applied, FleetChangeError> {
    let mut applied = Applied::default();
    let ids = register_organizations(db, &fleet.organizations, &mut applied).await?;
    for organization in &fleet.organizations {
        let id = ids[&organization.name];
        let users = register_users(db, id, organization, &mut applied).await?;
        keys::register(db, organization, &users, new_keys, now, &mut applied).await?;
        let mut retired: HashSet<FleetRecord> = users.retired.into_iter().map(FleetRecord::User).collect();
        retired.extend(retired_targets(db, id, organization).await?);
        let left = [
            computers::register_computers(db, id, &organization.computers, &users.numbers, &mut applied).await?,
            register_devices(db, id, organization).await?,
            register_queues(db, id, organization).await?,
            register_jobs(db, id, organization).await?,
        ];
        let left: Vec<FleetRecord> = left.into_iter().flatten().collect();
        let name = &organization.name;
        let relations = organization.relations().into_iter();
        let relations = relations.filter(|(record, target)| retired.contains(target) && !left.contains(record));
        applied.retired_targets.extend(relations.map(|(record, target)| (name.clone(), record, target)));
        applied.retired.extend(left.into_iter().map(|record| (name.clone(), record)));
    }
    applied.issued.sort_by_key(|issued| new_keys.iter().position(|key| key == issued));
    Ok(applied)
}

/// Registers the organizations and locks their rows, in the order of their names: what is read of
/// them from here on no other process changes, and two processes never wait for each other.
async fn register_organizations(
    db: &impl ConnectionTrait,
    named: &[FleetOrganization],
    applied: &mut Applied,
) -> Result<HashMap<String, i64>, DbErr> {
    let sorted: BTreeSet<&str> = named.iter().map(|organization| organization.name.as_str()).collect();
    let before = find_in(db, organization::Entity::find(), organization::Column::Name, sorted.iter().copied()).await?;
    let before: HashSet<String> = before.into_iter().map(|row| row.name).collect();
    let new: BTreeSet<&str> = sorted.iter().copied().filter(|name| !before.contains(*name)).collect();
    let row =
        |name: &&str| organization::ActiveModel { id: NotSet, name: Set((*name).to_owned()), publisher: Set(false) };
    let rows: Vec<_> = sorted.iter().map(row).collect();
    let on_conflict =
        OnConflict::column(organization::Column::Name).update_column(organization::Column::Name).to_owned();
    let _: HashSet<i64> = put(db, &rows, &on_conflict, organization::Column::Id).await?;
    let rows = find_in(db, organization::Entity::find(), organization::Column::Name, sorted).await?;
    if !new.is_empty() {
        let all = organization::Entity::find().select_only().column(organization::Column::Name);
        applied.similar_names.extend(SimilarName::among(&new, &all.into_tuple().all(db).await?, None));
    }

    let publishers = named.iter().filter_map(|named| named.publisher.map(|publisher| (&named.name, publisher)));
    let publishers: HashMap<&String, bool> = publishers.collect();
    for row in &rows {
        let Some(&publisher) = publishers.get(&row.name).filter(|publisher| **publisher != row.publisher) else {
            continue;
        };
        let update = organization::Entity::update_many()
            .col_expr(organization::Column::Publisher, Expr::value(publisher))
            .filter(organization::Column::Id.eq(row.id));
        update.exec(db).await?;
    }
    Ok(rows.into_iter().map(|row| (row.name, row.id)).collect())
}

async fn register_devices(
    db: &impl ConnectionTrait,
    id: i64,
    organization: &FleetOrganization,
) -> Result<Vec<FleetRecord>, FleetChangeError> {
    register::<device::Entity, _>(
        db,
        id,
        &organization.devices,
        |device| device.guid.as_uuid(),
        |named, row| {
            set(&mut row.name, named.name.as_ref());
        },
    )
    .await
}

async fn register_queues(
    db: &impl ConnectionTrait,
    id: i64,
    organization: &FleetOrganization,
) -> Result<Vec<FleetRecord>, FleetChangeError> {
    let named = &organization.queues;
    let relations =
        named.iter().filter_map(|queue| queue.device.map(|device| (queue.guid.as_uuid(), device.as_uuid())));
    need_own::<queue::Entity, device::Entity>(db, id, relations.collect()).await?;
    let retired = register::<queue::Entity, _>(
        db,
        id,
        named,
        |queue| queue.guid.as_uuid(),
        |named, row| {
            set(&mut row.name, named.name.as_ref());
            row.device_guid = named.device.map(DeviceGuid::as_uuid).or(row.device_guid);
        },
    )
    .await?;
    let is_live = |queue: &&Queue| !retired.contains(&FleetRecord::Queue(queue.guid));
    let uses =
        named.iter().filter(is_live).filter_map(|queue| queue.uses.as_deref().map(|uses| (queue.guid.as_uuid(), uses)));
    uses::replace(db, id, queue::Model::WORD, uses).await?;
    Ok(retired)
}

async fn register_jobs(
    db: &impl ConnectionTrait,
    id: i64,
    organization: &FleetOrganization,
) -> Result<Vec<FleetRecord>, FleetChangeError> {
    let named = &organization.jobs;
    let relations = named.iter().filter_map(|job| job.queue.map(|queue| (job.guid.as_uuid(), queue.as_uuid())));
    need_own::<job::Entity, queue::Entity>(db, id, relations.collect()).await?;
    let retired = register::<job::Entity, _>(
        db,
        id,
        named,
        |job| job.guid.as_uuid(),
        |named, row| {
            set(&mut row.name, named.name.as_ref());
            row.queue_guid = named.queue.map(QueueGuid::as_uuid).or(row.queue_guid);
        },
    )
    .await?;
    let is_live = |job: &&Job| !retired.contains(&FleetRecord::Job(job.guid));
    let uses =
        named.iter().filter(is_live).filter_map(|job| job.uses.as_deref().map(|uses| (job.guid.as_uuid(), uses)));
    uses::replace(db, id, job::Model::WORD, uses).await?;
    Ok(retired)
}

/// The retired devices and queues that a file refers to.
async fn retired_targets(
    db: &impl ConnectionTrait,
    id: i64,
    organization: &FleetOrganization,
) -> Result<Vec<FleetRecord>, DbErr> {
    let devices = organization.queues.iter().filter_map(|queue| queue.device).map(DeviceGuid::as_uuid);
    let queues = organization.jobs.iter().filter_map(|job| job.queue).map(QueueGuid::as_uuid);
    let mut retired = retired_of::<device::Entity>(db, id, devices.collect()).await?;
    retired.extend(retired_of::<queue::Entity>(db, id, queues.collect()).await?);
    Ok(retired)
}

async fn retired_of<E>(db: &impl ConnectionTrait, id: i64, guids: Vec<Uuid>) -> Result<Vec<FleetRecord>, DbErr>
where
    E: EntityTrait,
    E::Model: Record<Entity = E>,
{
    let retired = E::find().filter(E::Model::is_of(id)).filter(E::Model::RETIRED.is_not_null());
    Ok(find_in(db, retired, E::Model::GUID, guids).await?.iter().map(Record::record).collect())
}

/// Refuses relations (record, target) to what isn't registered under this organization.
async fn need_own<R, T>(
    db: &impl ConnectionTrait,
    organization: i64,
    relations: Vec<(Uuid, Uuid)>,
) -> Result<(), FleetChangeError>
where
    R: EntityTrait,
    R::Model: Record<Entity = R>,
    T: EntityTrait,
    T::Model: Record<Entity = T>,
{
    let targets: BTreeSet<Uuid> = relations.iter().map(|(_, target)| *target).collect();
    let own = T::find().filter(T::Model::is_of(organization));
    let own = find_in(db, own, T::Model::GUID, targets).await?;
    let own: HashSet<Uuid> = own.iter().map(Record::guid).collect();
    match relations.into_iter().find(|(_, target)| !own.contains(target)) {
        None => Ok(()),
        Some((record, target)) => Err(FleetConflict::UnknownTarget {
            record: record_name(R::Model::WORD, record),
            target: record_name(T::Model::WORD, target),
        }
        .into()),
    }
}
