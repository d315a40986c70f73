//! Writes batches to `PostgreSQL` over a connection of its own.
//!
//! A batch is one statement, whatever it holds: a transaction of its own in one round trip, and the
//! same few texts again and again. A connection from the pool would cost a second round trip, when it is
//! given back (ADR 26).

use super::batch::{Answered, Batch};
use super::table::{Cell, Kind, Rows, Table};
use crate::device_status;
use crate::own_connection::OwnConnection;
use sea_orm::sqlx::postgres::{PgArguments, PgConnectOptions};
use sea_orm::sqlx::{self, Arguments, AssertSqlSafe};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

pub(super) struct PostgresWriter {
    connection: OwnConnection,
    /// The texts of statements, by the tables that they write.
    texts: BTreeMap<(Vec<&'static str>, bool), Arc<str>>,
}

impl PostgresWriter {
    pub(super) fn new(options: Arc<PgConnectOptions>, patience: Duration) -> Self {
        Self { connection: OwnConnection::new(options, patience, "committing"), texts: BTreeMap::new() }
    }

    /// Makes sure of the connection, on which the next batch is written; whether it is a new one.
    pub(super) async fn connect(&mut self) -> Result<bool, sqlx::Error> {
        let held = self.connection.take().await?;
        let is_new = held.is_new;
        self.connection.put_back(held, &Ok(()));
        Ok(is_new)
    }

    /// Writes all of `batch` or nothing; what is answered. If the outcome can't be known it is a failure, and the
    /// connection is given up.
    pub(super) async fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Answered>, sqlx::Error> {
        let text = self.text(batch);
        let arguments = arguments(batch)?;
        let mut held = self.connection.take().await?;
        let written = sqlx::query_as_with(AssertSqlSafe(text), arguments).fetch_all(&mut held.connection).await;
        self.connection.put_back(held, &written);
        written
    }

    pub(super) async fn close(self) {
        self.connection.close().await;
    }

    fn text(&mut self, batch: &Batch<'_>) -> Arc<str> {
        let is_alone = batch.len() == 1;
        let names = batch.tables().map(|rows| rows.table.name).collect();
        let text = self.texts.entry((names, is_alone));
        text.or_insert_with(|| statement(&batch.tables().map(|rows| rows.table).collect::<Vec<_>>(), is_alone).into())
            .clone()
    }
}

/// The statement that writes rows of `tables`: values as they are where `is_alone`, else an array for
/// each column.
fn statement(tables: &[&Table], is_alone: bool) -> String {
    let mut number = 0;
    let mut inserts: Vec<String> = Vec::new();
    // A crash of the database server may take the last statuses (decisions D6, 0025), but no other record
    // that shares their transaction.
    let is_transient = matches!(tables, [only] if only.name == device_status::TABLE.name);
    for table in tables {
        let mut source = if is_alone { "SELECT " } else { "SELECT new.* FROM unnest(" }.to_owned();
        for (place, (_, kind)) in table.columns.iter().enumerate() {
            number += 1;
            let separator = if place == 0 { "" } else { ", " };
            let suffix = if is_alone { "" } else { "[]" };
            let _ = write!(source, "{separator}${number}::{}{suffix}", name(*kind));
        }
        source.push_str(match (is_alone, is_transient) {
            (true, false) => "",
            (true, true) => " FROM set_config('synchronous_commit', 'off', true)",
            (false, false) => ") AS new",
            (false, true) => ") AS new, set_config('synchronous_commit', 'off', true)",
        });
        inserts.push(table.insert(&source));
    }
    let last = inserts.pop().unwrap_or_default();
    let mut text = String::new();
    for (place, insert) in inserts.iter().enumerate() {
        let word = if place == 0 { "WITH" } else { "," };
        let _ = write!(text, "{word} written_{place} AS ({insert}) ");
    }
    text + &last
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "integer",
        Kind::BigInt => "bigint",
        Kind::Double => "double precision",
        Kind::Text => "text",
        Kind::Guid => "uuid",
        Kind::Bytes => "bytea",
    }
}

/// The values for [`statement`].
fn arguments(batch: &Batch<'_>) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    let is_alone = batch.len() == 1;
    for rows in batch.tables() {
        for (place, (_, kind)) in rows.table.columns.iter().enumerate() {
            if is_alone {
                add_one(&mut arguments, *kind, rows.cells[place])
            } else {
                add_column(&mut arguments, *kind, rows, place)
            }
            .map_err(sqlx::Error::Encode)?;
        }
    }
    Ok(arguments)
}

type Added = Result<(), sqlx::error::BoxDynError>;

fn add_one(arguments: &mut PgArguments, kind: Kind, cell: Cell<'_>) -> Added {
    match kind {
        Kind::Integer => arguments.add(integer(cell)),
        Kind::BigInt => arguments.add(big_int(cell)),
        Kind::Double => arguments.add(double(cell)),
        Kind::Text => arguments.add(text(cell)),
        Kind::Guid => arguments.add(guid(cell)),
        Kind::Bytes => arguments.add(bytes(cell)),
    }
}

fn add_column(arguments: &mut PgArguments, kind: Kind, rows: &Rows<'_>, place: usize) -> Added {
    let cells = rows.cells.iter().copied().skip(place).step_by(rows.table.columns.len());
    match kind {
        Kind::Integer => arguments.add(cells.map(integer).collect::<Vec<_>>()),
        Kind::BigInt => arguments.add(cells.map(big_int).collect::<Vec<_>>()),
        Kind::Double => arguments.add(cells.map(double).collect::<Vec<_>>()),
        Kind::Text => arguments.add(cells.map(text).collect::<Vec<_>>()),
        Kind::Guid => arguments.add(cells.map(guid).collect::<Vec<_>>()),
        Kind::Bytes => arguments.add(cells.map(bytes).collect::<Vec<_>>()),
    }
}

fn integer(cell: Cell<'_>) -> Option<i32> {
    if let Cell::Integer(number) = cell { Some(number) } else { None }
}

fn big_int(cell: Cell<'_>) -> Option<i64> {
    if let Cell::BigInt(number) = cell { Some(number) } else { None }
}

fn double(cell: Cell<'_>) -> Option<f64> {
    if let Cell::Double(number) = cell { Some(number) } else { None }
}

fn text(cell: Cell<'_>) -> Option<&str> {
    if let Cell::Text(text) = cell { Some(text) } else { None }
}

fn guid(cell: Cell<'_>) -> Option<Uuid> {
    if let Cell::Guid(guid) = cell { Some(guid) } else { None }
}

fn bytes(cell: Cell<'_>) -> Option<&[u8]> {
    if let Cell::Bytes(bytes) = cell { Some(bytes) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{crash_report, log_entry};

    #[test]
    fn a_batch_is_one_statement_and_only_statuses_alone_are_transient() {
        let (logs, statuses) = (&log_entry::TABLE, &device_status::TABLE);
        let reports: [&Table; 2] = [&crash_report::REPORTS, &crash_report::PARTS];
        let transient = "set_config('synchronous_commit', 'off', true)";
        for is_alone in [true, false] {
            assert!(!statement(&[logs], is_alone).contains(transient));
            assert!(statement(&[statuses], is_alone).contains(transient));
        }
        let all = statement(&[logs, reports[0], reports[1], statuses], false);
        assert!(!all.contains(transient));
        assert_eq!(all.matches("INSERT INTO").count(), 4);
        assert!(!all.contains(';'));
    }
}
