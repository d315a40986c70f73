//! The state of a device at a point in time: a change, a sample, or both (decision I1).

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "device_history")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub device_guid: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub received_at: i64,
    pub status: String,
    pub connection_state: Option<String>,
    pub is_change: bool,
    /// Of changes only.
    pub message: Option<String>,
    /// Of changes only.
    pub connection_message: Option<String>,
    pub temperature: Option<f64>,
    /// Of samples only.
    pub remaining_inks: Option<String>,
    /// Of samples only.
    pub queue_measure: Option<String>,
    /// Of samples only.
    pub queue_amount: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
