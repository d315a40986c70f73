//! Unit tests of the use cases of operators on resources.

use super::*;
use crate::activity::{Currency, Fetch, Holder};
use crate::blob::BlobKey;
use crate::fleet::FleetRegistry;
use crate::icc::MockProfileReader;
use crate::operator::Scope;
use crate::resource::{NewResource, StoredContent};
use crate::testing::{
    ACME, InMemoryBlobs, InMemoryStore, ZENITH, a_blob_key, a_fleet, a_resource, acme_records, at, resource_guid,
};

struct Desk {
    service: ResourceCatalogService,
    store: InMemoryStore,
    blobs: InMemoryBlobs,
    acme: OrganizationId,
    zenith: OrganizationId,
}

impl Desk {
    async fn new(profiles: MockProfileReader) -> Self {
        let (store, blobs) = (InMemoryStore::new(), InMemoryBlobs::default());
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let all = store.organizations(None).await.unwrap();
        let shared = Arc::new(store.clone());
        let service = ResourceCatalogService {
            catalog: shared.clone(),
            resources: shared.clone(),
            activity: shared.clone(),
            inspection: shared,
            blobs: Arc::new(blobs.clone()),
            profiles: Arc::new(profiles),
        };
        Self { service, store, blobs, acme: all[0].id, zenith: all[1].id }
    }

    async fn store(&self, organization: OrganizationId, number: u128, content: &[u8]) -> BlobKey {
        let key = a_blob_key(number);
        self.blobs.put(&key, content.to_vec());
        let content = StoredContent { key: key.clone(), size: content.len() as u64 };
        self.store.store(organization, NewResource { content, ..a_resource(number) }, at(0)).await.unwrap();
        key
    }
}

fn of(organization: OrganizationId) -> Actor {
    Actor { scope: Scope::Organization(organization), ..Actor::command("root") }
}

fn first<K>() -> PageRequest<K> {
    PageRequest { after: None, limit: 50 }
}

fn guid(number: u128) -> String {
    resource_guid(number).to_string()
}

/// Decision P8.
#[tokio::test]
async fn an_operator_of_one_organization_sees_its_resources_only() {
    let desk = Desk::new(MockProfileReader::new()).await;
    desk.store(desk.acme, 1, b"a").await;
    desk.store(desk.zenith, 2, b"b").await;
    let listed = async |actor: &Actor, organization: Option<&str>| {
        let query = CatalogQuery { organization: organization.map(str::to_owned), ..CatalogQuery::default() };
        let page = desk.service.list(actor, &query, &first()).await?;
        Ok::<_, OperatorError>(page.items.into_iter().map(|one| one.organization).collect::<Vec<_>>())
    };
    assert_eq!(listed(&Actor::command("root"), None).await.unwrap(), [ACME, ZENITH]);
    assert_eq!(listed(&of(desk.zenith), None).await.unwrap(), [ZENITH]);
    assert_eq!(listed(&of(desk.zenith), Some("")).await.unwrap(), [ZENITH]);
    let foreign = listed(&of(desk.zenith), Some(ACME)).await;
    assert!(matches!(foreign, Err(OperatorError::NotFound(_))), "{foreign:?}");

    let found = desk.service.find(&of(desk.acme), ACME, &guid(1)).await.unwrap();
    assert_eq!((found.organization.as_str(), found.resource.guid), (ACME, resource_guid(1)));
    for (actor, organization, guid) in [
        (of(desk.zenith), ACME, guid(1)),
        (of(desk.acme), ACME, guid(2)),
        (of(desk.acme), ACME, "no guid".to_owned()),
        (Actor::command("root"), "Nowhere", guid(1)),
        (Actor::command("root"), "", guid(1)),
    ] {
        let missing = desk.service.find(&actor, organization, &guid).await;
        assert!(matches!(missing, Err(OperatorError::NotFound(_))), "{organization} {guid}: {missing:?}");
    }
}

/// Decision I9.
#[tokio::test]
async fn holders_are_those_of_the_resource_or_of_the_named_organization() {
    let desk = Desk::new(MockProfileReader::new()).await;
    desk.store(desk.zenith, 1, b"a").await;
    let key = ResourceKey { organization: desk.zenith, guid: resource_guid(1) };
    let fetch = Fetch { checksum: a_resource(1).checksum, at: at(3) };
    desk.store.store_fetches(&[((Holder::Computer(desk.acme, acme_records().computer), key), fetch)]).await.unwrap();
    let found = desk.service.find(&Actor::command("root"), ZENITH, &guid(1)).await.unwrap();
    let states = async |actor: &Actor, organization: Option<&str>| {
        let filter = HolderFilter { organization: organization.map(str::to_owned), state: None };
        let holders = desk.service.holders(actor, &found, &filter, &first()).await?;
        Ok::<_, OperatorError>(holders.page.items.into_iter().map(|one| (one.name, one.state)).collect::<Vec<_>>())
    };
    let root = Actor::command("root");
    let never = [("RIP-02".to_owned(), Currency::NeverFetched)];
    assert_eq!(states(&root, None).await.unwrap(), never);
    assert_eq!(states(&root, Some(" ")).await.unwrap(), never);
    assert_eq!(states(&root, Some(ACME)).await.unwrap(), [("RIP-01".to_owned(), Currency::Current)]);
    let foreign = states(&of(desk.zenith), Some(ACME)).await;
    assert!(matches!(foreign, Err(OperatorError::NotFound(_))), "{foreign:?}");
}

/// Decision I11.
#[tokio::test]
async fn only_a_profile_is_read_as_one() {
    let mut profiles = MockProfileReader::new();
    profiles.expect_read().once().returning(|source| {
        let facts = ProfileFacts { size: source.size, ..ProfileFacts::default() };
        Ok(facts)
    });
    let desk = Desk::new(profiles).await;
    let root = Actor::command("root");
    let profile = [&[0; 36][..], b"acsp", &[0; 300]].concat();
    for (number, content, is_read, image) in [
        (1, &profile[..], true, None),
        (2, b"\x89PNG\r\n\x1a\n", false, Some(ImageKind::Png)),
        (3, b"", false, None),
        (4, b"<svg onload=alert(1)>", false, None),
    ] {
        desk.store(desk.acme, number, content).await;
        let found = desk.service.find(&root, ACME, &guid(number)).await.unwrap();
        assert_eq!(desk.service.profile(&found).await.unwrap().is_some(), is_read, "{number}");
        assert_eq!(desk.service.image(&found).await.unwrap(), image, "{number}");
    }
}

#[tokio::test]
async fn a_lost_content_is_a_failure_of_the_store() {
    let desk = Desk::new(MockProfileReader::new()).await;
    let key = desk.store(desk.acme, 1, b"a").await;
    desk.blobs.delete(&key).await.unwrap();
    let found = desk.service.find(&Actor::command("root"), ACME, &guid(1)).await.unwrap();
    assert!(matches!(desk.service.profile(&found).await, Err(StoreError::Corrupt { .. })));
    assert!(matches!(desk.service.content(&found, None).await, Err(StoreError::Corrupt { .. })));
}
