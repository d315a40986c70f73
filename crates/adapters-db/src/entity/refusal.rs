//! A refusal that is kept for a while.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "refusal")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub received_at: i64,
    pub organization_id: Option<i64>,
    pub address: Option<String>,
    pub operation: String,
    pub credential: String,
    pub user_name: Option<String>,
    pub computer_guid: Option<Uuid>,
    pub status: i32,
    pub reason: String,
    pub detail: String,
    pub request_id: String,
    pub serial_number: String,
    pub application_version: String,
    pub named_organization_id: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
