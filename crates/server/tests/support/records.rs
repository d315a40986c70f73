//! All that is stored, to be compared before and after: every row of every table, every file of the blob store.

use super::{Site, files_below};
use crate::support::setup::Stores;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// Tables that change without a request that changes something: refusals (ADR 40), who called when (decisions I8 and I9),
/// and the analysis of earlier crash reports (decision I7).
const WRITTEN_IN_BACKGROUND: [&str; 10] = [
    "refusal",
    "sqlite_sequence",
    "computer_seen",
    "user_seen",
    "computer_fetch",
    "user_fetch",
    "crash_pending",
    "crash_analysis",
    "crash_group",
    "crash_group_tally",
];

/// One row: its table, the organization to which it belongs where the table tells it, and all of its columns.
pub(crate) type Row = (String, Option<i64>, String);

/// What is stored at one moment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Records {
    pub(crate) rows: BTreeSet<Row>,
    pub(crate) contents: BTreeMap<PathBuf, Vec<u8>>,
}

impl Records {
    /// What is here and not there, and the other way round, for people to read.
    pub(crate) fn difference(&self, other: &Self) -> String {
        let rows = |one: &Self, other: &Self| format!("{:?}", one.rows.difference(&other.rows).collect::<Vec<_>>());
        let contents = |one: &Self, other: &Self| {
            let changed = one.contents.iter().filter(|(path, content)| other.contents.get(*path) != Some(content));
            format!("{:?}", changed.map(|(path, _)| path).collect::<Vec<_>>())
        };
        format!(
            "gone: {} {}; new: {} {}",
            rows(self, other),
            contents(self, other),
            rows(other, self),
            contents(other, self)
        )
    }

    /// The rows of other organizations than this one.
    pub(crate) fn foreign_to(&self, organization: i64) -> BTreeSet<&Row> {
        self.rows.iter().filter(|(_, owner, _)| owner.is_some_and(|owner| owner != organization)).collect()
    }

    /// The rows that tell of no organization.
    pub(crate) fn ownerless(&self) -> BTreeSet<&Row> {
        self.rows.iter().filter(|(_, owner, _)| owner.is_none()).collect()
    }
}

/// A connection of its own to the database of a site.
pub(crate) struct Reader {
    connection: Engine,
    /// One statement for all tables.
    statement: String,
    folders: [PathBuf; 2],
}

enum Engine {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Engine {
    async fn rows(&mut self, sql: &str) -> Vec<Row> {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(connection) => sqlx::query_as(sql).fetch_all(connection).await.unwrap(),
            Self::Postgres(connection) => sqlx::query_as(sql).fetch_all(connection).await.unwrap(),
        }
    }
}

impl Reader {
    pub(crate) async fn of(site: &Site) -> Self {
        Self::without(site, &WRITTEN_IN_BACKGROUND).await
    }

    /// The same, with nothing left out.
    pub(crate) async fn of_everything(site: &Site) -> Self {
        Self::without(site, &[]).await
    }

    async fn without(site: &Site, excluded: &[&str]) -> Self {
        let (mut connection, columns) = match site.stores() {
            Stores::Defaults => {
                let options = SqliteConnectOptions::new().filename(site.path("data/platen.db"));
                let connection = Engine::Sqlite(options.connect().await.unwrap());
                let columns = "SELECT m.name, NULL, c.name FROM sqlite_master m, pragma_table_info(m.name) c
                               WHERE m.type = 'table'";
                (connection, columns)
            }
            Stores::PostgresAndS3 { database, .. } => {
                let connection = Engine::Postgres(PgConnection::connect(database).await.unwrap());
                let columns = "SELECT table_name::text, NULL::bigint, column_name::text
                               FROM information_schema.columns WHERE table_schema = 'public'";
                (connection, columns)
            }
        };
        let mut tables = BTreeMap::<String, Vec<String>>::new();
        for (table, _, column) in connection.rows(columns).await {
            tables.entry(table).or_default().push(column);
        }
        for table in excluded {
            tables.remove(*table);
        }
        let statement: Vec<_> = tables.iter().map(|(table, columns)| connection.select(table, columns)).collect();
        let folders = ["resources", "crash-reports"].map(|kind| site.contents(kind));
        Self { connection, statement: statement.join(" UNION ALL "), folders }
    }

    /// All that is stored now.
    pub(crate) async fn read(&mut self) -> Records {
        let rows = self.connection.rows(&self.statement).await.into_iter().collect();
        let files = self.folders.iter().flat_map(|folder| files_below(folder));
        Records { rows, contents: files.map(|path| (path.clone(), fs::read(path).unwrap())).collect() }
    }
}

impl Engine {
    /// The rows of a table as text.
    fn select(&self, table: &str, columns: &[String]) -> String {
        let is_owned = columns.iter().any(|column| column == "organization_id");
        let owner = if is_owned { "organization_id" } else { "NULL" };
        match self {
            Self::Sqlite(_) => {
                let columns: Vec<_> = columns.iter().map(|column| format!("quote({column})")).collect();
                format!("SELECT '{table}', {owner}, {} FROM {table}", columns.join(" || ',' || "))
            }
            Self::Postgres(_) => format!("SELECT '{table}', {owner}::bigint, t::text FROM {table} t"),
        }
    }
}
