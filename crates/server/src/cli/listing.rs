//! Records as a command lists them: rows of a table, or with `--json` an object a line.

use super::look::json_line;
use super::output::{self, Out};
use super::table::{Cell, Column, Screen, Table};
use anyhow::Result;
use serde_json::Value;

/// A list that is written while its records are still read.
pub(super) struct Listing {
    table: Table,
    json: bool,
    is_empty: bool,
}

impl Listing {
    pub(super) fn new(columns: impl IntoIterator<Item = Column>, screen: Screen, json: bool) -> Self {
        Self { table: Table::new(columns, screen), json, is_empty: true }
    }

    /// Whether objects are listed, no rows.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Adds a record in the form that was asked for.
    pub(super) fn record(
        &mut self,
        out: &mut Out<'_>,
        json: impl FnOnce() -> Value,
        cells: impl FnOnce() -> Vec<Cell>,
    ) -> Result<()> {
        if self.json { self.object(out, &json()) } else { self.row(out, cells()) }
    }

    pub(super) fn object(&mut self, out: &mut Out<'_>, object: &Value) -> Result<()> {
        self.is_empty = false;
        json_line(out, object)
    }

    pub(super) fn row(&mut self, out: &mut Out<'_>, cells: Vec<Cell>) -> Result<()> {
        self.is_empty = false;
        self.table.row(out, cells)
    }

    /// Adds a line under the last row; see [`Table::note`].
    pub(super) fn note(&mut self, out: &mut Out<'_>, text: String) -> Result<()> {
        self.table.note(out, text)
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self, out: &mut Out<'_>) -> Result<()> {
        self.table.flush(out)
    }

    /// Ends the list. Where it is empty, whoever sits before it is told so by `nothing`: an empty answer alone
    /// looks as if something were broken.
    pub(super) fn end(mut self, out: &mut Out<'_>, nothing: &str) -> Result<()> {
        if self.is_empty {
            output::notice(nothing);
        }
        self.flush(out)
    }
}
