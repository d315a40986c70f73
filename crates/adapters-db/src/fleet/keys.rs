//! `MisKey`s: stored as digests, each digest once in all organizations, never taken back from a user
//! (decisions A1, A6).

use super::batch::{find_in, put};
use super::records::{organization_name, removed};
use super::users::Users;
use crate::entity::{mis_key, organization, user_account};
use crate::error::FleetChangeError;
use domain::access::CredentialDigest;
use domain::fleet::{Applied, FleetConflict, FleetOrganization, FleetRecord, KeyRevocation, NewKey};
use domain::timestamp::Timestamp;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use std::collections::{HashMap, HashSet};

/// A key that is to be registered for a user.
struct Key {
    user_id: i64,
    digest: CredentialDigest,
    /// How a conflict names the user.
    record: String,
}

/// Registers the keys of an organization's users, whose numbers are given: those that the file
/// brings, and those of `new_keys` for users without any.
pub(super) async fn register(
    db: &impl ConnectionTrait,
    organization: &FleetOrganization,
    users: &Users,
    new_keys: &[NewKey],
    now: Timestamp,
    applied: &mut Applied,
) -> Result<(), FleetChangeError> {
    let issuable = new_keys.iter().filter(|key| key.organization == organization.name);
    let issuable: HashMap<&str, &NewKey> = issuable.map(|key| (key.user.as_str(), key)).collect();
    let mut registered = Registered::read(db, organization, &users.numbers).await?;
    let mut keys = Vec::new();
    for user in &organization.users {
        if users.retired.contains(&user.name) {
            applied.retired.push((organization.name.clone(), FleetRecord::User(user.name.clone())));
            continue;
        }
        let user_id = users.numbers[&user.name];
        let keyless = !registered.holders.contains(&user_id);
        let record = user_record(&organization.name, &user.name);
        let (digest, issued) = match (&user.mis_key, issuable.get(user.name.as_str())) {
            (Some(mis_key), _) => (mis_key.digest(), None),
            (None, Some(new_key)) if keyless => (new_key.digest(), Some(*new_key)),
            _ => continue,
        };
        match registered.keys.get(digest.as_bytes()) {
            // A key of somebody else is an error even where this user needs none.
            Some((holder, _)) if *holder != user_id => return Err(taken(db, record, *holder).await?),
            Some((_, revoked)) if !revoked => {}
            None if keyless => {
                registered.add(user_id, digest);
                keys.push(Key { user_id, digest, record });
                applied.issued.extend(issued.cloned());
            }
            _ => applied.keys_left_out.push((organization.name.clone(), user.name.clone())),
        }
    }
    insert(db, &keys, now).await
}

/// The keys of an organization's users, and the others that its part of the file names.
struct Registered {
    /// Users with any key, a revoked one too.
    holders: HashSet<i64>,
    /// Digest → whose key it is, and whether it is revoked.
    keys: HashMap<[u8; 32], (i64, bool)>,
}

impl Registered {
    async fn read(
        db: &impl ConnectionTrait,
        organization: &FleetOrganization,
        users: &HashMap<String, i64>,
    ) -> Result<Self, DbErr> {
        let named = organization.users.iter().filter_map(|user| user.mis_key.as_ref());
        let named = named.map(|key| key.digest().as_bytes().to_vec());
        let mut rows = find_in(db, mis_key::Entity::find(), mis_key::Column::UserId, users.values().copied()).await?;
        rows.extend(find_in(db, mis_key::Entity::find(), mis_key::Column::Digest, named).await?);
        let holders = rows.iter().map(|row| row.user_id).collect();
        let key = |row: mis_key::Model| Some((row.digest.try_into().ok()?, (row.user_id, row.revoked_at.is_some())));
        Ok(Self { holders, keys: rows.into_iter().filter_map(key).collect() })
    }

    fn add(&mut self, user_id: i64, digest: CredentialDigest) {
        self.holders.insert(user_id);
        self.keys.insert(*digest.as_bytes(), (user_id, false));
    }
}

/// How conflicts name a user.
pub(super) fn user_record(organization: &str, user: &str) -> String {
    format!("user \"{user}\" of \"{organization}\"")
}

/// The same with a mark where the user is retired.
pub(super) fn marked_user_record(organization: &str, user: &user_account::Model) -> String {
    format!("{}{}", user_record(organization, &user.name), removed(user.retired_at.is_some()))
}

/// That the key of `record` belongs to the user of this number.
async fn taken(db: &impl ConnectionTrait, record: String, holder: i64) -> Result<FleetChangeError, DbErr> {
    let holder = user_account::Entity::find_by_id(holder).one(db).await?;
    let other = match holder {
        Some(holder) => marked_user_record(&organization_name(db, holder.organization_id).await?, &holder),
        None => "another user".to_owned(),
    };
    Ok(FleetConflict::CredentialTaken { credential: "MisKey", record, other }.into())
}

/// Registers keys. The database decides whether one is taken, also by another process meanwhile.
async fn insert(db: &impl ConnectionTrait, keys: &[Key], now: Timestamp) -> Result<(), FleetChangeError> {
    let row = |key: &Key| mis_key::ActiveModel {
        digest: Set(key.digest.as_bytes().to_vec()),
        user_id: Set(key.user_id),
        issued_at: Set(now.as_micros()),
        last_used_at: Set(None),
        revoked_at: Set(None),
    };
    let rows: Vec<_> = keys.iter().map(row).collect();
    let on_conflict = OnConflict::column(mis_key::Column::Digest).do_nothing().to_owned();
    let written: HashSet<Vec<u8>> = put(db, &rows, &on_conflict, mis_key::Column::Digest).await?;
    let Some(key) = keys.iter().find(|key| !written.contains(&key.digest.as_bytes()[..])) else {
        return Ok(());
    };
    let holder = mis_key::Entity::find_by_id(key.digest.as_bytes().to_vec()).one(db).await?;
    Err(taken(db, key.record.clone(), holder.map_or(0, |holder| holder.user_id)).await?)
}

pub(super) async fn add(db: &impl ConnectionTrait, key: &NewKey, now: Timestamp) -> Result<(), FleetChangeError> {
    let user = find_user(db, &key.organization, &key.user).await?;
    let (user_id, record) = (user.id, user_record(&key.organization, &key.user));
    if user.retired_at.is_some() {
        return Err(FleetConflict::Retired { record }.into());
    }
    insert(db, &[Key { user_id, digest: key.digest(), record }], now).await
}

pub(super) async fn revoke(
    db: &impl ConnectionTrait,
    organization: &str,
    user: &str,
    now: Timestamp,
) -> Result<KeyRevocation, FleetChangeError> {
    let user_id = find_user(db, organization, user).await?.id;
    let revoke = mis_key::Entity::update_many()
        .col_expr(mis_key::Column::RevokedAt, Expr::value(now.as_micros()))
        .filter(mis_key::Column::UserId.eq(user_id))
        .filter(mis_key::Column::RevokedAt.is_null());
    Ok(KeyRevocation { revoked: revoke.exec(db).await?.rows_affected })
}

/// The organization of this name.
pub(super) async fn find_organization(
    db: &impl ConnectionTrait,
    name: &str,
) -> Result<organization::Model, FleetChangeError> {
    let found = organization::Entity::find().filter(organization::Column::Name.eq(name)).one(db).await?;
    let missing = || FleetConflict::NotFound { record: format!("organization \"{name}\"") };
    Ok(found.ok_or_else(missing)?)
}

pub(super) async fn find_user(
    db: &impl ConnectionTrait,
    organization: &str,
    user: &str,
) -> Result<user_account::Model, FleetChangeError> {
    let organization_id = find_organization(db, organization).await?.id;
    let found = user_account::Entity::find()
        .filter(user_account::Column::OrganizationId.eq(organization_id))
        .filter(user_account::Column::Name.eq(user))
        .one(db)
        .await?;
    let missing = || FleetConflict::NotFound { record: user_record(organization, user) };
    Ok(found.ok_or_else(missing)?)
}
