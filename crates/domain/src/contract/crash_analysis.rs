//! [`crate::crash_analysis::CrashAnalysisRepository`].

use super::crash_group::change;
use super::scene::two_organizations;
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::crash_analysis::{AnalyzedReport, CrashAnalysis, DumpAnalysis, Recorded, Requeue};
use crate::crash_group::{CrashGroupDetails, GroupFilter, GroupSort, GroupState, StateChange, Tally, TallyKind};
use crate::crash_report::NewCrashReport;
use crate::error::StoreError;
use crate::guid::{ComputerGuid, CrashReportId};
use crate::minidump::{DumpFacts, Place};
use crate::retention::RemovalOutcome;
use crate::testing::{a_crash_report, at, numbered};
use futures_util::future::try_join_all;
use std::collections::BTreeSet;

fn id(number: u128) -> CrashReportId {
    CrashReportId::from(numbered(number))
}

fn report(number: u128, seconds: i64) -> NewCrashReport {
    NewCrashReport { received: at(seconds), ..a_crash_report(number) }
}

fn analysis(number: u128, signature: &str) -> CrashAnalysis {
    CrashAnalysis {
        report: id(number),
        algorithm: 1,
        signature: Ok(signature.to_owned()),
        dump: None,
        analyzed: at(100),
    }
}

async fn groups(stores: &Stores, organizations: &[OrganizationId]) -> Result<Vec<CrashGroupDetails>, StoreError> {
    let (filter, sort) = (GroupFilter::default(), GroupSort::LastSeen);
    let mut found = stores.crash_groups.page(None, &filter, sort, None, 100).await?;
    found.retain(|found| organizations.contains(&found.group.organization));
    Ok(found)
}

/// Adds reports, and records the same signature for all of them.
async fn grouped(stores: &Stores, owner: OrganizationId, reports: Vec<NewCrashReport>, signature: &str) -> Kept {
    for report in reports {
        let id = report.id;
        stores.crash_reports.add(owner, report).await?;
        let analysis = CrashAnalysis { report: id, ..analysis(0, signature) };
        assert_eq!(stores.crash_analyses.record(analysis).await?, Recorded::Stored);
    }
    Ok(())
}

/// Decision I7: the longest waiting report first; no other call returns a leased report.
pub async fn reports_wait_from_their_receipt_on_and_are_taken_once(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for number in 1..=5 {
        let owner = if number == 3 { zenith } else { acme };
        stores.crash_reports.add(owner, report(number, 10 - i64::try_from(number)?)).await?;
    }
    assert_eq!(stores.crash_analyses.waiting().await?, 5);
    let first = stores.crash_analyses.take(at(50), at(60), 3).await?;
    let taken: Vec<_> = first.iter().map(|taken| (taken.organization, taken.report.id, taken.attempts)).collect();
    assert_eq!(taken, [(acme, id(5), 1), (acme, id(4), 1), (zenith, id(3), 1)]);
    assert_eq!(first[0].report, report(5, 5));
    let rest = stores.crash_analyses.take(at(50), at(60), 10).await?;
    assert_eq!(rest.iter().map(|taken| taken.report.id).collect::<Vec<_>>(), [id(2), id(1)]);
    assert_eq!(stores.crash_analyses.take(at(59), at(90), 10).await?, []);
    let again = stores.crash_analyses.take(at(60), at(90), 1).await?;
    assert_eq!((again[0].report.id, again[0].attempts), (id(5), 2));
    Ok(())
}

pub async fn concurrent_processes_take_different_reports(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    try_join_all((0..40).map(|number| stores.crash_reports.add(acme, report(number, 0)))).await?;
    let taken = try_join_all((0..8).map(|_| stores.crash_analyses.take(at(1), at(60), 5))).await?;
    let ids: Vec<_> = taken.into_iter().flatten().map(|taken| taken.report.id).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "a report was given twice");
    let rest = stores.crash_analyses.take(at(1), at(60), 100).await?;
    assert_eq!(ids.len() + rest.len(), 40);
    Ok(())
}

/// Decisions I5 and I6: nothing of an analysis is lost.
pub async fn an_analysis_is_found_as_it_was_stored(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let place = Place { module: Some("rip \"é\"".to_owned()), offset: Some(7), address: "0x7".to_owned() };
    let facts = DumpFacts { place: Some(place), problems: vec!["cut".to_owned()], ..DumpFacts::default() };
    let dump = |facts| Some(DumpAnalysis { reader: "minidump 1".to_owned(), facts });
    let analyses = [
        CrashAnalysis { dump: dump(Ok(facts)), ..analysis(1, "a | é") },
        CrashAnalysis { dump: dump(Err("no dump".to_owned())), ..analysis(2, "a | é") },
        CrashAnalysis { signature: Err("missing".to_owned()), ..analysis(3, "") },
    ];
    for analysis in &analyses {
        stores.crash_reports.add(acme, NewCrashReport { id: analysis.report, ..report(1, 0) }).await?;
        assert_eq!(stores.crash_analyses.record(analysis.clone()).await?, Recorded::Stored);
    }
    let mut found = stores.crash_analyses.find(&[id(1), id(2), id(3), id(4)]).await?;
    found.sort_by_key(|found| found.analysis.report);
    let group = groups(stores, &[acme]).await?.remove(0).group.id;
    let expected: Vec<_> = analyses
        .into_iter()
        .map(|analysis| AnalyzedReport { group: analysis.signature.is_ok().then_some(group), analysis })
        .collect();
    assert_eq!(found, expected);
    assert_eq!(stores.crash_analyses.waiting().await?, 0);
    assert_eq!(stores.crash_analyses.find(&[]).await?, []);
    Ok(())
}

/// Decision I5: one group for each organization, application and signature.
pub async fn reports_are_counted_in_the_group_of_their_signature(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let other_name = NewCrashReport { application_name: None, ..report(4, 9) };
    let mac = NewCrashReport {
        os: Some("0".to_owned()),
        computer: Some(ComputerGuid::from(numbered(9))),
        application_version: "9.1".to_owned(),
        ..report(2, 3)
    };
    let nameless = NewCrashReport { computer: None, ..report(3, 7) };
    grouped(stores, acme, vec![report(1, 5), mac, nameless, other_name], "same").await?;
    grouped(stores, zenith, vec![report(5, 8)], "same").await?;
    grouped(stores, acme, vec![report(6, 1)], "other").await?;
    let found = groups(stores, &[acme]).await?;
    let shown: Vec<_> = found
        .iter()
        .map(|found| (found.group.application_name.as_deref(), found.group.signature.as_str(), found.group.reports))
        .collect();
    assert_eq!(shown, [(None, "same", 1), (Some("Rip"), "same", 3), (Some("Rip"), "other", 1)]);
    let three = &found[1];
    assert_eq!((three.group.first_seen, three.group.last_seen), (at(3), at(7)));
    assert_eq!((three.versions, three.computers, three.operating_systems), (2, 2, 2));
    assert_eq!((three.group.state, three.group.algorithm), (GroupState::New, 1));
    let tally = |kind, value: &str, reports| Tally { kind, value: value.to_owned(), reports };
    let computer = |number| ComputerGuid::from(numbered(number)).to_string();
    let expected = [
        tally(TallyKind::Version, "9.0", 2),
        tally(TallyKind::Version, "9.1", 1),
        tally(TallyKind::Computer, &computer(9), 1),
        tally(TallyKind::Computer, &computer(0x0c01), 1),
        tally(TallyKind::OperatingSystem, "Windows", 2),
        tally(TallyKind::OperatingSystem, "macOS", 1),
    ];
    assert_eq!(stores.crash_groups.tallies(three.group.id, 10).await?, expected);
    assert_eq!(stores.crash_groups.tallies(three.group.id, 1).await?.len(), 3);
    assert_eq!(groups(stores, &[zenith]).await?.len(), 1);
    assert_eq!(groups(stores, &[acme, zenith]).await?.len(), 4);
    Ok(())
}

/// Decision I7: by any number of processes, no report twice.
pub async fn concurrent_analyses_of_a_report_count_it_once(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    try_join_all((1..=20).map(|number| stores.crash_reports.add(acme, report(number, 0)))).await?;
    let twice = (1..=20).chain(1..=20).map(|number| stores.crash_analyses.record(analysis(number, "same")));
    let recorded = try_join_all(twice).await?;
    assert_eq!(recorded.iter().filter(|recorded| **recorded == Recorded::Stored).count(), 20);
    let found = groups(stores, &[acme]).await?;
    assert_eq!((found.len(), found[0].group.reports), (1, 20));
    assert_eq!(stores.crash_groups.tallies(found[0].group.id, 9).await?[0].reports, 20);
    assert_eq!(stores.crash_analyses.record(analysis(99, "same")).await?, Recorded::Obsolete);
    Ok(())
}

/// Decision I5: no report is regrouped without a request.
pub async fn a_new_analysis_moves_a_report_to_its_new_group(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    grouped(stores, acme, vec![report(1, 1), report(2, 2)], "old").await?;
    stores.crash_reports.add(acme, report(3, 3)).await?;
    let again = async |which| -> Result<u64, StoreError> {
        let (mut after, mut all) = (None, 0);
        loop {
            let (last, count) = stores.crash_analyses.requeue(which, after, 2, at(9)).await?;
            all += count;
            if last.is_none() {
                return Ok(all);
            }
            after = last;
        }
    };
    // The third report waits already.
    assert_eq!(again(Requeue::Older { than: 1 }).await?, 0);
    assert_eq!(again(Requeue::Older { than: 2 }).await?, 2);
    assert_eq!(stores.crash_analyses.waiting().await?, 3);
    let newer = |number, signature| CrashAnalysis { algorithm: 2, ..analysis(number, signature) };
    stores.crash_analyses.record(newer(1, "new")).await?;
    stores.crash_analyses.record(newer(2, "old")).await?;
    let shown = async || -> Result<Vec<(String, u64)>, StoreError> {
        let found = groups(stores, &[acme]).await?;
        Ok(found.into_iter().map(|found| (found.group.signature, found.group.reports)).collect())
    };
    assert_eq!(shown().await?, [("old".to_owned(), 1), ("new".to_owned(), 1)]);
    assert_eq!(again(Requeue::All).await?, 2);
    stores.crash_analyses.record(newer(2, "new")).await?;
    assert_eq!(shown().await?, [("new".to_owned(), 2)]);
    let failed = CrashAnalysis { signature: Err("missing".to_owned()), ..newer(1, "") };
    stores.crash_analyses.record(failed).await?;
    assert_eq!(shown().await?, [("new".to_owned(), 1)]);
    assert_eq!(again(Requeue::Older { than: 2 }).await?, 1, "a failed one is tried again");
    Ok(())
}

/// Decision I5.
pub async fn a_report_after_the_resolution_makes_a_group_regressed(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    grouped(stores, acme, vec![report(1, 1)], "same").await?;
    let id = groups(stores, &[acme]).await?[0].group.id;
    let state = async || -> Result<GroupState, StoreError> { Ok(groups(stores, &[acme]).await?[0].group.state) };
    let resolve = StateChange::Resolve { in_version: Some("9.2".to_owned()) };
    assert!(change(stores, acme, id, resolve, 50).await?);
    grouped(stores, acme, vec![report(2, 60)], "same").await?;
    assert_eq!(state().await?, GroupState::Resolved, "9.0 is older than 9.2");
    let later = NewCrashReport { application_version: "9.10".to_owned(), ..report(3, 61) };
    grouped(stores, acme, vec![later], "same").await?;
    assert_eq!(state().await?, GroupState::Regressed);
    assert!(change(stores, acme, id, StateChange::Resolve { in_version: None }, 70).await?);
    grouped(stores, acme, vec![report(4, 65)], "same").await?;
    assert_eq!(state().await?, GroupState::Resolved, "it was received before");
    grouped(stores, acme, vec![report(5, 71)], "same").await?;
    assert_eq!(state().await?, GroupState::Regressed);
    Ok(())
}

/// A report is removed with its analysis, and its group counts one less. A group that no operator acknowledged or
/// resolved is removed with its last report.
pub async fn removed_reports_are_no_longer_counted(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    grouped(stores, acme, vec![report(1, 1), report(2, 2), report(3, 20)], "same").await?;
    grouped(stores, acme, vec![report(4, 1)], "gone").await?;
    grouped(stores, acme, vec![report(5, 1)], "resolved").await?;
    stores.crash_reports.add(acme, report(6, 1)).await?;
    let resolved = groups(stores, &[acme]).await?.into_iter().find(|found| found.group.signature == "resolved");
    let resolved = resolved.ok_or("the group is missing")?.group.id;
    assert!(change(stores, acme, resolved, StateChange::Resolve { in_version: None }, 5).await?);
    let done = stores.retention.remove_crash_reports(at(10), None, 100, at(30)).await?;
    assert_eq!(done, RemovalOutcome::Done { removed: 5, rest: None });
    let found = groups(stores, &[acme]).await?;
    let shown: Vec<_> = found.iter().map(|found| (found.group.signature.as_str(), found.group.reports)).collect();
    assert_eq!(shown, [("same", 1), ("resolved", 0)]);
    assert_eq!((found[0].group.first_seen, found[0].versions, found[1].versions), (at(1), 1, 0));
    assert_eq!(stores.crash_analyses.find(&[id(1), id(4)]).await?, []);
    assert_eq!(stores.crash_analyses.waiting().await?, 0);
    assert_eq!(stores.crash_analyses.record(analysis(6, "same")).await?, Recorded::Obsolete);
    grouped(stores, acme, vec![report(7, 40)], "resolved").await?;
    assert_eq!(groups(stores, &[acme]).await?[0].group.state, GroupState::Regressed);
    Ok(())
}
