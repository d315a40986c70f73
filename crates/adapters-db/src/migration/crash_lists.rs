//! Indexes for lists of crash groups, crash reports and computers, of one organization and of all, and for the search.

use super::initial::index;
use async_trait::async_trait;
use sea_orm::DbBackend;
use sea_orm_migration::prelude::*;

pub(super) struct CrashLists;

impl MigrationName for CrashLists {
    fn name(&self) -> &'static str {
        "0006_crash_lists"
    }
}

#[async_trait]
impl MigrationTrait for CrashLists {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for index in indexes() {
            manager.create_index(index).await?;
        }
        // The schema builder has no indexes over expressions for SQLite. Names may be of any length (ADR 10) and are
        // compared by code point.
        let name = match manager.get_database_backend() {
            DbBackend::Postgres => r#"(substr(name, 1, 128) COLLATE "C")"#,
            _ => "substr(name, 1, 128)",
        };
        for sql in [
            format!("CREATE INDEX computer_by_name ON computer (organization_id, {name}, guid)"),
            format!("CREATE INDEX computer_anywhere ON computer ({name}, guid)"),
            "CREATE INDEX crash_report_of_version ON crash_report (substr(application_version, 1, 128), received_at, id)"
                .to_owned(),
            "CREATE INDEX refusal_of_request ON refusal (substr(request_id, 1, 128), id)".to_owned(),
        ] {
            manager.get_connection().execute_unprepared(&sql).await?;
        }
        Ok(())
    }
}

fn indexes() -> Vec<IndexCreateStatement> {
    let group = |name| index("crash_group", name);
    vec![
        group("crash_group_anywhere_by_time").col("last_seen_at").col("id").take(),
        group("crash_group_by_first").col("organization_id").col("first_seen_at").col("id").take(),
        group("crash_group_anywhere_by_first").col("first_seen_at").col("id").take(),
        group("crash_group_by_reports").col("organization_id").col("reports").col("id").take(),
        group("crash_group_anywhere_by_reports").col("reports").col("id").take(),
        index("crash_report", "crash_report_anywhere").col("received_at").col("id").take(),
    ]
}
