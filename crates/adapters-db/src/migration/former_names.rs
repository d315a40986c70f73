//! The former names of computers and devices, by which timelines find log entries (decision I12).

use super::initial::table;
use async_trait::async_trait;
use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text, uuid};

pub(super) struct FormerNames;

impl MigrationName for FormerNames {
    fn name(&self) -> &'static str {
        "0009_former_names"
    }
}

#[async_trait]
impl MigrationTrait for FormerNames {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let names = table("former_name")
            .col(text("kind"))
            .col(uuid("record_guid"))
            .col(big_integer("number"))
            .col(text("name_folded"))
            .primary_key(Index::create().col("kind").col("record_guid").col("number"))
            .take();
        manager.create_table(names).await?;
        for (kind, guid, name) in
            [("computer", "computer_guid", "computer_folded"), ("device", "device_guid", "source_folded")]
        {
            manager.get_connection().execute_unprepared(&names_of_entries(kind, guid, name)).await?;
        }
        Ok(())
    }
}

/// Collects the names that records had when their log entries arrived, also the present ones. Reads each entry once.
fn names_of_entries(kind: &str, guid: &str, name: &str) -> String {
    format!(
        "INSERT INTO former_name (kind, record_guid, number, name_folded)
        SELECT '{kind}', guid, row_number() OVER (PARTITION BY guid ORDER BY last, name), name FROM (
            SELECT log_entry.{guid} AS guid, log_entry.{name} AS name, max(log_entry.received_at) AS last
            FROM log_entry JOIN {kind} ON {kind}.guid = log_entry.{guid}
                AND {kind}.organization_id = log_entry.organization_id
            GROUP BY log_entry.{guid}, log_entry.{name}
        ) AS names"
    )
}
