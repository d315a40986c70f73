//! What the operator looks at: [`domain::inspection::InspectionRepository`].

mod devices;

use crate::core::Core;
use crate::entity::organization;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::device_status::Status;
use domain::error::StoreError;
use domain::inspection::{InspectedDevice, InspectionRepository, RegisteredOrganization};
use futures_util::stream::BoxStream;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryTrait};
use std::sync::Arc;

/// What is stored in a database, read only.
pub struct SqlInspectionRepository {
    core: Arc<Core>,
}

impl SqlInspectionRepository {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

#[async_trait]
impl InspectionRepository for SqlInspectionRepository {
    async fn organizations(&self, name: Option<String>) -> Result<Vec<RegisteredOrganization>, StoreError> {
        let select = organization::Entity::find()
            .apply_if(name, |select, name| select.filter(organization::Column::Name.eq(name)));
        let mut rows = self.core.read(select.all(&self.core.reads)).await?;
        // Engines sort texts each in its own way.
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        let organization =
            |row: organization::Model| RegisteredOrganization { id: OrganizationId(row.id), name: row.name };
        Ok(rows.into_iter().map(organization).collect())
    }

    fn devices(
        &self,
        organization: OrganizationId,
        statuses: Vec<Status>,
    ) -> BoxStream<'static, Result<InspectedDevice, StoreError>> {
        devices::list(self.core.clone(), organization, &statuses)
    }
}
