//! Writes batches to `SQLite`, over the one connection that writes (decision 0022).

use super::batch::Batch;
use super::table::{Cell, Rows, Table};
use sea_orm::sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sea_orm::sqlx::{self, Arguments, AssertSqlSafe, Connection, SqlitePool};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most rows of one statement. The widest row has 20 columns: 5,120 values, a sixth of what `SQLite`
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

    /// Writes all of `batch` or nothing.
    pub(super) async fn write(&mut self, batch: &Batch<'_>) -> Result<(), sqlx::Error> {
        let mut connection = self.pool.acquire().await?;
        if batch.len() == 1 {
            // One statement is a transaction of its own.
            return self.insert(&mut connection, batch).await;
        }
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        self.insert(&mut transaction, batch).await?;
        transaction.commit().await
    }

    async fn insert(&mut self, connection: &mut SqliteConnection, batch: &Batch<'_>) -> Result<(), sqlx::Error> {
        for rows in batch.tables() {
            for cells in chunks(rows) {
                let text = self.text(rows.table, cells.len() / rows.table.columns.len());
                sqlx::query_with(AssertSqlSafe(text), arguments(cells)?).execute(&mut *connection).await?;
            }
        }
        Ok(())
    }

    fn text(&mut self, table: &'static Table, rows: usize) -> Arc<str> {
        self.texts.entry((table.name, rows)).or_insert_with(|| statement(table, rows).into()).clone()
    }
}

fn statement(table: &Table, rows: usize) -> String {
    let row = format!("({})", vec!["?"; table.columns.len()].join(", "));
    table.insert(&format!("VALUES {}", vec![row; rows].join(", ")))
}

fn arguments(cells: &[Cell<'_>]) -> Result<SqliteArguments, sqlx::Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(cells.len(), 0);
    for cell in cells {
        let added = match *cell {
            Cell::Null => arguments.add(None::<i64>),
            Cell::Integer(number) => arguments.add(number),
            Cell::BigInt(number) => arguments.add(number),
            Cell::Double(number) => arguments.add(number),
            Cell::Text(text) => arguments.add(text),
            Cell::Guid(guid) => arguments.add(guid),
        };
        added.map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// Cuts rows into lengths that are powers of two: there are few different statements then, and the
/// engine has each of them prepared.
fn chunks<'r, 'a>(rows: &'r Rows<'a>) -> impl Iterator<Item = &'r [Cell<'a>]> {
    let width = rows.table.columns.len();
    let mut cells = &rows.cells[..];
    std::iter::from_fn(move || {
        let length = 1 << (cells.len() / width).min(MOST_ROWS).checked_ilog2()?;
        let (chunk, rest) = cells.split_at(length * width);
        cells = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_status;

    fn lengths(rows: usize) -> Vec<usize> {
        let width = device_status::TABLE.columns.len();
        let rows = Rows { table: &device_status::TABLE, cells: vec![Cell::Null; rows * width] };
        chunks(&rows).map(|chunk| chunk.len() / width).collect()
    }

    #[test]
    fn rows_are_cut_into_powers_of_two() {
        assert!(lengths(0).is_empty());
        assert_eq!(lengths(1), [1]);
        assert_eq!(lengths(7), [4, 2, 1]);
        assert_eq!(lengths(600), [256, 256, 64, 16, 8]);
    }
}
