//! What the tests within this crate look at: the plans of queries on filled tables of both engines.

#[path = "../tests/support/postgres.rs"]
mod postgres;

use crate::core::Core;
use crate::{Database, DatabaseConfig};
use postgres::Cluster;
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use std::time::Duration;
use tempfile::TempDir;

/// Resources and log entries of a filled database.
const ROWS: u32 = 3000;

const RESOURCES: &str = "INSERT INTO resource WITH RECURSIVE numbers (n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows})
    SELECT 1 + n % 3, {guid}, 'Type ' || (n % 7), 'type ' || (n % 7), {checksum}, 1000000 + n,
        CASE n % 5 WHEN 0 THEN 'Public' ELSE 'Private' END, 'Name ' || n, 'name ' || n, '{}', {bytes},
        'group ' || (n % 10), 'media ' || (n % 20), 'mode ' || n, 'resources/' || n, n, NULL FROM numbers";

const LOG_ENTRIES: &str = "INSERT INTO log_entry (organization_id, received_at, log_type, description, user_name,
        user_folded, source, source_folded, version, version_folded, computer, computer_folded, serial_number,
        serial_folded, computer_guid, application_version)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows})
    SELECT 1 + n % 3, 1000000 + n, 'log', 'Description ' || n, 'User ' || (n % 100), 'user ' || (n % 100),
        'Source ' || (n % 200), 'source ' || (n % 200), '1.0.' || (n % 50), '1.0.' || (n % 50), 'RIP ' || (n % 100),
        'rip ' || (n % 100), 'SN ' || (n % 100), 'sn ' || (n % 100), {guid}, '9.0' FROM numbers";

/// A migrated database and what keeps it.
pub(crate) struct Opened {
    pub(crate) name: &'static str,
    pub(crate) database: Database,
    _folder: Option<TempDir>,
}

/// A database of each engine.
pub(crate) async fn engines() -> Vec<Opened> {
    let folder = TempDir::new().unwrap();
    let file = format!("sqlite://{}/platen.db", folder.path().display());
    let cluster = tokio::task::spawn_blocking(|| Cluster::shared().database()).await.unwrap();
    vec![open("SQLite", file, Some(folder)).await, open("PostgreSQL", cluster, None).await]
}

async fn open(name: &'static str, url: String, folder: Option<TempDir>) -> Opened {
    let config = DatabaseConfig { url, max_connections: 4, acquire_timeout: Duration::from_secs(30) };
    let database = Database::connect(&config).await.unwrap();
    database.migrate().await.unwrap();
    Opened { name, database, _folder: folder }
}

impl Opened {
    pub(crate) fn core(&self) -> &Core {
        self.database.core()
    }

    /// Fills the tables, so that the engine has a reason to choose an index.
    pub(crate) async fn fill(&self) {
        let (guid, bytes) = match self.core().backend {
            DbBackend::Postgres => ("md5(n::text)::uuid", "'\\x00'::bytea"),
            _ => ("randomblob(16)", "x'00'"),
        };
        for sql in [RESOURCES, LOG_ENTRIES] {
            let sql = sql.replace("{rows}", &ROWS.to_string()).replace("{guid}", guid).replace("{bytes}", bytes);
            self.run(&sql.replace("{checksum}", "'DA39A3EE5E6B4B0D3255BFEF95601890AFD80709'")).await;
        }
        self.run("ANALYZE").await;
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.core().writes.execute_unprepared(sql).await.unwrap();
    }

    /// How the engine goes about a query. `PostgreSQL` may prefer to read and sort a table as small as
    /// ours, so that is made dear: what is left shows whether an index can serve the query at all.
    pub(crate) async fn plan(&self, query: Statement) -> String {
        let core = self.core();
        let is_postgres = core.backend == DbBackend::Postgres;
        let transaction = core.begin_transaction().await.unwrap();
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

    /// Checks that a query reads rows by `index` only, and sorts nothing.
    pub(crate) async fn assert_uses(&self, index: &str, query: Statement) {
        let plan = self.plan(query).await;
        assert!(plan.contains(index), "{} doesn't use {index}:\n{plan}", self.name);
        for sign in ["Seq Scan", "SCAN ", "Sort", "TEMP B-TREE"] {
            assert!(!plan.contains(sign), "{} does too much:\n{plan}", self.name);
        }
    }
}
