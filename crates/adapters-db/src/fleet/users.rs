//! Users: registered by name within their organization.

use super::batch::{find_in, put};
use crate::entity::user_account::{ActiveModel, Column, Entity};
use domain::fleet::{Applied, FleetOrganization, SimilarName};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QuerySelect};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The users of an organization that a file names or refers to.
pub(super) struct Users {
    pub(super) numbers: HashMap<String, i64>,
    /// The names of those that are retired.
    pub(super) retired: HashSet<String>,
}

/// Registers the users.
pub(super) async fn register_users(
    db: &impl ConnectionTrait,
    id: i64,
    organization: &FleetOrganization,
    applied: &mut Applied,
) -> Result<Users, DbErr> {
    let own = Entity::find().filter(Column::OrganizationId.eq(id));
    let named: BTreeSet<&str> = organization.users.iter().map(|user| user.name.as_str()).collect();
    let assigned = organization.computers.iter().filter_map(|computer| computer.user.as_deref());
    let wanted: BTreeSet<&str> = named.iter().copied().chain(assigned).collect();
    let registered = find_in(db, own.clone(), Column::Name, wanted).await?;
    let retired = registered.iter().filter(|user| user.retired_at.is_some()).map(|user| user.name.clone()).collect();
    let mut users: HashMap<String, i64> = registered.into_iter().map(|user| (user.name, user.id)).collect();
    let missing: Vec<&str> = named.into_iter().filter(|name| !users.contains_key(*name)).collect();
    let row = |name: &&str| ActiveModel {
        id: NotSet,
        organization_id: Set(id),
        name: Set((*name).to_owned()),
        retired_at: Set(None),
    };
    let rows: Vec<_> = missing.iter().map(row).collect();
    let on_conflict = OnConflict::columns([Column::OrganizationId, Column::Name]).do_nothing().to_owned();
    let _: HashSet<i64> = put(db, &rows, &on_conflict, Column::Id).await?;
    let new: BTreeSet<&str> = missing.iter().copied().collect();
    let added = find_in(db, own.clone(), Column::Name, missing).await?;
    if !new.is_empty() {
        let all = own.select_only().column(Column::Name).into_tuple().all(db).await?;
        applied.similar_names.extend(SimilarName::among(&new, &all, Some(&organization.name)));
    }
    users.extend(added.into_iter().map(|user| (user.name, user.id)));
    Ok(Users { numbers: users, retired })
}
