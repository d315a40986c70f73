//! Which resources queues and jobs use (decision O3).

use super::batch::{delete_in, find_in, put};
use crate::entity::resource_use::{ActiveModel, Column, Entity};
use domain::guid::ResourceGuid;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use uuid::Uuid;

/// Replaces the uses of records of one organization and kind; writes what differs only.
pub(super) async fn replace<'a>(
    db: &impl ConnectionTrait,
    organization: i64,
    kind: &'static str,
    uses: impl Iterator<Item = (Uuid, &'a [ResourceGuid])>,
) -> Result<(), DbErr> {
    let guids = |uses: &[ResourceGuid]| uses.iter().map(|guid| guid.as_uuid()).collect();
    let wanted: BTreeMap<Uuid, BTreeSet<Uuid>> = uses.map(|(record, uses)| (record, guids(uses))).collect();
    let of_kind = Entity::find().filter(Column::Kind.eq(kind));
    let mut registered: BTreeMap<Uuid, BTreeSet<Uuid>> = BTreeMap::new();
    for row in find_in(db, of_kind, Column::RecordGuid, wanted.keys().copied()).await? {
        registered.entry(row.record_guid).or_default().insert(row.resource_guid);
    }
    let is_changed = |(record, uses): &(&Uuid, &BTreeSet<Uuid>)| {
        registered.get(record).map_or(!uses.is_empty(), |registered| registered != *uses)
    };
    let changed: Vec<_> = wanted.iter().filter(is_changed).collect();
    let records = changed.iter().map(|(record, _)| **record);
    delete_in(db, Entity::delete_many().filter(Column::Kind.eq(kind)), Column::RecordGuid, records).await?;
    let row = |record: Uuid, resource: Uuid| ActiveModel {
        kind: Set(kind.to_owned()),
        record_guid: Set(record),
        resource_guid: Set(resource),
        organization_id: Set(organization),
    };
    let rows = changed.iter().flat_map(|(record, uses)| uses.iter().map(|resource| row(**record, *resource)));
    let on_conflict =
        OnConflict::columns([Column::Kind, Column::RecordGuid, Column::ResourceGuid]).do_nothing().to_owned();
    let _: HashSet<Uuid> = put(db, &rows.collect::<Vec<_>>(), &on_conflict, Column::ResourceGuid).await?;
    Ok(())
}
