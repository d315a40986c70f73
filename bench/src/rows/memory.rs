//! Resident memory of the servers: after their start, and the peak under all rows measured before.

use crate::samples::{Pairs, Samples};
use crate::stage::Stage;
use crate::table::{Goal, Row};
use anyhow::{Result, ensure};

pub(super) async fn idle(stage: &Stage, name: &'static str) -> Result<Row> {
    // One at least, when no other row was asked for.
    stage.on_sqlite().await?;
    let idle = stage.idle.borrow().clone();
    Ok(row(name, "resident memory after the start", idle, 32.0))
}

pub(super) fn peak(stage: &Stage, name: &'static str) -> Result<Row> {
    let peaks = stage.peaks()?;
    ensure!(!peaks.sorted().is_empty(), "no server ran");
    Ok(row(name, "peak of resident memory under the rows above, per server", peaks, 128.0))
}

fn row(name: &'static str, work: &str, product: Samples, goal: f64) -> Row {
    Row {
        name,
        work: work.to_owned(),
        unit: "MiB",
        pairs: Pairs { product, reference: Samples::default() },
        reference: String::new(),
        goal: Goal::ValueAtMost(goal),
        note: String::new(),
    }
}
