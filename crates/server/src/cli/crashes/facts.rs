//! The analysis of a report as `platen crashes show` shows it.

use crate::cli::output::Out;
use crate::cli::table::{Cell, Column, Table};
use crate::cli::values;
use anyhow::Result;
use domain::crash_analysis::{AnalyzedReport, DumpAnalysis};
use domain::crash_signature::Signature;
use domain::minidump::{DumpFacts, DumpModule, Place};
use serde_json::{Value, json};

const FRAME_COLUMNS: [Column; 3] = [Column::text("FRAME"), Column::text("ROLE"), Column::text("RULE")];

/// The stored signature of a report, or a text in parentheses about why there is none.
pub(super) fn signature(analyzed: Option<&AnalyzedReport>) -> String {
    match analyzed.map(|analyzed| &analyzed.analysis.signature) {
        Some(Ok(signature)) => signature.clone(),
        Some(Err(reason)) => format!("({reason})"),
        None => "(not analyzed yet)".to_owned(),
    }
}

/// Prints the frames with their role in the signature and the rule that skipped a frame.
pub(super) fn print_frames(signature: &Signature, out: &mut Out<'_>) -> Result<()> {
    let mut table = Table::new(FRAME_COLUMNS, out.screen());
    for frame in &signature.frames {
        let cells =
            [frame.frame.to_string(), frame.role.as_str().to_owned(), frame.rule.unwrap_or_default().to_owned()];
        table.row(out, cells.into_iter().map(Cell::new).collect())?;
    }
    table.flush(out)
}

pub(super) fn frames_json(signature: &Signature) -> Value {
    let frame = |frame: &domain::crash_signature::ExplainedFrame| json!({ "frame": frame.frame.to_string(), "role": frame.role.as_str(), "rule": frame.rule });
    signature.frames.iter().map(frame).collect()
}

/// Prints the facts of the minidump.
pub(super) fn print_dump(dump: &DumpAnalysis, out: &mut Out<'_>) -> Result<()> {
    let facts = match &dump.facts {
        Err(reason) => return values::facts(out, &[("Minidump", reason.clone())]),
        Ok(facts) => facts,
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let system = [text(&facts.operating_system), text(&facts.operating_system_version)].join(" ");
    let mut shown = vec![
        ("Minidump", dump.reader.clone()),
        ("System", system.trim().to_owned()),
        ("Processor", text(&facts.processor)),
        ("Exception", text(&facts.exception)),
        ("About", text(&facts.exception_address)),
        ("Place", facts.place.as_ref().map(place).unwrap_or_default()),
        ("Threads", facts.threads.len().to_string()),
        ("Modules", facts.modules.len().to_string()),
        ("Unloaded", facts.unloaded_modules.len().to_string()),
    ];
    shown.extend(crashed_module(facts).map(|module| ("Module", named(module))));
    shown.extend(facts.annotations.iter().map(|(name, value)| ("Annotation", format!("{name}: {value}"))));
    shown.extend(facts.problems.iter().map(|problem| ("Problem", problem.clone())));
    values::facts(out, &shown)
}

pub(super) fn dump_json(dump: &DumpAnalysis) -> Result<Value> {
    Ok(match &dump.facts {
        Ok(facts) => json!({ "reader": dump.reader, "facts": serde_json::to_value(facts)? }),
        Err(reason) => json!({ "reader": dump.reader, "failure": reason }),
    })
}

/// The module of the exception.
fn crashed_module(facts: &DumpFacts) -> Option<&DumpModule> {
    let name = facts.place.as_ref()?.module.as_ref()?;
    facts.modules.iter().find(|module| module.name == *name)
}

/// Name, version and debug identifier.
fn named(module: &DumpModule) -> String {
    let parts = [Some(&module.name), module.version.as_ref(), module.debug_identifier.as_ref()];
    parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(" ")
}

/// `Rip.exe+0x1a2b`, or the address alone.
fn place(place: &Place) -> String {
    match (&place.module, place.offset) {
        (Some(module), Some(offset)) => format!("{module}+0x{offset:x}"),
        _ => place.address.clone(),
    }
}
