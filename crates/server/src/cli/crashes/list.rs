//! `platen crashes list`

use super::{content, head, stack};
use crate::cli::listing::Listing;
use crate::cli::look::{Look, Period};
use crate::cli::names::{Computers, Register};
use crate::cli::output::Out;
use crate::cli::table::{Cell, Column, Screen};
use crate::cli::values;
use anyhow::Result;
use clap::Args;
use domain::blob::BlobStore;
use domain::crash_report::{CrashReport, Os, PartRole};
use domain::guid::CrashReportId;
use domain::inspection::{CrashReportFilter, InspectionRepository, PartsTotal};
use futures_util::TryStreamExt;
use serde_json::Value;

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArguments {
    #[command(flatten)]
    pub(super) look: Look,
    #[command(flatten)]
    period: Period,
    /// Only those of this computer
    #[arg(long, value_name = "NAME|GUID")]
    computer: Option<String>,
    /// Only this many, the newest
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
}

/// The crash reports of some organizations.
pub(super) struct CrashList<'a> {
    pub(super) inspection: &'a dyn InspectionRepository,
    pub(super) blobs: &'a dyn BlobStore,
    pub(super) register: Register,
    pub(super) computers: Computers,
}

impl CrashList<'_> {
    pub(super) async fn write(&self, asked: &ListArguments, screen: Screen, out: &mut Out<'_>) -> Result<()> {
        let computer = asked.computer.as_deref().map(|text| self.computers.named(text)).transpose()?;
        let (from, to) = asked.period.bounds();
        let filter = CrashReportFilter { from, to, computer: computer.map(|computer| computer.guid) };
        let mut reports = self.inspection.crash_reports(self.register.ids(), filter);
        let mut listing = Listing::new(COLUMNS, screen, asked.look.json);
        let mut left = asked.limit.unwrap_or(usize::MAX);
        while left > 0
            && let Some(report) = reports.try_next().await?
        {
            left -= 1;
            let (organization, report) = (self.register.name(report.organization), &report.report);
            let stack = if asked.look.json { String::new() } else { self.stack_line(report.id).await };
            listing.record(out, || json_of(organization, report), || self.cells(organization, report, &stack))?;
        }
        listing.end(out, "no crash reports found")
    }

    fn cells(&self, organization: &str, report: &CrashReport<PartsTotal>, stack: &str) -> Vec<Cell> {
        let computer = report.computer.map(|guid| {
            self.computers.of_guid(guid).map_or_else(|| guid.to_string(), |computer| computer.name.clone())
        });
        vec![
            Cell::new(report.received.to_string()),
            Cell::new(report.id.to_string()),
            Cell::new(organization),
            Cell::new(report.application_name.as_deref().unwrap_or("unknown")),
            Cell::new(&report.application_version),
            Cell::new(Os::parse(report.os.as_deref()).as_str()),
            Cell::new(report.user.as_deref().unwrap_or_default()),
            Cell::new(computer.unwrap_or_default()),
            Cell::new(report.parts.count.to_string()),
            Cell::new(values::size(report.parts.size)),
            Cell::new(stack),
        ]
    }

    /// The first meaningful line of the call stack. A list isn't cut off over a content that can't be read.
    async fn stack_line(&self, id: CrashReportId) -> String {
        let line = async {
            let report = self.inspection.find_crash_report(id).await?.map(|(_, report)| report);
            let parts = report.iter().flat_map(|report| &report.parts);
            match parts.into_iter().find(|part| part.place == PartRole::CallStack) {
                Some(part) => stack::first_line(content(self.blobs, part).await?).await,
                None => Ok(String::new()),
            }
        };
        line.await.unwrap_or_else(|error| format!("({error})"))
    }
}

const COLUMNS: [Column; 11] = [
    Column::whole("RECEIVED"),
    Column::whole("ID"),
    Column::optional("ORGANIZATION"),
    Column::optional("APPLICATION"),
    Column::optional("VERSION"),
    Column::optional("OS"),
    Column::optional("USER"),
    Column::text("COMPUTER"),
    Column::optional("PARTS"),
    Column::optional("SIZE"),
    Column::text("STACK"),
];

fn json_of(organization: &str, report: &CrashReport<PartsTotal>) -> Value {
    let mut json = head(organization, report);
    json["parts"] = report.parts.count.into();
    json["size"] = report.parts.size.into();
    json
}
