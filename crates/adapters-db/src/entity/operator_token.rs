//! A token of an operator, as its digest (decision P6). A revoked one stays.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "operator_token")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub digest: Vec<u8>,
    pub operator_id: i64,
    pub name: String,
    pub role: String,
    pub issued_at: i64,
    pub expires_at: i64,
    pub used_at: Option<i64>,
    pub revoked_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::operator_account::Entity",
        from = "Column::OperatorId",
        to = "super::operator_account::Column::Id"
    )]
    Operator,
}

impl Related<super::operator_account::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Operator.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
