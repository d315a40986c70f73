//! The clauses of [`crate::refusal::RefusalRepository`].

use super::scene::{TEXTS, two_organizations};
use super::{Kept, Stores};
use crate::fleet::FleetRecord;
use crate::guid::ComputerGuid;
use crate::refusal::{CredentialKind, KEPT_OF_UNKNOWN, KEPT_PER_OWNER, NewRefusal, Owner, ReasonCount, RefusalFilter};
use crate::testing::{ACME, a_refusal, acme_records, at, numbered, zenith_records};
use crate::text::Folded;

fn from_address(address: &str) -> NewRefusal {
    a_refusal(Owner::Address(address.to_owned()))
}

async fn all(stores: &Stores, filter: &RefusalFilter) -> Result<Vec<NewRefusal>, crate::error::StoreError> {
    let page = stores.refusals.page(filter, None, 10_000).await?;
    Ok(page.into_iter().map(|refused| refused.refusal).collect())
}

/// Every member is kept, with and without what is optional.
pub async fn a_refusal_is_listed_as_it_was_kept(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let mut kept = Vec::new();
    for (second, credential) in (0..).zip(CredentialKind::ALL) {
        let full = NewRefusal {
            at: at(second),
            credential,
            user: Some("Ann".to_owned()),
            computer: Some(acme_records().computer),
            serial_number: "SN-1".to_owned(),
            application_version: "9.0".to_owned(),
            address: Some("2001:db8::7".to_owned()),
            ..a_refusal(Owner::Organization(acme))
        };
        stores.refusals.add(std::slice::from_ref(&full)).await?;
        kept.insert(0, full);
    }
    let stranger = NewRefusal {
        at: at(9),
        computer: Some(acme_records().computer),
        named: Some(acme),
        ..from_address("192.0.2.1")
    };
    let bare = NewRefusal { at: at(10), ..from_address("192.0.2.1") };
    stores.refusals.add(&[stranger.clone(), bare.clone()]).await?;
    kept.splice(0..0, [bare, stranger]);
    let page = stores.refusals.page(&RefusalFilter::default(), None, 10).await?;
    let names: Vec<_> = page.iter().map(|refused| refused.organization.as_deref()).collect();
    assert_eq!(
        names,
        [None, Some("Acme Print"), Some("Acme Print"), Some("Acme Print"), Some("Acme Print"), Some("Acme Print")]
    );
    assert_eq!(page.into_iter().map(|refused| refused.refusal).collect::<Vec<_>>(), kept);
    Ok(())
}

/// Decision R9.
pub async fn its_texts_are_kept_byte_for_byte(stores: &Stores) -> Kept {
    for (second, text) in (0..).zip(TEXTS) {
        let text = (*text).to_owned();
        let kept = NewRefusal {
            at: at(second),
            detail: text.clone(),
            serial_number: text.clone(),
            application_version: text,
            ..from_address("192.0.2.1")
        };
        stores.refusals.add(std::slice::from_ref(&kept)).await?;
        assert_eq!(all(stores, &RefusalFilter::default()).await?[0], kept);
    }
    Ok(())
}

/// By time; where the time is the same, what was kept later comes first.
pub async fn refusals_are_listed_newest_first(stores: &Stores) -> Kept {
    let numbered = |second: i64, number: usize| NewRefusal {
        at: at(second),
        request_id: number.to_string(),
        ..from_address("192.0.2.1")
    };
    stores.refusals.add(&[numbered(5, 0), numbered(7, 1), numbered(5, 2)]).await?;
    stores.refusals.add(&[numbered(6, 3)]).await?;
    let ids: Vec<_> =
        all(stores, &RefusalFilter::default()).await?.into_iter().map(|refusal| refusal.request_id).collect();
    assert_eq!(ids, ["1", "3", "2", "0"]);
    Ok(())
}

/// Pages follow each other without a gap and without a repetition.
pub async fn refusals_are_listed_in_pages(stores: &Stores) -> Kept {
    let kept: Vec<NewRefusal> = (0..50)
        .map(|number| NewRefusal { at: at(number / 3), request_id: number.to_string(), ..from_address("192.0.2.1") })
        .collect();
    stores.refusals.add(&kept).await?;
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = stores.refusals.page(&RefusalFilter::default(), after, 7).await?;
        let Some(last) = page.last() else {
            break;
        };
        after = Some(last.cursor());
        listed.extend(page.into_iter().map(|refused| refused.refusal));
    }
    assert_eq!(listed, kept.into_iter().rev().collect::<Vec<_>>());
    Ok(())
}

/// Organization, computer, reason, time: each alone and all together.
pub async fn filters_of_refusals_combine(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let computer = ComputerGuid::from(numbered(77));
    let kept = [
        NewRefusal { at: at(1), ..a_refusal(Owner::Organization(acme)) },
        NewRefusal { at: at(2), computer: Some(computer), ..a_refusal(Owner::Organization(acme)) },
        NewRefusal { at: at(3), computer: Some(computer), ..a_refusal(Owner::Organization(acme)) },
        NewRefusal { at: at(4), reason: "other".to_owned(), ..a_refusal(Owner::Organization(zenith)) },
        NewRefusal { at: at(5), ..from_address("192.0.2.1") },
        NewRefusal { at: at(6), computer: Some(computer), named: Some(acme), ..from_address("192.0.2.1") },
    ];
    stores.refusals.add(&kept).await?;
    let seconds = async |filter: RefusalFilter| -> Result<Vec<i64>, crate::error::StoreError> {
        let all = all(stores, &filter).await?;
        Ok(all.into_iter().map(|refusal| (refusal.at.as_micros() - at(0).as_micros()) / 1_000_000).collect())
    };
    let none = RefusalFilter::default();
    let of_acme = RefusalFilter { organization: Some(acme), ..none.clone() };
    assert_eq!(seconds(none.clone()).await?, [6, 5, 4, 3, 2, 1]);
    assert_eq!(seconds(of_acme.clone()).await?, [6, 3, 2, 1]);
    assert_eq!(seconds(RefusalFilter { organization: Some(zenith), ..none.clone() }).await?, [4]);
    assert_eq!(seconds(RefusalFilter { reason: Some("other".to_owned()), ..none.clone() }).await?, [4]);
    assert!(seconds(RefusalFilter { reason: Some("other".to_owned()), ..of_acme.clone() }).await?.is_empty());
    assert_eq!(seconds(RefusalFilter { computer: Some(computer), ..none.clone() }).await?, [6, 3, 2]);
    assert_eq!(seconds(RefusalFilter { since: Some(at(4)), ..none.clone() }).await?, [6, 5, 4]);
    let all_three = RefusalFilter { computer: Some(computer), since: Some(at(3)), ..of_acme };
    assert_eq!(seconds(all_three).await?, [6, 3]);
    Ok(())
}

/// However many refusals one owner has, its newest stay, and those of other owners stay too.
pub async fn of_each_owner_the_newest_refusals_stay(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let other = a_refusal(Owner::Organization(zenith));
    stores.refusals.add(std::slice::from_ref(&other)).await?;
    for owner in [Owner::Organization(acme), Owner::Address("192.0.2.1".to_owned())] {
        let many = KEPT_PER_OWNER + 30;
        for round in 0..many / 10 {
            let number = |number: u64| NewRefusal { request_id: number.to_string(), ..a_refusal(owner.clone()) };
            let ten: Vec<NewRefusal> = (round * 10..round * 10 + 10).map(number).collect();
            stores.refusals.add(&ten).await?;
        }
        let kept = all(stores, &RefusalFilter::default()).await?;
        let ids: Vec<u64> = kept
            .iter()
            .filter(|refusal| refusal.owner == owner)
            .map(|refusal| refusal.request_id.parse().unwrap_or(0))
            .collect();
        assert_eq!(ids, (30..many).rev().collect::<Vec<_>>());
    }
    assert!(all(stores, &RefusalFilter::default()).await?.contains(&other));
    Ok(())
}

/// Addresses are many; all together they are bounded, and organizations lose nothing to them.
pub async fn refusals_of_unknown_callers_are_bounded_in_all(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let own = a_refusal(Owner::Organization(acme));
    stores.refusals.add(std::slice::from_ref(&own)).await?;
    let many = KEPT_OF_UNKNOWN + 200;
    for round in 0..many / 200 {
        let refusals: Vec<NewRefusal> = (round * 200..round * 200 + 200)
            .map(|number| from_address(&format!("10.0.{}.{}", number / 200, number % 200)))
            .collect();
        stores.refusals.add(&refusals).await?;
    }
    let kept = all(stores, &RefusalFilter::default()).await?;
    assert_eq!(kept.len() as u64, KEPT_OF_UNKNOWN + 1);
    assert!(kept.contains(&own));
    assert!(!kept.contains(&from_address("10.0.0.199")) && kept.contains(&from_address("10.0.1.0")));
    Ok(())
}

/// Requests with a known `HardwareHash` push out no refusal that is kept for its organization.
pub async fn refusals_that_name_a_computer_count_by_address(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let own = a_refusal(Owner::Organization(acme));
    stores.refusals.add(std::slice::from_ref(&own)).await?;
    let named = NewRefusal {
        at: at(1),
        computer: Some(acme_records().computer),
        named: Some(acme),
        ..from_address("192.0.2.1")
    };
    for _ in 0..=KEPT_PER_OWNER / 20 {
        stores.refusals.add(&vec![named.clone(); 20]).await?;
    }
    let of_acme = RefusalFilter { organization: Some(acme), ..RefusalFilter::default() };
    let kept = all(stores, &of_acme).await?;
    assert_eq!(kept.len() as u64, KEPT_PER_OWNER + 1);
    assert_eq!(kept.last(), Some(&own));
    Ok(())
}

/// What is too old goes, the oldest first.
pub async fn old_refusals_are_pruned(stores: &Stores) -> Kept {
    let kept: Vec<NewRefusal> =
        (0..6).map(|second| NewRefusal { at: at(second), ..from_address("192.0.2.1") }).collect();
    stores.refusals.add(&kept).await?;
    assert_eq!(stores.refusals.prune(at(4), 3).await?, 3);
    assert_eq!(all(stores, &RefusalFilter::default()).await?.len(), 3);
    assert_eq!(stores.refusals.prune(at(4), 3).await?, 1);
    assert_eq!(stores.refusals.prune(at(4), 3).await?, 0);
    let left = all(stores, &RefusalFilter::default()).await?;
    assert_eq!(left, [kept[5].clone(), kept[4].clone()]);
    Ok(())
}

/// The most frequent first; those that named a computer count for its organization.
pub async fn refusals_are_counted_by_reason(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let of = |second, reason: &str, owner| NewRefusal { at: at(second), reason: reason.to_owned(), ..a_refusal(owner) };
    let kept = [
        of(0, "a", Owner::Organization(acme)),
        of(1, "a", Owner::Organization(acme)),
        of(2, "b", Owner::Organization(acme)),
        of(4, "b", Owner::Organization(zenith)),
        of(3, "b", Owner::Organization(zenith)),
        NewRefusal { named: Some(zenith), ..of(5, "c", Owner::Address("192.0.2.1".to_owned())) },
        of(6, "d", Owner::Address("192.0.2.1".to_owned())),
    ];
    stores.refusals.add(&kept).await?;
    let count = |reason: &str, count, second| ReasonCount { reason: reason.to_owned(), count, last: at(second) };
    let all = [count("b", 3, 4), count("a", 2, 1), count("c", 1, 5), count("d", 1, 6)];
    assert_eq!(stores.refusals.count(None, at(0)).await?, all);
    assert_eq!(stores.refusals.count(Some(zenith), at(0)).await?, [count("b", 2, 4), count("c", 1, 5)]);
    assert_eq!(stores.refusals.count(Some(acme), at(1)).await?, [count("a", 1, 1), count("b", 1, 2)]);
    assert!(stores.refusals.count(None, at(7)).await?.is_empty());
    Ok(())
}

/// Without case; also what is retired, which says so.
pub async fn computers_are_found_by_guid_and_by_serial_number(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let (own, other) = (acme_records().computer, zenith_records().computer);
    stores.records.set_retired(ACME, &FleetRecord::Computer(own), Some(at(5))).await?;
    let found = async |guids: &[ComputerGuid], serial_numbers: &[&str]| {
        let numbers: Vec<Folded> = serial_numbers.iter().map(|number| Folded::of(number)).collect();
        let mut found = stores.refusals.computers(guids, &numbers).await?;
        found.sort_by_key(|computer| computer.guid);
        Ok::<_, crate::error::StoreError>(found)
    };
    let both = found(&[own, ComputerGuid::from(numbered(99))], &["sn-2000", "SN-9"]).await?;
    let guids: Vec<ComputerGuid> = both.iter().map(|computer| computer.guid).collect();
    assert_eq!(guids, [own, other]);
    assert_eq!((both[0].organization, both[0].organization_name.as_str()), (acme, ACME));
    assert_eq!((both[0].name.as_str(), both[0].is_retired), ("RIP-01", true));
    assert_eq!((both[1].organization, both[1].is_retired), (zenith, false));
    assert_eq!(both[1].serial_number, Some(Folded::of("SN-2000")));
    assert_eq!(found(&[own], &["SN-1000"]).await?.len(), 1, "each once");
    assert!(found(&[], &[]).await?.is_empty());
    Ok(())
}
