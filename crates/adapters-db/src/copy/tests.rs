//! A filled database comes out the same on the other engine, and back.

use super::*;
use crate::testing::{Opened, engines};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Tables that are not copied: discarded content, sessions, and the target's own migrations and version of the fleet.
const LEFT: [&str; 7] =
    ["discarded_blob", "fleet_version", "operator_session", "refusal", "seaql_migrations", "setup_code", "write_probe"];

/// One of each engine, both empty.
async fn pair() -> (Opened, Opened) {
    let mut engines = engines().await;
    let postgres = engines.pop().unwrap();
    (engines.pop().unwrap(), postgres)
}

async fn copy(from: &Opened, to: &Opened) -> Result<CopiedRecords, CopyError> {
    let copy = RecordCopy::new(&from.database, &to.database, &|_, _| {});
    copy.compare().await?;
    copy.insert().await
}

async fn count(engine: &Opened, table: &str) -> i64 {
    let sql = Statement::from_string(engine.db().backend, format!("SELECT count(*) FROM {table}"));
    engine.db().reads.query_one_raw(sql).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

#[tokio::test]
async fn all_records_come_out_the_same_on_the_other_engine_and_back() {
    let ((sqlite, postgres), (back, _)) = (pair().await, pair().await);
    sqlite.fill_all().await;
    let there = copy(&sqlite, &postgres).await.unwrap();
    assert_eq!(there, CopiedRecords { copied: 2 * 3000 + 27, kept: 0 });
    assert_eq!(copy(&postgres, &back).await.unwrap(), there);
    // Compared record by record, with what it was made of.
    assert_eq!(copy(&sqlite, &back).await.unwrap(), CopiedRecords { copied: 0, kept: there.copied });

    // New records get ids of their own.
    for engine in [&postgres, &back] {
        engine.run("INSERT INTO organization (name, publisher) VALUES ('New', false)").await;
        assert_eq!(count(engine, "organization WHERE id > 9").await, 1, "{}", engine.name);
    }
}

#[tokio::test]
async fn an_interrupted_copy_goes_on_and_a_changed_record_is_told() {
    let (sqlite, postgres) = pair().await;
    sqlite.fill_all().await;
    let all = copy(&sqlite, &postgres).await.unwrap();
    postgres.run("DELETE FROM log_entry WHERE id % 3 = 0").await;
    postgres.run("DELETE FROM device_status").await;
    let again = copy(&sqlite, &postgres).await.unwrap();
    assert_eq!(again, CopiedRecords { copied: 1001, kept: all.copied - 1001 });

    postgres.run("UPDATE log_entry SET description = 'other' WHERE id = 5").await;
    let error = copy(&sqlite, &postgres).await.unwrap_err().to_string();
    assert!(error.starts_with("the target holds another record as log_entry 5;"), "{error}");
}

#[tokio::test]
async fn a_database_of_somebody_else_is_left_as_it_is() {
    let (sqlite, postgres) = pair().await;
    sqlite.fill_all().await;
    postgres.run("INSERT INTO organization (id, name, publisher) VALUES (7, 'Other', false)").await;
    let error = copy(&sqlite, &postgres).await.unwrap_err().to_string();
    assert!(error.starts_with("the target holds another record as organization 7;"), "{error}");
    assert_eq!(count(&postgres, "organization").await, 1);

    postgres.run("UPDATE organization SET id = 100").await;
    let error = copy(&sqlite, &postgres).await.unwrap_err().to_string();
    assert!(error.starts_with("the target holds organization 100, which the source doesn't;"), "{error}");
    assert_eq!(count(&postgres, "organization").await, 1);
}

#[tokio::test]
async fn a_credential_of_somebody_else_is_told_by_its_holder() {
    let (sqlite, postgres) = pair().await;
    sqlite.fill_all().await;
    copy(&sqlite, &postgres).await.unwrap();
    for (sql, output) in [
        ("UPDATE mis_key SET revoked_at = 17", "another record as mis_key of user \""),
        ("DELETE FROM hardware_hash", "the target holds hardware_hash of computer \""),
    ] {
        let changed = if sql.starts_with("DELETE") { &sqlite } else { &postgres };
        changed.run(sql).await;
        let error = copy(&sqlite, &postgres).await.unwrap_err().to_string();
        assert!(error.contains(output) && error.contains("\" of \""), "{error}");
        postgres.run("UPDATE mis_key SET revoked_at = 6").await;
    }
}

#[tokio::test]
async fn a_record_of_the_last_table_that_is_of_somebody_else_is_noticed_before_anything_is_copied() {
    let (sqlite, postgres) = pair().await;
    sqlite.fill_all().await;
    copy(&sqlite, &postgres).await.unwrap();
    sqlite.run("DELETE FROM device_status").await;
    postgres.run("DELETE FROM log_entry").await;
    let error = copy(&sqlite, &postgres).await.unwrap_err().to_string();
    assert!(error.starts_with("the target holds device_status "), "{error}");
    assert_eq!(count(&postgres, "log_entry").await, 0);
}

#[tokio::test]
async fn the_side_that_fails_is_told() {
    let (sqlite, postgres) = pair().await;
    sqlite.fill_all().await;
    copy(&sqlite, &postgres).await.unwrap();
    postgres.run("DROP TABLE device_status").await;
    assert_eq!(copy(&sqlite, &postgres).await.unwrap_err().to_string(), "the target");
    assert_eq!(copy(&postgres, &sqlite).await.unwrap_err().to_string(), "the source");
}

/// A table that is added must be copied, or named as one that isn't.
#[tokio::test]
async fn no_table_is_forgotten() {
    let (sqlite, postgres) = pair().await;
    let output = Mutex::new(BTreeSet::new());
    sqlite.fill_all().await;
    let note = |table: &str, _: CopiedRecords| {
        output.lock().unwrap().insert(table.to_owned());
    };
    let copy = RecordCopy::new(&sqlite.database, &postgres.database, &note);
    copy.insert().await.unwrap();
    let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let names = Statement::from_string(DbBackend::Sqlite, names);
    let rows = sqlite.db().reads.query_all_raw(names).await.unwrap();
    let tables: BTreeSet<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
    let mut dealt_with = output.into_inner().unwrap();
    dealt_with.extend(LEFT.map(str::to_owned));
    assert_eq!(dealt_with, tables);
}
