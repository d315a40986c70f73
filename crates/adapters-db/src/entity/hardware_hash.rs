//! A `HardwareHash`, as its digest, and the one computer that has it (decision A1).

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "hardware_hash")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub digest: Vec<u8>,
    pub computer_guid: Uuid,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::computer::Entity",
        from = "Column::ComputerGuid",
        to = "super::computer::Column::Guid"
    )]
    Computer,
}

impl Related<super::computer::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Computer.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
