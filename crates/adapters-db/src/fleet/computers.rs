//! Computers and their hardware hashes: stored as digests, each digest once in all organizations
//! (decision A1).

use super::batch::{delete_in, find_in, put};
use super::records::{Record, organization_name, record_name, register, removed, set};
use crate::entity::{computer, hardware_hash};
use crate::error::FleetChangeError;
use domain::fleet::{Applied, Computer, Fleet, FleetConflict, FleetRecord, Secret};
use domain::guid::ComputerGuid;
use domain::text::Folded;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use std::collections::{BTreeMap, HashMap, HashSet};
use uuid::Uuid;

/// Registers computers of one organization, whose users have these numbers.
pub(super) async fn register_computers(
    db: &impl ConnectionTrait,
    organization: i64,
    named: &[Computer],
    users: &HashMap<String, i64>,
    applied: &mut Applied,
) -> Result<Vec<FleetRecord>, FleetChangeError> {
    let is_unknown = |computer: &&Computer| computer.user.as_ref().is_some_and(|user| !users.contains_key(user));
    if let Some(computer) = named.iter().find(is_unknown) {
        let target = format!("user \"{}\"", computer.user.as_deref().unwrap_or_default());
        return Err(FleetConflict::UnknownTarget { record: name(computer.guid.as_uuid()), target }.into());
    }
    let retired = register::<computer::Entity, _>(
        db,
        organization,
        named,
        |computer| computer.guid.as_uuid(),
        |named, row| {
            set(&mut row.name, named.name.as_ref());
            if let Some(serial_number) = &named.serial_number {
                row.serial_number = Some(serial_number.clone());
                row.serial_folded = Some(Folded::of(serial_number).into_string());
            }
            if let Some(user) = &named.user {
                row.user_id = users.get(user).copied();
            }
        },
    )
    .await?;
    let is_live = |computer: &&Computer| !retired.contains(&FleetRecord::Computer(computer.guid));
    register_hashes(db, named.iter().filter(is_live), applied).await?;
    Ok(retired)
}

/// The digests of the computers that a file names, as far as they have one.
pub(super) async fn hashes(db: &impl ConnectionTrait, fleet: &Fleet) -> Result<HashMap<ComputerGuid, Vec<u8>>, DbErr> {
    use hardware_hash::{Column, Entity};
    let named = fleet.organizations.iter().flat_map(|organization| &organization.computers);
    let rows = find_in(db, Entity::find(), Column::ComputerGuid, named.map(|computer| computer.guid.as_uuid())).await?;
    Ok(rows.into_iter().map(|row| (row.computer_guid.into(), row.digest)).collect())
}

async fn register_hashes<'a>(
    db: &impl ConnectionTrait,
    named: impl Iterator<Item = &'a Computer>,
    applied: &mut Applied,
) -> Result<(), FleetChangeError> {
    use hardware_hash::{ActiveModel, Column, Entity};
    let digest = |computer: &Computer| computer.hardware_hash.as_ref().map(Secret::digest);
    let given = named.filter_map(|computer| digest(computer).map(|digest| (computer.guid.as_uuid(), digest)));
    let given: BTreeMap<Uuid, Vec<u8>> = given.map(|(guid, digest)| (guid, digest.as_bytes().to_vec())).collect();
    let mut holders = HashMap::new();
    for (guid, digest) in &given {
        if let Some(other) = holders.insert(digest, guid) {
            return Err(taken(*guid, name(*other)));
        }
    }
    let registered = find_in(db, Entity::find(), Column::ComputerGuid, given.keys().copied()).await?;
    let registered: HashMap<Uuid, Vec<u8>> =
        registered.into_iter().map(|row| (row.computer_guid, row.digest)).collect();
    let changed: Vec<_> = given.iter().filter(|(guid, digest)| registered.get(guid) != Some(digest)).collect();

    // All that change give theirs up before any takes its new one: computers may exchange them.
    let guids = changed.iter().map(|(guid, _)| **guid);
    delete_in(db, Entity::delete_many(), Column::ComputerGuid, guids).await?;
    applied.hashes_taken_over.extend(release_retired(db, &changed).await?);
    let row =
        |(guid, digest): &(&Uuid, &Vec<u8>)| ActiveModel { digest: Set((*digest).clone()), computer_guid: Set(**guid) };
    let rows: Vec<_> = changed.iter().map(row).collect();
    let on_conflict = OnConflict::column(Column::Digest).do_nothing().to_owned();
    let written: HashSet<Vec<u8>> = put(db, &rows, &on_conflict, Column::Digest).await?;
    let Some((guid, digest)) = changed.into_iter().find(|(_, digest)| !written.contains(*digest)) else {
        return Ok(());
    };
    let other = Entity::find_by_id(digest.clone()).find_also_related(computer::Entity).one(db).await?;
    let other = match other.and_then(|(_, computer)| computer) {
        Some(other) => shown(db, &other).await?,
        None => "another computer".to_owned(),
    };
    Err(taken(*guid, other))
}

/// Deletes those of the hashes that retired computers have: what is removed doesn't keep a computer that is used again from
/// being registered anew. Returns who takes over whose.
async fn release_retired(
    db: &impl ConnectionTrait,
    given: &[(&Uuid, &Vec<u8>)],
) -> Result<Vec<(String, String)>, DbErr> {
    use hardware_hash::{Column, Entity};
    let held = find_in(db, Entity::find(), Column::Digest, given.iter().map(|(_, digest)| (*digest).clone())).await?;
    let retired = computer::Entity::find().filter(computer::Column::RetiredAt.is_not_null());
    let holders = held.iter().map(|row| row.computer_guid);
    let retired = find_in(db, retired, computer::Column::Guid, holders).await?;
    let mut released = Vec::new();
    for (guid, digest) in given {
        let holder = held.iter().find(|row| row.digest == **digest).map(|row| row.computer_guid);
        if let Some(former) = retired.iter().find(|former| Some(former.guid) == holder) {
            released.push((name(**guid), shown(db, former).await?));
        }
    }
    delete_in(db, Entity::delete_many(), Column::ComputerGuid, retired.iter().map(|former| former.guid)).await?;
    Ok(released)
}

async fn shown(db: &impl ConnectionTrait, computer: &computer::Model) -> Result<String, DbErr> {
    let organization = organization_name(db, computer.organization_id).await?;
    let mark = removed(computer.is_retired());
    Ok(format!("{} \"{}\" of \"{organization}\"{mark}", name(computer.guid), computer.name))
}

fn name(guid: Uuid) -> String {
    record_name(computer::Model::WORD, guid)
}

fn taken(guid: Uuid, other: String) -> FleetChangeError {
    FleetConflict::CredentialTaken { credential: "HardwareHash", record: name(guid), other }.into()
}
