//! Crash reports, computers and the search of operators in memory.

use super::{InMemoryStore, State};
use crate::activity::Sender;
use crate::caller::OrganizationId;
use crate::computer::{ComputerCursor, ComputerFilter, ComputerRecord, ComputerRepository};
use crate::crash_report::{ArchivedReport, CrashReportArchive, ReportCursor, ReportFilter, StoredCrashReport};
use crate::error::StoreError;
use crate::fleet::FleetRecord;
use crate::guid::{ComputerGuid, CrashReportId};
use crate::inspection::PartsTotal;
use crate::text::Folded;
use async_trait::async_trait;
use std::cmp::Reverse;

impl State {
    fn archived(&self, organization: OrganizationId, report: &StoredCrashReport) -> ArchivedReport {
        let analyzed = self.crash_groups.analyses.get(&report.id);
        let size = report.parts.iter().map(|part| part.size).sum();
        let parts = PartsTotal { count: report.parts.len() as u64, size };
        ArchivedReport {
            organization,
            report: report.clone().with_parts(parts),
            group: analyzed.and_then(|analyzed| analyzed.group),
            signature: analyzed.map(|analyzed| analyzed.analysis.signature.clone()),
        }
    }

    fn computer(&self, guid: ComputerGuid) -> Option<ComputerRecord> {
        let computer = self.fleet.computers.get(&guid)?;
        let organization = computer.organization;
        Some(ComputerRecord {
            organization,
            guid,
            name: computer.name.clone(),
            serial_number: computer.serial_number.clone(),
            user: computer.user.clone(),
            is_retired: self.fleet.is_retired(organization, FleetRecord::Computer(guid)),
            last_request: self.activity.requests.get(&Sender::Computer(organization, guid)).cloned(),
        })
    }
}

#[async_trait]
impl CrashReportArchive for InMemoryStore {
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &ReportFilter,
        after: Option<ReportCursor>,
        limit: u64,
    ) -> Result<Vec<ArchivedReport>, StoreError> {
        let state = self.working()?;
        let own = state.crash_reports.iter();
        let own = own.filter(|(owner, _)| organization.is_none_or(|organization| organization == *owner));
        let mut rows: Vec<ArchivedReport> = own.map(|(owner, report)| state.archived(*owner, report)).collect();
        rows.retain(|row| {
            let report = &row.report;
            filter.group.is_none_or(|group| row.group == Some(group))
                && filter.computer.is_none_or(|computer| report.computer == Some(computer))
                && filter.version.as_ref().is_none_or(|version| report.application_version == *version)
                && filter.from.is_none_or(|from| from <= report.received)
                && filter.to.is_none_or(|to| report.received <= to)
                && after.is_none_or(|after| row.cursor() < after)
        });
        rows.sort_by_key(|row| Reverse(row.cursor()));
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(rows)
    }

    async fn find(
        &self,
        organization: Option<OrganizationId>,
        id: CrashReportId,
    ) -> Result<Option<(OrganizationId, StoredCrashReport)>, StoreError> {
        let state = self.working()?;
        let own = state.crash_reports.iter();
        let mut own = own.filter(|(owner, _)| organization.is_none_or(|organization| organization == *owner));
        Ok(own.find(|(_, report)| report.id == id).cloned())
    }
}

#[async_trait]
impl ComputerRepository for InMemoryStore {
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &ComputerFilter,
        after: Option<ComputerCursor>,
        limit: u64,
    ) -> Result<Vec<ComputerRecord>, StoreError> {
        let state = self.working()?;
        let mut rows: Vec<_> = state.fleet.computers.keys().filter_map(|guid| state.computer(*guid)).collect();
        rows.retain(|row| {
            let texts = [Some(&row.name), row.serial_number.as_ref(), row.user.as_ref()];
            let holds = |text: &String| {
                let folded = Folded::of(text);
                texts.into_iter().flatten().any(|it| Folded::of(it).as_str().contains(folded.as_str()))
                    || ComputerGuid::parse(text) == Some(row.guid)
            };
            organization.is_none_or(|organization| organization == row.organization)
                && filter.search.as_ref().is_none_or(holds)
                && filter.seen_since.is_none_or(|since| row.last_request.as_ref().is_some_and(|it| it.at >= since))
                && after.as_ref().is_none_or(|after| row.cursor() > *after)
        });
        rows.sort_by_key(ComputerRecord::cursor);
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(rows)
    }

    async fn find(
        &self,
        organization: Option<OrganizationId>,
        guid: ComputerGuid,
    ) -> Result<Option<ComputerRecord>, StoreError> {
        let found = self.working()?.computer(guid);
        Ok(found.filter(|row| organization.is_none_or(|organization| organization == row.organization)))
    }
}
