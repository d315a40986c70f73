//! A group of crash reports. `reports` is the number of its stored reports.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "crash_group")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: i64,
    pub application_name: Option<String>,
    pub signature: String,
    pub algorithm: i32,
    pub state: String,
    pub resolved_in: Option<String>,
    pub resolved_at: Option<i64>,
    pub first_seen_at: i64,
    pub last_seen_at: i64,
    pub reports: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
