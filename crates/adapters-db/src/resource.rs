//! The stored resources: [`domain::resource::ResourceRepository`].

mod list;
pub(crate) mod lookups;
mod row;

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::{job, organization, queue, resource, resource_use};
use crate::fleet::Record;
use crate::ledger::discard;
use crate::text_head::is_text;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::{StoreError, WriteError};
use domain::guid::ResourceGuid;
use domain::resource::{
    DeleteOutcome, Domain, ListFilter, NewResource, PmmKey, Preconditions, ResourceListItem, ResourceRepository,
    StoreOutcome, StoredResource,
};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use futures_util::stream::BoxStream;
use lookups::ResourceLookups;
use row::new_row;
use sea_orm::sea_query::{Expr, ExprTrait, InsertStatement, OnConflict};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DatabaseTransaction, DbErr, EntityTrait, JoinType, ModelTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, RelationTrait, Select,
};
use std::sync::Arc;
use uuid::Uuid;

pub(crate) use row::stored;

/// The resources in a database.
pub struct SqlResourceRepository {
    db: Arc<Connections>,
    lookups: ResourceLookups,
}

impl SqlResourceRepository {
    pub(crate) fn new(db: Arc<Connections>, lookups: ResourceLookups) -> Self {
        Self { db, lookups }
    }
}

#[async_trait]
impl ResourceRepository for SqlResourceRepository {
    async fn store(
        &self,
        organization: OrganizationId,
        resource: NewResource,
        now: Timestamp,
    ) -> Result<StoreOutcome, WriteError> {
        let (guid, upsert) = (resource.guid, Arc::new(newer_only(organization, &resource)));
        let newer = self.db.write(move |transaction| {
            let upsert = upsert.clone();
            async move { store(transaction, organization, guid, &upsert, now).await }.boxed()
        });
        match newer.await? {
            None => Ok(StoreOutcome::Stored),
            Some(newer) => Ok(StoreOutcome::NotNewer(Box::new(stored(newer).map_err(WriteError::NotStored)?))),
        }
    }

    async fn delete(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
        preconditions: Preconditions,
        now: Timestamp,
    ) -> Result<DeleteOutcome, StoreError> {
        let deleted = self.db.write(move |transaction| {
            let preconditions = preconditions.clone();
            async move { delete(transaction, organization, guid, &preconditions, now).await }.boxed()
        });
        Ok(deleted.await?)
    }

    async fn find(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
    ) -> Result<Option<StoredResource>, StoreError> {
        self.lookups.find(organization, guid).await?.map(stored).transpose()
    }

    async fn find_published(&self, guid: ResourceGuid) -> Result<Option<StoredResource>, StoreError> {
        self.db.read(published(guid).one(&self.db.reads)).await?.map(stored).transpose()
    }

    async fn exists_anywhere(&self, guid: ResourceGuid) -> Result<bool, StoreError> {
        let found = anywhere(guid).into_tuple::<Uuid>().one(&self.db.reads);
        Ok(self.db.read(found).await?.is_some())
    }

    async fn find_by_pmm(
        &self,
        organization: OrganizationId,
        key: &PmmKey,
    ) -> Result<Option<StoredResource>, StoreError> {
        let found = self.db.read(by_pmm(organization, key).one(&self.db.reads)).await?;
        found.map(stored).transpose()
    }

    fn list(
        &self,
        organization: OrganizationId,
        filter: ListFilter,
    ) -> BoxStream<'static, Result<ResourceListItem, StoreError>> {
        list::list(self.db.clone(), organization, filter)
    }
}

fn by_guid(organization: OrganizationId, guid: ResourceGuid) -> Select<resource::Entity> {
    resource::Entity::find_by_id((organization.0, guid.as_uuid()))
}

fn by_pmm(organization: OrganizationId, key: &PmmKey) -> Select<resource::Entity> {
    resource::Entity::find()
        .filter(resource::Column::OrganizationId.eq(organization.0))
        .filter(is_text("profile_group_folded", key.profile_group.as_str()))
        .filter(is_text("media_folded", key.media.as_str()))
        .filter(is_text("mode_folded", key.mode.as_str()))
        .order_by_desc(resource::Column::ModifiedAt)
        .order_by_asc(resource::Column::Guid)
        .limit(1)
}

/// The Public resources with this GUID of publishers, the newest first (decision T15).
fn published(guid: ResourceGuid) -> Select<resource::Entity> {
    resource::Entity::find()
        .join(JoinType::InnerJoin, resource::Relation::Organization.def())
        .filter(organization::Column::Publisher.eq(true))
        .filter(resource::Column::Guid.eq(guid.as_uuid()))
        .filter(resource::Column::Domain.eq(Domain::Public.as_str()))
        .order_by_desc(resource::Column::ModifiedAt)
        .order_by_asc(resource::Column::OrganizationId)
        .limit(1)
}

/// The condition that clients of `organization` may see a resource: their own, or one that a publisher publishes
/// (decision T15).
pub(crate) fn is_visible_to(organization: OrganizationId) -> Condition {
    use resource::Column;
    let publishers = organization::Entity::find()
        .select_only()
        .column(organization::Column::Id)
        .filter(organization::Column::Publisher.eq(true));
    let is_published =
        Column::Domain.eq(Domain::Public.as_str()).and(Column::OrganizationId.in_subquery(publishers.into_query()));
    Condition::any().add(Column::OrganizationId.eq(organization.0)).add(is_published)
}

/// The resources of all organizations with this GUID.
fn anywhere(guid: ResourceGuid) -> Select<resource::Entity> {
    resource::Entity::find()
        .select_only()
        .column(resource::Column::Guid)
        .filter(resource::Column::Guid.eq(guid.as_uuid()))
        .limit(1)
}

/// Adds the resource or replaces an older one, in one statement that compares and writes (decision T5). It returns a
/// row if the resource is the current one now, with the key of the blob that it replaced (ADR 9).
fn newer_only(organization: OrganizationId, resource: &NewResource) -> InsertStatement {
    use resource::Column;
    let replaced = [
        Column::ResourceType,
        Column::TypeFolded,
        Column::Checksum,
        Column::ModifiedAt,
        Column::Name,
        Column::NameSort,
        Column::Meta,
        Column::ProfileGroupFolded,
        Column::MediaFolded,
        Column::ModeFolded,
        Column::BlobKey,
        Column::ContentSize,
    ];
    let stored = |column: Column| Expr::col((resource::Entity, column));
    let mut on_conflict = OnConflict::columns([Column::OrganizationId, Column::Guid]);
    on_conflict
        .update_columns(replaced)
        .value(Column::PreviousBlobKey, stored(Column::BlobKey))
        .action_and_where(Expr::col(("excluded", Column::ModifiedAt)).gt(stored(Column::ModifiedAt)));
    if resource.domain.is_some() {
        on_conflict.update_column(Column::Domain);
    }
    let insert = resource::Entity::insert(new_row(organization, resource)).on_conflict(on_conflict);
    insert.into_query().returning_col(Column::PreviousBlobKey).to_owned()
}

/// Runs the upsert of a resource. Returns the stored resource where that is as new or newer.
async fn store(
    transaction: &DatabaseTransaction,
    organization: OrganizationId,
    guid: ResourceGuid,
    upsert: &InsertStatement,
    now: Timestamp,
) -> Result<Option<resource::Model>, DbErr> {
    let Some(row) = transaction.query_one(upsert).await? else {
        // The upsert has locked the newer row, so it is there until the transaction ends.
        let newer = by_guid(organization, guid).one(transaction).await?;
        return newer.map(Some).ok_or(DbErr::RecordNotUpdated);
    };
    if let Some(previous) = row.try_get_by_index::<Option<String>>(0)? {
        discard(transaction, vec![previous], now).await?;
    }
    Ok(None)
}

/// Deletes a resource that meets the preconditions and that no record uses. Both rows that the outcome depends on are
/// locked until the transaction ends: that of the organization, which a change of the fleet locks exclusively, and that
/// of the resource.
async fn delete(
    transaction: &DatabaseTransaction,
    organization: OrganizationId,
    guid: ResourceGuid,
    preconditions: &Preconditions,
    now: Timestamp,
) -> Result<DeleteOutcome, DbErr> {
    organization::Entity::find_by_id(organization.0).lock_shared().one(transaction).await?;
    let Some(row) = by_guid(organization, guid).lock_exclusive().one(transaction).await? else {
        return Ok(DeleteOutcome::NotFound);
    };
    let checksum = Owner { what: "resource", id: &guid }.checksum(&row.checksum);
    let checksum = checksum.map_err(|damaged| DbErr::Type(damaged.to_string()))?;
    if let Err(other) = preconditions.check(checksum, Timestamp::from_micros(row.modified_at)) {
        return Ok(DeleteOutcome::OtherState(other));
    }
    if let Some(by) = used_by(transaction, organization, guid).await? {
        return Ok(DeleteOutcome::InUse { by });
    }
    discard(transaction, vec![row.blob_key.clone()], now).await?;
    row.delete(transaction).await?;
    Ok(DeleteOutcome::Deleted)
}

/// The uses of a resource, queues before jobs (decision O3).
fn uses(organization: OrganizationId, guid: ResourceGuid) -> Select<resource_use::Entity> {
    resource_use::Entity::find()
        .filter(resource_use::Column::OrganizationId.eq(organization.0))
        .filter(resource_use::Column::ResourceGuid.eq(guid.as_uuid()))
        .order_by_desc(resource_use::Column::Kind)
        .order_by_asc(resource_use::Column::RecordGuid)
}

/// A record that uses a resource and isn't retired, such as `queue "Banner"`.
async fn used_by(
    transaction: &DatabaseTransaction,
    organization: OrganizationId,
    guid: ResourceGuid,
) -> Result<Option<String>, DbErr> {
    for found in uses(organization, guid).all(transaction).await? {
        let name = if found.kind == queue::Model::WORD {
            live_name::<queue::Entity>(transaction, found.record_guid).await?
        } else {
            live_name::<job::Entity>(transaction, found.record_guid).await?
        };
        if let Some(name) = name {
            return Ok(Some(format!("{} \"{name}\"", found.kind)));
        }
    }
    Ok(None)
}

/// The name of a record, unless it is retired.
async fn live_name<E>(transaction: &DatabaseTransaction, guid: Uuid) -> Result<Option<String>, DbErr>
where
    E: EntityTrait,
    E::Model: Record<Entity = E>,
{
    let found = E::find().filter(E::Model::is(guid)).filter(E::Model::is_live()).one(transaction).await?;
    Ok(found.map(|record| record.name().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::testing::{pmm_key, resource_guid};
    use sea_orm::DbBackend;

    #[tokio::test]
    async fn lookups_use_an_index() {
        for engine in engines().await {
            engine.fill().await;
            let backend = engine.db().backend;
            let (acme, guid) = (OrganizationId(1), resource_guid(1));
            let primary = match backend {
                // Two indexes hold organization and GUID there; either will do.
                DbBackend::Postgres => "Index Scan using resource_",
                _ => "sqlite_autoindex_resource_1",
            };
            engine.assert_uses(primary, by_guid(acme, guid).build(backend)).await;
            let keys = [(1, guid.as_uuid()), (2, guid.as_uuid()), (1, resource_guid(2).as_uuid())];
            let gathered = if backend == DbBackend::Sqlite { primary } else { "Bitmap Index Scan on resource_" };
            engine.assert_uses(gathered, lookups::by_keys(&keys).build(backend)).await;
            let pmm = by_pmm(acme, &pmm_key("Group 1", "Media 1", "Mode 1"));
            engine.assert_uses("resource_by_pmm", pmm.build(backend)).await;
            engine.assert_uses("resource_anywhere", anywhere(guid).build(backend)).await;
            if backend == DbBackend::Sqlite {
                // PostgreSQL may read its few organizations whole.
                engine.assert_uses("resource_anywhere", published(guid).build(backend)).await;
            }
            engine.assert_uses("resource_use_of_resource", uses(acme, guid).build(backend)).await;
        }
    }
}
