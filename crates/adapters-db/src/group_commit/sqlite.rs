//! Writes batches to `SQLite`, over the one connection that writes (ADR 22).

use super::batch::{Answered, Batch};
use super::table::{Cell, Table};
use sea_orm::sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sea_orm::sqlx::{self, Arguments, AssertSqlSafe, Connection, SqlitePool};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most rows of one statement. The widest row has 13 columns: 3,328 values, a tenth of what `SQLite`
/// takes.
const MOST_ROWS: usize = 256;

pub(super) struct SqliteWriter {
    pool: SqlitePool,
    /// The texts of statements, by table and number of rows.
    texts: BTreeMap<(&'static str, usize), Arc<str>>,
}

impl SqliteWriter {
    pub(super) fn new(pool: SqlitePool) -> Self {
        Self { pool, texts: BTreeMap::new() }
    }

    /// Writes all of `batch` or nothing; what is answered.
    pub(super) async fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Answered>, sqlx::Error> {
        let mut connection = self.pool.acquire().await?;
        if batch.tables().count() == 1 && batch.len() <= MOST_ROWS {
            // One statement is a transaction of its own, and each one is handed to the thread of the connection.
            return self.insert(&mut connection, batch).await;
        }
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let answered = self.insert(&mut transaction, batch).await?;
        transaction.commit().await?;
        Ok(answered)
    }

    async fn insert(
        &mut self,
        connection: &mut SqliteConnection,
        batch: &Batch<'_>,
    ) -> Result<Vec<Answered>, sqlx::Error> {
        let mut answered = Vec::new();
        for rows in batch.tables() {
            let width = rows.table.columns.len();
            for cells in rows.cells.chunks(MOST_ROWS * width) {
                let places = places(cells.len() / width);
                let text = self.text(rows.table, places);
                let arguments = arguments(cells, places * width)?;
                answered.extend(sqlx::query_as_with(AssertSqlSafe(text), arguments).fetch_all(&mut *connection).await?);
            }
        }
        Ok(answered)
    }

    fn text(&mut self, table: &'static Table, rows: usize) -> Arc<str> {
        self.texts.entry((table.name, rows)).or_insert_with(|| statement(table, rows).into()).clone()
    }
}

/// Places for rows in the statement that writes so many: a power of two. There are few different statements then, and
/// the engine has each of them prepared.
fn places(rows: usize) -> usize {
    rows.next_power_of_two()
}

/// The statement that writes the rows in so many places, of which the last may be empty.
fn statement(table: &Table, places: usize) -> String {
    let row = format!("({})", vec!["?"; table.columns.len()].join(", "));
    let rows = format!("VALUES {}", vec![row; places].join(", "));
    // The first column of every table is part of its key, or its owner.
    table.insert(&if places == 1 { rows } else { format!("SELECT * FROM ({rows}) WHERE column1 IS NOT NULL") })
}

/// The values of a statement that has so many.
fn arguments(cells: &[Cell<'_>], all: usize) -> Result<SqliteArguments, sqlx::Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(all, 0);
    for cell in cells.iter().chain(std::iter::repeat(&Cell::Null)).take(all) {
        let added = match *cell {
            Cell::Null => arguments.add(None::<i64>),
            Cell::Integer(number) => arguments.add(number),
            Cell::BigInt(number) => arguments.add(number),
            Cell::Double(number) => arguments.add(number),
            Cell::Text(text) => arguments.add(text),
            Cell::Guid(guid) => arguments.add(guid),
            Cell::Bytes(bytes) => arguments.add(bytes),
        };
        added.map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_entry;

    #[test]
    fn there_are_few_statements() {
        let lengths: Vec<usize> = [1, 2, 3, 7, 129, MOST_ROWS].map(places).to_vec();
        assert_eq!(lengths, [1, 2, 4, 8, 256, 256]);
    }

    #[test]
    fn empty_places_are_filled_up() {
        let cells = [Cell::BigInt(1), Cell::Text("a")];
        assert_eq!(arguments(&cells, 8).unwrap().len(), 8);
        assert!(statement(&log_entry::TABLE, 2).ends_with("WHERE column1 IS NOT NULL "));
        assert!(!statement(&log_entry::TABLE, 1).contains("WHERE"));
    }
}
