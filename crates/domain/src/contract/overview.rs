//! [`crate::overview::OverviewRepository`].

use super::activity::Withdrawal;
use super::crash_group::change;
use super::scene::two_organizations;
use super::{Kept, Stores};
use crate::activity::{Fetch, Holder, ResourceKey};
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::crash_analysis::CrashAnalysis;
use crate::crash_group::StateChange;
use crate::log_entry::NewLogEntry;
use crate::overview::ReasonFigure;
use crate::refusal::{NewRefusal, Owner};
use crate::resource::{Domain, NewResource};
use crate::testing::{
    a_crash_report, a_log_entry, a_refusal, a_resource, acme_records, at, resource_guid, zenith_records,
};

/// Groups that an operator acknowledged or resolved don't count.
pub async fn new_and_regressed_groups_are_counted_with_the_last_of_them(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for (number, owner, signature) in [(1, acme, "one"), (2, acme, "two"), (3, zenith, "three"), (4, acme, "four")] {
        let report = a_crash_report(number);
        let id = report.id;
        stores.crash_reports.add(owner, report).await?;
        let analysis = CrashAnalysis {
            report: id,
            algorithm: 1,
            signature: Ok(signature.to_owned()),
            dump: None,
            analyzed: at(0),
        };
        stores.crash_analyses.record(analysis).await?;
    }
    let all = stores.overview.unsettled_groups(None, 10).await?;
    assert_eq!((all.new, all.regressed, all.first.len()), (4, 0, 4));
    let one = all.first.iter().find(|group| group.signature == "one").ok_or("a group that was made")?;
    assert!(change(stores, acme, one.id, StateChange::Acknowledge, 1).await?);
    let of_acme = stores.overview.unsettled_groups(Some(acme), 1).await?;
    assert_eq!((of_acme.new, of_acme.first.len()), (2, 1));
    let none = stores.overview.unsettled_groups(Some(OrganizationId(acme.0 + zenith.0 + 1)), 10).await?;
    assert_eq!((none.new, none.first.len()), (0, 0));
    Ok(())
}

/// Also of callers without a valid credential who named a computer of the organization.
pub async fn refusals_are_counted_by_reason(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let refusal = |owner, reason: &str, second| NewRefusal {
        reason: reason.to_owned(),
        at: at(second),
        named: None,
        ..a_refusal(owner)
    };
    let address = || Owner::Address("192.0.2.1".to_owned());
    let named = NewRefusal { named: Some(acme), ..refusal(address(), "hash_unknown", 20) };
    stores
        .refusals
        .add(&[
            refusal(Owner::Organization(acme), "body_invalid", 9),
            refusal(Owner::Organization(acme), "body_invalid", 10),
            refusal(Owner::Organization(acme), "body_invalid", 11),
            refusal(Owner::Organization(zenith), "device_not_found", 12),
            named,
            refusal(address(), "credentials_missing", 20),
        ])
        .await?;
    let figure = |reason: &str, refusals| ReasonFigure { reason: reason.to_owned(), refusals };
    let all = stores.overview.refusals_by_reason(None, at(10)).await?;
    let expected = [("body_invalid", 2), ("credentials_missing", 1), ("device_not_found", 1), ("hash_unknown", 1)];
    assert_eq!(all, expected.map(|(reason, refusals)| figure(reason, refusals)));
    let of_acme = stores.overview.refusals_by_reason(Some(acme), at(10)).await?;
    assert_eq!(of_acme, [figure("body_invalid", 2), figure("hash_unknown", 1)]);
    Ok(())
}

/// Hours are whole. A second call has the entries that arrived in the meantime.
pub async fn log_entries_are_counted_by_hour(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let entry = |second| NewLogEntry { received: at(second), ..a_log_entry("x") };
    for (owner, second) in [(acme, -1), (acme, 0), (acme, 3_599), (acme, 3_600), (zenith, 3_601), (zenith, 7_199)] {
        stores.logs.add(owner, entry(second)).await?;
    }
    let entries = async |organization, now, hours| -> Result<Vec<(i64, u64)>, crate::error::StoreError> {
        let figures = stores.overview.log_entries_by_hour(organization, at(now), hours).await?;
        let seconds = |figure: &crate::overview::HourFigure| figure.from.whole_seconds() - at(0).whole_seconds();
        Ok(figures.iter().map(|figure| (seconds(figure), figure.entries)).collect())
    };
    assert_eq!(entries(Some(acme), 3_700, 3).await?, [(-3_600, 1), (0, 2), (3_600, 1)]);
    assert_eq!(entries(None, 7_199, 2).await?, [(0, 2), (3_600, 3)]);
    for second in [7_150, 7_199] {
        stores.logs.add(acme, entry(second)).await?;
    }
    assert_eq!(entries(Some(acme), 7_199, 1).await?, [(3_600, 3)]);
    assert_eq!(entries(None, 7_200, 2).await?, [(3_600, 5), (7_200, 0)]);
    Ok(())
}

/// Decision I9: a resource counts once, however many computers have an outdated content.
pub async fn resources_that_are_outdated_on_computers_are_counted(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let old = Sha1Checksum::of(b"old");
    let mut fetches = Vec::new();
    for number in 1..=3 {
        let resource = NewResource { domain: Some(Domain::Public), ..a_resource(number) };
        let (guid, current) = (resource.guid, resource.checksum);
        stores.resources.store(zenith, resource, at(0)).await?;
        let key = ResourceKey { organization: zenith, guid };
        let of_acme = Holder::Computer(acme, acme_records().computer);
        let of_zenith = Holder::Computer(zenith, zenith_records().computer);
        let fetch = |is_old| Fetch { at: at(1), checksum: if is_old { old } else { current } };
        fetches.push(((of_acme, key), fetch(number < 3)));
        fetches.push(((of_zenith, key), fetch(number == 1)));
    }
    stores.activity.store_fetches(&fetches).await?;
    assert_eq!(stores.overview.outdated_resources(None).await?, 2);
    assert_eq!(stores.overview.outdated_resources(Some(zenith)).await?, 1);
    assert_eq!(stores.overview.outdated_resources(Some(OrganizationId(acme.0 + zenith.0 + 1))).await?, 0);
    Ok(())
}

/// Decisions P8 and T15. The count may be a minute old, so it is asked for once, after the resources were withdrawn.
pub async fn unpublished_resources_of_other_organizations_are_not_counted(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let fetch = Fetch { at: at(1), checksum: Sha1Checksum::of(b"old") };
    let mut fetches = Vec::new();
    // The third one stays published.
    for number in 1..=3 {
        let public = NewResource { domain: Some(Domain::Public), ..a_resource(number) };
        stores.resources.store(zenith, public, at(0)).await?;
        let key = ResourceKey { organization: zenith, guid: resource_guid(number) };
        fetches.push(((Holder::Computer(acme, acme_records().computer), key), fetch));
    }
    stores.activity.store_fetches(&fetches).await?;
    for withdrawal in [Withdrawal::Private, Withdrawal::DeletedAndAdded] {
        withdrawal.apply(stores, zenith).await?;
    }
    assert_eq!(stores.overview.outdated_resources(Some(acme)).await?, 1);
    Withdrawal::NoPublisher.apply(stores, zenith).await?;
    assert_eq!(stores.overview.outdated_resources(None).await?, 0);
    Ok(())
}
