//! The analysis of a crash report: `signature` and `group_id`, or `failure`. `received_at` is a copy of the report's,
//! `dump_facts` is JSON.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "crash_analysis")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub report_id: Uuid,
    pub group_id: Option<Uuid>,
    pub received_at: i64,
    pub algorithm: i32,
    pub signature: Option<String>,
    pub failure: Option<String>,
    pub dump_reader: Option<String>,
    pub dump_facts: Option<String>,
    pub dump_failure: Option<String>,
    pub analyzed_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
