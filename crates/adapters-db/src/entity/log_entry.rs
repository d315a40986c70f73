//! A log entry; its names, as they were at the time of receipt (decision L4), are those of its origin.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "log_entry")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub organization_id: i64,
    pub origin_id: i64,
    pub received_at: i64,
    pub log_type: String,
    pub description: String,
    pub source: String,
    pub source_folded: String,
    pub device_guid: Option<Uuid>,
    pub queue_guid: Option<Uuid>,
    pub job_guid: Option<Uuid>,
    pub job_name: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
