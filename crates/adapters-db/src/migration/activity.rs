//! Tables for last requests and fetches (decisions I8 and I9), and indexes for timelines (decision I12).
//!
//! The columns of computers, users and resources are no foreign keys: each write would lock the rows that it refers to.

use super::initial::{Texts, index, primary, table};
use async_trait::async_trait;
use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text, text_null, uuid};

pub(super) struct Activity;

impl MigrationName for Activity {
    fn name(&self) -> &'static str {
        "0005_activity"
    }
}

#[async_trait]
impl MigrationTrait for Activity {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let texts = Texts { backend: manager.get_database_backend() };
        for table in tables(texts) {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }
}

fn tables(texts: Texts) -> Vec<TableCreateStatement> {
    let seen = |name, key| {
        table(name)
            .col(primary(key))
            .col(big_integer("seen_at"))
            .col(text_null("address"))
            .col(text("serial_number"))
            .col(text("application_version"))
            .take()
    };
    vec![
        seen("computer_seen", uuid("computer_guid")),
        seen("user_seen", big_integer("user_id")),
        table("computer_fetch")
            .col(uuid("computer_guid"))
            .col(big_integer("organization_id"))
            .col(uuid("resource_guid"))
            .col(big_integer("fetched_at"))
            .col(text("checksum"))
            .primary_key(Index::create().col("computer_guid").col("organization_id").col("resource_guid"))
            .take(),
        table("user_fetch")
            .col(big_integer("user_id"))
            .col(texts.sorted("serial_folded"))
            .col(big_integer("organization_id"))
            .col(uuid("resource_guid"))
            .col(text("serial_number"))
            .col(big_integer("fetched_at"))
            .col(text("checksum"))
            .primary_key(
                Index::create().col("user_id").col("serial_folded").col("organization_id").col("resource_guid"),
            )
            .take(),
    ]
}

fn indexes() -> Vec<IndexCreateStatement> {
    vec![
        // The computers and users that fetched a resource.
        index("computer_fetch", "computer_fetch_of_resource")
            .col("organization_id")
            .col("resource_guid")
            .col("computer_guid")
            .take(),
        index("user_fetch", "user_fetch_of_resource")
            .col("organization_id")
            .col("resource_guid")
            .col("user_id")
            .col("serial_folded")
            .take(),
        // Timelines of computers.
        index("computer_fetch", "computer_fetch_by_time")
            .col("computer_guid")
            .col("fetched_at")
            .col("organization_id")
            .col("resource_guid")
            .take(),
        index("crash_report", "crash_report_of_computer")
            .col("organization_id")
            .col("computer_guid")
            .col("received_at")
            .col("id")
            .take(),
        index("refusal", "refusal_of_computer")
            .col("computer_guid")
            .col("received_at")
            .col("id")
            .and_where(Expr::col("computer_guid").is_not_null())
            .take(),
    ]
}
