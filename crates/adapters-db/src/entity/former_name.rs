//! A name that a computer or device had before. Names of one record are numbered from the oldest.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "former_name")]
pub struct Model {
    /// `computer` or `device`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub record_guid: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: i64,
    pub name_folded: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
