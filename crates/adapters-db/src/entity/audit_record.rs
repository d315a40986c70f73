//! An audit record (decision P9). Triggers refuse to change or delete one.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_record")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub recorded_at: i64,
    pub author: String,
    pub author_folded: String,
    pub credential: String,
    /// The name of the token, if the credential is one.
    pub token_name: Option<String>,
    pub address: Option<String>,
    /// `None`: admins of all organizations see it.
    pub organization_id: Option<i64>,
    pub action: String,
    pub target: String,
    /// A JSON array of `AuditedValue`.
    pub changed_values: String,
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
