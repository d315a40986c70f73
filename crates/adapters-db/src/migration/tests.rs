//! Each migration on a database that the versions before it have made and filled.

use super::Migrator;
use crate::testing::{ROWS, empty_engines};
use domain::caller::OrganizationId;
use domain::log_entry::LogRepository;
use domain::refusal::{RefusalFilter, RefusalRepository};
use domain::testing::a_log_entry;
use sea_orm_migration::MigratorTrait;

/// Records of the first schema that must be there after every migration.
const KEPT: [(&str, i64); 6] = [
    ("organization", 2),
    ("mis_key", 1),
    ("resource", ROWS as i64),
    ("log_entry", ROWS as i64),
    ("crash_part", 1),
    ("device_status", 1),
];

/// A refusal as the second schema has it.
const REFUSAL: &str =
    "INSERT INTO refusal (received_at, organization_id, operation, credential, status, reason, detail,
    request_id) VALUES (5, 7, 'add_log', 'mis_key', 400, 'reason', 'detail', 'request')";

#[tokio::test]
async fn each_migration_keeps_what_the_version_before_had_stored() {
    let count = u32::try_from(Migrator::migrations().len()).unwrap();
    for filled_at in 1..=count {
        for engine in empty_engines().await {
            let connection = &engine.db().writes;
            Migrator::up(connection, Some(filled_at)).await.unwrap();
            engine.fill_all().await;
            let refusals = usize::from(filled_at >= 2);
            if refusals > 0 {
                engine.run(REFUSAL).await;
            }
            for version in filled_at..=count {
                let migrated = engine.database.schema_version().await.unwrap();
                assert_eq!(migrated, version, "{}", engine.name);
                for (table, rows) in KEPT {
                    let found = engine.number(&format!("SELECT count(*) FROM {table}")).await;
                    assert_eq!(found, rows, "{} {table} at version {version}", engine.name);
                }
                Migrator::up(connection, Some(1)).await.unwrap();
            }
            let listed = engine.database.refusals().page(&RefusalFilter::default(), None, 9).await.unwrap();
            let listed: Vec<_> = listed.iter().map(|refused| refused.refusal.detail.as_str()).collect();
            assert_eq!(listed, vec!["detail"; refusals], "{} filled at version {filled_at}", engine.name);
            assert_eq!(engine.database.migrate().await.unwrap().from, count);
        }
    }
}

/// Entries of the last schema that are what those of the first one were.
const SAME: &str = "SELECT count(*) FROM log_entry JOIN log_origin ON log_origin.id = origin_id
        AND log_origin.organization_id = log_entry.organization_id
    WHERE description = 'Description ' || log_entry.id AND log_entry.organization_id = 1 + log_entry.id % 3
    AND received_at = 1000000 + log_entry.id AND log_type = 'log' AND source = 'Source ' || (log_entry.id % 200)
    AND user_name = 'User ' || (log_entry.id % 100) AND version = '1.0.' || (log_entry.id % 50)
    AND computer = 'RIP ' || (log_entry.id % 100) AND serial_number = 'SN ' || (log_entry.id % 100)
    AND user_folded = lower(user_name) AND version_folded = version AND computer_folded = lower(computer)
    AND serial_folded = lower(serial_number) AND source_folded = lower(source) AND application_version = '9.0'
    AND seen_at BETWEEN received_at AND 1003000";

#[tokio::test]
async fn log_entries_say_the_same_after_they_were_parted_from_their_origins_and_ids_continue() {
    for engine in empty_engines().await {
        Migrator::up(&engine.db().writes, Some(3)).await.unwrap();
        engine.fill().await;
        engine.run("DELETE FROM log_entry WHERE id > 2998").await;
        engine.database.migrate().await.unwrap();
        assert_eq!(engine.number(SAME).await, 2998, "{}", engine.name);
        assert_eq!(engine.number("SELECT count(*) FROM log_origin").await, 300, "{}", engine.name);
        engine.database.logs().add(OrganizationId(1), a_log_entry("new")).await.unwrap();
        let new = engine.number("SELECT id FROM log_entry WHERE description = 'new'").await;
        assert_eq!(new, i64::from(ROWS) + 1, "{}", engine.name);
    }
}

#[tokio::test]
async fn each_migration_runs_on_a_database_without_records() {
    let count = u32::try_from(Migrator::migrations().len()).unwrap();
    for engine in empty_engines().await {
        for version in 0..count {
            assert_eq!(engine.database.schema_version().await.unwrap(), version);
            Migrator::up(&engine.db().writes, Some(1)).await.unwrap();
        }
        engine.database.require_current().await.unwrap();
    }
}
