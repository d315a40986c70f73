//! What a refused request said of its sender.

use sea_orm_migration::prelude::*;

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0003_refusal_senders"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for statement in STATEMENTS {
            manager.get_connection().execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

const STATEMENTS: &[&str] = &[
    "ALTER TABLE refusal ADD COLUMN serial_number text NOT NULL DEFAULT ''",
    "ALTER TABLE refusal ADD COLUMN application_version text NOT NULL DEFAULT ''",
    // The organization of a computer whose hash was sent by somebody who wasn't admitted: organization_id stays empty.
    "ALTER TABLE refusal ADD COLUMN named_organization_id bigint",
];
