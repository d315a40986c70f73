//! The last status of a device (decision D5). The inks are a JSON array.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "device_status")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub device_guid: Uuid,
    pub received_at: i64,
    pub status: String,
    pub message: Option<String>,
    pub temperature: Option<f64>,
    pub connection_state: Option<String>,
    pub connection_message: Option<String>,
    pub remaining_inks: String,
    pub queue_measure: String,
    pub queue_amount: String,
    /// The time of the last change of Status or ConnectionState; `None` if an earlier version wrote the status.
    pub changed_at: Option<i64>,
    /// The time of the last sample (decision I1); `None` if an earlier version wrote the status.
    pub sampled_at: Option<i64>,
    /// The lowest level of the inks as a share of MaxLevel, from 0; `None` if no level is known.
    pub lowest_ink: Option<f64>,
    /// The time at which the first ink will be empty by the last forecast (decision I2).
    pub empties_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
