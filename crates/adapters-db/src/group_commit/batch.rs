//! The rows of a batch, table by table.

use super::Record;
use super::table::{Rows, Written};
use crate::device_status::NewStatus;
use std::collections::BTreeMap;

/// What a statement returned: digest and number of each origin, else nothing.
pub(super) type Answered = (Vec<u8>, i64);

/// What is written in one transaction: a report before its parts, and statuses last, so that their rows
/// are locked for the shortest time.
pub(super) struct Batch<'a> {
    tables: Vec<Rows<'a>>,
}

impl<'a> Batch<'a> {
    pub(super) fn of(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut logs = Vec::new();
        let mut reports = Vec::new();
        let mut parts = Vec::new();
        let mut statuses: BTreeMap<_, &NewStatus> = BTreeMap::new();
        for record in records {
            match record {
                Record::Log(row) => logs.push(&**row),
                Record::CrashReport(report, of_report) => {
                    reports.push(&**report);
                    parts.extend(of_report);
                }
                Record::Status(status) => {
                    let former = statuses.entry(status.key()).or_insert(status);
                    if status.replaces(former) {
                        *former = status;
                    }
                }
            }
        }
        // In the order of their devices, so that two processes never wait for each other.
        let statuses = Rows::of(statuses.into_values());
        Self { tables: vec![Rows::of(logs), Rows::of(reports), Rows::of(parts), statuses] }
    }

    /// Rows of one table.
    pub(super) fn of_one<R: Written + 'a>(rows: impl IntoIterator<Item = &'a R>) -> Self {
        Self { tables: vec![Rows::of(rows)] }
    }

    /// The tables that get rows.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Rows<'a>> {
        self.tables.iter().filter(|rows| rows.len() > 0)
    }

    /// All rows.
    pub(super) fn len(&self) -> usize {
        self.tables.iter().map(Rows::len).sum()
    }
}
