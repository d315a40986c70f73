//! [`crate::inspection::InspectionRepository`]: pages of the log, and followers that go on after a number.

use super::scene::{organizations, shuffled, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use crate::inspection::InspectedLogEntry;
use crate::log_entry::{LogCursor, LogFilter, LogNumber, LogType, NewLogEntry, Pattern};
use crate::page::PageRequest;
use crate::testing::{a_log_entry, at, numbered};
use crate::text::Folded;
use futures_util::TryStreamExt;
use futures_util::future::{join, try_join_all};

/// Without a gap and without a repetition, in the order of the list: of one organization and of all.
pub async fn pages_of_the_log_follow_each_other(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false, false]).await?;
    for second in shuffled() {
        let entry = |number: usize| NewLogEntry { received: at(second / 3), ..a_log_entry(&number.to_string()) };
        try_join_all((0..6).map(|number| stores.logs.add(ids[number % 2], entry(number)))).await?;
    }
    for organization in [None, Some(ids[0]), Some(ids[2])] {
        let of_all = ids.iter().copied().filter(|id| organization.is_none_or(|asked| asked == *id)).collect();
        let expected: Vec<InspectedLogEntry> =
            stores.inspection.log_entries(of_all, LogFilter::default()).try_collect().await?;
        for limit in [7, 500] {
            assert_eq!(pages(stores, organization, &LogFilter::default(), limit).await?, expected);
        }
    }
    Ok(())
}

/// What is stored and removed meanwhile changes nothing of what comes after a cursor.
pub async fn a_page_goes_on_after_its_cursor(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for second in 0..6 {
        stores.logs.add(acme, NewLogEntry { received: at(second), ..a_log_entry(&second.to_string()) }).await?;
    }
    let first = page(stores, None, LogFilter::default(), None, 2).await?;
    assert_eq!(descriptions(&first.0), ["5", "4"]);
    for id in [acme, zenith] {
        stores.logs.add(id, NewLogEntry { received: at(9), ..a_log_entry("newer") }).await?;
    }
    stores.logs.add(zenith, NewLogEntry { received: at(1), ..a_log_entry("between") }).await?;
    stores.retention.remove_logs(at(1), None, 100).await?;
    let rest = page(stores, None, LogFilter::default(), first.1, 10).await?;
    assert_eq!((descriptions(&rest.0), rest.1), (vec!["3", "2", "between", "1"], None));
    Ok(())
}

/// Decisions L5, L6, and what Description contains, without case over Unicode.
pub async fn a_page_holds_what_matches_all_filters(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let computer = ComputerGuid::from(numbered(77));
    for (second, (id, user, text)) in (0..).zip([
        (acme, "Ann", "Die STRASSE ist frei"),
        (zenith, "Bob", "Papierstau in der Straße"),
        (acme, "Ann", "100%_done\nline 2"),
        (acme, "Anna", "straSSe"),
    ]) {
        let log_type = if second == 3 { LogType::Configuration } else { LogType::Log };
        let entry = NewLogEntry { received: at(second), user: user.to_owned(), log_type, ..a_log_entry(text) };
        let computer_guid = if second == 0 { computer } else { entry.computer_guid };
        stores.logs.add(id, NewLogEntry { computer_guid, ..entry }).await?;
    }
    let search = |text: &str| LogFilter { search: Some(Folded::of(text)), ..LogFilter::default() };
    let seconds = async |organization, filter: LogFilter| -> Result<Vec<i64>, StoreError> {
        let found = pages(stores, organization, &filter, 50).await?;
        Ok(found.iter().map(|entry| (entry.received.as_micros() - at(0).as_micros()) / 1_000_000).collect())
    };
    assert_eq!(seconds(None, search("Straße")).await?, [3, 1, 0]);
    assert_eq!(seconds(Some(acme), search("strasse")).await?, [3, 0]);
    assert_eq!(seconds(None, search("%_D")).await?, [2]);
    assert_eq!(seconds(None, search("\n")).await?, [2]);
    assert_eq!(seconds(None, search("*")).await?, [0; 0], "nothing stands for other characters");
    let anns = LogFilter { user: Some(Pattern::new("ann*")), ..search("strasse") };
    assert_eq!(seconds(None, anns.clone()).await?, [3, 0]);
    assert_eq!(seconds(None, LogFilter { log_type: Some(LogType::Log), ..anns.clone() }).await?, [0]);
    assert_eq!(seconds(None, LogFilter { from: Some(at(1)), to: Some(at(3)), ..anns }).await?, [3]);
    let of_computer = LogFilter { computer_guid: Some(computer), ..LogFilter::default() };
    assert_eq!(seconds(None, of_computer).await?, [0]);
    Ok(())
}

/// Pages without any match lead to them.
pub async fn few_matches_of_a_search_among_thousands_are_found(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for round in 0..30 {
        let adds = (0..100).map(|number| {
            let text = if number == 50 && round % 10 == 3 { format!("needle {round}") } else { "hay".to_owned() };
            let entry = NewLogEntry { received: at(round * 100 + number), ..a_log_entry(&text) };
            stores.logs.add(if number % 2 == 0 { acme } else { zenith }, entry)
        });
        try_join_all(adds).await?;
    }
    let filter = LogFilter { search: Some(Folded::of("NEEDLE")), ..LogFilter::default() };
    for organization in [None, Some(acme)] {
        let found = pages(stores, organization, &filter, 2).await?;
        assert_eq!(descriptions(&found), ["needle 23", "needle 13", "needle 3"]);
    }
    assert!(pages(stores, Some(zenith), &filter, 2).await?.is_empty());
    Ok(())
}

/// A page of the longest entries is no larger than it must be.
pub async fn very_long_entries_are_listed_in_pages(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for second in 0..12 {
        let text = format!("{second} {}", "ü".repeat(150_000));
        stores.logs.add(acme, NewLogEntry { received: at(second), ..a_log_entry(&text) }).await?;
    }
    for organization in [None, Some(acme)] {
        let found = pages(stores, organization, &LogFilter::default(), 500).await?;
        let numbers: Vec<&str> = descriptions(&found).into_iter().filter_map(|text| text.split(' ').next()).collect();
        assert_eq!(numbers, ["11", "10", "9", "8", "7", "6", "5", "4", "3", "2", "1", "0"]);
    }
    Ok(())
}

/// After the position of another follower: nothing is lost and nothing given twice.
pub async fn a_follower_goes_on_after_a_number(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let begin =
        async |organization, after| stores.inspection.follow_log(organization, LogFilter::default(), after).await;
    let mut first = begin(None, None).await?;
    for text in ["1", "2"] {
        stores.logs.add(acme, a_log_entry(text)).await?;
    }
    let given = first.next().await?;
    assert_eq!(descriptions(&given), ["1", "2"]);
    assert_eq!(first.position(), given[1].number);
    for (id, text) in [(acme, "3"), (zenith, "4"), (acme, "5")] {
        stores.logs.add(id, a_log_entry(text)).await?;
    }
    assert_eq!(descriptions(&begin(None, Some(first.position())).await?.next().await?), ["3", "4", "5"]);
    assert_eq!(descriptions(&begin(Some(acme), Some(given[0].number)).await?.next().await?), ["2", "3", "5"]);
    assert_eq!(descriptions(&begin(None, Some(LogNumber(0))).await?.next().await?).len(), 5);

    let mut of_zenith = begin(Some(zenith), Some(first.position())).await?;
    assert_eq!(descriptions(&of_zenith.next().await?), ["4"]);
    assert_eq!(of_zenith.next().await?, []);
    let last = begin(None, None).await?.position();
    assert_eq!(of_zenith.position(), last, "it has passed what does not match");

    let mut ahead = begin(None, Some(LogNumber(i64::MAX))).await?;
    assert_eq!(ahead.position(), last);
    stores.logs.add(acme, a_log_entry("6")).await?;
    assert_eq!(descriptions(&ahead.next().await?), ["6"]);
    Ok(())
}

/// However often a reader comes back while several writers store entries.
pub async fn followers_one_after_another_are_given_every_concurrent_entry_once(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false]).await?;
    let mut position = stores.inspection.follow_log(None, LogFilter::default(), None).await?.position();
    let adds = async {
        for round in 0..20 {
            let text = |number: usize| (round * 40 + number).to_string();
            try_join_all((0..40).map(|number| stores.logs.add(ids[number % 2], a_log_entry(&text(number))))).await?;
        }
        Ok::<_, StoreError>(())
    };
    let read = async {
        let mut given = Vec::new();
        for _ in 0..60 {
            let mut follower = stores.inspection.follow_log(None, LogFilter::default(), Some(position)).await?;
            for _ in 0..3 {
                given.extend(follower.next().await?);
            }
            position = follower.position();
        }
        Ok::<_, StoreError>(given)
    };
    let (added, given) = join(adds, read).await;
    added?;
    let mut given = given?;
    let mut last = stores.inspection.follow_log(None, LogFilter::default(), Some(position)).await?;
    loop {
        let new = last.next().await?;
        if new.is_empty() {
            break;
        }
        given.extend(new);
    }
    assert!(given.is_sorted_by(|one, other| one.number < other.number), "in order, each once");
    assert_eq!(given.len(), 800);
    Ok(())
}

async fn page(
    stores: &Stores,
    organization: Option<OrganizationId>,
    filter: LogFilter,
    after: Option<LogCursor>,
    limit: u64,
) -> Result<(Vec<InspectedLogEntry>, Option<LogCursor>), StoreError> {
    let page = stores.inspection.log_page(organization, filter, PageRequest { after, limit }).await?;
    Ok((page.items, page.next))
}

/// All pages.
async fn pages(
    stores: &Stores,
    organization: Option<OrganizationId>,
    filter: &LogFilter,
    limit: u64,
) -> Result<Vec<InspectedLogEntry>, StoreError> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let (items, next) = page(stores, organization, filter.clone(), after, limit).await?;
        assert!(items.len() as u64 <= limit);
        all.extend(items);
        if next.is_none() {
            return Ok(all);
        }
        after = next;
    }
}

fn descriptions(entries: &[InspectedLogEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.entry.description.as_str()).collect()
}
