//! Each migration on a database that the versions before it have made and filled.

use super::Migrator;
use crate::testing::{ROWS, empty_engines};
use domain::refusal::{RefusalFilter, RefusalRepository};
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
