//! The last content of a resource that a computer fetched (decision I9).

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "computer_fetch")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub computer_guid: Uuid,
    /// The organization of the resource.
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub resource_guid: Uuid,
    pub fetched_at: i64,
    pub checksum: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::resource::Entity",
        from = "(Column::OrganizationId, Column::ResourceGuid)",
        to = "(super::resource::Column::OrganizationId, super::resource::Column::Guid)"
    )]
    Resource,
}

impl ActiveModelBehavior for ActiveModel {}
