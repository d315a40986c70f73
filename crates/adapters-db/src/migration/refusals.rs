//! The refusals that are kept for a while.

use super::typed;
use sea_orm_migration::prelude::*;

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0002_refusals"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for statement in STATEMENTS {
            let statement = typed(manager.get_database_backend(), statement);
            manager.get_connection().execute_unprepared(&statement).await?;
        }
        Ok(())
    }
}

const STATEMENTS: &[&str] = &[
    "CREATE TABLE refusal (
        id {id},
        received_at bigint NOT NULL,
        organization_id bigint,
        address text,
        operation text NOT NULL,
        credential text NOT NULL,
        user_name text,
        computer_guid {guid},
        status integer NOT NULL,
        reason text NOT NULL,
        detail text NOT NULL,
        request_id text NOT NULL
    )",
    // Lists, the newest first, and what is too old.
    "CREATE INDEX refusal_by_time ON refusal (received_at, id)",
    // The bounds on what is kept of each owner.
    "CREATE INDEX refusal_of_organization ON refusal (organization_id, id) WHERE organization_id IS NOT NULL",
    "CREATE INDEX refusal_of_address ON refusal (address, id) WHERE organization_id IS NULL",
    "CREATE INDEX refusal_of_unknown ON refusal (id) WHERE organization_id IS NULL",
];
