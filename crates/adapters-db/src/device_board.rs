//! Devices as operators see them: [`domain::device_board::DeviceBoardRepository`].
//!
//! The attention of a device depends on the present time, since the device may have become silent. So no column can
//! hold it: a list by attention computes it for all devices of its organizations and sorts them, which takes some 10 ms
//! for 10,000 devices. Lists by name are read in the order of an index.

mod forecast;
mod list;

use crate::connections::Connections;
use crate::device_status::stored;
use crate::entity::{device_forecast, organization};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::device_board::{
    BoardDevice, DeviceBoardRepository, DeviceCursor, DeviceFilter, DeviceForecast, DeviceSort, DeviceTally, Moment,
};
use domain::error::StoreError;
use domain::guid::DeviceGuid;
use domain::inspection::RegisteredOrganization;
use domain::page::{Page, PageRequest};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use list::{Counted, Row};
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The devices in a database, for operators.
pub struct SqlDeviceBoardRepository {
    db: Arc<Connections>,
}

impl SqlDeviceBoardRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }

    /// Adds the names of the organizations and the forecasts.
    async fn completed(&self, rows: Vec<Row>) -> Result<Vec<BoardDevice>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let ids: BTreeSet<i64> = rows.iter().map(|row| row.device.organization_id).collect();
        let organizations = organization::Entity::find().filter(organization::Column::Id.is_in(ids.iter().copied()));
        let organizations = self.db.read(organizations.all(&self.db.reads)).await?;
        let names: BTreeMap<i64, String> = organizations.into_iter().map(|row| (row.id, row.name)).collect();
        let forecasts = device_forecast::Entity::find()
            .filter(device_forecast::Column::OrganizationId.is_in(ids))
            .filter(device_forecast::Column::DeviceGuid.is_in(rows.iter().map(|row| row.device.guid)));
        let forecasts = self.db.read(forecasts.all(&self.db.reads)).await?;
        let mut forecasts: BTreeMap<_, _> =
            forecasts.into_iter().map(|row| ((row.organization_id, row.device_guid), row)).collect();
        let complete = |row: Row| {
            let id = row.device.organization_id;
            let forecast = forecasts.remove(&(id, row.device.guid));
            let changed = row.status.as_ref().and_then(|status| status.changed_at);
            Ok(BoardDevice {
                organization: RegisteredOrganization {
                    id: OrganizationId(id),
                    name: names.get(&id).cloned().unwrap_or_default(),
                },
                guid: row.device.guid.into(),
                name: row.device.name,
                forecast: forecast.map(|row| forecast::inks(&row)).transpose()?.unwrap_or_default(),
                changed: changed.map(Timestamp::from_micros),
                status: row.status.map(stored).transpose()?,
            })
        };
        rows.into_iter().map(complete).collect()
    }
}

#[async_trait]
impl DeviceBoardRepository for SqlDeviceBoardRepository {
    async fn page(
        &self,
        filter: &DeviceFilter,
        sort: DeviceSort,
        moment: Moment,
        asked: &PageRequest<DeviceCursor>,
    ) -> Result<Page<BoardDevice, DeviceCursor>, StoreError> {
        let page = list::page(filter, sort, moment, asked, self.db.backend);
        let rows = self.db.read(Row::find_by_statement(page).all(&self.db.reads)).await?;
        Ok(asked.page(self.completed(rows).await?, |device| device.cursor(sort, moment)))
    }

    async fn find(
        &self,
        organization: Option<OrganizationId>,
        guid: DeviceGuid,
    ) -> Result<Option<BoardDevice>, StoreError> {
        let find = list::find(organization, guid, self.db.backend);
        let rows = self.db.read(Row::find_by_statement(find).all(&self.db.reads)).await?;
        Ok(self.completed(rows).await?.pop())
    }

    async fn count(
        &self,
        organization: Option<OrganizationId>,
        moment: Moment,
    ) -> Result<Vec<DeviceTally>, StoreError> {
        let count = list::count(organization, moment).into_model::<Counted>().all(&self.db.reads);
        self.db.read(count).await?.into_iter().map(Counted::tally).collect()
    }

    async fn devices_to_forecast(
        &self,
        after: Option<DeviceGuid>,
        limit: u64,
    ) -> Result<Vec<(OrganizationId, DeviceGuid)>, StoreError> {
        let devices = forecast::devices(after, limit).into_tuple::<(i64, uuid::Uuid)>().all(&self.db.reads);
        let devices = self.db.read(devices).await?;
        Ok(devices.into_iter().map(|(organization, guid)| (OrganizationId(organization), guid.into())).collect())
    }

    async fn store_forecasts(&self, forecasts: &[DeviceForecast]) -> Result<(), StoreError> {
        let mut forecasts = forecasts.to_vec();
        // In the order in which statuses are written, to avoid deadlocks.
        forecasts.sort_by_key(|forecast| (forecast.organization.0, forecast.device));
        let forecasts: Arc<[DeviceForecast]> = forecasts.into();
        let stored = self.db.write(move |transaction| {
            let forecasts = forecasts.clone();
            async move { forecast::store(transaction, &forecasts).await }.boxed()
        });
        Ok(stored.await?)
    }
}
