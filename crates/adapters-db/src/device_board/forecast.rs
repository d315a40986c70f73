//! The stored forecasts of devices (decision I2).

use crate::convert::Owner;
use crate::entity::{device, device_forecast, device_status};
use domain::device_board::{DeviceForecast, earliest};
use domain::device_history::InkForecast;
use domain::error::StoreError;
use domain::guid::DeviceGuid;
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel, JoinType, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, RelationTrait, Select,
};

/// An ink in the JSON of the column: index, name, millilitres per day, time in microseconds since 1970.
type InkColumns = (f64, String, f64, i64);

pub(super) fn inks(row: &device_forecast::Model) -> Result<Vec<InkForecast>, StoreError> {
    let device = DeviceGuid::from(row.device_guid);
    let inks: Option<Vec<InkColumns>> = serde_json::from_str(&row.inks).ok();
    let ink = |(index, name, per_day, empties_at)| InkForecast {
        index,
        name,
        per_day,
        empties_at: Timestamp::from_micros(empties_at),
    };
    let inks = Owner { what: "forecast of a device", id: &device }.need(inks)?;
    Ok(inks.into_iter().map(ink).collect())
}

/// The devices with a status, by GUID, after `after`.
pub(super) fn devices(after: Option<DeviceGuid>, limit: u64) -> Select<device::Entity> {
    device::Entity::find()
        .select_only()
        .column(device::Column::OrganizationId)
        .column(device::Column::Guid)
        .join(JoinType::InnerJoin, device::Relation::Status.def())
        .filter(device::Column::RetiredAt.is_null())
        .apply_if(after, |select, after| select.filter(device::Column::Guid.gt(after.as_uuid())))
        .order_by_asc(device::Column::Guid)
        .limit(limit)
}

/// Replaces the forecasts of devices. Devices without a status are left out.
pub(super) async fn store(transaction: &DatabaseTransaction, forecasts: &[DeviceForecast]) -> Result<(), DbErr> {
    use device_forecast::Column::{DeviceGuid, Inks, MadeAt, OrganizationId};
    let mut rows = Vec::new();
    for forecast in forecasts {
        let empties_at = earliest(&forecast.inks).map(Timestamp::as_micros);
        let status = device_status::Entity::update_many()
            .col_expr(device_status::Column::EmptiesAt, Expr::val(empties_at))
            .filter(device_status::Column::OrganizationId.eq(forecast.organization.0))
            .filter(device_status::Column::DeviceGuid.eq(forecast.device.as_uuid()));
        if status.exec(transaction).await?.rows_affected > 0 {
            rows.push(row(forecast).into_active_model());
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let replace = OnConflict::columns([OrganizationId, DeviceGuid]).update_columns([MadeAt, Inks]).to_owned();
    let insert = device_forecast::Entity::insert_many(rows).on_conflict(replace);
    insert.exec_without_returning(transaction).await.map(drop)
}

fn row(forecast: &DeviceForecast) -> device_forecast::Model {
    let ink = |ink: &InkForecast| (ink.index, ink.name.clone(), ink.per_day, ink.empties_at.as_micros());
    let inks: Vec<InkColumns> = forecast.inks.iter().map(ink).collect();
    device_forecast::Model {
        organization_id: forecast.organization.0,
        device_guid: forecast.device.as_uuid(),
        made_at: forecast.at.as_micros(),
        // Numbers and texts can always be written.
        inks: serde_json::to_string(&inks).unwrap_or_default(),
    }
}
