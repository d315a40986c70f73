//! Helpers for the tests of this crate: filled tables on both engines, and the plans of queries.

#[path = "../tests/support/postgres.rs"]
mod postgres;

use crate::connections::Connections;
use crate::{Database, DatabaseConfig};
use postgres::Cluster;
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use std::time::Duration;
use tempfile::TempDir;

/// Resources, and log entries, of a filled database.
pub(crate) const ROWS: u32 = 3000;

const RESOURCES: &str = "INSERT INTO resource WITH RECURSIVE numbers (n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows})
    SELECT 1 + n % 3, {guid}, 'Type ' || (n % 7), 'type ' || (n % 7), {checksum}, 1000000 + n,
        CASE n % 5 WHEN 0 THEN 'Public' ELSE 'Private' END, 'Name ' || n, 'name ' || n, '{}',
        'group ' || (n % 10), 'media ' || (n % 20), 'mode ' || n, 'resources/' || n, n, NULL FROM numbers";

const LOG_ENTRIES: &str = "INSERT INTO log_entry (organization_id, received_at, log_type, description, user_name,
        user_folded, source, source_folded, version, version_folded, computer, computer_folded, serial_number,
        serial_folded, computer_guid, application_version)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows})
    SELECT 1 + n % 3, 1000000 + n, 'log', 'Description ' || n, 'User ' || (n % 100), 'user ' || (n % 100),
        'Source ' || (n % 200), 'source ' || (n % 200), '1.0.' || (n % 50), '1.0.' || (n % 50), 'RIP ' || (n % 100),
        'rip ' || (n % 100), 'SN ' || (n % 100), 'sn ' || (n % 100), {guid of computer}, '9.0' FROM numbers";

/// One record of each kind that refers to others, in words of both engines.
const FLEET: &[&str] = &[
    "INSERT INTO organization (id, name, publisher) VALUES (7, 'Acme ”Print”', true), (9, 'Zenith', false)",
    "INSERT INTO user_account (id, organization_id, name) VALUES (3, 7, 'Ann')",
    "INSERT INTO mis_key (digest, user_id, issued_at, revoked_at) VALUES ({bytes}, 3, 5, 6)",
    "INSERT INTO computer (guid, organization_id, name, serial_number, serial_folded, user_id)
        VALUES ({guid}, 7, 'RIP', 'SN', 'sn', 3)",
    "INSERT INTO hardware_hash (digest, computer_guid) VALUES ({bytes}, {guid})",
    "INSERT INTO device (guid, organization_id, name) VALUES ({guid}, 7, 'Latex')",
    "INSERT INTO former_name (kind, record_guid, number, name_folded) VALUES ('device', {guid}, 1, 'designjet')",
    "INSERT INTO queue (guid, organization_id, name, device_guid) VALUES ({guid}, 7, 'Banner', {guid})",
    "INSERT INTO job (guid, organization_id, name, queue_guid) VALUES ({guid}, 7, 'Order', {guid})",
    "INSERT INTO resource_use (kind, record_guid, resource_guid, organization_id) VALUES ('job', {guid}, {guid}, 7)",
    "INSERT INTO crash_report (id, organization_id, received_at, serial_number, application_version, note)
        VALUES ({guid}, 7, 11, 'SN', '1', 'note')",
    "INSERT INTO crash_part (report_id, position, place, blob_key, content_size, checksum)
        VALUES ({guid}, 0, 'callstack', 'crash-reports/1', 5, 'C')",
    "INSERT INTO crash_pending (report_id, waiting_since, taken_until, attempts) VALUES ({guid}, 11, 0, 0)",
    "INSERT INTO crash_group (id, organization_id, signature, algorithm, state, first_seen_at, last_seen_at, reports)
        VALUES ({guid}, 7, 'Spooler::render', 1, 'new', 11, 11, 1)",
    "INSERT INTO crash_group_tally (group_id, kind, value, reports) VALUES ({guid}, 'version', '1', 1)",
    "INSERT INTO crash_analysis (report_id, group_id, received_at, algorithm, signature, analyzed_at)
        VALUES ({guid}, {guid}, 11, 1, 'Spooler::render', 12)",
    "INSERT INTO device_status (organization_id, device_guid, received_at, status, temperature, remaining_inks,
        queue_measure, queue_amount) VALUES (7, {guid}, 12, 'Ready', 21.25, '[]', 'Length', '12.5')",
    "INSERT INTO device_history (organization_id, device_guid, received_at, status, is_change, temperature,
        remaining_inks) VALUES (7, {guid}, 12, 'Ready', true, 21.25, '[]')",
    "INSERT INTO device_forecast (organization_id, device_guid, made_at, inks) VALUES (7, {guid}, 13, '[]')",
    "INSERT INTO computer_seen (computer_guid, seen_at, serial_number, application_version)
        VALUES ({guid}, 13, 'SN', '1')",
    "INSERT INTO user_seen (user_id, seen_at, address, serial_number, application_version)
        VALUES (3, 13, '192.0.2.1', 'SN', '1')",
    "INSERT INTO computer_fetch (computer_guid, organization_id, resource_guid, fetched_at, checksum)
        VALUES ({guid}, 7, {guid}, 14, 'C')",
    "INSERT INTO user_fetch (user_id, serial_folded, organization_id, resource_guid, serial_number, fetched_at, checksum)
        VALUES (3, 'sn', 7, {guid}, 'SN', 14, 'C')",
    "INSERT INTO operator_account (id, name, name_folded, role, organization_id, password_hash, created_at, signed_in_at)
        VALUES (4, 'Root', 'root', 'admin', 7, 'hash', 13, 14)",
    "INSERT INTO operator_session (digest, operator_id, started_at, used_at) VALUES ({bytes}, 4, 14, 15)",
    "INSERT INTO operator_token (id, digest, operator_id, name, role, issued_at, expires_at)
        VALUES (5, {bytes}, 4, 'ci', 'viewer', 15, 16)",
    "INSERT INTO audit_record (id, recorded_at, author, author_folded, credential, action, target, changed_values)
        VALUES (6, 17, 'root', 'root', 'command', 'operator.added', 'operator \"Root\"', '[]')",
];

/// A migrated database and what keeps it.
pub(crate) struct Opened {
    pub(crate) name: &'static str,
    pub(crate) database: Database,
    pub(crate) config: DatabaseConfig,
    _folder: Option<TempDir>,
}

/// A database of each engine.
pub(crate) async fn engines() -> Vec<Opened> {
    let engines = empty_engines().await;
    for engine in &engines {
        engine.database.migrate().await.unwrap();
    }
    engines
}

/// A database of each engine before its first migration.
pub(crate) async fn empty_engines() -> Vec<Opened> {
    let folder = TempDir::new().unwrap();
    let file = format!("sqlite://{}/platen.db", folder.path().display());
    let cluster = tokio::task::spawn_blocking(|| Cluster::shared().database()).await.unwrap();
    vec![open("SQLite", file, Some(folder)).await, open("PostgreSQL", cluster, None).await]
}

async fn open(name: &'static str, url: String, folder: Option<TempDir>) -> Opened {
    let config = DatabaseConfig {
        url,
        max_connections: 4,
        timeout: Duration::from_secs(30),
        make_missing: true,
        sample_every: domain::device_history::SAMPLE_EVERY,
    };
    let database = Database::connect(&config).await.unwrap();
    Opened { name, database, config, _folder: folder }
}

impl Opened {
    pub(crate) fn db(&self) -> &Connections {
        self.database.db()
    }

    /// Fills all tables: one of each kind of record, and many of those of which there
    /// are many.
    pub(crate) async fn fill_all(&self) {
        let (guid, bytes) = match self.db().backend {
            DbBackend::Postgres => ("'00112233-4455-6677-8899-aabbccddeeff'", "'\\x0102'"),
            _ => ("x'00112233445566778899aabbccddeeff'", "x'0102'"),
        };
        for sql in FLEET {
            self.run(&sql.replace("{guid}", guid).replace("{bytes}", bytes)).await;
        }
        self.fill().await;
    }

    /// What a query of one number answers.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let sql = Statement::from_string(self.db().backend, sql);
        self.db().writes.query_one_raw(sql).await.unwrap().unwrap().try_get_by_index(0).unwrap()
    }

    /// Fills the tables, so that the engine has a reason to choose an index.
    pub(crate) async fn fill(&self) {
        let (guid, guid_of_computer, bytes) = match self.db().backend {
            DbBackend::Postgres => ("md5(n::text)::uuid", "md5((n % 100)::text)::uuid", "'\\x00'::bytea"),
            _ => ("randomblob(16)", "CAST(printf('%016d', n % 100) AS blob)", "x'00'"),
        };
        for sql in [RESOURCES, LOG_ENTRIES] {
            let sql = sql.replace("{rows}", &ROWS.to_string()).replace("{guid}", guid).replace("{bytes}", bytes);
            let sql = sql.replace("{guid of computer}", guid_of_computer);
            self.run(&sql.replace("{checksum}", "'DA39A3EE5E6B4B0D3255BFEF95601890AFD80709'")).await;
        }
        self.run("ANALYZE").await;
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.db().writes.execute_unprepared(sql).await.unwrap();
    }

    /// How the engine goes about a query. `PostgreSQL` may prefer to read and sort a table as small as
    /// ours, so that is made dear: what is left shows whether an index can serve the query at all.
    pub(crate) async fn plan(&self, query: Statement) -> String {
        let db = self.db();
        let is_postgres = db.backend == DbBackend::Postgres;
        let transaction = db.begin().await.unwrap();
        if is_postgres {
            for way in ["seqscan", "bitmapscan", "sort"] {
                transaction.execute_unprepared(&format!("SET LOCAL enable_{way} = off")).await.unwrap();
            }
        }
        let explain = if is_postgres { "EXPLAIN" } else { "EXPLAIN QUERY PLAN" };
        let explained = Statement { sql: format!("{explain} {}", query.sql), ..query };
        let rows = transaction.query_all_raw(explained).await.unwrap();
        let column = if is_postgres { 0 } else { 3 };
        let lines: Vec<String> = rows.iter().map(|row| row.try_get_by_index(column).unwrap()).collect();
        lines.join("\n")
    }

    /// Checks that a query reads rows by `index` only, and sorts nothing. Where several indexes serve it, their names are
    /// joined by `|`: the statistics of so few rows don't say which one is cheaper.
    pub(crate) async fn assert_uses(&self, index: &str, query: Statement) {
        let plan = self.plan(query).await;
        assert!(index.split('|').any(|one| plan.contains(one)), "{} doesn't use {index}:\n{plan}", self.name);
        for sign in ["Seq Scan", "SCAN ", "Sort", "TEMP B-TREE"] {
            assert!(!plan.contains(sign), "{} does too much:\n{plan}", self.name);
        }
    }
}
