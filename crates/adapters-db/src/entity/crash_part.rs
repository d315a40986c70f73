//! A part of a crash report; `position` counts in the order of the body.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "crash_part")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub report_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub position: i32,
    pub place: String,
    pub name: Option<String>,
    pub file_name: Option<String>,
    pub content_type: Option<String>,
    pub blob_key: String,
    pub content_size: i64,
    pub checksum: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::crash_report::Entity",
        from = "Column::ReportId",
        to = "super::crash_report::Column::Id"
    )]
    Report,
}

impl Related<super::crash_report::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Report.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
