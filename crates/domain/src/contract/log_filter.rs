//! The filters of [`crate::log_entry::LogRepository::list`] (decisions L5, L6).

use super::scene::two_organizations;
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::log_entry::{LogFilter, LogType, NewLogEntry, Pattern};
use crate::testing::{a_log_entry, at};
use crate::text::Folded;
use crate::timestamp::Timestamp;
use futures_util::TryStreamExt;
use futures_util::stream::{self, StreamExt};

type Change = fn(&mut NewLogEntry, String);
type Ask = fn(&mut LogFilter, Pattern);

/// Each text filter with the member that it sees.
const FILTERS: [(&str, Change, Ask); 5] = [
    ("SerialNumber", |entry, text| entry.serial_number = text, |filter, ask| filter.serial_number = Some(ask)),
    ("User", |entry, text| entry.user = text, |filter, ask| filter.user = Some(ask)),
    ("Source", |entry, text| entry.source = text, |filter, ask| filter.source = Some(ask)),
    ("Version", |entry, text| entry.version = text, |filter, ask| filter.version = Some(ask)),
    ("Computer", |entry, text| entry.computer = text, |filter, ask| filter.computer = Some(ask)),
];

/// Decision L5: a filter matches the whole value of its own member.
pub async fn each_text_filter_sees_its_own_member(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for (name, change, _) in FILTERS {
        let mut entry = a_log_entry(name);
        change(&mut entry, "Wanted".to_owned());
        stores.logs.add(acme, entry).await?;
    }
    for (name, _, ask) in FILTERS {
        assert_eq!(matching(stores, acme, ask, "wanted").await?, [name]);
        assert_eq!(matching(stores, acme, ask, "W*d").await?, [name]);
        assert_eq!(matching(stores, acme, ask, "Wante").await?, [""; 0], "{name}");
        assert_eq!(matching(stores, acme, ask, "anted").await?, [""; 0], "{name}");
    }
    Ok(())
}

/// Decisions L5, R14: without case over all of Unicode, for whole values and for patterns.
pub async fn text_filters_match_without_case_over_unicode(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for (name, change, ask) in FILTERS {
        let mut entry = a_log_entry(name);
        change(&mut entry, "Straße Åse ΣΑΣ".to_owned());
        stores.logs.add(acme, entry).await?;
        for filter in ["STRASSE A\u{30A}SE σας", "strasse*", "*åSE*", "*Σας", "S*SS*\u{212B}*Σ"] {
            assert_eq!(matching(stores, acme, ask, filter).await?, [name], "{name} {filter}");
        }
        for filter in ["Strase*", "*Ase*", "strasse åse"] {
            assert_eq!(matching(stores, acme, ask, filter).await?, [""; 0], "{name} {filter}");
        }
    }
    Ok(())
}

/// Decision L5: `*` matches any run of characters, an empty one too; nothing else is special.
pub async fn only_the_star_is_special(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let values =
        ["a%c", "a_c", "abc", "a\\c", "a[b]c", "a?c", "a'c", "ac", "a*c", "a\nc", "%", "\\", "\\%", "", "aXXc"];
    for value in values {
        let mut entry = a_log_entry(value);
        fill(&mut entry, value);
        stores.logs.add(acme, entry).await?;
    }
    let patterns = [
        "*",
        "**",
        "a*c",
        "a**c",
        "*c",
        "a*",
        "*%",
        "%*",
        "*\\*",
        "a\\*",
        "*_*",
        "a%*",
        "*[*]*",
        "[ab]*",
        "*'*",
        "?*",
        "a*\nc",
        "*b*",
        "*a*c*",
        "a*X*X*c",
        "a*X*X*X*c",
        "*XX",
        "x*",
    ];
    for filter in values.into_iter().chain(patterns) {
        let pattern = Pattern::new(filter);
        let expected = values.iter().rev().copied().filter(|value| pattern.matches(&Folded::of(value)));
        let expected: Vec<&str> = expected.collect();
        for (name, _, ask) in FILTERS {
            assert_eq!(matching(stores, acme, ask, filter).await?, expected, "{name} {filter:?}");
        }
    }
    Ok(())
}

/// A filter may fill a whole body (limits.max_json_size); long values are matched as well.
pub async fn very_long_patterns_are_answered(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let long = "Ärger ".repeat(10_000);
    let mut entry = a_log_entry("long");
    fill(&mut entry, &format!("{long}Ende"));
    stores.logs.add(acme, entry).await?;
    stores.logs.add(acme, a_log_entry("short")).await?;
    for (name, _, ask) in FILTERS {
        for filter in
            [format!("{long}ende"), format!("{long}*"), format!("*{long}*nd*"), format!("*Ä{}", &long[2..]) + "*"]
        {
            assert_eq!(matching(stores, acme, ask, &filter).await?, ["long"], "{name}");
        }
        for filter in [format!("{long}X"), format!("{long}*X"), "x".repeat(60_000), format!("*{}*", "x".repeat(60_000))]
        {
            assert_eq!(matching(stores, acme, ask, &filter).await?, [""; 0], "{name}");
        }
    }
    Ok(())
}

/// However many stars a filter has, it is answered, and not after an exponential search.
pub async fn patterns_of_very_many_stars_are_answered(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let mut entry = a_log_entry("many");
    fill(&mut entry, &"ab".repeat(2_000));
    stores.logs.add(acme, entry).await?;
    stores.logs.add(acme, a_log_entry("few")).await?;
    for (name, _, ask) in FILTERS {
        assert_eq!(matching(stores, acme, ask, &"*".repeat(60_000)).await?, ["few", "many"], "{name}");
        assert_eq!(matching(stores, acme, ask, &"a*b*".repeat(2_000)).await?, ["many"], "{name}");
        assert_eq!(matching(stores, acme, ask, &"a*b*".repeat(2_001)).await?, [""; 0], "{name}");
        assert_eq!(matching(stores, acme, ask, &"*a".repeat(2_000)).await?, [""; 0], "{name}");
    }
    Ok(())
}

/// Decision L5.
pub async fn the_type_filter_lists_one_type(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.logs.add(acme, a_log_entry("log")).await?;
    stores.logs.add(acme, NewLogEntry { log_type: LogType::Configuration, ..a_log_entry("configuration") }).await?;
    for log_type in [LogType::Log, LogType::Configuration] {
        let filter = LogFilter { log_type: Some(log_type), ..LogFilter::default() };
        assert_eq!(listed(stores, acme, filter).await?, [log_type.as_str()]);
    }
    Ok(())
}

/// Decision L6: From and To are both inclusive, to the microsecond; either may be absent.
pub async fn from_and_to_are_inclusive(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let micro = |micros: i64| Timestamp::from_micros(at(0).as_micros() + micros);
    for micros in 1..=5 {
        stores.logs.add(acme, NewLogEntry { received: micro(micros), ..a_log_entry(&micros.to_string()) }).await?;
    }
    let between = async |from: Option<i64>, to: Option<i64>| {
        listed(stores, acme, LogFilter { from: from.map(micro), to: to.map(micro), ..LogFilter::default() }).await
    };
    assert_eq!(between(Some(2), Some(4)).await?, ["4", "3", "2"]);
    assert_eq!(between(Some(4), None).await?, ["5", "4"]);
    assert_eq!(between(None, Some(2)).await?, ["2", "1"]);
    assert_eq!(between(Some(3), Some(3)).await?, ["3"]);
    assert_eq!(between(Some(4), Some(2)).await?, [""; 0]);
    assert_eq!(between(Some(6), None).await?, [""; 0]);
    let years = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"].map(Timestamp::parse);
    let always = LogFilter { from: years[0], to: years[1], ..LogFilter::default() };
    assert_eq!(listed(stores, acme, always).await?.len(), 5);
    Ok(())
}

/// Decision L5: filters combine with AND; every pair of them is tried.
pub async fn filters_combine_with_and(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let parts = FILTERS.len() + 2;
    // Every combination of members that match their filter and members that don't.
    for bits in 0..1_usize << parts {
        let hit = |place: usize| bits >> place & 1 == 1;
        let mut entry = a_log_entry(&bits.to_string());
        for (place, (_, change, _)) in FILTERS.iter().enumerate() {
            change(&mut entry, if hit(place) { "Wanted one" } else { "Other one" }.to_owned());
        }
        entry.log_type = if hit(FILTERS.len()) { LogType::Configuration } else { LogType::Log };
        entry.received = if hit(FILTERS.len() + 1) { at(5) } else { at(0) };
        stores.logs.add(acme, entry).await?;
    }
    let masks = (0..parts).flat_map(|one| (one..parts).map(move |other| 1 << one | 1 << other));
    for mask in masks.chain([(1_usize << parts) - 1]) {
        let mut filter = LogFilter::default();
        for (place, (_, _, ask)) in FILTERS.iter().enumerate().filter(|(place, _)| mask >> place & 1 == 1) {
            // Whole values and patterns take turns, because stores treat them differently.
            ask(&mut filter, Pattern::new(if place % 2 == 0 { "WANTED*" } else { "wanted ONE" }));
        }
        if mask >> FILTERS.len() & 1 == 1 {
            filter.log_type = Some(LogType::Configuration);
        }
        if mask >> (FILTERS.len() + 1) & 1 == 1 {
            (filter.from, filter.to) = (Some(at(5)), Some(at(5)));
        }
        let mut found = listed(stores, acme, filter).await?;
        found.sort_by_key(|bits| bits.parse::<usize>().ok());
        let expected: Vec<String> =
            (0..1_usize << parts).filter(|bits| bits & mask == mask).map(|bits| bits.to_string()).collect();
        assert_eq!(found, expected, "filters {mask:b}");
    }
    Ok(())
}

/// Interface 5, rule 3: a filter reaches no other organization's entries.
pub async fn filters_stay_within_the_organization(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.logs.add(zenith, a_log_entry("of zenith")).await?;
    for (name, _, ask) in FILTERS {
        assert_eq!(matching(stores, acme, ask, "*").await?, [""; 0], "{name}");
    }
    let of_time = LogFilter { from: Some(at(0)), to: Some(at(0)), ..LogFilter::default() };
    assert_eq!(listed(stores, acme, of_time).await?, [""; 0]);
    let of_type = LogFilter { log_type: Some(LogType::Log), ..LogFilter::default() };
    assert_eq!(listed(stores, acme, of_type).await?, [""; 0]);
    Ok(())
}

/// Few matches among thousands of entries are all found, in order.
pub async fn rare_matches_among_thousands_are_all_found(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let entries = (0..2_600).map(|number: i64| {
        let user = if number % 100 == 7 { format!("rare {number}") } else { "common".to_owned() };
        NewLogEntry { received: at(number), user, ..a_log_entry(&number.to_string()) }
    });
    let calls = entries.map(|entry| stores.logs.add(acme, entry));
    stream::iter(calls).buffer_unordered(64).try_collect::<()>().await?;
    let expected: Vec<String> = (0..26).rev().map(|hundred| (hundred * 100 + 7).to_string()).collect();
    for filter in ["RARE *", "*are*7"] {
        let ask: Ask = |filter, ask| filter.user = Some(ask);
        assert_eq!(matching(stores, acme, ask, filter).await?, expected);
    }
    Ok(())
}

/// Gives every member that a text filter sees this text.
fn fill(entry: &mut NewLogEntry, text: &str) {
    for (_, change, _) in FILTERS {
        change(entry, text.to_owned());
    }
}

async fn matching(
    stores: &Stores,
    organization: OrganizationId,
    ask: Ask,
    text: &str,
) -> Result<Vec<String>, StoreError> {
    let mut filter = LogFilter::default();
    ask(&mut filter, Pattern::new(text));
    listed(stores, organization, filter).await
}

async fn listed(stores: &Stores, organization: OrganizationId, filter: LogFilter) -> Result<Vec<String>, StoreError> {
    stores.logs.list(organization, filter).map_ok(|entry| entry.description).try_collect().await
}
