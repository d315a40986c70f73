//! [`crate::resource_catalog::ResourceCatalog`].

use super::scene::{register, store_all, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::fleet::{FleetOrganization, FleetRecord, Job, Queue};
use crate::guid::{JobGuid, QueueGuid};
use crate::page::PageRequest;
use crate::resource::{Domain, NewResource, Preconditions, ResourceType, StoredContent};
use crate::resource_catalog::{CatalogCursor, CatalogEntry, CatalogFilter, CatalogSearch, ResourceUse, UseKind};
use crate::testing::{ACME, a_blob_key, a_meta, a_resource, acme_records, at, numbered, resource_guid};
use crate::text::Folded;

/// All pages of a list, of at most `limit` entries each.
async fn pages(stores: &Stores, filter: &CatalogFilter, limit: u64) -> Result<Vec<CatalogEntry>, StoreError> {
    let (mut entries, mut after) = (Vec::new(), None);
    loop {
        let page = stores.resource_catalog.page(filter, &PageRequest { after, limit }).await?;
        assert!(page.items.len() as u64 <= limit, "a page is too long");
        entries.extend(page.items);
        after = page.next;
        if after.is_none() {
            return Ok(entries);
        }
    }
}

async fn numbers(stores: &Stores, filter: &CatalogFilter) -> Result<Vec<u128>, StoreError> {
    Ok(pages(stores, filter, 2).await?.iter().map(|entry| entry.guid.as_uuid().as_u128()).collect())
}

fn named(number: u128, name: &str) -> NewResource {
    NewResource { meta: a_meta(&[("Name", name)]), ..a_resource(number) }
}

fn of(organization: OrganizationId) -> CatalogFilter {
    CatalogFilter { organization: Some(organization), ..CatalogFilter::default() }
}

fn search(name: &str) -> CatalogFilter {
    CatalogFilter { search: Some(CatalogSearch::Name(Folded::of(name))), ..CatalogFilter::default() }
}

pub async fn an_entry_shows_the_resource_as_it_is_stored(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let resource = NewResource {
        resource_type: ResourceType::new("My Type").ok_or("a type that is not blank")?,
        domain: Some(Domain::Public),
        modified: at(7),
        content: StoredContent { key: a_blob_key(1), size: 4_321 },
        ..named(1, "Über 🖨")
    };
    stores.resources.store(acme, resource.clone(), at(0)).await?;
    let entry = CatalogEntry {
        organization: acme,
        guid: resource.guid,
        resource_type: resource.resource_type,
        name: "Über 🖨".to_owned(),
        sort_key: "über 🖨".to_owned(),
        domain: Domain::Public,
        size: 4_321,
        checksum: resource.checksum,
        modified: at(7),
    };
    assert_eq!(pages(stores, &CatalogFilter::default(), 9).await?, [entry]);
    Ok(())
}

pub async fn resources_of_all_organizations_are_in_one_order(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let public = |number, name| NewResource { domain: Some(Domain::Public), ..named(number, name) };
    store_all(stores, acme, vec![named(1, "beta"), public(2, "ALPHA"), named(3, "Gamma"), named(4, "beta")]).await?;
    store_all(stores, zenith, vec![public(1, "Beta"), named(5, "alpha"), public(6, "delta")]).await?;
    let all = pages(stores, &CatalogFilter::default(), 2).await?;
    let order: Vec<_> = all.iter().map(|one| (one.organization, one.guid.as_uuid().as_u128())).collect();
    let expected = [(acme, 2), (zenith, 5), (acme, 1), (acme, 4), (zenith, 1), (zenith, 6), (acme, 3)];
    assert_eq!(order, expected);
    assert_eq!(numbers(stores, &of(zenith)).await?, [5, 1, 6]);
    Ok(())
}

pub async fn filters_of_resources_combine(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let typed = |number, name: &str, domain| NewResource {
        resource_type: ResourceType::new(name).expect("a name that is not blank"),
        domain: Some(domain),
        ..a_resource(number)
    };
    let (private, public) = (Domain::Private, Domain::Public);
    let acmes = vec![typed(1, "Größe", private), typed(2, "GRÖSSE", public), typed(3, "Label", public)];
    store_all(stores, acme, acmes).await?;
    store_all(stores, zenith, vec![typed(4, "größe", public), typed(5, "Label", private)]).await?;
    let size = Some(Folded::of("grösse"));
    for (filter, expected) in [
        (CatalogFilter { resource_type: size.clone(), ..CatalogFilter::default() }, vec![1, 2, 4]),
        (CatalogFilter { domain: Some(public), ..CatalogFilter::default() }, vec![2, 3, 4]),
        (CatalogFilter { domain: Some(private), ..of(acme) }, vec![1]),
        (CatalogFilter { resource_type: size.clone(), ..of(acme) }, vec![1, 2]),
        (CatalogFilter { resource_type: size.clone(), domain: Some(public), ..of(zenith) }, vec![4]),
        (CatalogFilter { resource_type: Some(Folded::of("labe")), ..CatalogFilter::default() }, vec![]),
        (CatalogFilter { resource_type: size, ..search("resource 2") }, vec![2]),
        (CatalogFilter { domain: Some(private), organization: Some(zenith), ..search("resource") }, vec![5]),
    ] {
        assert_eq!(numbers(stores, &filter).await?, expected, "{filter:?}");
    }
    Ok(())
}

/// Decision R14.
pub async fn a_name_is_searched_for_without_case_and_taken_literally(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let acmes = vec![named(1, "ISO Coated v2"), named(2, "100% Cotton"), named(3, "a_b"), named(4, "aXb")];
    store_all(stores, acme, acmes).await?;
    store_all(stores, zenith, vec![named(5, "Straße \\ iso!"), named(6, "100 Cotton")]).await?;
    for (text, expected) in [
        ("ISO", vec![1, 5]),
        ("COATED V", vec![1]),
        ("0%", vec![2]),
        ("_", vec![3]),
        ("STRASSE \\", vec![5]),
        ("iso!", vec![5]),
        ("nothing", vec![]),
    ] {
        assert_eq!(numbers(stores, &search(text)).await?, expected, "{text}");
    }
    let long = "x".repeat(100_000);
    assert_eq!(numbers(stores, &search(&long)).await?, Vec::<u128>::new());
    Ok(())
}

pub async fn a_guid_is_found_in_every_organization(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    store_all(stores, acme, vec![a_resource(1), a_resource(2)]).await?;
    let public = NewResource { domain: Some(Domain::Public), ..a_resource(1) };
    store_all(stores, zenith, vec![public, a_resource(3)]).await?;
    let guid = |number| Some(CatalogSearch::Guid(resource_guid(number)));
    let found = pages(stores, &CatalogFilter { search: guid(1), ..CatalogFilter::default() }, 1).await?;
    assert_eq!(found.iter().map(|entry| entry.organization).collect::<Vec<_>>(), [acme, zenith]);
    assert_eq!(numbers(stores, &CatalogFilter { search: guid(1), ..of(zenith) }).await?, [1]);
    assert_eq!(numbers(stores, &CatalogFilter { search: guid(2), ..of(zenith) }).await?, Vec::<u128>::new());
    Ok(())
}

pub async fn pages_of_resources_follow_each_other_while_others_come_and_go(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let name = |number: u128| format!("n {number:04}");
    let many = |numbers: Vec<u128>| numbers.into_iter().map(|number| named(number, &name(number))).collect();
    store_all(stores, acme, many((0..300).step_by(2).collect())).await?;
    store_all(stores, zenith, many((1..300).step_by(2).collect())).await?;
    for filter in [CatalogFilter::default(), search("n ")] {
        let (mut seen, mut after, mut round) = (Vec::<u128>::new(), None::<CatalogCursor>, 0_u128);
        loop {
            let page = stores.resource_catalog.page(&filter, &PageRequest { after, limit: 40 }).await?;
            seen.extend(page.items.iter().map(|entry| entry.guid.as_uuid().as_u128()));
            after = page.next;
            if after.is_none() {
                break;
            }
            // One comes and one goes before and after what was read.
            round += 1;
            for (number, place) in [(1_000 + round, "a"), (2_000 + round, "z")] {
                let resource = named(number, place);
                let content = StoredContent { key: a_blob_key(number + 10_000), size: 1 };
                stores.resources.store(acme, NewResource { content, ..resource }, at(0)).await?;
                let gone = resource_guid(number);
                stores.resources.delete(acme, gone, Preconditions::None, at(1)).await?;
            }
        }
        assert!(seen == (0..300).collect::<Vec<_>>(), "lost or doubled: {seen:?}");
    }
    Ok(())
}

/// Decision O3: records that are removed don't count.
pub async fn uses_of_a_resource_are_queues_then_jobs(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let resource = acme_records().used_by_queue;
    let queue = |number: u128| Queue {
        guid: QueueGuid::from(numbered(number)),
        name: Some(format!("Queue {number}")),
        device: None,
        uses: Some(vec![resource]),
    };
    let job = |number: u128| Job {
        guid: JobGuid::from(numbered(number)),
        name: Some(format!("Job {number}")),
        queue: None,
        uses: Some(vec![resource]),
    };
    let more = FleetOrganization {
        name: ACME.to_owned(),
        queues: vec![queue(0xf1), queue(0xf2)],
        jobs: vec![job(0xf3), job(0xf4)],
        ..FleetOrganization::default()
    };
    register(stores, more).await?;
    let retired = FleetRecord::Queue(QueueGuid::from(numbered(0xf2)));
    stores.records.set_retired(ACME, &retired, Some(at(1))).await?;
    let used = |kind, number: u128, name: &str| ResourceUse { kind, guid: numbered(number), name: name.to_owned() };
    let expected = [
        used(UseKind::Queue, 0xf1, "Queue 241"),
        used(UseKind::Queue, acme_records().queue.as_uuid().as_u128(), "Banner"),
        used(UseKind::Job, 0xf3, "Job 243"),
        used(UseKind::Job, 0xf4, "Job 244"),
    ];
    assert_eq!(stores.resource_catalog.uses(acme, resource, 50).await?, expected);
    assert_eq!(stores.resource_catalog.uses(acme, resource, 3).await?, expected[..3]);
    assert_eq!(stores.resource_catalog.uses(zenith, resource, 50).await?, []);
    Ok(())
}
