//! A blob that nothing refers to any more, until the sweep has removed it.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "discarded_blob")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub blob_key: String,
    pub discarded_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
