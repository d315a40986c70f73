//! A `MisKey`, as its digest (decision A1). A revoked one stays (decision A6).

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "mis_key")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub digest: Vec<u8>,
    pub user_id: i64,
    pub issued_at: i64,
    /// Written by a background task.
    pub last_used_at: Option<i64>,
    pub revoked_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::user_account::Entity",
        from = "Column::UserId",
        to = "super::user_account::Column::Id"
    )]
    User,
}

impl Related<super::user_account::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::User.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
