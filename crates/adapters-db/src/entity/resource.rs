//! A resource. `name_sort` is what lists are sorted by (decision T19); `previous_blob_key` is the key that the last
//! update replaced, which the upsert returns (ADR 9).

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
    pub name_sort: String,
    pub meta: String,
    pub profile_group_folded: Option<String>,
    pub media_folded: Option<String>,
    pub mode_folded: Option<String>,
    pub blob_key: String,
    pub content_size: i64,
    pub previous_blob_key: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::organization::Entity",
        from = "Column::OrganizationId",
        to = "super::organization::Column::Id"
    )]
    Organization,
}

impl Related<super::organization::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Organization.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
