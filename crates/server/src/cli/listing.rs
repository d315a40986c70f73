//! Lists of records: rows of a table, lines of text, or with `--json` an object a line.

use super::output::{self, Out, OutputClosed};
use super::table::{Cell, Column, Table, escape_json};
use anyhow::Result;
use futures_util::{Stream, TryStreamExt};
use serde_json::Value;
use std::pin::pin;
use std::time::Duration;
use tokio::time::sleep;

/// Pause after which new records are asked for again.
const PAUSE: Duration = Duration::from_millis(500);

/// How the records of a list are written.
pub(super) enum Listing {
    Json,
    Table(Table),
    /// A line for each record, for a list without end.
    Lines,
}

/// A record as a list shows it.
pub(super) trait Record {
    fn json(&self) -> Value;

    /// A cell for each column.
    fn cells(&self) -> Vec<Cell>;
}

impl Listing {
    /// A table, or with `json` an object a line.
    pub(super) fn new(columns: impl IntoIterator<Item = Column>, out: &Out<'_>, json: bool) -> Self {
        if json { Self::Json } else { Self::Table(Table::new(columns, out.screen())) }
    }

    /// A line for each record.
    pub(super) fn endless(json: bool) -> Self {
        if json { Self::Json } else { Self::Lines }
    }

    pub(super) fn add(&mut self, record: &impl Record, out: &mut Out<'_>) -> Result<()> {
        match self {
            Self::Json => json_line(out, &record.json()),
            Self::Table(table) => table.row(out, record.cells()),
            Self::Lines => {
                let texts: Vec<String> = record.cells().into_iter().map(Cell::into_text).collect();
                out.line(texts.join("  ").trim_end())
            }
        }
    }

    /// Writes all records while they are read. If there are none, a terminal shows `nothing`: no output at all would
    /// look like a fault.
    pub(super) async fn write<R: Record>(
        mut self,
        records: impl Stream<Item = Result<R>>,
        nothing: &str,
        out: &mut Out<'_>,
    ) -> Result<()> {
        let mut records = pin!(records);
        let mut is_empty = true;
        while let Some(record) = records.try_next().await? {
            is_empty = false;
            self.add(&record, out)?;
        }
        if is_empty {
            output::notice(nothing);
        }
        if let Self::Table(table) = &mut self { table.flush(out) } else { Ok(()) }
    }

    /// Writes records as they come, until it fails, is interrupted, or stdout is closed. `next` gives the records since
    /// its last call, `None` if none came.
    pub(super) async fn follow<R: Record>(
        mut self,
        mut next: impl AsyncFnMut() -> Result<Option<Vec<R>>>,
        out: &mut Out<'_>,
        is_open: fn() -> bool,
    ) -> Result<()> {
        while is_open() {
            if let Some(records) = next().await? {
                records.iter().try_for_each(|record| self.add(record, out))?;
            } else {
                out.flush()?;
                sleep(PAUSE).await;
            }
        }
        Err(OutputClosed.into())
    }
}

/// Writes a value as a line of JSON.
pub(super) fn json_line(out: &mut Out<'_>, value: &Value) -> Result<()> {
    out.line(&escape_json(&value.to_string()))
}
