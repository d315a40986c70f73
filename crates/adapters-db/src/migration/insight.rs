//! The queue, analyses and groups of crash reports (decisions I4 to I7).

use super::initial::{Texts, index, primary, reference, table};
use async_trait::async_trait;
use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, integer, text, text_null, uuid, uuid_null};

pub(super) struct Insight;

impl MigrationName for Insight {
    fn name(&self) -> &'static str {
        "0003_insight"
    }
}

/// Puts the reports of earlier versions into the queue.
const ENQUEUE_REPORTS: &str = "INSERT INTO crash_pending (report_id, waiting_since, taken_until, attempts)
    SELECT id, received_at, 0, 0 FROM crash_report";

#[async_trait]
impl MigrationTrait for Insight {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in tables(Texts { backend: manager.get_database_backend() }) {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        manager.get_connection().execute_unprepared(ENQUEUE_REPORTS).await.map(drop)
    }
}

fn tables(texts: Texts) -> Vec<TableCreateStatement> {
    vec![
        table("crash_pending")
            .col(primary(uuid("report_id")))
            .col(big_integer("waiting_since"))
            .col(big_integer("taken_until"))
            .col(integer("attempts"))
            .foreign_key(&mut reference("report_id", "crash_report", "id"))
            .take(),
        table("crash_group")
            .col(primary(uuid("id")))
            .col(big_integer("organization_id"))
            .col(text_null("application_name"))
            .col(text("signature"))
            .col(integer("algorithm"))
            .col(text("state"))
            .col(text_null("resolved_in"))
            .col(big_integer_null("resolved_at"))
            .col(big_integer("first_seen_at"))
            .col(big_integer("last_seen_at"))
            .col(big_integer("reports"))
            .take(),
        table("crash_group_tally")
            .col(uuid("group_id"))
            .col(text("kind"))
            .col(texts.sorted("value"))
            .col(big_integer("reports"))
            .primary_key(Index::create().col("group_id").col("kind").col("value"))
            .foreign_key(&mut reference("group_id", "crash_group", "id"))
            .take(),
        table("crash_analysis")
            .col(primary(uuid("report_id")))
            .col(uuid_null("group_id"))
            .col(big_integer("received_at"))
            .col(integer("algorithm"))
            .col(text_null("signature"))
            .col(text_null("failure"))
            .col(text_null("dump_reader"))
            .col(text_null("dump_facts"))
            .col(text_null("dump_failure"))
            .col(big_integer("analyzed_at"))
            .foreign_key(&mut reference("report_id", "crash_report", "id"))
            .foreign_key(&mut reference("group_id", "crash_group", "id"))
            .take(),
    ]
}

fn indexes() -> Vec<IndexCreateStatement> {
    vec![
        // The reports in the order of the queue.
        index("crash_pending", "crash_pending_by_time").col("waiting_since").col("report_id").take(),
        // The groups of an organization, in the order of their list.
        index("crash_group", "crash_group_by_time").col("organization_id").col("last_seen_at").col("id").take(),
        // The reports of a group.
        index("crash_analysis", "crash_analysis_of_group").col("group_id").col("received_at").col("report_id").take(),
    ]
}
