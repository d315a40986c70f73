//! The number of changes to the fleet, by which processes know whether what they remember of it is still so.

use sea_orm_migration::prelude::*;

pub(super) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "0005_fleet_version"
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
    "CREATE TABLE fleet_version (number bigint NOT NULL)",
    // One row for ever.
    "INSERT INTO fleet_version (number) VALUES (0)",
];
