//! The statements that write a batch.

use super::Record;
use crate::device_status::{NewStatus, replace};
use crate::entity::{crash_part, crash_report, log_entry};
use sea_orm::{DbBackend, EntityTrait, InsertMany, QueryTrait, Statement};
use std::collections::BTreeMap;

/// Most rows of one statement. The widest row has 21 columns: 5,376 values, a sixth of what `SQLite`
/// takes.
const MOST_ROWS: usize = 256;

/// Statements that write all of `records`. Statuses come last, so that their rows are locked for the
/// shortest time, and in the order of their devices, so that two processes never wait for each other.
pub(super) fn statements(backend: DbBackend, records: &[&Record]) -> Vec<Statement> {
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
                let former = statuses.entry(status.key).or_insert(status);
                if status.replaces(former) {
                    *former = status;
                }
            }
        }
    }
    let statuses: Vec<&NewStatus> = statuses.into_values().collect();
    let mut statements = Vec::new();
    statements.extend(chunks(&logs).map(|rows| insert::<log_entry::Entity>(rows).build(backend)));
    statements.extend(chunks(&reports).map(|rows| insert::<crash_report::Entity>(rows).build(backend)));
    statements.extend(chunks(&parts).map(|rows| insert::<crash_part::Entity>(rows).build(backend)));
    statements.extend(chunks(&statuses).map(|rows| replace(rows.iter().copied()).build(backend)));
    statements
}

fn insert<E: EntityTrait>(rows: &[&E::ActiveModel]) -> InsertMany<E::ActiveModel>
where
    E::ActiveModel: Clone,
{
    E::insert_many(rows.iter().map(|row| (*row).clone()))
}

/// Cuts rows into lengths that are powers of two: there are few different statements then, and the
/// database knows each of them already.
fn chunks<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let length = 1 << rows.len().min(MOST_ROWS).checked_ilog2()?;
        let (chunk, rest) = rows.split_at(length);
        rows = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::chunks;

    fn lengths(rows: usize) -> Vec<usize> {
        chunks(&vec![0; rows]).map(<[i32]>::len).collect()
    }

    #[test]
    fn rows_are_cut_into_powers_of_two() {
        assert!(lengths(0).is_empty());
        assert_eq!(lengths(1), [1]);
        assert_eq!(lengths(7), [4, 2, 1]);
        assert_eq!(lengths(600), [256, 256, 64, 16, 8]);
    }
}
