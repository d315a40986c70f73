//! The queue of crash reports that wait for their analysis. `taken_until` is the end of a lease, 0 without one.

use super::crash_report;
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "crash_pending")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub report_id: Uuid,
    pub waiting_since: i64,
    pub taken_until: i64,
    pub attempts: i32,
}

impl Model {
    /// The row of a new report.
    pub(crate) fn new(report: &crash_report::Model) -> Self {
        Self { report_id: report.id, waiting_since: report.received_at, taken_until: 0, attempts: 0 }
    }
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
