//! Renaming and retiring records, and the keys of users: [`domain::fleet::RecordRegistry`] and
//! [`domain::fleet::KeyRegistry`].

use super::SqlFleetRegistry;
use super::batch::{find_in, put};
use super::keys::{find_organization, find_user, marked_user_record, user_record};
use super::record;
use super::records::{Record, organization_name};
use crate::convert::Owner;
use crate::entity::{computer, device, job, mis_key, organization, queue, user_account};
use crate::error::FleetChangeError;
use async_trait::async_trait;
use domain::access::CredentialDigest;
use domain::error::StoreError;
use domain::fleet::{
    FleetAuthor, FleetConflict, FleetRecord, KeyFilter, KeyId, KeyIdPrefix, KeyRegistry, RecordRegistry, RegisteredKey,
    RegistryError,
};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QuerySelect,
    QueryTrait,
};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use uuid::Uuid;

#[async_trait]
impl RecordRegistry for SqlFleetRegistry {
    async fn rename_organization(&self, name: &str, new_name: &str) -> Result<(), RegistryError> {
        let names = Arc::new([name.to_owned(), new_name.to_owned()]);
        let author = self.author.clone().filter(|_| name != new_name);
        self.change(move |transaction| {
            let (names, author) = (names.clone(), author.clone());
            async move {
                let [name, new_name] = &*names;
                rename_organization(transaction, name, new_name).await?;
                record(transaction, author.map(|author| author.organization_renamed(name, new_name))).await
            }
            .boxed()
        })
        .await
    }

    async fn rename_user(&self, organization: &str, name: &str, new_name: &str) -> Result<(), RegistryError> {
        let names = Arc::new([organization, name, new_name].map(str::to_owned));
        let author = self.author.clone().filter(|_| name != new_name);
        self.change(move |transaction| {
            let (names, author) = (names.clone(), author.clone());
            async move {
                let [organization, name, new_name] = &*names;
                rename_user(transaction, organization, name, new_name).await?;
                record(transaction, author.map(|author| author.user_renamed(organization, name, new_name))).await
            }
            .boxed()
        })
        .await
    }

    async fn set_retired(
        &self,
        organization: &str,
        named: &FleetRecord,
        retired: Option<Timestamp>,
    ) -> Result<bool, RegistryError> {
        let asked = Arc::new((organization.to_owned(), named.clone(), self.author.clone()));
        self.change(move |transaction| {
            let asked = asked.clone();
            async move {
                let (organization, named, author) = &*asked;
                let is_changed = set_retired(transaction, organization, named, retired).await?;
                let author = author.as_ref().filter(|_| is_changed);
                record(transaction, author.map(|author| author.retired(organization, named, retired.is_some())))
                    .await?;
                Ok(is_changed)
            }
            .boxed()
        })
        .await
    }
}

#[async_trait]
impl KeyRegistry for SqlFleetRegistry {
    async fn list(&self, filter: KeyFilter) -> Result<Vec<RegisteredKey>, RegistryError> {
        let KeyFilter { organization, user, id } = filter;
        let only = match organization {
            Some(name) => {
                let find = organization::Entity::find().filter(organization::Column::Name.eq(&*name));
                let found = self.db.read(find.one(&self.db.reads)).await?;
                let missing = || FleetConflict::NotFound { record: format!("organization \"{name}\"") };
                Some(found.ok_or_else(missing)?.id)
            }
            None => None,
        };
        let select = mis_key::Entity::find()
            .find_also_related(user_account::Entity)
            .apply_if(only, |select, id| select.filter(user_account::Column::OrganizationId.eq(id)))
            .apply_if(user, |select, user| select.filter(user_account::Column::Name.eq(user)))
            .apply_if(id, |select, id| select.filter(has_id(&id)));
        let keys = self.db.read(select.all(&self.db.reads)).await?;
        let organizations = self.db.read(organization::Entity::find().all(&self.db.reads)).await?;
        let names: BTreeMap<i64, String> = organizations.into_iter().map(|row| (row.id, row.name)).collect();
        let mut listed = Vec::with_capacity(keys.len());
        for (key, user) in keys {
            let digest = <[u8; 32]>::try_from(key.digest).ok();
            let id = KeyId::from_digest(Owner { what: "key", id: &key.user_id }.need(digest)?);
            let user = Owner { what: "key", id: &id }.need(user)?;
            listed.push(RegisteredKey {
                id,
                organization: names.get(&user.organization_id).cloned().unwrap_or_default(),
                user: user.name,
                is_user_retired: user.retired_at.is_some(),
                issued: Timestamp::from_micros(key.issued_at),
                last_used: key.last_used_at.map(Timestamp::from_micros),
                revoked: key.revoked_at.map(Timestamp::from_micros),
            });
        }
        listed.sort_by(|one, other| order(one).cmp(&order(other)));
        Ok(listed)
    }

    async fn revoke(&self, id: KeyId, now: Timestamp) -> Result<bool, RegistryError> {
        let author = self.author.clone();
        self.change(move |transaction| {
            let author = author.clone();
            async move { revoke(transaction, id, now, author.as_deref()).await }.boxed()
        })
        .await
    }

    async fn note_uses(&self, uses: &[(CredentialDigest, Timestamp)]) -> Result<(), StoreError> {
        let uses: Arc<BTreeMap<Vec<u8>, i64>> =
            Arc::new(uses.iter().map(|(key, when)| (key.as_bytes().to_vec(), when.as_micros())).collect());
        let noted = self.db.write(move |transaction| {
            let uses = uses.clone();
            async move { note_uses(transaction, &uses).await }.boxed()
        });
        Ok(noted.await?)
    }
}

fn order(key: &RegisteredKey) -> (&str, &str, Timestamp, KeyId) {
    (&key.organization, &key.user, key.issued, key.id)
}

async fn rename_organization(db: &impl ConnectionTrait, name: &str, new_name: &str) -> Result<(), FleetChangeError> {
    let organization = find_organization(db, name).await?;
    let other = organization::Entity::find().filter(organization::Column::Name.eq(new_name)).one(db).await?;
    if other.is_some_and(|other| other.id != organization.id) {
        let [record, other] = [name, new_name].map(|name| format!("organization \"{name}\""));
        return Err(FleetConflict::NameTaken { record, other }.into());
    }
    let update = organization::Entity::update_many()
        .col_expr(organization::Column::Name, Expr::value(new_name))
        .filter(organization::Column::Id.eq(organization.id));
    update.exec(db).await?;
    Ok(())
}

async fn rename_user(
    db: &impl ConnectionTrait,
    organization: &str,
    name: &str,
    new_name: &str,
) -> Result<(), FleetChangeError> {
    let user = find_user(db, organization, name).await?;
    let other = user_account::Entity::find()
        .filter(user_account::Column::OrganizationId.eq(user.organization_id))
        .filter(user_account::Column::Name.eq(new_name))
        .one(db)
        .await?;
    if let Some(other) = other.filter(|other| other.id != user.id) {
        let record = user_record(organization, name);
        return Err(FleetConflict::NameTaken { record, other: marked_user_record(organization, &other) }.into());
    }
    let update = user_account::Entity::update_many()
        .col_expr(user_account::Column::Name, Expr::value(new_name))
        .filter(user_account::Column::Id.eq(user.id));
    update.exec(db).await?;
    Ok(())
}

async fn set_retired(
    db: &impl ConnectionTrait,
    organization: &str,
    record: &FleetRecord,
    retired: Option<Timestamp>,
) -> Result<bool, FleetChangeError> {
    // The row of the organization is locked, as by `fleet apply`: a deletion that asks which record uses a resource waits.
    let locked = organization::Entity::find().filter(organization::Column::Name.eq(organization)).lock_exclusive();
    locked.one(db).await?;
    let id = find_organization(db, organization).await?.id;
    let changed = match record {
        FleetRecord::User(name) => {
            let user = find_user(db, organization, name).await?;
            let update = user_account::Entity::update_many()
                .col_expr(user_account::Column::RetiredAt, Expr::value(retired.map(Timestamp::as_micros)))
                .filter(user_account::Column::Id.eq(user.id));
            let is_changed = user.retired_at.is_some() != retired.is_some();
            if is_changed {
                update.exec(db).await?;
            }
            Some(is_changed)
        }
        FleetRecord::Computer(guid) => retire::<computer::Entity>(db, id, guid.as_uuid(), retired).await?,
        FleetRecord::Device(guid) => retire::<device::Entity>(db, id, guid.as_uuid(), retired).await?,
        FleetRecord::Queue(guid) => retire::<queue::Entity>(db, id, guid.as_uuid(), retired).await?,
        FleetRecord::Job(guid) => retire::<job::Entity>(db, id, guid.as_uuid(), retired).await?,
    };
    let missing = || FleetConflict::NotFound { record: format!("{record} of \"{organization}\"") };
    Ok(changed.ok_or_else(missing)?)
}

/// Whether that changed the record; `None` if the organization has none of this GUID.
async fn retire<E>(
    db: &impl ConnectionTrait,
    organization: i64,
    guid: Uuid,
    retired: Option<Timestamp>,
) -> Result<Option<bool>, DbErr>
where
    E: EntityTrait,
    E::Model: Record<Entity = E>,
{
    let found = E::find().filter(E::Model::is(guid)).filter(E::Model::is_of(organization)).one(db).await?;
    let Some(record) = found else {
        return Ok(None);
    };
    if record.is_retired() == retired.is_some() {
        return Ok(Some(false));
    }
    let update = E::update_many()
        .col_expr(E::Model::RETIRED, Expr::value(retired.map(Timestamp::as_micros)))
        .filter(E::Model::is(guid));
    update.exec(db).await?;
    Ok(Some(true))
}

/// The condition that the id of a key begins so.
fn has_id(id: &KeyIdPrefix) -> Expr {
    let [first, last] = id.digests().map(Vec::from);
    mis_key::Column::Digest.between(first, last)
}

async fn revoke(
    db: &DatabaseTransaction,
    id: KeyId,
    now: Timestamp,
    author: Option<&FleetAuthor>,
) -> Result<bool, FleetChangeError> {
    let found = mis_key::Entity::find().filter(has_id(&id.into())).one(db).await?;
    let Some(key) = found else {
        return Err(FleetConflict::NotFound { record: format!("key {id}") }.into());
    };
    let revoke = mis_key::Entity::update_many()
        .col_expr(mis_key::Column::RevokedAt, Expr::value(now.as_micros()))
        .filter(mis_key::Column::Digest.eq(key.digest))
        .filter(mis_key::Column::RevokedAt.is_null());
    let is_revoked = revoke.exec(db).await?.rows_affected > 0;
    if let Some(author) = author.filter(|_| is_revoked)
        && let Some(user) = user_account::Entity::find_by_id(key.user_id).one(db).await?
    {
        let organization = organization_name(db, user.organization_id).await?;
        record(db, Some(author.key_revoked(id, &organization, &user.name))).await?;
    }
    Ok(is_revoked)
}

/// Digest → last use. Rows are written in the order of their digests, so that two processes never wait for each other.
async fn note_uses(db: &impl ConnectionTrait, uses: &BTreeMap<Vec<u8>, i64>) -> Result<(), DbErr> {
    use mis_key::Column;
    let keys = find_in(db, mis_key::Entity::find(), Column::Digest, uses.keys().cloned()).await?;
    let mut rows: Vec<mis_key::Model> = keys
        .into_iter()
        .filter_map(|key| {
            let last = *uses.get(&key.digest)?;
            (key.last_used_at < Some(last)).then_some(mis_key::Model { last_used_at: Some(last), ..key })
        })
        .collect();
    rows.sort_by(|one, other| one.digest.cmp(&other.digest));
    let rows: Vec<_> = rows.into_iter().map(IntoActiveModel::into_active_model).collect();
    let stored = Expr::col((mis_key::Entity, Column::LastUsedAt));
    let is_later = Expr::col(("excluded", Column::LastUsedAt)).gt(stored.clone());
    let on_conflict = OnConflict::column(Column::Digest)
        .update_column(Column::LastUsedAt)
        .action_and_where(stored.is_null().or(is_later))
        .to_owned();
    let _: HashSet<Vec<u8>> = put(db, &rows, &on_conflict, Column::Digest).await?;
    Ok(())
}
