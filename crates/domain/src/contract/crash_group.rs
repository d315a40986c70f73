//! [`crate::crash_group::CrashGroupRepository`].

use super::operator_scene::a_record;
use super::scene::{TEXTS, two_organizations};
use super::{Kept, Stores};
use crate::audit::{AuditAction, AuditFilter, NewAuditRecord};
use crate::caller::OrganizationId;
use crate::crash_analysis::CrashAnalysis;
use crate::crash_group::{
    CrashGroupDetails, CrashGroupId, DailyReports, GroupFilter, GroupSort, GroupState, StateChange,
};
use crate::crash_report::NewCrashReport;
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use crate::testing::{a_crash_report, at, numbered};
use std::error::Error;

/// Adds a report of this signature.
async fn group(stores: &Stores, owner: OrganizationId, number: u128, seconds: i64, signature: &str) -> Kept {
    store(stores, owner, NewCrashReport { received: at(seconds), ..a_crash_report(number) }, signature).await
}

async fn store(stores: &Stores, owner: OrganizationId, report: NewCrashReport, signature: &str) -> Kept {
    let analysis = CrashAnalysis {
        report: report.id,
        algorithm: 1,
        signature: Ok(signature.to_owned()),
        dump: None,
        analyzed: at(0),
    };
    stores.crash_reports.add(owner, report).await?;
    stores.crash_analyses.record(analysis).await?;
    Ok(())
}

/// The group that was last seen.
async fn newest(stores: &Stores, owner: OrganizationId) -> Result<CrashGroupDetails, Box<dyn Error + Send + Sync>> {
    let filter = GroupFilter::default();
    let page = stores.crash_groups.page(Some(owner), &filter, GroupSort::LastSeen, None, 1).await?;
    page.into_iter().next().ok_or_else(|| "there is no group".into())
}

/// The record of a change.
fn record() -> NewAuditRecord {
    NewAuditRecord { action: AuditAction::CrashGroupChanged, ..a_record("crash group") }
}

/// The number of recorded changes.
async fn recorded(stores: &Stores) -> Result<usize, StoreError> {
    let filter = AuditFilter { what: Some(AuditAction::CrashGroupChanged), ..AuditFilter::default() };
    Ok(stores.audit.page(&filter, None, 100).await?.len())
}

/// Changes a group as it is stored.
pub(super) async fn change(
    stores: &Stores,
    owner: OrganizationId,
    id: CrashGroupId,
    change: StateChange,
    seconds: i64,
) -> Result<bool, StoreError> {
    let Some(found) = stores.crash_groups.find(None, id).await? else { return Ok(false) };
    let version = found.group.version();
    stores.crash_groups.set_state(owner, id, change, &version, at(seconds), &record()).await
}

/// Pages have no gap and no repetition, even if several groups were last seen at the same time.
pub async fn pages_of_groups_follow_each_other(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for number in 0..25_u128 {
        let owner = if number % 3 == 0 { zenith } else { acme };
        group(stores, owner, number, i64::try_from(number / 4)?, &format!("signature {number}")).await?;
    }
    let filter = GroupFilter::default();
    let whole = stores.crash_groups.page(None, &filter, GroupSort::LastSeen, None, 100).await?;
    let key = |found: &CrashGroupDetails| (found.group.last_seen, found.group.id);
    assert!(whole.len() == 25 && whole.is_sorted_by(|one, other| key(one) > key(other)));
    let (mut after, mut paged) = (None, Vec::new());
    loop {
        let page = stores.crash_groups.page(None, &filter, GroupSort::LastSeen, after, 4).await?;
        let Some(last) = page.last() else { break };
        after = Some(GroupSort::LastSeen.cursor(&last.group));
        paged.extend(page);
    }
    assert_eq!(paged, whole);
    let unknown = Some(OrganizationId(acme.0 + zenith.0 + 1));
    assert_eq!(stores.crash_groups.page(unknown, &filter, GroupSort::LastSeen, None, 100).await?, []);
    Ok(())
}

pub async fn groups_are_filtered(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    group(stores, acme, 1, 1, "SIGSEGV | Spooler::render_100%").await?;
    group(stores, acme, 2, 2, "SIGSEGV | Spooler::renderX100").await?;
    group(stores, zenith, 3, 3, "SIGSEGV | Spooler::render_100%").await?;
    let first =
        stores.crash_groups.page(Some(acme), &GroupFilter::default(), GroupSort::LastSeen, None, 9).await?[1].group.id;
    assert!(change(stores, acme, first, StateChange::Acknowledge, 9).await?);
    let found = async |filter: GroupFilter| -> Result<Vec<CrashGroupId>, StoreError> {
        let page = stores.crash_groups.page(Some(acme), &filter, GroupSort::LastSeen, None, 9).await?;
        Ok(page.into_iter().map(|found| found.group.id).collect())
    };
    let acknowledged = GroupFilter { state: Some(GroupState::Acknowledged), ..GroupFilter::default() };
    assert_eq!(found(acknowledged).await?, [first]);
    let search = |text: &str| GroupFilter { search: Some(text.to_owned()), ..GroupFilter::default() };
    assert_eq!(found(search("RENDER_100%")).await?, [first]);
    assert_eq!(found(search("spooler::")).await?.len(), 2);
    let name = |text: &str| GroupFilter { application_name: Some(text.to_owned()), ..GroupFilter::default() };
    assert_eq!(found(name("Rip")).await?.len(), 2);
    assert_eq!(found(name("rip")).await?.len(), 0);
    Ok(())
}

/// Only groups of the named organization. Decision P9: the audit record is stored with the change.
pub async fn a_group_is_found_and_changed_by_its_organization_only(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    group(stores, acme, 1, 1, "same").await?;
    let found = newest(stores, acme).await?;
    let id = found.group.id;
    assert_eq!(stores.crash_groups.find(None, id).await?, Some(found.clone()));
    assert_eq!(stores.crash_groups.find(Some(acme), id).await?, Some(found.clone()));
    assert_eq!(stores.crash_groups.find(Some(zenith), id).await?, None);
    assert!(!change(stores, zenith, id, StateChange::Acknowledge, 5).await?);
    assert_eq!(recorded(stores).await?, 0);
    let resolve = StateChange::Resolve { in_version: Some("9.3 é".to_owned()) };
    assert!(change(stores, acme, id, resolve, 5).await?);
    let after = newest(stores, acme).await?.group;
    assert_eq!(
        (after.state, after.resolved_in.as_deref(), after.resolved_at),
        (GroupState::Resolved, Some("9.3 é"), Some(at(5)))
    );
    assert_eq!((after.signature, after.reports, after.last_seen), ("same".to_owned(), 1, at(1)));
    assert_eq!(recorded(stores).await?, 1);
    assert!(change(stores, acme, id, StateChange::Reopen, 6).await?);
    let reopened = newest(stores, acme).await?.group;
    assert_eq!((reopened.state, reopened.resolved_in, reopened.resolved_at), (GroupState::New, None, None));
    Ok(())
}

/// Of several operators who saw the same version, one changes the group; the others change and record nothing.
pub async fn a_group_is_changed_in_the_version_that_was_seen_only(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    group(stores, acme, 1, 1, "same").await?;
    let seen = newest(stores, acme).await?.group;
    let changes = (0..8).map(|number| {
        let change = StateChange::Resolve { in_version: Some(format!("9.{number}")) };
        let (groups, version) = (stores.crash_groups.clone(), seen.version());
        async move { groups.set_state(acme, seen.id, change, &version, at(number), &record()).await }
    });
    let done = futures_util::future::try_join_all(changes).await?;
    assert_eq!(done.iter().filter(|done| **done).count(), 1);
    assert_eq!(recorded(stores).await?, 1);
    group(stores, acme, 2, 1, "same").await?;
    let resolved = newest(stores, acme).await?.group;
    assert!(resolved.version() != seen.version() && resolved.reports == 2);
    Ok(())
}

/// In every order, even if values are equal.
pub async fn groups_are_sorted_by_times_and_by_reports(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for (number, (seconds, signature)) in
        (0..).zip([(5, "a"), (1, "b"), (9, "b"), (3, "c"), (3, "c"), (9, "d"), (2, "b")])
    {
        group(stores, if signature == "d" { zenith } else { acme }, number, seconds, signature).await?;
    }
    let filter = GroupFilter::default();
    for (sort, organization, expected) in [
        (GroupSort::Reports, Some(acme), vec!["b", "c", "a"]),
        (GroupSort::FirstSeen, Some(acme), vec!["a", "c", "b"]),
        (GroupSort::FirstSeen, None, vec!["d", "a", "c", "b"]),
        (GroupSort::LastSeen, Some(zenith), vec!["d"]),
    ] {
        let (mut after, mut listed) = (None, Vec::new());
        loop {
            let page = stores.crash_groups.page(organization, &filter, sort, after, 1).await?;
            let Some(last) = page.last() else { break };
            after = Some(sort.cursor(&last.group));
            listed.push(last.group.signature.clone());
        }
        assert_eq!(listed, expected, "{sort:?}");
    }
    Ok(())
}

/// Decision I5: the daily counts.
pub async fn the_reports_of_a_group_are_counted_by_day(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let day = 24 * 60 * 60;
    for (number, seconds) in (1..).zip([-1, 0, day - 1, day, 7 * day, 7 * day + 5]) {
        group(stores, acme, number, seconds, "one").await?;
    }
    group(stores, acme, 20, 3 * day, "other").await?;
    group(stores, acme, 21, 3 * day, "left out").await?;
    let id = |signature| CrashGroupId::of(acme, Some("Rip"), signature);
    let (one, other) = (id("one"), id("other"));
    let mut daily = stores.crash_groups.daily(&[one, other], at(0)).await?;
    daily.sort_unstable();
    let mut expected = [(one, 0, 2), (one, 1, 1), (one, 7, 2), (other, 3, 1)]
        .map(|(group, day, reports)| DailyReports { group, day, reports });
    expected.sort_unstable();
    assert_eq!(daily, expected);
    assert_eq!(stores.crash_groups.daily(&[], at(0)).await?, []);
    Ok(())
}

pub async fn groups_of_a_computer_are_listed(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let computer = ComputerGuid::from(numbered(77));
    for (number, owner, computer, signature) in
        [(1, acme, Some(computer), "a"), (2, acme, None, "b"), (3, acme, Some(computer), "c"), (4, zenith, None, "d")]
    {
        let report = NewCrashReport { computer, received: at(number), ..a_crash_report(number.unsigned_abs().into()) };
        store(stores, owner, report, signature).await?;
    }
    let filter = GroupFilter { computer: Some(computer), ..GroupFilter::default() };
    for (organization, expected) in [(Some(acme), vec!["c", "a"]), (None, vec!["c", "a"]), (Some(zenith), vec![])] {
        let page = stores.crash_groups.page(organization, &filter, GroupSort::LastSeen, None, 9).await?;
        assert_eq!(page.into_iter().map(|found| found.group.signature).collect::<Vec<_>>(), expected);
    }
    Ok(())
}

/// Decision R9.
pub async fn texts_of_groups_stay_as_they_are(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for (number, text) in (1..).zip(TEXTS) {
        group(stores, acme, number, i64::try_from(number)?, text).await?;
        let newest = stores
            .crash_groups
            .page(Some(acme), &GroupFilter::default(), GroupSort::LastSeen, None, 1)
            .await?
            .remove(0);
        assert_eq!(newest.group.signature, *text);
    }
    Ok(())
}
