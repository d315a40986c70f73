//! A printing device.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "device")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub guid: Uuid,
    pub organization_id: i64,
    pub name: String,
    pub retired_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::device_status::Entity",
        from = "(Column::OrganizationId, Column::Guid)",
        to = "(super::device_status::Column::OrganizationId, super::device_status::Column::DeviceGuid)"
    )]
    Status,
}

impl Related<super::device_status::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Status.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
