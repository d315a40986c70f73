//! A resource. `previous_blob_key` is what the last update replaced: the upsert returns it.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "resource")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub guid: Uuid,
    pub resource_type: String,
    pub type_folded: String,
    pub checksum: String,
    pub modified_at: i64,
    pub domain: String,
    pub name: String,
    pub name_folded: String,
    pub meta: String,
    pub meta_digest: Vec<u8>,
    pub profile_group_folded: Option<String>,
    pub media_folded: Option<String>,
    pub mode_folded: Option<String>,
    pub blob_key: String,
    pub content_size: i64,
    pub previous_blob_key: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
