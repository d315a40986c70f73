//! `platen crashes list`

use super::{facts, head};
use crate::cli::listing::{Listing, Record};
use crate::cli::lookup::{Organizations, Records};
use crate::cli::output::Out;
use crate::cli::query::{Limit, QueryOptions, TimeRange};
use crate::cli::table::{Cell, Column};
use crate::cli::values;
use anyhow::Result;
use clap::Args;
use domain::crash_analysis::CrashAnalysisRepository;
use domain::crash_report::{CrashReport, Os};
use domain::inspection::{CrashReportFilter, InspectedCrashReport, InspectionRepository, PartsTotal};
use futures_util::StreamExt;
use serde_json::Value;

/// Analyses that are read concurrently.
const CONCURRENT_READS: usize = 8;

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArguments {
    #[command(flatten)]
    pub(super) options: QueryOptions,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    period: TimeRange,
    /// Only reports of this computer, by its name or GUID, or the beginning of its GUID
    #[arg(long, value_name = "NAME|GUID")]
    computer: Option<String>,
}

/// The crash reports of some organizations.
pub(super) struct CrashList<'a> {
    pub(super) inspection: &'a dyn InspectionRepository,
    pub(super) analyses: &'a dyn CrashAnalysisRepository,
    pub(super) organizations: Organizations,
    pub(super) computers: Records,
}

impl CrashList<'_> {
    pub(super) async fn write(&self, asked: &ListArguments, out: &mut Out<'_>) -> Result<()> {
        let computer = asked.computer.as_deref().map(|text| self.computers.named(text)).transpose()?;
        let (from, to) = asked.period.bounds();
        let filter = CrashReportFilter { from, to, computer: computer.map(|computer| computer.guid.into()) };
        let reports = self.inspection.crash_reports(self.organizations.ids(), filter).take(asked.limit.get());
        let records = reports.map(async |found| self.record(found?).await).buffered(CONCURRENT_READS);
        Listing::new(COLUMNS, out, asked.options.json).write(records, "no crash reports found", out).await
    }

    async fn record(&self, found: InspectedCrashReport) -> Result<CrashRecord> {
        let InspectedCrashReport { organization, report } = found;
        let computer = report.computer.and_then(|guid| self.computers.of_guid(guid.as_uuid()));
        let analyzed = self.analyses.find(&[report.id]).await?.pop();
        Ok(CrashRecord {
            organization: self.organizations.name(organization).to_owned(),
            computer_name: computer.map(|computer| computer.name.clone()),
            signature: facts::signature(analyzed.as_ref()),
            report,
        })
    }
}

/// A crash report with the names of its organization and its computer, and its signature.
struct CrashRecord {
    organization: String,
    computer_name: Option<String>,
    signature: String,
    report: CrashReport<PartsTotal>,
}

const COLUMNS: [Column; 11] = [
    Column::whole("RECEIVED"),
    Column::whole("ID"),
    Column::optional("COMPUTER"),
    Column::optional("ORGANIZATION"),
    Column::optional("APPLICATION"),
    Column::optional("VERSION"),
    Column::optional("OS"),
    Column::optional("USER"),
    Column::optional("PARTS"),
    Column::optional("SIZE"),
    Column::cut("SIGNATURE"),
];

impl Record for CrashRecord {
    fn cells(&self) -> Vec<Cell> {
        let Self { organization, computer_name, signature, report } = self;
        let computer = computer_name.clone().or_else(|| report.computer.map(|guid| guid.to_string()));
        vec![
            Cell::new(report.received.to_string()),
            Cell::new(report.id.to_string()),
            Cell::new(computer.unwrap_or_default()),
            Cell::new(organization),
            Cell::new(report.application_name.as_deref().unwrap_or("unknown")),
            Cell::new(&report.application_version),
            Cell::new(Os::parse(report.os.as_deref()).as_str()),
            Cell::new(report.user.as_deref().unwrap_or_default()),
            Cell::new(report.parts.count.to_string()),
            Cell::new(values::size(report.parts.size)),
            Cell::new(signature),
        ]
    }

    fn json(&self) -> Value {
        let mut json = head(&self.organization, &self.report);
        json["computer_name"] = self.computer_name.clone().into();
        json["parts"] = self.report.parts.count.into();
        json["size"] = self.report.parts.size.into();
        json["signature"] = self.signature.clone().into();
        json
    }
}
