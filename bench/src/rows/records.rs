//! Small records over PostgreSQL: log entries, device statuses, resource info, against `pgbench`.

use super::Rated;
use crate::http::{Connection, Outgoing};
use crate::platen::{DEVICES, Platen};
use crate::postgres::Postgres;
use crate::requests::{self, DEVICE_PREFIX, RESOURCE_PREFIX};
use crate::rows::scale;
use crate::scenarios::{Expected, Prepared};
use crate::stage::Stage;
use crate::table::{Goal, Row};
use anyhow::{Result, ensure};

/// The table that the reference writes to.
#[derive(Clone, Copy)]
pub(crate) enum Table {
    /// The product's columns with the primary key alone.
    Plain,
    /// The product's columns and all its indexes.
    Indexed,
}

impl Table {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Plain => "the same row into a table with its primary key alone",
            Self::Indexed => "the same row into a table with the product's indexes",
        }
    }
}

/// Distinct requests that the clients go through.
pub(super) const VARIETY: u64 = 1000;

pub(super) async fn logs(stage: &Stage, name: &'static str, clients: usize, table: Table, goal: Goal) -> Result<Row> {
    let (postgres, server) = (stage.postgres().await?, stage.on_postgres().await?);
    send(&server, |out| requests::add_log(out, 1)).await?;
    let like = match table {
        Table::Plain => "INCLUDING IDENTITY, PRIMARY KEY (id)",
        Table::Indexed => "INCLUDING ALL",
    };
    postgres.sql(&format!("DROP TABLE IF EXISTS reference_log; CREATE TABLE reference_log (LIKE log_entry {like})"))?;
    let (columns, values) = last_row(&postgres, "log_entry", &["id"])?;
    let script = format!("INSERT INTO reference_log ({columns}) VALUES ({values});\n");
    let rated = Rated {
        name,
        work: format!("log intake, PostgreSQL, {}", clients_text(clients)),
        clients,
        scenario: Prepared::numbered(VARIETY, Expected::Body(requests::LOG_ADDED), requests::add_log),
        server: &server,
        watched: &[("PostgreSQL", postgres.id())],
        reference: format!("pgbench, {}, one-row commits: {}", clients_text(clients), table.text()),
        goal,
    };
    rated.against(stage, async || postgres.pgbench(&script, clients, stage.arguments.seconds())).await
}

pub(super) async fn statuses(stage: &Stage, name: &'static str) -> Result<Row> {
    const CLIENTS: usize = 64;
    let (postgres, server) = (stage.postgres().await?, stage.on_postgres().await?);
    send(&server, |out| requests::update_status(out, 1)).await?;
    postgres.sql(
        "DROP TABLE IF EXISTS reference_status; CREATE TABLE reference_status (LIKE device_status INCLUDING ALL)",
    )?;
    let (columns, values) = last_row(&postgres, "device_status", &["organization_id", "device_guid"])?;
    let updates: Vec<String> = columns.split(", ").map(|column| format!("{column} = excluded.{column}")).collect();
    let script = format!(
        "\\set n random(1, {DEVICES})\nINSERT INTO reference_status (organization_id, device_guid, {columns}) \
         VALUES (1, {}, {values}) ON CONFLICT (organization_id, device_guid) DO UPDATE SET {};\n",
        guid_of_n(DEVICE_PREFIX),
        updates.join(", ")
    );
    let scenario = Prepared::numbered(DEVICES, Expected::Body(requests::STATUS_UPDATED), requests::update_status);
    let rated = Rated {
        name,
        work: format!("device status, PostgreSQL, {CLIENTS} clients, {DEVICES} devices"),
        clients: CLIENTS,
        scenario,
        server: &server,
        watched: &[("PostgreSQL", postgres.id())],
        reference: format!(
            "pgbench, {CLIENTS} clients, one-row upserts of the same row into the same table, each synced"
        ),
        goal: Goal::AtLeast(1.2),
    };
    rated.against(stage, async || postgres.pgbench(&script, CLIENTS, stage.arguments.seconds())).await
}

pub(super) async fn infos(stage: &Stage, name: &'static str) -> Result<Row> {
    const CLIENTS: usize = 32;
    let (postgres, server) = (stage.postgres().await?, stage.on_postgres().await?);
    scale::fill(&postgres, &server, scale::FEW).await?;
    let script = format!(
        "\\set n random(1, {})\nSELECT * FROM resource WHERE organization_id = 1 AND guid = {};\n",
        scale::FEW,
        guid_of_n(RESOURCE_PREFIX)
    );
    let rated = Rated {
        name,
        work: format!("resource info, {CLIENTS} clients, {} resources", scale::FEW),
        clients: CLIENTS,
        scenario: scale::info_requests(scale::FEW),
        server: &server,
        watched: &[("PostgreSQL", postgres.id())],
        reference: format!("pgbench, {CLIENTS} clients, select of the same row by its key"),
        goal: Goal::AtLeast(0.6),
    };
    rated.against(stage, async || postgres.pgbench(&script, CLIENTS, stage.arguments.seconds())).await
}

pub(super) fn clients_text(clients: usize) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}

/// Sends one request that must be answered 200.
pub(super) async fn send(server: &Platen, write: impl Fn(&mut Vec<u8>)) -> Result<()> {
    let mut request = Outgoing::default();
    write(&mut request.head);
    Connection::open(server.address).await?.exchange(&request).await?.expect_ok()
}

/// SQL that makes the GUID of the number `:n`.
fn guid_of_n(prefix: &str) -> String {
    format!("('{prefix}' || lpad(to_hex(:n::bigint), 12, '0'))::uuid")
}

/// Columns and values, as SQL, of a row that the product wrote, without these columns: so the
/// reference writes what the product writes, whatever its schema.
fn last_row(postgres: &Postgres, table: &str, without: &[&str]) -> Result<(String, String)> {
    let row = postgres.sql(&format!(
        "SELECT string_agg(quote_ident(key), ', '), string_agg(quote_nullable(value), ', ')
         FROM (SELECT (json_each_text(to_json(t))).* FROM (SELECT * FROM {table} LIMIT 1) t) columns
         WHERE key <> ALL ('{{{}}}')",
        without.join(",")
    ))?;
    let columns = row.split_once('\t');
    ensure!(columns.is_some(), "no row in {table}");
    Ok(columns.map(|(columns, values)| (columns.to_owned(), values.to_owned())).unwrap_or_default())
}
