//! Refusals that are kept for a while: [`domain::refusal::RefusalRepository`].

use crate::connections::Connections;
use crate::convert::Owner as Row;
use crate::entity::refusal;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ComputerGuid;
use domain::refusal::{
    CredentialKind, KEPT_OF_UNKNOWN, KEPT_PER_OWNER, NewRefusal, Owner, RefusalFilter, RefusalRepository, Refused,
};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, EntityTrait, FromQueryResult, Statement, Value};
use std::collections::HashSet;
use std::sync::Arc;
use uuid::Uuid;

/// Removes what of an organization comes behind its newest.
const TRIM_ORGANIZATION: &str = "DELETE FROM refusal WHERE organization_id = $1 AND id <=
    (SELECT id FROM refusal WHERE organization_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";

/// The same of an address without an organization.
const TRIM_ADDRESS: &str = "DELETE FROM refusal WHERE organization_id IS NULL AND address = $1 AND id <=
    (SELECT id FROM refusal WHERE organization_id IS NULL AND address = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";

/// The same of all addresses together.
const TRIM_UNKNOWN: &str = "DELETE FROM refusal WHERE organization_id IS NULL AND id <=
    (SELECT id FROM refusal WHERE organization_id IS NULL ORDER BY id DESC LIMIT 1 OFFSET $1)";

const PRUNE: &str =
    "DELETE FROM refusal WHERE id IN (SELECT id FROM refusal WHERE received_at < $1 ORDER BY received_at, id LIMIT $2)";

const LIST: &str = "SELECT refusal.*, organization.name AS organization_name
    FROM refusal LEFT JOIN organization
    ON organization.id = COALESCE(refusal.organization_id, refusal.named_organization_id)";

/// The refusals in a database.
pub struct SqlRefusalRepository {
    db: Arc<Connections>,
}

impl SqlRefusalRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl RefusalRepository for SqlRefusalRepository {
    async fn add(&self, refusals: &[NewRefusal]) -> Result<(), StoreError> {
        if refusals.is_empty() {
            return Ok(());
        }
        let refusals: Arc<[NewRefusal]> = refusals.into();
        self.db
            .write(move |transaction| {
                let refusals = refusals.clone();
                async move { add(transaction, &refusals).await }.boxed()
            })
            .await
    }

    async fn prune(&self, before: Timestamp, limit: u64) -> Result<u64, StoreError> {
        let prune = self.db.statement(PRUNE, [before.as_micros().into(), number(limit)]);
        self.db
            .write(move |transaction| {
                let prune = prune.clone();
                async move { Ok(transaction.execute_raw(prune).await?.rows_affected()) }.boxed()
            })
            .await
    }

    async fn page(
        &self,
        filter: &RefusalFilter,
        behind: Option<(Timestamp, i64)>,
        limit: u64,
    ) -> Result<Vec<Refused>, StoreError> {
        let rows = Listed::find_by_statement(page(&self.db, filter, behind, limit)).all(&self.db.reads);
        self.db.read(rows).await?.into_iter().map(Listed::refused).collect()
    }
}

fn number(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

fn page(db: &Connections, filter: &RefusalFilter, behind: Option<(Timestamp, i64)>, limit: u64) -> Statement {
    let mut values: Vec<Value> = Vec::new();
    let mut conditions = Vec::new();
    let mut place = |value: Value| {
        values.push(value);
        format!("${}", values.len())
    };
    if let Some(name) = &filter.organization {
        conditions.push(format!("organization.name = {}", place(name.as_str().into())));
    }
    if let Some(computer) = filter.computer {
        conditions.push(format!("refusal.computer_guid = {}", place(computer.as_uuid().into())));
    }
    if let Some(since) = filter.since {
        conditions.push(format!("refusal.received_at >= {}", place(since.as_micros().into())));
    }
    if let Some((at, id)) = behind {
        let (at, id) = (place(at.as_micros().into()), place(id.into()));
        conditions.push(format!("(refusal.received_at, refusal.id) < ({at}, {id})"));
    }
    let conditions = if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
    let limit = place(number(limit));
    let sql = format!("{LIST} {conditions} ORDER BY refusal.received_at DESC, refusal.id DESC LIMIT {limit}");
    db.statement(&sql, values)
}

/// Stores refusals and removes the oldest ones of their owners.
async fn add(transaction: &DatabaseTransaction, refusals: &[NewRefusal]) -> Result<(), DbErr> {
    let rows = refusals.iter().map(new_row);
    refusal::Entity::insert_many(rows).exec_without_returning(transaction).await?;
    let trim = async |sql: &str, values: Vec<Value>| {
        let backend = transaction.get_database_backend();
        transaction.execute_raw(Statement::from_sql_and_values(backend, sql, values)).await
    };
    let owners: HashSet<&Owner> = refusals.iter().map(|refusal| &refusal.owner).collect();
    for owner in &owners {
        match owner {
            Owner::Organization(OrganizationId(id)) => {
                trim(TRIM_ORGANIZATION, vec![(*id).into(), number(KEPT_PER_OWNER)]).await?;
            }
            Owner::Address(address) => {
                trim(TRIM_ADDRESS, vec![address.as_str().into(), number(KEPT_PER_OWNER)]).await?;
            }
        }
    }
    if owners.iter().any(|owner| matches!(owner, Owner::Address(_))) {
        trim(TRIM_UNKNOWN, vec![number(KEPT_OF_UNKNOWN)]).await?;
    }
    Ok(())
}

fn new_row(refusal: &NewRefusal) -> refusal::ActiveModel {
    let (organization_id, address) = match &refusal.owner {
        Owner::Organization(id) => (Some(id.0), refusal.address.clone()),
        Owner::Address(address) => (None, Some(address.clone())),
    };
    refusal::ActiveModel {
        id: NotSet,
        received_at: Set(refusal.at.as_micros()),
        organization_id: Set(organization_id),
        address: Set(address),
        operation: Set(refusal.operation.clone()),
        credential: Set(refusal.credential.as_str().to_owned()),
        user_name: Set(refusal.user.clone()),
        computer_guid: Set(refusal.computer.map(ComputerGuid::as_uuid)),
        status: Set(refusal.status.into()),
        reason: Set(refusal.reason.clone()),
        detail: Set(refusal.detail.clone()),
        request_id: Set(refusal.request_id.clone()),
        serial_number: Set(refusal.serial_number.clone()),
        application_version: Set(refusal.application_version.clone()),
        named_organization_id: Set(refusal.named.map(|organization| organization.0)),
    }
}

#[derive(FromQueryResult)]
struct Listed {
    id: i64,
    received_at: i64,
    organization_id: Option<i64>,
    organization_name: Option<String>,
    address: Option<String>,
    operation: String,
    credential: String,
    user_name: Option<String>,
    computer_guid: Option<Uuid>,
    status: i32,
    reason: String,
    detail: String,
    request_id: String,
    serial_number: String,
    application_version: String,
    named_organization_id: Option<i64>,
}

impl Listed {
    fn refused(self) -> Result<Refused, StoreError> {
        let row = Row { what: "refusal", id: &self.id };
        let credential = CredentialKind::ALL.into_iter().find(|kind| kind.as_str() == self.credential);
        let (credential, status) = (row.need(credential)?, row.need(u16::try_from(self.status).ok())?);
        let owner = match self.organization_id {
            Some(id) => Owner::Organization(OrganizationId(id)),
            None => Owner::Address(self.address.clone().unwrap_or_default()),
        };
        let refusal = NewRefusal {
            at: Timestamp::from_micros(self.received_at),
            owner,
            operation: self.operation,
            credential,
            user: self.user_name,
            computer: self.computer_guid.map(ComputerGuid::from),
            named: self.named_organization_id.map(OrganizationId),
            serial_number: self.serial_number,
            application_version: self.application_version,
            address: self.address,
            status,
            reason: self.reason,
            detail: self.detail,
            request_id: self.request_id,
        };
        Ok(Refused { number: self.id, organization: self.organization_name, refusal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    const MANY: &str = "INSERT INTO refusal (received_at, organization_id, address, operation, credential, status,
            reason, detail, request_id)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
        SELECT 1000000 + n, CASE WHEN n % 2 = 0 THEN n % 20 END, 'address ' || (n % 50), 'add_log', 'none', 400,
            'reason', 'detail', 'request' FROM numbers";

    #[tokio::test]
    async fn lists_and_trims_go_by_an_index() {
        for engine in engines().await {
            engine.run(MANY).await;
            engine.run("ANALYZE").await;
            let db = engine.db();
            let since = Some(Timestamp::from_micros(1_002_000));
            let newest = page(db, &RefusalFilter { since, ..RefusalFilter::default() }, None, 50);
            engine.assert_uses("refusal_by_time", newest).await;
            let own = |sql: &str| sql.split_once('(').map(|(_, inner)| inner.trim_end_matches(')').to_owned()).unwrap();
            let of_organization = db.statement(&own(TRIM_ORGANIZATION), [1_i64.into(), 200_i64.into()]);
            engine.assert_uses("refusal_of_organization", of_organization).await;
            let of_address = db.statement(&own(TRIM_ADDRESS), ["192.0.2.1".into(), 200_i64.into()]);
            engine.assert_uses("refusal_of_address", of_address).await;
            let unknown = db.statement(&own(TRIM_UNKNOWN), [5_000_i64.into()]);
            // It has no condition left but that of its index, which is read from its end up to the bound.
            let plan = engine.plan(unknown).await;
            assert!(plan.contains("refusal_of_unknown"), "{}:\n{plan}", engine.name);
            assert!(!plan.contains("Seq Scan") && !plan.contains("TEMP B-TREE"), "{}:\n{plan}", engine.name);
        }
    }
}
