//! The registered credentials: [`domain::access::CredentialDirectory`].

use crate::connections::Connections;
use crate::entity::{computer, hardware_hash, mis_key, organization, user_account};
use async_trait::async_trait;
use domain::access::{CredentialDigest, CredentialDirectory, KeyHolder, RegisteredComputer};
use domain::caller::{CallingComputer, OrganizationId};
use domain::error::StoreError;
use domain::guid::ComputerGuid;
use domain::text::Folded;
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, JoinType, QueryFilter, QuerySelect, RelationTrait, Select};
use std::sync::Arc;
use uuid::Uuid;

/// The credentials in a database. Answers come from memory while the fleet stays the same (ADR 24).
pub struct SqlCredentialDirectory {
    db: Arc<Connections>,
}

impl SqlCredentialDirectory {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl CredentialDirectory for SqlCredentialDirectory {
    async fn find_key_holder(&self, mis_key: CredentialDigest) -> Result<Option<KeyHolder>, StoreError> {
        let query = async || {
            let found = key_holder(mis_key).into_model::<KeyHolderRow>().one(&self.db.reads);
            Ok(self.db.read(found).await?.map(KeyHolder::from))
        };
        let version = self.db.fleet_version().await?;
        self.db.fleet_cache.key_holders.get((version, mis_key), query).await
    }

    async fn find_computer(&self, hardware_hash: CredentialDigest) -> Result<Option<RegisteredComputer>, StoreError> {
        let query = async || {
            let found = registered_computer(hardware_hash).into_model::<ComputerRow>().one(&self.db.reads);
            Ok(self.db.read(found).await?.map(RegisteredComputer::from))
        };
        let version = self.db.fleet_version().await?;
        self.db.fleet_cache.computers.get((version, hardware_hash), query).await
    }
}

fn key_holder(digest: CredentialDigest) -> Select<mis_key::Entity> {
    mis_key::Entity::find_by_id(digest.as_bytes().to_vec())
        .filter(mis_key::Column::RevokedAt.is_null())
        .join(JoinType::InnerJoin, mis_key::Relation::User.def())
        .filter(user_account::Column::RetiredAt.is_null())
        .join(JoinType::InnerJoin, user_account::Relation::Organization.def())
        .select_only()
        .column(user_account::Column::OrganizationId)
        .column_as(organization::Column::Name, "organization_name")
        .column_as(user_account::Column::Name, "user_name")
}

fn registered_computer(digest: CredentialDigest) -> Select<hardware_hash::Entity> {
    hardware_hash::Entity::find_by_id(digest.as_bytes().to_vec())
        .join(JoinType::InnerJoin, hardware_hash::Relation::Computer.def())
        .filter(computer::Column::RetiredAt.is_null())
        .join(JoinType::InnerJoin, computer::Relation::Organization.def())
        .join(JoinType::LeftJoin, computer::Relation::User.def())
        .select_only()
        .columns([
            computer::Column::OrganizationId,
            computer::Column::Guid,
            computer::Column::Name,
            computer::Column::SerialFolded,
        ])
        .column_as(organization::Column::Name, "organization_name")
        .column_as(user_account::Column::Name, "user_name")
}

#[derive(FromQueryResult)]
struct KeyHolderRow {
    organization_id: i64,
    organization_name: String,
    user_name: String,
}

impl From<KeyHolderRow> for KeyHolder {
    fn from(row: KeyHolderRow) -> Self {
        Self {
            organization: OrganizationId(row.organization_id),
            organization_name: row.organization_name,
            user: row.user_name,
        }
    }
}

#[derive(FromQueryResult)]
struct ComputerRow {
    organization_id: i64,
    organization_name: String,
    user_name: Option<String>,
    guid: Uuid,
    name: String,
    serial_folded: Option<String>,
}

impl From<ComputerRow> for RegisteredComputer {
    fn from(row: ComputerRow) -> Self {
        Self {
            organization: OrganizationId(row.organization_id),
            organization_name: row.organization_name,
            computer: CallingComputer { guid: ComputerGuid::from(row.guid), name: row.name, user: row.user_name },
            serial_number: Folded::from_stored(row.serial_folded.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use sea_orm::QueryTrait;

    #[tokio::test]
    async fn credentials_are_looked_up_by_their_digests() {
        let digest = CredentialDigest::of("a key");
        for engine in engines().await {
            let backend = engine.db().backend;
            for query in [key_holder(digest).build(backend), registered_computer(digest).build(backend)] {
                let plan = engine.plan(query).await;
                for sign in ["Seq Scan", "SCAN "] {
                    assert!(!plan.contains(sign), "{}:\n{plan}", engine.name);
                }
            }
        }
    }
}
