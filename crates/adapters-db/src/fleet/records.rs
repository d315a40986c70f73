//! Computers, devices, queues and jobs: registered by GUID, each GUID once in all organizations.

use super::batch::{find_in, put};
use super::former_names;
use crate::entity::{computer, device, job, organization, queue};
use crate::error::FleetChangeError;
use domain::fleet::{FleetConflict, FleetRecord};
use domain::text::Folded;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ActiveModelBehavior, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, ModelTrait, QueryFilter,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use uuid::Uuid;

/// A row that is registered by its GUID.
pub(crate) trait Record:
    ModelTrait + Clone + PartialEq + IntoActiveModel<<Self::Entity as EntityTrait>::ActiveModel>
{
    /// The name of the kind of record, such as `computer`.
    const WORD: &'static str;
    /// Whether its log entries are found by its former names.
    const HAS_TIMELINE: bool;
    const GUID: <Self::Entity as EntityTrait>::Column;
    const NAME: <Self::Entity as EntityTrait>::Column;
    const ORGANIZATION: <Self::Entity as EntityTrait>::Column;
    const RETIRED: <Self::Entity as EntityTrait>::Column;
    /// The columns that a fleet file changes.
    const CHANGED: &'static [<Self::Entity as EntityTrait>::Column];

    /// A record of which no more than its GUID is known: that is its name too.
    fn new(organization: i64, guid: Uuid) -> Self;
    fn guid(&self) -> Uuid;
    fn organization(&self) -> i64;
    fn name(&self) -> &str;
    fn is_retired(&self) -> bool;
    fn record(&self) -> FleetRecord;

    /// The condition that it is the record with this GUID.
    fn is(guid: Uuid) -> Expr {
        Self::GUID.eq(guid)
    }

    /// The condition that it isn't retired.
    fn is_live() -> Expr {
        Self::RETIRED.is_null()
    }

    /// The condition that it is registered under this organization.
    fn is_of(organization: i64) -> Expr {
        Self::ORGANIZATION.eq(organization)
    }
}

macro_rules! records {
    ($($module:ident: $word:literal, $record:ident, timeline $has_timeline:literal, changes [$($column:ident),*], new [$($field:ident),*];)+) => {$(
        impl Record for $module::Model {
            const WORD: &'static str = $word;
            const HAS_TIMELINE: bool = $has_timeline;
            const GUID: $module::Column = $module::Column::Guid;
            const NAME: $module::Column = $module::Column::Name;
            const ORGANIZATION: $module::Column = $module::Column::OrganizationId;
            const RETIRED: $module::Column = $module::Column::RetiredAt;
            const CHANGED: &'static [$module::Column] = &[$($module::Column::$column),*];

            fn new(organization: i64, guid: Uuid) -> Self {
                let name = guid.as_hyphenated().to_string();
                Self { guid, organization_id: organization, name, retired_at: None, $($field: None),* }
            }

            fn guid(&self) -> Uuid {
                self.guid
            }

            fn organization(&self) -> i64 {
                self.organization_id
            }

            fn name(&self) -> &str {
                &self.name
            }

            fn is_retired(&self) -> bool {
                self.retired_at.is_some()
            }

            fn record(&self) -> FleetRecord {
                FleetRecord::$record(self.guid.into())
            }
        }
    )+};
}

records! {
    computer: "computer", Computer, timeline true, changes [Name, SerialNumber, SerialFolded, UserId], new [serial_number, serial_folded, user_id];
    device: "device", Device, timeline true, changes [Name], new [];
    queue: "queue", Queue, timeline false, changes [Name, DeviceGuid], new [device_guid];
    job: "job", Job, timeline false, changes [Name, QueueGuid], new [queue_guid];
}

/// How conflicts name a record.
pub(super) fn record_name(word: &str, guid: Uuid) -> String {
    format!("{word} {}", guid.as_hyphenated())
}

/// How conflicts mark a record that is retired.
pub(super) fn removed(is_retired: bool) -> &'static str {
    if is_retired { " (removed)" } else { "" }
}

/// Replaces a registered value by the one that the file gives, if any.
pub(super) fn set(registered: &mut String, given: Option<&String>) {
    if let Some(given) = given {
        registered.clone_from(given);
    }
}

/// Adds or updates records of one organization: `change` sets what the file says of each. Rows are
/// written in the order of their GUIDs, so that two processes never wait for each other. Returns those that were left as
/// they are because they are retired, in the order of the file.
pub(super) async fn register<E, T>(
    db: &impl ConnectionTrait,
    organization: i64,
    named: &[T],
    guid: impl Fn(&T) -> Uuid,
    change: impl Fn(&T, &mut E::Model),
) -> Result<Vec<FleetRecord>, FleetChangeError>
where
    E: EntityTrait,
    E::Model: Record<Entity = E>,
    E::ActiveModel: ActiveModelBehavior + Clone + Send,
{
    let registered = find_in(db, E::find(), E::Model::GUID, named.iter().map(&guid)).await?;
    let registered: HashMap<Uuid, E::Model> = registered.into_iter().map(|record| (record.guid(), record)).collect();
    let (mut changed, mut retired) = (BTreeMap::new(), Vec::new());
    for record in named {
        let guid = guid(record);
        let former = changed.get(&guid).or_else(|| registered.get(&guid));
        if let Some(other) = former.filter(|former| former.organization() != organization) {
            return Err(other_organization(db, other).await?);
        }
        if let Some(former) = former.filter(|former| former.is_retired()) {
            retired.push(former.record());
            continue;
        }
        let mut row = former.cloned().unwrap_or_else(|| E::Model::new(organization, guid));
        change(record, &mut row);
        if former != Some(&row) {
            changed.insert(guid, row);
        }
    }
    let is_own = Expr::col((E::default(), E::Model::ORGANIZATION)).eq(Expr::col(("excluded", E::Model::ORGANIZATION)));
    let on_conflict = OnConflict::column(E::Model::GUID)
        .update_columns(E::Model::CHANGED.iter().copied())
        .action_and_where(is_own)
        .to_owned();
    let renamed = former_names_of(&registered, &changed);
    let guids: Vec<Uuid> = changed.keys().copied().collect();
    let rows: Vec<E::ActiveModel> = changed.into_values().map(IntoActiveModel::into_active_model).collect();
    let written: HashSet<Uuid> = put(db, &rows, &on_conflict, E::Model::GUID).await?;
    let Some(guid) = guids.into_iter().find(|guid| !written.contains(guid)) else {
        former_names::store(db, E::Model::WORD, renamed).await?;
        return Ok(retired);
    };
    // Another process has registered it in the meantime.
    match E::find().filter(E::Model::is(guid)).one(db).await? {
        Some(other) => Err(other_organization(db, &other).await?),
        None => Err(DbErr::RecordNotInserted.into()),
    }
}

/// The folded former names of records that have a timeline and another name now.
fn former_names_of<M: Record>(registered: &HashMap<Uuid, M>, changed: &BTreeMap<Uuid, M>) -> BTreeMap<Uuid, String> {
    let renamed = changed.iter().filter(|_| M::HAS_TIMELINE).filter_map(|(guid, row)| {
        let former = Folded::of(registered.get(guid)?.name());
        (former != Folded::of(row.name())).then(|| (*guid, former.into_string()))
    });
    renamed.collect()
}

/// That another organization has registered the record.
async fn other_organization<M: Record>(db: &impl ConnectionTrait, other: &M) -> Result<FleetChangeError, DbErr> {
    let record = record_name(M::WORD, other.guid());
    let organization = organization_name(db, other.organization()).await?;
    let other = format!("\"{}\" of \"{organization}\"{}", other.name(), removed(other.is_retired()));
    Ok(FleetConflict::OtherOrganization { record, other }.into())
}

pub(super) async fn organization_name(db: &impl ConnectionTrait, id: i64) -> Result<String, DbErr> {
    let found = organization::Entity::find_by_id(id).one(db).await?;
    Ok(found.map(|organization| organization.name).unwrap_or_default())
}
