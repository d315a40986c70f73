//! [`crate::resource::ResourceRepository::list`].

use super::scene::{organizations, store_all, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::resource::{
    Domain, ListFilter, NewResource, Preconditions, ResourceListItem, ResourceType, StoreOutcome, StoredContent,
};
use crate::testing::{a_blob_key, a_meta, a_resource, at, resource_guid};
use crate::text::Folded;
use futures_util::TryStreamExt;

/// Interface 2.4.
pub async fn a_list_item_carries_guid_type_checksum_and_name(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let resource = NewResource {
        resource_type: ResourceType::new("My Type").ok_or("a type that is not blank")?,
        meta: a_meta(&[("Name", "Über 🖨"), ("Media", "Other")]),
        ..a_resource(1)
    };
    stores.resources.store(acme, resource.clone(), at(0)).await?;
    let item = ResourceListItem {
        guid: resource.guid,
        resource_type: resource.resource_type,
        checksum: resource.checksum,
        name: "Über 🖨".to_owned(),
    };
    assert_eq!(listed(stores, acme, None, Domain::Private).await?, [item]);
    Ok(())
}

/// Decisions T15, T19: the organization's own, of one domain.
pub async fn a_list_holds_the_own_resources_of_one_domain(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let of = |number: u128, domain: Domain| NewResource { domain: Some(domain), ..a_resource(number) };
    store_all(stores, acme, vec![of(1, Domain::Private), of(2, Domain::Public)]).await?;
    store_all(stores, zenith, vec![of(3, Domain::Private), of(4, Domain::Public)]).await?;
    assert_eq!(numbers(stores, acme, None, Domain::Private).await?, [1]);
    assert_eq!(numbers(stores, acme, None, Domain::Public).await?, [2]);
    assert_eq!(numbers(stores, zenith, None, Domain::Private).await?, [3]);
    assert_eq!(numbers(stores, zenith, None, Domain::Public).await?, [4]);
    Ok(())
}

/// An organization without resources has an empty list.
pub async fn an_empty_list_is_no_error(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    assert_eq!(listed(stores, acme, None, Domain::Private).await?, []);
    Ok(())
}

/// Decisions T19, R14.
pub async fn types_are_matched_without_case(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let types = ["Label", "LABEL", "Template", "Maße", "Größe", "La_el", "100%"];
    let mut resources = Vec::new();
    for (number, name) in (1..).zip(types) {
        let resource_type = ResourceType::new(name).ok_or("a type that is not blank")?;
        resources.push(NewResource { resource_type, ..a_resource(number) });
    }
    store_all(stores, acme, resources).await?;
    let of = async |types: &[&str]| numbers(stores, acme, Some(types), Domain::Private).await;
    assert_eq!(of(&["label"]).await?, [1, 2]);
    assert_eq!(of(&["TEMPLATE", "label"]).await?, [1, 2, 3]);
    assert_eq!(of(&["label", "Label", "LABEL"]).await?, [1, 2]);
    assert_eq!(of(&["MASSE", "GRO\u{308}SSE"]).await?, [4, 5]);
    assert_eq!(of(&["la_el"]).await?, [6]);
    assert_eq!(of(&["100%"]).await?, [7]);
    assert_eq!(of(&["Preview", "%", "Labe"]).await?, [] as [u128; 0]);
    assert_eq!(numbers(stores, acme, None, Domain::Private).await?, [1, 2, 3, 4, 5, 6, 7]);
    Ok(())
}

/// Decision T19: a caller may name as many types as fit into a body.
pub async fn a_list_of_very_many_types_is_answered(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    store_all(stores, acme, vec![a_resource(1)]).await?;
    let names: Vec<String> = (0..70_000).map(|number| format!("type {number}")).collect();
    let mut types: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(numbers(stores, acme, Some(&types), Domain::Private).await?, [] as [u128; 0]);
    types.push("LABEL");
    assert_eq!(numbers(stores, acme, Some(&types), Domain::Private).await?, [1]);
    Ok(())
}

/// Decision T19, R14: by folded name, byte for byte the same on every database, then by GUID.
pub async fn a_list_is_sorted_by_folded_name_then_guid(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    // In this order; names in one row are equal without case.
    let rows: &[&[&str]] = &[
        &[" first"],
        &["-"],
        &["10"],
        &["2"],
        &["_"],
        &["ALPHA", "alpha", "Alpha"],
        &["alpha 1"],
        &["Beta"],
        &["strasse", "Straße", "STRASSE"],
        &["z"],
        &["Ångström", "A\u{30A}ngstro\u{308}m", "\u{212B}NGSTRÖM"],
        &["é", "e\u{301}", "É"],
        &["ΣΑΣ", "σας"],
        &["Ж", "ж"],
        &["日本"],
        &["\u{FF5E}"],
        &["🖨"],
    ];
    let mut resources = Vec::new();
    let mut expected = Vec::new();
    for (row, names) in (0..).zip(rows) {
        for (place, name) in (1..).zip(*names) {
            // Rows that come later have lower GUIDs, so that the name must decide between rows.
            let number = (1000 - row) * 10 + place;
            expected.push(number);
            resources.push(NewResource { meta: a_meta(&[("Name", name)]), ..a_resource(number) });
        }
    }
    resources.reverse();
    store_all(stores, acme, resources).await?;
    assert_eq!(numbers(stores, acme, None, Domain::Private).await?, expected);
    Ok(())
}

/// GUIDs count as numbers of 128 bits without sign, the first digit most.
pub async fn resources_of_one_name_are_sorted_by_guid(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let mut guids = vec![u128::MAX, 0, 1, 0x80 << 120, 0x7f << 120, 0x0102 << 64, 0x0201 << 64, 0xff00];
    let same = |number: u128| NewResource { meta: a_meta(&[("Name", "Same")]), ..a_resource(number) };
    store_all(stores, acme, guids.iter().map(|number| same(*number)).collect()).await?;
    guids.sort_unstable();
    assert_eq!(numbers(stores, acme, None, Domain::Private).await?, guids);
    Ok(())
}

/// Decision T19: the first 200 characters decide, then the GUID; each resource is listed once.
pub async fn names_that_agree_in_200_characters_are_sorted_by_guid(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let named = |number: u128| {
        // Two names of 199 and 200 characters that agree but in the last one, and ends that fall while the numbers rise.
        let name = format!("{}{}{:04}", "Ü".repeat(199), ["b", "a"][usize::from(number >= 750)], 5_000 - number);
        NewResource { meta: a_meta(&[("Name", &name)]), ..a_resource(number) }
    };
    store_all(stores, acme, (0..1_500).map(named).collect()).await?;
    let expected: Vec<u128> = (750..1_500).chain(0..750).collect();
    assert!(numbers(stores, acme, None, Domain::Private).await? == expected, "out of order, lost or doubled");
    Ok(())
}

/// Decision T19: a resource that is renamed while a list is read is in it once, under its former or its new name.
pub async fn a_list_holds_a_resource_that_is_renamed_meanwhile_once(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let named = |number: u128, name: String, modified| NewResource {
        meta: a_meta(&[("Name", &name)]),
        modified: at(modified),
        content: StoredContent { key: a_blob_key(number + 10_000 * u128::from(modified.unsigned_abs())), size: 1 },
        ..a_resource(number)
    };
    let count = 3_000;
    store_all(stores, acme, (0..count).map(|number| named(number, format!("n {number:04}"), 0)).collect()).await?;
    for (pass, types, places) in [(1, None, ["z", "a"]), (2, Some(vec![Folded::of("label")]), ["b", "y"])] {
        let mut list = stores.resources.list(acme, ListFilter { types, domain: Domain::Private });
        let mut listed: Vec<u128> = Vec::new();
        let mut renamed = 0;
        while let Some(item) = list.try_next().await? {
            listed.push(item.guid.as_uuid().as_u128());
            // From the first to the last place, and from the last to the first.
            if listed.len().is_multiple_of(100) && renamed < 20 {
                renamed += 1;
                for (number, place) in [renamed, count - renamed].into_iter().zip(places) {
                    let renamed = named(number, format!("{place} {number}"), pass);
                    assert_eq!(stores.resources.store(acme, renamed, at(0)).await?, StoreOutcome::Stored);
                }
            }
        }
        listed.sort_unstable();
        assert!(listed == (0..count).collect::<Vec<_>>(), "lost or doubled");
    }
    Ok(())
}

/// Names may be longer than a database can put into an index.
pub async fn very_long_names_are_listed(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let head: String = (0..20_000_u32).filter_map(|place| char::from_u32(0x4E00 + place)).collect();
    let named = |number: u128| {
        let name = format!("{head}{}", 9 - number);
        NewResource { meta: a_meta(&[("Name", &name)]), ..a_resource(number) }
    };
    store_all(stores, acme, (1..=5).map(named).collect()).await?;
    let items = listed(stores, acme, None, Domain::Private).await?;
    assert_eq!(items.iter().map(|item| item.guid.as_uuid().as_u128()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(items.iter().all(|item| item.name.starts_with(&head)));
    Ok(())
}

/// A list that doesn't fit into one page loses and doubles nothing.
pub async fn a_list_of_thousands_is_whole_and_in_order(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let named = |number: u128| {
        let name = ["Alpha", "BETA", "gamma"][usize::try_from(number % 3).unwrap_or_default()];
        let resource_type =
            if number.is_multiple_of(5) { ResourceType::generic() } else { a_resource(1).resource_type };
        NewResource { meta: a_meta(&[("Name", name)]), resource_type, ..a_resource(number) }
    };
    store_all(stores, acme, (0..2_500).map(named).collect()).await?;
    let all: Vec<u128> = (0..3).flat_map(|rest| (0..2_500).filter(move |number| number % 3 == rest)).collect();
    assert!(numbers(stores, acme, None, Domain::Private).await? == all, "out of order, lost or doubled");
    let generic: Vec<u128> = all.into_iter().filter(|number| number.is_multiple_of(5)).collect();
    assert!(numbers(stores, acme, Some(&["generic"]), Domain::Private).await? == generic, "filtered list is wrong");
    Ok(())
}

/// No connection is held while a reader is slow: lists that wait don't keep anyone from working.
pub async fn slow_readers_keep_nobody_waiting(stores: &Stores) -> Kept {
    let acme = organizations(stores, &[false]).await?[0];
    store_all(stores, acme, (0..2_000).map(a_resource).collect()).await?;
    let filter = ListFilter { types: None, domain: Domain::Private };
    let mut readers: Vec<_> = (0..40).map(|_| stores.resources.list(acme, filter.clone())).collect();
    for reader in &mut readers {
        assert!(reader.try_next().await?.is_some());
    }
    stores.resources.store(acme, a_resource(5_000), at(0)).await?;
    stores.resources.delete(acme, resource_guid(5_000), Preconditions::None, at(0)).await?;
    for reader in readers {
        assert_eq!(reader.try_fold(1, async |count, _| Ok(count + 1)).await?, 2_000);
    }
    Ok(())
}

async fn listed(
    stores: &Stores,
    organization: OrganizationId,
    types: Option<&[&str]>,
    domain: Domain,
) -> Result<Vec<ResourceListItem>, StoreError> {
    let types = types.map(|types| types.iter().map(|name| Folded::of(name)).collect());
    stores.resources.list(organization, ListFilter { types, domain }).try_collect().await
}

async fn numbers(
    stores: &Stores,
    organization: OrganizationId,
    types: Option<&[&str]>,
    domain: Domain,
) -> Result<Vec<u128>, StoreError> {
    let items = listed(stores, organization, types, domain).await?;
    Ok(items.iter().map(|item| item.guid.as_uuid().as_u128()).collect())
}
