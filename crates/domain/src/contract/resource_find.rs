//! The look-ups of [`crate::resource::ResourceRepository`]: by GUID, published, anywhere, by PMM.

use super::scene::{organizations, register, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::fleet::FleetOrganization;
use crate::guid::ResourceGuid;
use crate::resource::{Domain, NewResource, Preconditions, StoredContent};
use crate::testing::{ZENITH, a_blob_key, a_meta, a_resource, at, pmm_key, resource_guid, stored};
use crate::timestamp::Timestamp;
use futures_util::future::try_join_all;

/// Decision T1.
pub async fn only_the_own_resource_is_found(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.resources.store(acme, public(1, 1, at(0)), at(0)).await?;
    assert_eq!(stores.resources.find(zenith, resource_guid(1)).await?, None);
    assert_eq!(stores.resources.find(acme, resource_guid(2)).await?, None);
    Ok(())
}

/// Decision T1: both organizations have a resource under the same GUIDs.
pub async fn concurrent_lookups_each_find_their_own_resource(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let own = |organization: OrganizationId, number| match number % 3 {
        0 => None,
        _ => Some(public(number, if organization == acme { 1 } else { 2 }, at(0))),
    };
    let keys: Vec<_> = (1..=50).flat_map(|number| [(acme, number), (zenith, number)]).collect();
    for &(organization, number) in &keys {
        if let Some(resource) = own(organization, number) {
            stores.resources.store(organization, resource, at(0)).await?;
        }
    }
    let find = |&(organization, number)| stores.resources.find(organization, resource_guid(number));
    let found = try_join_all(keys.iter().map(find)).await?;
    for (&(organization, number), found) in keys.iter().zip(found) {
        assert_eq!(found, own(organization, number).map(|resource| stored(organization, resource)));
    }
    Ok(())
}

/// Decision T15.
pub async fn a_public_resource_of_a_publisher_is_published(stores: &Stores) -> Kept {
    let (_, zenith) = two_organizations(stores).await?;
    stores.resources.store(zenith, public(1, 1, at(0)), at(0)).await?;
    let published = stores.resources.find_published(resource_guid(1)).await?;
    assert_eq!(published, Some(stored(zenith, public(1, 1, at(0)))));
    assert_eq!(stores.resources.find_published(resource_guid(2)).await?, None);
    Ok(())
}

/// Decision T15: only publishers can put content before other organizations.
pub async fn a_public_resource_of_another_organization_is_not_published(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, public(1, 1, at(0)), at(0)).await?;
    assert_eq!(stores.resources.find_published(resource_guid(1)).await?, None);
    Ok(())
}

/// Decision T15.
pub async fn a_private_resource_of_a_publisher_is_not_published(stores: &Stores) -> Kept {
    let (_, zenith) = two_organizations(stores).await?;
    stores.resources.store(zenith, a_resource(1), at(0)).await?;
    assert_eq!(stores.resources.find_published(resource_guid(1)).await?, None);
    // It is published and withdrawn again by its Domain.
    stores.resources.store(zenith, public(1, 2, at(1)), at(0)).await?;
    assert!(stores.resources.find_published(resource_guid(1)).await?.is_some());
    let withdrawn = NewResource { domain: Some(Domain::Private), ..public(1, 3, at(2)) };
    stores.resources.store(zenith, withdrawn, at(0)).await?;
    assert_eq!(stores.resources.find_published(resource_guid(1)).await?, None);
    Ok(())
}

/// Decision T15: `"publisher": false` withdraws it.
pub async fn who_is_no_publisher_any_more_publishes_nothing(stores: &Stores) -> Kept {
    let (_, zenith) = two_organizations(stores).await?;
    stores.resources.store(zenith, public(1, 1, at(0)), at(0)).await?;
    let withdrawn =
        FleetOrganization { name: ZENITH.to_owned(), publisher: Some(false), ..FleetOrganization::default() };
    register(stores, withdrawn).await?;
    assert_eq!(stores.resources.find_published(resource_guid(1)).await?, None);
    Ok(())
}

/// Decision T15: of several the newest, and only among publishers and Public ones.
pub async fn of_several_published_resources_the_newest_is_found(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[true, true, true, false]).await?;
    stores.resources.store(ids[0], public(1, 1, at(1)), at(0)).await?;
    stores.resources.store(ids[1], public(1, 2, at(3)), at(0)).await?;
    stores.resources.store(ids[2], NewResource { domain: None, ..public(1, 3, at(4)) }, at(0)).await?;
    stores.resources.store(ids[3], public(1, 4, at(5)), at(0)).await?;
    assert_eq!(publisher_of(stores).await?, Some(ids[1]));
    Ok(())
}

/// Of equally new ones that of the lowest organization number is found.
pub async fn of_equally_new_published_resources_the_lowest_organizations_is_found(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[true, true, true]).await?;
    for (number, id) in (1..).zip(ids.iter().rev()) {
        stores.resources.store(*id, public(1, number, at(1)), at(0)).await?;
    }
    assert_eq!(publisher_of(stores).await?, ids.iter().min().copied());
    Ok(())
}

/// Decision T15.
pub async fn a_resource_of_any_organization_exists_anywhere(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    assert!(!stores.resources.exists_anywhere(resource_guid(1)).await?);
    stores.resources.store(acme, a_resource(1), at(0)).await?;
    assert!(stores.resources.exists_anywhere(resource_guid(1)).await?);
    assert!(!stores.resources.exists_anywhere(resource_guid(2)).await?);
    stores.resources.store(zenith, public(1, 2, at(0)), at(0)).await?;
    stores.resources.delete(acme, resource_guid(1), Preconditions::None, at(0)).await?;
    assert!(stores.resources.exists_anywhere(resource_guid(1)).await?);
    stores.resources.delete(zenith, resource_guid(1), Preconditions::None, at(0)).await?;
    assert!(!stores.resources.exists_anywhere(resource_guid(1)).await?);
    Ok(())
}

/// Decisions T20, R14: compared without case over all of Unicode.
pub async fn pmm_values_are_compared_without_case_over_unicode(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, with_pmm(1, at(0), "Straße ΣΑΣ", "Cafe\u{301} Å", "6C_hq%"), at(0)).await?;
    let found = async |group: &str, media: &str, mode: &str| found(stores, acme, group, media, mode).await;
    assert_eq!(found("Straße ΣΑΣ", "Cafe\u{301} Å", "6C_hq%").await?, Some(resource_guid(1)));
    assert_eq!(found("STRASSE σας", "CAFÉ \u{212B}", "6c_HQ%").await?, Some(resource_guid(1)));
    assert_eq!(found("Strase ΣΑΣ", "Café Å", "6C_hq%").await?, None);
    assert_eq!(found("Straße ΣΑΣ", "Cafe Å", "6C_hq%").await?, None);
    // Nothing in a value stands for anything else.
    assert_eq!(found("Straße ΣΑΣ", "Café Å", "6CXhq%").await?, None);
    assert_eq!(found("*", "*", "*").await?, None);
    Ok(())
}

/// Decision T20: all three values have to match.
pub async fn each_pmm_value_counts(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, with_pmm(1, at(0), "a", "b", "c"), at(0)).await?;
    let none = NewResource { meta: a_meta(&[("Name", "N"), ("ProfileGroup", "a"), ("Media", "b")]), ..a_resource(2) };
    stores.resources.store(acme, none, at(0)).await?;
    for (group, media, mode) in [("x", "b", "c"), ("a", "x", "c"), ("a", "b", "x"), ("b", "a", "c"), ("a", "b", "")] {
        assert_eq!(found(stores, acme, group, media, mode).await?, None, "{group} {media} {mode}");
    }
    assert_eq!(found(stores, acme, "a", "b", "c").await?, Some(resource_guid(1)));
    Ok(())
}

/// Decision T15: the PMM lookup stays within the caller's own, in both domains.
pub async fn a_pmm_lookup_stays_within_the_organization(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let of_zenith = NewResource { domain: Some(Domain::Public), ..with_pmm(1, at(9), "a", "b", "c") };
    stores.resources.store(zenith, of_zenith.clone(), at(0)).await?;
    assert_eq!(found(stores, acme, "a", "b", "c").await?, None);
    let found = stores.resources.find_by_pmm(zenith, &pmm_key("a", "b", "c")).await?;
    assert_eq!(found, Some(stored(zenith, of_zenith)));
    Ok(())
}

/// Decision T20.
pub async fn of_several_pmm_matches_the_newest_is_found(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let micro = |micros: i64| Timestamp::from_micros(at(0).as_micros() + micros);
    for (number, micros) in [(1, 1), (3, 3), (2, 2)] {
        stores.resources.store(acme, with_pmm(number, micro(micros), "A", "B", "C"), at(0)).await?;
    }
    assert_eq!(found(stores, acme, "a", "b", "c").await?, Some(resource_guid(3)));
    Ok(())
}

/// Decision T20: of equally new ones the lowest GUID, the first digit counting most.
pub async fn of_equally_new_pmm_matches_the_lowest_guid_is_found(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let numbers = [u128::MAX, 0x7f << 120, 0x80 << 120, 0x0100 << 104, 0xff << 96];
    for number in numbers {
        stores.resources.store(acme, with_pmm(number, at(0), "A", "B", "C"), at(0)).await?;
    }
    let lowest = numbers.into_iter().min().map(resource_guid);
    assert_eq!(found(stores, acme, "a", "b", "c").await?, lowest);
    Ok(())
}

/// Decision T14: an update replaces the values by which a resource is looked up.
pub async fn an_updated_resource_is_found_under_its_new_pmm_values_only(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.resources.store(acme, with_pmm(1, at(0), "a", "b", "c"), at(0)).await?;
    let newer = NewResource { guid: resource_guid(1), ..with_pmm(2, at(1), "x", "y", "z") };
    stores.resources.store(acme, newer, at(0)).await?;
    assert_eq!(found(stores, acme, "a", "b", "c").await?, None);
    assert_eq!(found(stores, acme, "x", "y", "z").await?, Some(resource_guid(1)));
    stores
        .resources
        .store(acme, NewResource { modified: at(2), guid: resource_guid(1), ..a_resource(3) }, at(0))
        .await?;
    assert_eq!(found(stores, acme, "x", "y", "z").await?, None);
    Ok(())
}

/// Values of any length are found, and a difference at any place counts.
pub async fn very_long_pmm_values_are_told_apart_by_their_last_character(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let long = |last: &str| format!("{}{last}", "Ärmel ".repeat(2_000));
    stores.resources.store(acme, with_pmm(1, at(0), &long("a"), &long("b"), &long("c")), at(0)).await?;
    stores.resources.store(acme, with_pmm(2, at(1), &long("a"), &long("b"), &long("d")), at(0)).await?;
    assert_eq!(found(stores, acme, &long("A"), &long("B"), &long("C")).await?, Some(resource_guid(1)));
    assert_eq!(found(stores, acme, &long("A"), &long("B"), &long("D")).await?, Some(resource_guid(2)));
    assert_eq!(found(stores, acme, &long("A"), &long("B"), &long("E")).await?, None);
    Ok(())
}

/// A Public resource whose blob is of the number `content`.
fn public(number: u128, content: u128, modified: Timestamp) -> NewResource {
    let content = StoredContent { key: a_blob_key(content), size: 16 };
    NewResource { domain: Some(Domain::Public), modified, content, ..a_resource(number) }
}

fn with_pmm(number: u128, modified: Timestamp, group: &str, media: &str, mode: &str) -> NewResource {
    let meta = a_meta(&[("Name", "N"), ("ProfileGroup", group), ("Media", media), ("Mode", mode)]);
    NewResource { modified, meta, ..a_resource(number) }
}

async fn found(
    stores: &Stores,
    organization: OrganizationId,
    group: &str,
    media: &str,
    mode: &str,
) -> Result<Option<ResourceGuid>, StoreError> {
    let found = stores.resources.find_by_pmm(organization, &pmm_key(group, media, mode)).await?;
    Ok(found.map(|resource| resource.guid))
}

async fn publisher_of(stores: &Stores) -> Result<Option<OrganizationId>, StoreError> {
    Ok(stores.resources.find_published(resource_guid(1)).await?.map(|found| found.organization))
}
