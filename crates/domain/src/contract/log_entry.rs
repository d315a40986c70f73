//! [`crate::log_entry::LogRepository`]: storing, order and size of lists. Filters have a file of
//! their own.

use super::scene::{TEXTS, at_last, organizations, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::{DeviceGuid, JobGuid, QueueGuid};
use crate::log_entry::{ListedLogEntry, LogFilter, LogType, NewLogEntry};
use crate::testing::{a_log_entry, at, numbered};
use crate::timestamp::Timestamp;
use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt};
use futures_util::{FutureExt, TryStreamExt};
use std::collections::BTreeSet;

/// Interface 2.6, decision L4.
pub async fn an_entry_is_listed_as_it_was_stored(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let entry = NewLogEntry {
        log_type: LogType::Configuration,
        device_guid: Some(DeviceGuid::from(numbered(2))),
        queue_guid: Some(QueueGuid::from(numbered(3))),
        job_guid: Some(JobGuid::from(numbered(4))),
        job_name: Some("Job".to_owned()),
        ..a_log_entry("The message.")
    };
    stores.logs.add(acme, entry).await?;
    let listed = ListedLogEntry {
        user: "Ann".to_owned(),
        source: "Latex 1".to_owned(),
        version: "1.2.3".to_owned(),
        computer: "RIP-01".to_owned(),
        description: "The message.".to_owned(),
    };
    assert_eq!(all(stores, acme).await?, [listed]);
    Ok(())
}

/// Decision L4: names may be empty.
pub async fn empty_members_stay_empty(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let none = String::new;
    let entry = NewLogEntry { user: none(), source: none(), version: none(), computer: none(), ..a_log_entry("d") };
    stores.logs.add(acme, entry).await?;
    let listed =
        ListedLogEntry { user: none(), source: none(), version: none(), computer: none(), description: "d".to_owned() };
    assert_eq!(all(stores, acme).await?, [listed]);
    Ok(())
}

/// Interface 5, rule 3.
pub async fn only_the_own_entries_are_listed(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.logs.add(acme, a_log_entry("of acme")).await?;
    stores.logs.add(zenith, a_log_entry("of zenith")).await?;
    assert_eq!(descriptions(stores, acme).await?, ["of acme"]);
    assert_eq!(descriptions(stores, zenith).await?, ["of zenith"]);
    Ok(())
}

/// An organization without entries has an empty list.
pub async fn an_empty_list_is_no_error(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    assert_eq!(all(stores, acme).await?, []);
    Ok(())
}

/// Decision L8: newest first, whatever the order in which they were stored.
pub async fn the_newest_entry_comes_first(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let micro = |micros: i64| Timestamp::from_micros(at(0).as_micros() + micros);
    for micros in [2, 4, 1, 3] {
        let entry = NewLogEntry { received: micro(micros), ..a_log_entry(&micros.to_string()) };
        stores.logs.add(acme, entry).await?;
    }
    assert_eq!(descriptions(stores, acme).await?, ["4", "3", "2", "1"]);
    Ok(())
}

/// Decision L8: ties in reverse order of receipt.
pub async fn of_equal_times_the_last_received_comes_first(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for number in 0..5 {
        stores.logs.add(acme, a_log_entry(&number.to_string())).await?;
    }
    assert_eq!(descriptions(stores, acme).await?, ["4", "3", "2", "1", "0"]);
    Ok(())
}

/// The same entry may be sent as often as it likes: each is one of its own.
pub async fn equal_entries_are_all_kept(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    try_join_all((0..20).map(|_| stores.logs.add(acme, a_log_entry("again")))).await?;
    assert_eq!(descriptions(stores, acme).await?, ["again"; 20]);
    Ok(())
}

/// A list that doesn't fit into one page loses and doubles nothing, even where all times are equal.
pub async fn a_list_of_thousands_of_equal_times_is_whole(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    add_numbered(stores, acme, 2_600, |_| at(0)).await?;
    let listed = descriptions(stores, acme).await?;
    assert_eq!(listed.len(), 2_600);
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>().len(), 2_600);
    Ok(())
}

/// A list that doesn't fit into one page is in order.
pub async fn a_list_of_thousands_is_in_order(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    add_numbered(stores, acme, 2_600, |number| at(number * 7 % 2_600)).await?;
    add_numbered(stores, zenith, 100, at).await?;
    let listed = descriptions(stores, acme).await?;
    let mut expected: Vec<i64> = (0..2_600).collect();
    expected.sort_by_key(|number| -(number * 7 % 2_600));
    let expected: Vec<String> = expected.iter().map(i64::to_string).collect();
    assert!(listed == expected, "out of order, lost or doubled");
    Ok(())
}

/// Decision R9: texts are kept byte for byte.
pub async fn texts_are_kept_byte_for_byte(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for (second, text) in (0..).zip(TEXTS) {
        let text = || (*text).to_owned();
        let entry = NewLogEntry {
            received: at(-second),
            description: text(),
            user: text(),
            source: text(),
            version: text(),
            computer: text(),
            serial_number: text(),
            job_name: Some(text()),
            application_version: text(),
            ..a_log_entry("")
        };
        stores.logs.add(acme, entry).await?;
    }
    let listed = all(stores, acme).await?;
    assert_eq!(listed.iter().map(|entry| entry.description.as_str()).collect::<Vec<_>>(), TEXTS);
    for entry in listed {
        let same = [&entry.user, &entry.source, &entry.version, &entry.computer];
        assert!(same.iter().all(|text| **text == entry.description), "changed: {entry:?}");
    }
    Ok(())
}

/// A description may fill a whole body (limits.max_json_size).
pub async fn descriptions_of_a_mebibyte_are_kept(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let long = |number: usize| format!("{number}{}", "x\"ü🖨".repeat(131_072));
    try_join_all((0..12).map(|number| stores.logs.add(acme, a_log_entry(&long(number))))).await?;
    let mut listed = descriptions(stores, acme).await?;
    listed.sort();
    let mut expected: Vec<String> = (0..12).map(long).collect();
    expected.sort();
    assert!(listed == expected, "a long description was changed or lost");
    Ok(())
}

/// Concurrent calls all land, in each organization.
pub async fn concurrent_entries_all_land(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false]).await?;
    let calls = (0..300).map(|number| {
        let organization = ids[usize::from(number % 3 == 0)];
        stores.logs.add(organization, a_log_entry(&number.to_string()))
    });
    try_join_all(calls).await?;
    for (place, count) in [(0, 200), (1, 100)] {
        let listed: BTreeSet<String> = descriptions(stores, ids[place]).await?.into_iter().collect();
        assert_eq!(listed.len(), count);
    }
    Ok(())
}

/// An entry is stored even if the caller goes away meanwhile.
pub async fn an_entry_that_was_begun_ends_without_its_caller(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    drop(stores.logs.add(acme, a_log_entry("abandoned")).now_or_never());
    let landed = async || Ok(descriptions(stores, acme).await? == ["abandoned"]);
    assert!(at_last(landed).await?, "the entry was lost");
    Ok(())
}

/// No connection is held while a reader is slow: lists that wait don't keep anyone from working.
pub async fn slow_readers_keep_nobody_waiting(stores: &Stores) -> Kept {
    let acme = organizations(stores, &[false]).await?[0];
    add_numbered(stores, acme, 2_000, at).await?;
    let mut readers: Vec<_> = (0..40).map(|_| stores.logs.list(acme, LogFilter::default())).collect();
    for reader in &mut readers {
        assert!(reader.try_next().await?.is_some());
    }
    stores.logs.add(acme, NewLogEntry { received: at(-1), ..a_log_entry("late") }).await?;
    assert_eq!(descriptions(stores, acme).await?.len(), 2_001);
    for reader in readers {
        let count = reader.try_fold(1, async |count, _| Ok(count + 1)).await?;
        assert!((2_000..=2_001).contains(&count), "{count}");
    }
    Ok(())
}

async fn add_numbered(
    stores: &Stores,
    organization: OrganizationId,
    count: i64,
    received: impl Fn(i64) -> Timestamp,
) -> Result<(), StoreError> {
    let calls = (0..count).map(|number| {
        let entry = NewLogEntry { received: received(number), ..a_log_entry(&number.to_string()) };
        stores.logs.add(organization, entry)
    });
    stream::iter(calls).buffer_unordered(64).try_collect().await
}

async fn all(stores: &Stores, organization: OrganizationId) -> Result<Vec<ListedLogEntry>, StoreError> {
    stores.logs.list(organization, LogFilter::default()).try_collect().await
}

async fn descriptions(stores: &Stores, organization: OrganizationId) -> Result<Vec<String>, StoreError> {
    Ok(all(stores, organization).await?.into_iter().map(|entry| entry.description).collect())
}
