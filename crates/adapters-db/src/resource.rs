//! The stored resources: [`domain::resource::ResourceRepository`].

mod list;
mod row;

use crate::connections::Connections;
use crate::entity::{organization, resource};
use crate::ledger::discard;
use crate::text_head::is_text;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ResourceGuid;
use domain::resource::{
    DeleteOutcome, ListFilter, NewResource, PmmKey, ResourceListItem, ResourceRepository, StoreOutcome, StoredResource,
};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use futures_util::stream::BoxStream;
use row::new_row;
use sea_orm::sea_query::{Expr, ExprTrait, InsertStatement, OnConflict};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbErr, EntityTrait, FromQueryResult, Order, QueryFilter,
    QueryOrder, QuerySelect, QueryTrait, Select, Statement,
};
use std::sync::Arc;

pub(crate) use row::stored;

/// The Public resource with a GUID of a publisher (decision T15).
const PUBLISHED: &str = "SELECT resource.* FROM resource
    JOIN organization ON organization.id = resource.organization_id AND organization.publisher
    WHERE resource.guid = $1 AND resource.domain = 'Public'
    ORDER BY resource.modified_at DESC, resource.organization_id LIMIT 1";

/// Whether any organization has a resource with a GUID.
const ANYWHERE: &str = "SELECT 1 FROM resource WHERE guid = $1 LIMIT 1";

/// Deletes a resource that nothing uses.
const DELETE: &str = "DELETE FROM resource WHERE organization_id = $1 AND guid = $2 AND NOT EXISTS
    (SELECT 1 FROM resource_use WHERE organization_id = $1 AND resource_guid = $2) RETURNING blob_key";

/// What uses a resource: queues before jobs.
const USED_BY: &str = "SELECT resource_use.kind, COALESCE(queue.name, job.name) AS name FROM resource_use
    LEFT JOIN queue ON resource_use.kind = 'queue' AND queue.guid = resource_use.record_guid
    LEFT JOIN job ON resource_use.kind = 'job' AND job.guid = resource_use.record_guid
    WHERE resource_use.organization_id = $1 AND resource_use.resource_guid = $2
    ORDER BY resource_use.kind DESC, resource_use.record_guid LIMIT 1";

/// The resources in a database.
pub struct SqlResourceRepository {
    db: Arc<Connections>,
}

impl SqlResourceRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl ResourceRepository for SqlResourceRepository {
    async fn store(
        &self,
        organization: OrganizationId,
        resource: NewResource,
        now: Timestamp,
    ) -> Result<StoreOutcome, StoreError> {
        let (guid, upsert) = (resource.guid, Arc::new(newer_only(organization, &resource)));
        let newer = self.db.write(move |transaction| {
            let upsert = upsert.clone();
            async move { store(transaction, organization, guid, &upsert, now).await }.boxed()
        });
        match newer.await? {
            None => Ok(StoreOutcome::Stored),
            Some(newer) => Ok(StoreOutcome::NotNewer(Box::new(stored(newer)?))),
        }
    }

    async fn delete(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
        now: Timestamp,
    ) -> Result<DeleteOutcome, StoreError> {
        self.db.write(move |transaction| delete(transaction, organization, guid, now).boxed()).await
    }

    async fn find(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
    ) -> Result<Option<StoredResource>, StoreError> {
        let found = self.db.read(by_guid(organization, guid).one(&self.db.reads)).await?;
        found.map(stored).transpose()
    }

    async fn find_published(&self, guid: ResourceGuid) -> Result<Option<StoredResource>, StoreError> {
        let statement = self.db.statement(PUBLISHED, [guid.as_uuid().into()]);
        let select = resource::Model::find_by_statement(statement);
        self.db.read(select.one(&self.db.reads)).await?.map(stored).transpose()
    }

    async fn exists_anywhere(&self, guid: ResourceGuid) -> Result<bool, StoreError> {
        let statement = self.db.statement(ANYWHERE, [guid.as_uuid().into()]);
        Ok(self.db.read(self.db.reads.query_one_raw(statement)).await?.is_some())
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
        list::list(&self.db, organization, filter)
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
        .order_by(resource::Column::ModifiedAt, Order::Desc)
        .order_by(resource::Column::Guid, Order::Asc)
        .limit(1)
}

/// Adds the resource or replaces an older one, in one statement that compares and writes (decision
/// T5). It returns a row if the resource is the current one now, with the key of the blob that it
/// replaced.
fn newer_only(organization: OrganizationId, resource: &NewResource) -> InsertStatement {
    use resource::Column;
    let replaced = [
        Column::ResourceType,
        Column::TypeFolded,
        Column::Checksum,
        Column::ModifiedAt,
        Column::Name,
        Column::NameFolded,
        Column::Meta,
        Column::MetaDigest,
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

/// Stores a resource; answers the stored one where that is as new or newer.
async fn store(
    transaction: &DatabaseTransaction,
    organization: OrganizationId,
    guid: ResourceGuid,
    upsert: &InsertStatement,
    now: Timestamp,
) -> Result<Option<resource::Model>, DbErr> {
    let Some(row) = transaction.query_one(upsert).await? else {
        // The statement has locked the newer row: it is there until the transaction ends.
        let newer = by_guid(organization, guid).one(transaction).await?;
        return newer.map(Some).ok_or(DbErr::RecordNotUpdated);
    };
    if let Some(previous) = row.try_get_by_index::<Option<String>>(0)? {
        discard(transaction, vec![previous], now).await?;
    }
    Ok(None)
}

/// Deletes a resource that nothing uses.
async fn delete(
    transaction: &DatabaseTransaction,
    organization: OrganizationId,
    guid: ResourceGuid,
    now: Timestamp,
) -> Result<DeleteOutcome, DbErr> {
    // A change of what the fleet uses locks this row exclusively, so the uses stay as they are until the end.
    organization::Entity::find_by_id(organization.0).lock_shared().one(transaction).await?;
    let statement = |sql| {
        let values = [organization.0.into(), guid.as_uuid().into()];
        Statement::from_sql_and_values(transaction.get_database_backend(), sql, values)
    };
    if let Some(row) = transaction.query_one_raw(statement(DELETE)).await? {
        discard(transaction, vec![row.try_get_by_index(0)?], now).await?;
        return Ok(DeleteOutcome::Deleted);
    }
    let Some(row) = transaction.query_one_raw(statement(USED_BY)).await? else {
        return Ok(DeleteOutcome::NotFound);
    };
    if by_guid(organization, guid).one(transaction).await?.is_none() {
        return Ok(DeleteOutcome::NotFound);
    }
    let (kind, name): (String, String) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
    Ok(DeleteOutcome::InUse { by: format!("{kind} \"{name}\"") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::testing::{pmm_key, resource_guid};

    #[tokio::test]
    async fn look_ups_use_an_index() {
        for engine in engines().await {
            engine.fill().await;
            let db = engine.db();
            let guid = resource_guid(1);
            let by_guid = by_guid(OrganizationId(1), guid).build(db.backend);
            let (primary, is_postgres) = match db.backend {
                // Two indexes hold organization and GUID there; either will do.
                sea_orm::DbBackend::Postgres => ("Index Scan using resource_", true),
                _ => ("sqlite_autoindex_resource_1", false),
            };
            engine.assert_uses(primary, by_guid).await;
            let pmm = by_pmm(OrganizationId(1), &pmm_key("Group 1", "Media 1", "Mode 1")).build(db.backend);
            engine.assert_uses("resource_by_pmm", pmm).await;
            engine.assert_uses("resource_anywhere", db.statement(ANYWHERE, [guid.as_uuid().into()])).await;
            if !is_postgres {
                // PostgreSQL may read its few organizations whole.
                engine.assert_uses("resource_anywhere", db.statement(PUBLISHED, [guid.as_uuid().into()])).await;
            }
            let values = || [1_i64.into(), guid.as_uuid().into()];
            engine.assert_uses(primary, db.statement(DELETE, values())).await;
        }
    }
}
