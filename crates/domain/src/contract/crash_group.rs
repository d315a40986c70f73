//! [`crate::crash_group::CrashGroupRepository`].

use super::scene::{TEXTS, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::crash_analysis::CrashAnalysis;
use crate::crash_group::{CrashGroupId, GroupCursor, GroupFilter, GroupState, StateChange};
use crate::crash_report::NewCrashReport;
use crate::testing::{a_crash_report, at};

/// Adds a report of this signature.
async fn group(stores: &Stores, owner: OrganizationId, number: u128, seconds: i64, signature: &str) -> Kept {
    let report = NewCrashReport { received: at(seconds), ..a_crash_report(number) };
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

/// Pages follow each other without a gap and without a repetition, also where groups were last seen at one time.
pub async fn pages_of_groups_follow_each_other(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for number in 0..25_u128 {
        let owner = if number % 3 == 0 { zenith } else { acme };
        group(stores, owner, number, i64::try_from(number / 4)?, &format!("signature {number}")).await?;
    }
    let (all, filter) = ([acme, zenith], GroupFilter::default());
    let whole = stores.crash_groups.page(&all, &filter, None, 100).await?;
    let key = |found: &crate::crash_group::CrashGroupDetails| (found.group.last_seen, found.group.id);
    assert!(whole.len() == 25 && whole.is_sorted_by(|one, other| key(one) > key(other)));
    let (mut after, mut paged) = (None, Vec::new());
    loop {
        let page = stores.crash_groups.page(&all, &filter, after, 4).await?;
        let Some(last) = page.last() else { break };
        after = Some(GroupCursor { last_seen: last.group.last_seen, id: last.group.id });
        paged.extend(page);
    }
    assert_eq!(paged, whole);
    assert_eq!(stores.crash_groups.page(&[], &filter, None, 100).await?, []);
    Ok(())
}

pub async fn groups_are_filtered(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    group(stores, acme, 1, 1, "SIGSEGV | Spooler::render_100%").await?;
    group(stores, acme, 2, 2, "SIGSEGV | Spooler::renderX100").await?;
    group(stores, zenith, 3, 3, "SIGSEGV | Spooler::render_100%").await?;
    let first = stores.crash_groups.page(&[acme], &GroupFilter::default(), None, 9).await?[1].group.id;
    stores.crash_groups.set_state(acme, first, StateChange::Acknowledge, at(9)).await?;
    let found = async |filter: GroupFilter| -> Result<Vec<CrashGroupId>, crate::error::StoreError> {
        let page = stores.crash_groups.page(&[acme], &filter, None, 9).await?;
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

/// Only of the organizations that are asked for.
pub async fn a_group_is_found_and_changed_by_its_organization_only(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    group(stores, acme, 1, 1, "same").await?;
    let found = stores.crash_groups.page(&[acme], &GroupFilter::default(), None, 9).await?.remove(0);
    let id = found.group.id;
    assert_eq!(stores.crash_groups.find(&[zenith, acme], id).await?, Some(found.clone()));
    assert_eq!(stores.crash_groups.find(&[zenith], id).await?, None);
    assert_eq!(stores.crash_groups.set_state(zenith, id, StateChange::Acknowledge, at(5)).await?, None);
    let resolve = StateChange::Resolve { in_version: Some("9.3 é".to_owned()) };
    let (before, after) = stores.crash_groups.set_state(acme, id, resolve, at(5)).await?.ok_or("no group")?;
    assert_eq!(before, found.group);
    assert_eq!(
        (after.state, after.resolved_in.as_deref(), after.resolved_at),
        (GroupState::Resolved, Some("9.3 é"), Some(at(5)))
    );
    let kept = stores.crash_groups.find(&[acme], id).await?.ok_or("no group")?.group;
    assert_eq!(kept, after);
    let (_, reopened) = stores.crash_groups.set_state(acme, id, StateChange::Reopen, at(6)).await?.ok_or("no group")?;
    assert_eq!((reopened.state, reopened.resolved_in, reopened.resolved_at), (GroupState::New, None, None));
    Ok(())
}

/// Decision R9.
pub async fn texts_of_groups_stay_as_they_are(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for (number, text) in (1..).zip(TEXTS) {
        group(stores, acme, number, i64::try_from(number)?, text).await?;
        let newest = stores.crash_groups.page(&[acme], &GroupFilter::default(), None, 1).await?.remove(0);
        assert_eq!(newest.group.signature, *text);
    }
    Ok(())
}
