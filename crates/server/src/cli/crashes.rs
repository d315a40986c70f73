//! `platen crashes list`, `show`, `export`, `groups` and `analyze`

mod analyze;
mod facts;
mod groups;
mod list;
mod stack;

use super::export::{Destination, FileNames, Folder};
use super::failure::Failure;
use super::listing::json_line;
use super::lookup::{self, Kind, Organizations, Records};
use super::output::Out;
use super::query;
use super::table::{Cell, Column, Table};
use super::values;
use crate::config::Config;
use crate::wiring;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use domain::blob::BlobStore;
use domain::crash_analysis::{AnalyzedReport, CrashAnalysisRepository, read_signature};
use domain::crash_report::{CrashPart, CrashReport, Os, PartRole, StoredCrashReport, file_name};
use domain::guid::CrashReportId;
use domain::inspection::{CrashReportFilter, InspectionRepository};
use domain::minidump::DumpFacts;
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum CrashesCommand {
    /// List crash reports, the newest first
    List(list::ListArguments),
    /// Show a crash report with its call stack
    Show {
        #[command(flatten)]
        report: Report,
        /// Write one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Save the parts of a crash report to files
    Export {
        #[command(flatten)]
        report: Report,
        /// Folder to save them to; it is created [default: crash-<ID> in the current folder]
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
        /// Overwrite existing files
        #[arg(long)]
        force: bool,
    },
    /// List the groups of crash reports, the last seen first
    Groups(groups::GroupsArguments),
    /// Analyze the reports again whose analysis failed or used older rules
    Analyze {
        /// Analyze all reports again
        #[arg(long)]
        all: bool,
    },
}

/// The report that a command is about.
#[derive(Debug, Args)]
pub(super) struct Report {
    /// Id of the report, as its client got it in the header Crash-Report-Id, or the beginning of the id
    #[arg(value_name = "ID", value_parser = lookup::id)]
    id: String,
    /// Only a report of this organization
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,
}

pub(super) async fn run(config: &Config, command: CrashesCommand) -> Result<ExitCode, Failure> {
    if let CrashesCommand::Analyze { all } = command {
        return analyze::run(config, all).await;
    }
    query::run(config, async |database, out| {
        let inspection = database.inspection();
        let analyses = database.crash_analyses();
        let blobs = || wiring::open_blobs(&config.blobs);
        match command {
            CrashesCommand::List(asked) => {
                let organizations = Organizations::read(&inspection, asked.options.organization.as_deref()).await?;
                let fleet = wiring::fleet_service(database);
                let computers = Records::read(&fleet, &organizations, Kind::Computer).await?;
                let list = list::CrashList { inspection: &inspection, analyses: &analyses, organizations, computers };
                list.write(&asked, out).await
            }
            CrashesCommand::Show { report, json } => {
                let found = find(&inspection, &report).await?;
                let analyzed = analyses.find(&[found.report.id]).await?.pop();
                show(&*blobs().await?, &found, analyzed.as_ref(), json, out).await
            }
            CrashesCommand::Groups(asked) => {
                let organizations = Organizations::read(&inspection, asked.options.organization.as_deref()).await?;
                groups::write(&database.crash_groups(), &organizations, &asked, out).await
            }
            // Handled above.
            CrashesCommand::Analyze { .. } => Ok(()),
            CrashesCommand::Export { report, folder, force } => {
                let Found { report, .. } = find(&inspection, &report).await?;
                let folder = folder.unwrap_or_else(|| PathBuf::from(format!("crash-{}", report.id)));
                export(&*blobs().await?, &report, &Folder { path: folder, force }, out).await
            }
        }
    })
    .await
}

/// The members of every report in JSON.
fn head<P>(organization: &str, report: &CrashReport<P>) -> Value {
    json!({
        "id": report.id.to_string(),
        "received": report.received.precise(),
        "organization": organization,
        "application_name": report.application_name,
        "application_version": report.application_version,
        "os": Os::parse(report.os.as_deref()).as_str(),
        "user": report.user,
        "computer": report.computer.map(|computer| computer.to_string()),
        "serial_number": report.serial_number,
        "note": report.note,
    })
}

/// A report and the name of its organization.
struct Found {
    organization: String,
    report: StoredCrashReport,
}

async fn find(inspection: &dyn InspectionRepository, asked: &Report) -> Result<Found> {
    let organizations = Organizations::read(inspection, asked.organization.as_deref()).await?;
    let reports = inspection.crash_reports(organizations.ids(), CrashReportFilter::default());
    let ids = reports.map_ok(|found| found.report.id);
    let id = CrashReportId::from(lookup::whole_id(&asked.id, "crash report", ids).await?);
    let found = inspection.find_crash_report(id).await?;
    match found.filter(|(organization, _)| organizations.contains(*organization)) {
        Some((organization, report)) => Ok(Found { organization: organizations.name(organization).to_owned(), report }),
        None => bail!("there is no crash report {id}"),
    }
}

async fn show(
    blobs: &dyn BlobStore,
    found: &Found,
    analyzed: Option<&AnalyzedReport>,
    as_json: bool,
    out: &mut Out<'_>,
) -> Result<()> {
    let Found { organization, report } = found;
    let call_stack = report.parts.iter().find(|part| part.role == PartRole::CallStack);
    let dump = analyzed.and_then(|analyzed| analyzed.analysis.dump.as_ref());
    let place = dump.and_then(|dump| dump.facts.as_ref().ok()).map(DumpFacts::signed_frame);
    let explained = match call_stack {
        Some(part) => Some(read_signature(content(blobs, part).await?, place.as_ref()).await?),
        None => None,
    };
    if as_json {
        let mut json = json_of(organization, report);
        json["signature"] = facts::signature(analyzed).into();
        json["group"] = analyzed.and_then(|analyzed| analyzed.group).map(|group| group.to_string()).into();
        json["basis"] = explained.as_ref().map(|explained| explained.basis.as_str()).into();
        json["frames"] = explained.as_ref().map(facts::frames_json).into();
        json["minidump"] = dump.map(facts::dump_json).transpose()?.into();
        if let Some(part) = call_stack {
            json["call_stack"] = stack::text(content(blobs, part).await?).await?.into();
        }
        return json_line(out, &json);
    }
    let os = Os::parse(report.os.as_deref()).as_str();
    let shown = [
        ("Id", report.id.to_string()),
        ("Received", report.received.precise()),
        ("Organization", organization.clone()),
        ("Application", report.application_name.clone().unwrap_or_else(|| "unknown".to_owned())),
        ("Version", report.application_version.clone()),
        ("OS", os.to_owned()),
        ("User", report.user.clone().unwrap_or_default()),
        ("Computer", report.computer.map(|computer| computer.to_string()).unwrap_or_default()),
        ("SerialNumber", report.serial_number.clone()),
        ("Note", report.note.clone().unwrap_or_default()),
        ("Signature", facts::signature(analyzed)),
        ("Group", analyzed.and_then(|analyzed| analyzed.group).map(|group| group.to_string()).unwrap_or_default()),
    ];
    values::facts(out, &shown)?;
    out.line("")?;
    let mut table = Table::new(PART_COLUMNS, out.screen());
    for part in &report.parts {
        let text = |text: &Option<String>| Cell::new(text.as_deref().unwrap_or_default());
        let size = Cell::new(values::size(part.size));
        let role = Cell::new(part.role.as_str());
        table.row(out, vec![role, text(&part.name), text(&part.file_name), text(&part.content_type), size])?;
    }
    table.flush(out)?;
    if let Some(dump) = dump {
        out.line("")?;
        facts::print_dump(dump, out)?;
    }
    if let Some(explained) = explained.filter(|explained| !explained.frames.is_empty()) {
        out.line("")?;
        facts::print_frames(&explained, out)?;
    }
    if let Some(part) = call_stack {
        out.line("")?;
        stack::print(content(blobs, part).await?, out).await?;
    }
    Ok(())
}

const PART_COLUMNS: [Column; 5] = [
    Column::text("PART"),
    Column::text("NAME"),
    Column::text("FILE"),
    Column::text("CONTENT TYPE"),
    Column::text("SIZE"),
];

fn json_of(organization: &str, report: &StoredCrashReport) -> Value {
    let part = |part: &CrashPart| {
        json!({
            "place": part.role.as_str(),
            "name": part.name,
            "file_name": part.file_name,
            "content_type": part.content_type,
            "size": part.size,
            "checksum": part.checksum.to_string(),
        })
    };
    let mut json = head(organization, report);
    json["parts"] = report.parts.iter().map(part).collect();
    json
}

async fn content(blobs: &dyn BlobStore, part: &CrashPart) -> Result<domain::blob::ByteStream> {
    let content = blobs.read(&part.key, None).await?;
    content.with_context(|| format!("the content {} of the part {} is missing", part.key, part.role.as_str()))
}

/// Saves every part. No file is overwritten without --force; that is checked before anything is written.
async fn export(blobs: &dyn BlobStore, report: &StoredCrashReport, folder: &Folder, out: &mut Out<'_>) -> Result<()> {
    let mut names = FileNames::default();
    let mut file = |(position, part)| folder.file(&names.take(&file_name(position, part)));
    let files = (1..).zip(&report.parts).map(&mut file).collect::<Result<Vec<_>>>()?;
    for (part, file) in report.parts.iter().zip(files) {
        let saved = Destination::File(file).save(content(blobs, part).await?, part.checksum, out).await;
        saved.with_context(|| format!("cannot save the part {}", part.role.as_str()))?;
    }
    Ok(())
}
