//! Where log entries come from: what they have in common (ADR 54).

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "log_origin")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    /// None of those that were made of entries which an earlier version had stored.
    pub digest: Option<Vec<u8>>,
    pub organization_id: i64,
    pub user_name: String,
    pub user_folded: String,
    pub version: String,
    pub version_folded: String,
    pub computer: String,
    pub computer_folded: String,
    pub serial_number: String,
    pub serial_folded: String,
    pub computer_guid: Uuid,
    pub application_version: String,
    /// At most an hour before the last entry was received.
    pub seen_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
