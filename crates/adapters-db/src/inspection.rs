//! What the operator looks at: [`domain::inspection::InspectionRepository`].

mod computers;
mod crashes;
mod devices;
mod follow;

use crate::connections::Connections;
use crate::entity::{organization, resource};
use crate::{crash_report, log_entry};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::crash_report::StoredCrashReport;
use domain::device_status::Status;
use domain::error::StoreError;
use domain::guid::{CrashReportId, ResourceGuid};
use domain::inspection::{
    CrashReportFilter, DeviceCount, InspectedComputer, InspectedCrashReport, InspectedDevice, InspectedLogEntry,
    InspectionRepository, LogFollower, RegisteredOrganization,
};
use domain::log_entry::{LogCursor, LogFilter, LogNumber};
use domain::page::{Page, PageRequest};
use domain::resource::StoredResource;
use domain::timestamp::Timestamp;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};
use std::future::ready;
use std::sync::Arc;

/// What is stored in a database, read only.
pub struct SqlInspectionRepository {
    db: Arc<Connections>,
}

impl SqlInspectionRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl InspectionRepository for SqlInspectionRepository {
    async fn organizations(&self, name: Option<String>) -> Result<Vec<RegisteredOrganization>, StoreError> {
        let select = organization::Entity::find()
            .apply_if(name, |select, name| select.filter(organization::Column::Name.eq(name)));
        let mut rows = self.db.read(select.all(&self.db.reads)).await?;
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
        devices::list(self.db.clone(), organization, &statuses)
    }

    async fn count_devices(&self, silent_before: Timestamp) -> Result<Vec<DeviceCount>, StoreError> {
        devices::count(&self.db, silent_before).await
    }

    fn computers(&self, organization: OrganizationId) -> BoxStream<'static, Result<InspectedComputer, StoreError>> {
        computers::list(self.db.clone(), organization)
    }

    fn log_entries(
        &self,
        organizations: Vec<OrganizationId>,
        filter: LogFilter,
    ) -> BoxStream<'static, Result<InspectedLogEntry, StoreError>> {
        let rows = log_entry::entries(self.db.clone(), organizations, filter);
        rows.and_then(|row| ready(row.inspected())).boxed()
    }

    async fn log_page(
        &self,
        organization: Option<OrganizationId>,
        filter: LogFilter,
        asked: PageRequest<LogCursor>,
    ) -> Result<Page<InspectedLogEntry, LogCursor>, StoreError> {
        log_entry::page(&self.db, organization, &filter, &asked).await
    }

    async fn follow_log(
        &self,
        organization: Option<OrganizationId>,
        filter: LogFilter,
        after: Option<LogNumber>,
    ) -> Result<Box<dyn LogFollower>, StoreError> {
        Ok(Box::new(follow::Follower::begin(self.db.clone(), organization, filter, after).await?))
    }

    fn crash_reports(
        &self,
        organizations: Vec<OrganizationId>,
        filter: CrashReportFilter,
    ) -> BoxStream<'static, Result<InspectedCrashReport, StoreError>> {
        crashes::list(&self.db, &organizations, filter)
    }

    async fn find_crash_report(
        &self,
        id: CrashReportId,
    ) -> Result<Option<(OrganizationId, StoredCrashReport)>, StoreError> {
        crash_report::find(&self.db, None, id).await
    }

    async fn find_resources(&self, guid: ResourceGuid) -> Result<Vec<StoredResource>, StoreError> {
        let select = resource::Entity::find()
            .filter(resource::Column::Guid.eq(guid.as_uuid()))
            .order_by_asc(resource::Column::OrganizationId);
        let rows = self.db.read(select.all(&self.db.reads)).await?;
        rows.into_iter().map(crate::resource::stored).collect()
    }
}
