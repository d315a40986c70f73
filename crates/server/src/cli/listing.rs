//! Records as a command lists them: rows of a table, lines of text, or with `--json` an object a line.

use super::output::{self, Out};
use super::table::{Cell, Column, Screen, Table, visible_json};
use anyhow::Result;
use serde_json::Value;

/// A list that is written while its records are still read.
pub(super) struct Listing {
    form: Form,
    is_empty: bool,
}

enum Form {
    Json,
    Table(Table),
    Lines,
}

impl Listing {
    /// A table, or with `json` an object a line.
    pub(super) fn new(columns: impl IntoIterator<Item = Column>, screen: Screen, json: bool) -> Self {
        let form = if json { Form::Json } else { Form::Table(Table::new(columns, screen)) };
        Self { form, is_empty: true }
    }

    /// A line for each record, for a list that has no end.
    pub(super) fn endless(json: bool) -> Self {
        Self { form: if json { Form::Json } else { Form::Lines }, is_empty: true }
    }

    pub(super) fn is_json(&self) -> bool {
        matches!(self.form, Form::Json)
    }

    /// Adds a record in the form that was asked for.
    pub(super) fn record(
        &mut self,
        out: &mut Out<'_>,
        json: impl FnOnce() -> Value,
        cells: impl FnOnce() -> Vec<Cell>,
    ) -> Result<()> {
        self.is_empty = false;
        match &mut self.form {
            Form::Json => json_line(out, &json()),
            Form::Table(table) => table.row(out, cells()),
            Form::Lines => {
                let texts: Vec<String> = cells().into_iter().map(Cell::into_text).collect();
                out.line(texts.join("  ").trim_end())
            }
        }
    }

    /// Writes the rows that wait for their page to be full.
    pub(super) fn flush(&mut self, out: &mut Out<'_>) -> Result<()> {
        if let Form::Table(table) = &mut self.form { table.flush(out) } else { Ok(()) }
    }

    /// Ends the list. If it is empty, a terminal shows `nothing`: no output at all would look like a fault.
    pub(super) fn end(mut self, out: &mut Out<'_>, nothing: &str) -> Result<()> {
        if self.is_empty {
            output::notice(nothing);
        }
        self.flush(out)
    }
}

/// Writes a value as a line of JSON.
pub(super) fn json_line(out: &mut Out<'_>, value: &Value) -> Result<()> {
    out.line(&visible_json(&value.to_string()))
}
