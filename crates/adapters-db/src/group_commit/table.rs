//! Tables as batches write them: names and columns once, for the statements of both engines.

use std::fmt::Write as _;
use uuid::Uuid;

/// A table into which batches write.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, Kind)],
    /// What becomes of a row whose key is there already, and what is answered; empty where the former is a failure and
    /// the latter nothing.
    pub(crate) on_conflict: &'static str,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    BigInt,
    Double,
    Text,
    Guid,
    Bytes,
}

/// A value on its way into a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    Null,
    Integer(i32),
    BigInt(i64),
    Double(f64),
    Text(&'a str),
    Guid(Uuid),
    Bytes(&'a [u8]),
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::BigInt(number)
    }
}

impl From<i32> for Cell<'_> {
    fn from(number: i32) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Self::Double(number)
    }
}

impl From<Uuid> for Cell<'_> {
    fn from(guid: Uuid) -> Self {
        Self::Guid(guid)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row of a table, on its way there.
pub(crate) trait Written {
    const TABLE: &'static Table;

    /// Adds its values, one for each column of the table.
    fn write<'a>(&'a self, cells: &mut Vec<Cell<'a>>);
}

/// Rows of one table.
pub(crate) struct Rows<'a> {
    pub(crate) table: &'static Table,
    /// The values row by row.
    pub(crate) cells: Vec<Cell<'a>>,
}

impl<'a> Rows<'a> {
    pub(crate) fn of<R: Written + 'a>(rows: impl IntoIterator<Item = &'a R>) -> Self {
        let mut cells = Vec::new();
        for row in rows {
            row.write(&mut cells);
        }
        Self { table: R::TABLE, cells }
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len() / self.table.columns.len()
    }
}

impl Table {
    /// `INSERT INTO name (columns) source ON CONFLICT …`
    pub(crate) fn insert(&self, source: &str) -> String {
        let mut text = format!("INSERT INTO {} (", self.name);
        for (place, (column, _)) in self.columns.iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            let _ = write!(text, "{separator}{column}");
        }
        let _ = write!(text, ") {source} {}", self.on_conflict);
        text
    }
}
