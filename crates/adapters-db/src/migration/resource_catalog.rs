//! Lists of the resources of all organizations, in the order of the answer.

use super::initial::index;
use async_trait::async_trait;
use sea_orm_migration::prelude::*;

pub(super) struct ResourceCatalog;

impl MigrationName for ResourceCatalog {
    fn name(&self) -> &'static str {
        "0008_resource_catalog"
    }
}

/// The schema builder can't write the first characters of a text for `SQLite`.
const OF_TYPE: &str = "CREATE INDEX resource_catalog_by_type ON resource
    (domain, substr(type_folded, 1, 128), name_sort, organization_id, guid)";

#[async_trait]
impl MigrationTrait for ResourceCatalog {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let by_name = index("resource", "resource_catalog_by_name")
            .col("domain")
            .col("name_sort")
            .col("organization_id")
            .col("guid")
            .take();
        manager.create_index(by_name).await?;
        manager.get_connection().execute_unprepared(OF_TYPE).await.map(drop)
    }
}
