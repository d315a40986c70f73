//! Analyses of crash reports and their groups in memory.

mod repository;

use super::{InMemoryStore, State};
use crate::caller::OrganizationId;
use crate::crash_analysis::{AnalyzedReport, CrashAnalysis, CrashAnalysisRepository, PendingReport, Recorded, Requeue};
use crate::crash_group::{CrashGroup, CrashGroupDetails, CrashGroupId, GroupState, Tally, TallyKind};
use crate::crash_report::{Os, StoredCrashReport};
use crate::error::StoreError;
use crate::guid::CrashReportId;
use crate::text::cut;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::collections::BTreeMap;

/// The queue, the analyses and the groups. The reports are in [`State`].
#[derive(Default)]
pub(super) struct CrashGroups {
    /// The queue of reports that wait for their analysis.
    pending: BTreeMap<CrashReportId, Pending>,
    pub(super) analyses: BTreeMap<CrashReportId, AnalyzedReport>,
    pub(super) groups: BTreeMap<CrashGroupId, CrashGroup>,
}

struct Pending {
    since: Timestamp,
    taken_until: Option<Timestamp>,
    attempts: u32,
}

impl CrashGroups {
    /// Puts a report into the queue, unless it is there.
    pub(super) fn wait(&mut self, report: CrashReportId, since: Timestamp) {
        self.pending.entry(report).or_insert(Pending { since, taken_until: None, attempts: 0 });
    }

    /// The groups with at least one report.
    pub(super) fn with_reports(&self) -> impl Iterator<Item = &CrashGroup> {
        self.groups.values().filter(|group| group.reports > 0)
    }

    /// Removes a report that retention removes.
    pub(super) fn remove(&mut self, report: CrashReportId) {
        self.pending.remove(&report);
        self.uncount(report);
    }

    /// Takes a report out of its group. A group that no operator acknowledged or resolved is removed with its last
    /// report.
    fn uncount(&mut self, report: CrashReportId) {
        let Some(id) = self.analyses.remove(&report).and_then(|analyzed| analyzed.group) else { return };
        if let Some(group) = self.groups.get_mut(&id) {
            group.reports -= 1;
            if group.reports == 0 && matches!(group.state, GroupState::New | GroupState::Regressed) {
                self.groups.remove(&id);
            }
        }
    }
}

impl State {
    fn report(&self, id: CrashReportId) -> Option<(OrganizationId, &StoredCrashReport)> {
        self.crash_reports.iter().find(|(_, report)| report.id == id).map(|(owner, report)| (*owner, report))
    }

    fn details(&self, group: &CrashGroup) -> CrashGroupDetails {
        let count = |kind| self.tally(group.id).into_iter().filter(|tally| tally.kind == kind).count() as u64;
        CrashGroupDetails {
            group: group.clone(),
            versions: count(TallyKind::Version),
            computers: count(TallyKind::Computer),
            operating_systems: count(TallyKind::OperatingSystem),
        }
    }

    fn tally(&self, group: CrashGroupId) -> Vec<Tally> {
        let mut counts: BTreeMap<(TallyKind, String), u64> = BTreeMap::new();
        let of_group = self.crash_groups.analyses.values().filter(|analyzed| analyzed.group == Some(group));
        for (_, report) in of_group.filter_map(|analyzed| self.report(analyzed.analysis.report)) {
            let computer = report.computer.map(|guid| (TallyKind::Computer, guid.to_string()));
            let others = [
                (TallyKind::Version, cut(&report.application_version, 200)),
                (TallyKind::OperatingSystem, Os::parse(report.os.as_deref()).as_str().to_owned()),
            ];
            for key in others.into_iter().chain(computer) {
                *counts.entry(key).or_default() += 1;
            }
        }
        counts.into_iter().map(|((kind, value), reports)| Tally { kind, value, reports }).collect()
    }
}

#[async_trait]
impl CrashAnalysisRepository for InMemoryStore {
    async fn take(&self, now: Timestamp, until: Timestamp, limit: u64) -> Result<Vec<PendingReport>, StoreError> {
        let mut state = self.working()?;
        let free = |pending: &Pending| pending.taken_until.is_none_or(|taken| taken <= now);
        let waiting = state.crash_groups.pending.iter().filter(|(_, pending)| free(pending));
        let mut waiting: Vec<_> = waiting.map(|(id, pending)| (pending.since, *id)).collect();
        waiting.sort_unstable();
        waiting.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let mut taken = Vec::new();
        for (_, id) in waiting {
            let Some((organization, report)) = state.report(id).map(|(owner, report)| (owner, report.clone())) else {
                continue;
            };
            if let Some(pending) = state.crash_groups.pending.get_mut(&id) {
                pending.taken_until = Some(until);
                pending.attempts += 1;
                taken.push(PendingReport { organization, report, attempts: pending.attempts });
            }
        }
        Ok(taken)
    }

    async fn record(&self, analysis: CrashAnalysis) -> Result<Recorded, StoreError> {
        let mut state = self.working()?;
        let found = state.report(analysis.report).map(|(owner, report)| (owner, report.clone()));
        let Some((organization, report)) = found else { return Ok(Recorded::Obsolete) };
        let crashes = &mut state.crash_groups;
        if crashes.pending.remove(&report.id).is_none() {
            return Ok(Recorded::Obsolete);
        }
        let previous = crashes.analyses.get(&report.id).and_then(|analyzed| analyzed.group);
        let signature = analysis.signature.clone().ok();
        let name = report.application_name.as_deref();
        let group = signature.as_deref().map(|signature| CrashGroupId::of(organization, name, signature));
        if previous != group {
            crashes.uncount(report.id);
        }
        if let (Some(id), Some(signature)) = (group, signature) {
            let group = crashes.groups.entry(id).or_insert_with(|| CrashGroup {
                id,
                organization,
                application_name: report.application_name.clone(),
                signature,
                algorithm: analysis.algorithm,
                state: GroupState::New,
                resolved_in: None,
                resolved_at: None,
                first_seen: report.received,
                last_seen: report.received,
                reports: 0,
            });
            if previous != Some(id) {
                group.reports += 1;
                group.first_seen = group.first_seen.min(report.received);
                group.last_seen = group.last_seen.max(report.received);
                if group.regresses(&report.application_version, report.received) {
                    group.state = GroupState::Regressed;
                }
            }
        }
        crashes.analyses.insert(report.id, AnalyzedReport { analysis, group });
        Ok(Recorded::Stored)
    }

    async fn requeue(
        &self,
        which: Requeue,
        after: Option<CrashReportId>,
        limit: u64,
        now: Timestamp,
    ) -> Result<(Option<CrashReportId>, u64), StoreError> {
        let mut state = self.working()?;
        let mut ids: Vec<CrashReportId> = state.crash_reports.iter().map(|(_, report)| report.id).collect();
        ids.sort_unstable();
        ids.retain(|id| after.is_none_or(|after| *id > after));
        ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let crashes = &mut state.crash_groups;
        let mut count = 0;
        for id in &ids {
            let is_meant = match which {
                Requeue::All => true,
                Requeue::Older { than } => crashes
                    .analyses
                    .get(id)
                    .is_none_or(|analyzed| analyzed.analysis.algorithm < than || analyzed.analysis.signature.is_err()),
            };
            if is_meant && !crashes.pending.contains_key(id) {
                crashes.wait(*id, now);
                count += 1;
            }
        }
        Ok((ids.last().copied(), count))
    }

    async fn find(&self, reports: &[CrashReportId]) -> Result<Vec<AnalyzedReport>, StoreError> {
        let state = self.working()?;
        Ok(reports.iter().filter_map(|id| state.crash_groups.analyses.get(id).cloned()).collect())
    }

    async fn waiting(&self) -> Result<u64, StoreError> {
        Ok(self.working()?.crash_groups.pending.len() as u64)
    }
}
