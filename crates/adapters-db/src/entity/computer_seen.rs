//! The last admitted request of a computer (decision I8).

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "computer_seen")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub computer_guid: Uuid,
    pub seen_at: i64,
    pub address: Option<String>,
    pub serial_number: String,
    pub application_version: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
