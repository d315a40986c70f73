//! The registered credentials: [`domain::access::CredentialDirectory`].

use crate::connections::Connections;
use async_trait::async_trait;
use domain::access::{CredentialDigest, CredentialDirectory, KeyHolder, RegisteredComputer};
use domain::caller::{CallingComputer, OrganizationId};
use domain::error::StoreError;
use domain::guid::ComputerGuid;
use domain::text::Folded;
use sea_orm::FromQueryResult;
use std::sync::Arc;
use uuid::Uuid;

const KEY_HOLDER: &str = "SELECT organization.id AS organization_id, organization.name AS organization_name,
        user_account.name AS user_name
    FROM mis_key
    JOIN user_account ON user_account.id = mis_key.user_id
    JOIN organization ON organization.id = user_account.organization_id
    WHERE mis_key.digest = $1 AND mis_key.revoked_at IS NULL";

const COMPUTER: &str = "SELECT organization.id AS organization_id, organization.name AS organization_name,
        user_account.name AS user_name, computer.guid, computer.name, computer.serial_folded
    FROM hardware_hash
    JOIN computer ON computer.guid = hardware_hash.computer_guid
    JOIN organization ON organization.id = computer.organization_id
    LEFT JOIN user_account ON user_account.id = computer.user_id
    WHERE hardware_hash.digest = $1";

/// The credentials in a database.
pub struct SqlCredentialDirectory {
    db: Arc<Connections>,
}

impl SqlCredentialDirectory {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }

    async fn find<R: FromQueryResult>(&self, sql: &str, digest: CredentialDigest) -> Result<Option<R>, StoreError> {
        let statement = self.db.statement(sql, [digest.as_bytes().to_vec().into()]);
        self.db.read(R::find_by_statement(statement).one(&self.db.reads)).await
    }
}

#[async_trait]
impl CredentialDirectory for SqlCredentialDirectory {
    async fn find_key_holder(&self, mis_key: CredentialDigest) -> Result<Option<KeyHolder>, StoreError> {
        let query = async || {
            let row: Option<KeyRow> = self.find(KEY_HOLDER, mis_key).await?;
            Ok(row.map(|row| KeyHolder {
                organization: OrganizationId(row.organization_id),
                organization_name: row.organization_name,
                user: row.user_name,
            }))
        };
        let version = self.db.fleet_version().await?;
        self.db.fleet_cache.key_holders.get((version, mis_key), query).await
    }

    async fn find_computer(&self, hardware_hash: CredentialDigest) -> Result<Option<RegisteredComputer>, StoreError> {
        let query = async || {
            let row: Option<ComputerRow> = self.find(COMPUTER, hardware_hash).await?;
            Ok(row.map(|row| RegisteredComputer {
                organization: OrganizationId(row.organization_id),
                organization_name: row.organization_name,
                computer: CallingComputer { guid: ComputerGuid::from(row.guid), name: row.name, user: row.user_name },
                serial_number: Folded::from_stored(row.serial_folded.unwrap_or_default()),
            }))
        };
        let version = self.db.fleet_version().await?;
        self.db.fleet_cache.computers.get((version, hardware_hash), query).await
    }
}

#[derive(FromQueryResult)]
struct KeyRow {
    organization_id: i64,
    organization_name: String,
    user_name: String,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    #[tokio::test]
    async fn credentials_are_looked_up_by_their_digests() {
        for engine in engines().await {
            for sql in [KEY_HOLDER, COMPUTER] {
                let plan = engine.plan(engine.db().statement(sql, [vec![0_u8; 32].into()])).await;
                for sign in ["Seq Scan", "SCAN "] {
                    assert!(!plan.contains(sign), "{}:\n{plan}", engine.name);
                }
            }
        }
    }
}
