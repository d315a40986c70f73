//! [`crate::inspection::InspectionRepository`]: the log, listed and followed.

use super::scene::{TEXTS, organizations, shuffled, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use crate::inspection::{InspectedLogEntry, LogFollower};
use crate::log_entry::{ListedLogEntry, LogFilter, LogType, NewLogEntry, Pattern};
use crate::testing::{a_log_entry, at, numbered};
use crate::timestamp::Timestamp;
use futures_util::TryStreamExt;
use futures_util::future::{join, try_join_all};
use std::collections::BTreeSet;

/// With its organization, its type and the SerialNumber, which no client is answered.
pub async fn an_entry_is_shown_with_its_time_of_receipt(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for (second, text) in (0..).zip(TEXTS) {
        let text = || (*text).to_owned();
        let entry = NewLogEntry {
            received: Timestamp::from_micros(at(second).as_micros() + 123_456),
            log_type: LogType::Configuration,
            serial_number: text(),
            user: text(),
            ..a_log_entry(&text())
        };
        stores.logs.add(acme, entry.clone()).await?;
        let listed = listed(stores, &[acme], LogFilter::default()).await?;
        let expected = InspectedLogEntry {
            number: listed[0].number,
            organization: acme,
            received: entry.received,
            log_type: LogType::Configuration,
            serial_number: text(),
            computer: entry.computer_guid,
            entry: ListedLogEntry {
                user: text(),
                source: entry.source,
                version: entry.version,
                computer: entry.computer,
                description: text(),
            },
        };
        assert_eq!(listed.first(), Some(&expected));
    }
    Ok(())
}

/// By time; at one time the last received comes first, whatever its organization.
pub async fn entries_of_several_organizations_are_in_one_order(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false, false, false]).await?;
    for (number, second) in (0..).zip([5, 1, 5, 3, 3, 9, 3, 1]) {
        let entry = NewLogEntry { received: at(second), ..a_log_entry(&number.to_string()) };
        stores.logs.add(ids[number % 3], entry).await?;
    }
    let all = descriptions(listed(stores, &ids, LogFilter::default()).await?);
    assert_eq!(all, ["5", "2", "0", "6", "4", "3", "7", "1"]);
    let two = descriptions(listed(stores, &[ids[0], ids[1]], LogFilter::default()).await?);
    assert_eq!(two, ["0", "6", "4", "3", "7", "1"]);
    assert_eq!(listed(stores, &[ids[3]], LogFilter::default()).await?, []);
    assert_eq!(listed(stores, &[], LogFilter::default()).await?, []);
    Ok(())
}

/// As for clients (decisions L5, L6).
pub async fn filters_hold_for_every_organization(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false]).await?;
    for (second, id) in (0..).zip(ids.iter().cycle().take(8)) {
        let user = if second % 4 < 2 { "Ann" } else { "Bob" };
        let entry = NewLogEntry { received: at(second), user: user.to_owned(), ..a_log_entry(&second.to_string()) };
        stores.logs.add(*id, entry).await?;
    }
    let user = |text: &str| LogFilter { user: Some(Pattern::new(text)), ..LogFilter::default() };
    assert_eq!(descriptions(listed(stores, &ids, user("b*")).await?), ["7", "6", "3", "2"]);
    let both = LogFilter { from: Some(at(1)), to: Some(at(5)), ..user("ANN") };
    assert_eq!(descriptions(listed(stores, &ids, both).await?), ["5", "4", "1"]);
    Ok(())
}

/// A computer's entries are found whatever its name was when it sent them; a follower finds them too.
pub async fn the_entries_of_a_renamed_computer_are_found_by_its_guid(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let (computer, other) = (ComputerGuid::from(numbered(1)), ComputerGuid::from(numbered(2)));
    let filter = || LogFilter { computer_guid: Some(computer), ..LogFilter::default() };
    let mut follower = stores.inspection.follow_log(None, filter(), None).await?;
    let sent =
        [(acme, "RIP-01", computer), (acme, "RIP-01", other), (acme, "Proofer", computer), (zenith, "X", computer)];
    for (second, (id, name, computer_guid)) in (0..).zip(sent) {
        let (received, description) = (at(second), second.to_string());
        let entry = NewLogEntry { received, computer: name.to_owned(), computer_guid, ..a_log_entry(&description) };
        stores.logs.add(id, entry).await?;
    }
    assert_eq!(descriptions(listed(stores, &[acme], filter()).await?), ["2", "0"]);
    assert_eq!(descriptions(all_new(&mut *follower).await?), ["0", "2", "3"]);
    let named = LogFilter { computer: Some(Pattern::new("proofer")), ..filter() };
    assert_eq!(descriptions(listed(stores, &[acme, zenith], named).await?), ["2"]);
    Ok(())
}

/// Pages of several organizations follow each other without a gap and without a repetition.
pub async fn a_list_over_thousands_of_entries_is_whole_and_in_order(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false, false]).await?;
    let mut seconds = Vec::new();
    for second in shuffled() {
        let adds = (0..30).map(|number| {
            let entry = NewLogEntry { received: at(second), ..a_log_entry(&second.to_string()) };
            stores.logs.add(ids[number % 3], entry)
        });
        try_join_all(adds).await?;
        seconds.extend([at(second); 30]);
    }
    seconds.sort_unstable_by(|one, other| other.cmp(one));
    let listed = listed(stores, &ids, LogFilter::default()).await?;
    assert_eq!(listed.into_iter().map(|entry| entry.received).collect::<Vec<_>>(), seconds);
    Ok(())
}

/// Nothing of what was there before, whatever time it bears.
pub async fn a_follower_is_given_what_is_added_after_it_began(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let late = NewLogEntry { received: at(1_000), ..a_log_entry("before") };
    stores.logs.add(acme, late).await?;
    let mut all = stores.inspection.follow_log(None, LogFilter::default(), None).await?;
    let mut of_acme = stores.inspection.follow_log(Some(acme), LogFilter::default(), None).await?;
    assert_eq!(all.next().await?, []);
    for (id, description) in [(acme, "1"), (zenith, "2"), (acme, "3")] {
        stores.logs.add(id, a_log_entry(description)).await?;
    }
    assert_eq!(descriptions(all_new(&mut *all).await?), ["1", "2", "3"]);
    assert_eq!(descriptions(all_new(&mut *of_acme).await?), ["1", "3"]);
    stores.logs.add(zenith, a_log_entry("4")).await?;
    assert_eq!(descriptions(all_new(&mut *all).await?), ["4"]);
    assert_eq!(of_acme.next().await?, []);
    assert_eq!(all.next().await?, []);
    Ok(())
}

/// As a list does.
pub async fn a_follower_is_given_what_matches(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let filter = LogFilter {
        user: Some(Pattern::new("a*a")),
        log_type: Some(LogType::Log),
        from: Some(at(1)),
        to: Some(at(2)),
        ..LogFilter::default()
    };
    let mut follower = stores.inspection.follow_log(Some(acme), filter, None).await?;
    let entry = |second, user: &str, log_type| NewLogEntry {
        received: at(second),
        user: user.to_owned(),
        log_type,
        ..a_log_entry(&format!("{second} {user}"))
    };
    for (second, user, log_type) in [
        (0, "Anna", LogType::Log),
        (1, "ANNA", LogType::Log),
        (1, "Ann", LogType::Log),
        (2, "Anna", LogType::Configuration),
        (2, "Ada", LogType::Log),
        (3, "Anna", LogType::Log),
    ] {
        stores.logs.add(acme, entry(second, user, log_type)).await?;
    }
    assert_eq!(descriptions(all_new(&mut *follower).await?), ["1 ANNA", "2 Ada"]);
    Ok(())
}

/// However they are committed and however often it is asked meanwhile.
pub async fn a_follower_is_given_every_concurrent_entry_once(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false]).await?;
    let mut follower = stores.inspection.follow_log(None, LogFilter::default(), None).await?;
    let adds = async {
        for round in 0..20 {
            let entries =
                (0..40).map(|number| stores.logs.add(ids[number % 2], a_log_entry(&(round * 40 + number).to_string())));
            try_join_all(entries).await?;
        }
        Ok::<_, StoreError>(())
    };
    let ask = async {
        let mut given = Vec::new();
        for _ in 0..200 {
            given.extend(follower.next().await?);
        }
        Ok::<_, StoreError>(given)
    };
    let (added, given) = join(adds, ask).await;
    added?;
    let mut given = given?;
    given.extend(all_new(&mut *follower).await?);
    assert_eq!(given.len(), 800);
    let numbers: BTreeSet<String> = descriptions(given).into_iter().collect();
    assert_eq!(numbers.len(), 800);
    Ok(())
}

/// Also what takes many pages.
pub async fn a_follower_is_given_thousands_of_entries_in_order(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let mut follower = stores.inspection.follow_log(Some(acme), LogFilter::default(), None).await?;
    for round in 0..30 {
        try_join_all((0..100).map(|_| stores.logs.add(acme, a_log_entry(&round.to_string())))).await?;
    }
    let given = descriptions(all_new(&mut *follower).await?);
    let expected: Vec<String> = (0..30).flat_map(|round: u32| vec![round.to_string(); 100]).collect();
    assert_eq!(given, expected);
    Ok(())
}

/// All that a follower has to give.
async fn all_new(follower: &mut dyn LogFollower) -> Result<Vec<InspectedLogEntry>, StoreError> {
    let mut all = Vec::new();
    loop {
        let new = follower.next().await?;
        if new.is_empty() {
            return Ok(all);
        }
        all.extend(new);
    }
}

async fn listed(
    stores: &Stores,
    organizations: &[OrganizationId],
    filter: LogFilter,
) -> Result<Vec<InspectedLogEntry>, StoreError> {
    stores.inspection.log_entries(organizations.to_vec(), filter).try_collect().await
}

fn descriptions(entries: Vec<InspectedLogEntry>) -> Vec<String> {
    entries.into_iter().map(|entry| entry.entry.description).collect()
}
