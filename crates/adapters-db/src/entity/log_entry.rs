//! A log entry with the names at the time of receipt (decision L4).

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "log_entry")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub organization_id: i64,
    pub received_at: i64,
    pub log_type: String,
    pub description: String,
    pub user_name: String,
    pub user_folded: String,
    pub source: String,
    pub source_folded: String,
    pub version: String,
    pub version_folded: String,
    pub computer: String,
    pub computer_folded: String,
    pub serial_number: String,
    pub serial_folded: String,
    pub computer_guid: Uuid,
    pub device_guid: Option<Uuid>,
    pub queue_guid: Option<Uuid>,
    pub job_guid: Option<Uuid>,
    pub job_name: Option<String>,
    pub application_version: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
