//! Fetching, deleting, listing and looking up over fakes.

use super::ResourceService;
use crate::blob::{MockBlobLedger, MockBlobStore, Uploads};
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::error::{Reason, StoreError};
use crate::limits::Limits;
use crate::resource::{
    DeleteOutcome, Domain, ListFilter, MockResourceRepository, OtherState, Preconditions, ResourceListItem,
    StoredResource,
};
use crate::sample::{detail, is_store_failure, reason};
use crate::testing::{CountingIds, FixedClock, a_caller, a_resource, at, pmm_key, resource_guid, stored};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use std::sync::Arc;

const ACME: OrganizationId = OrganizationId(1);
const ZENITH: OrganizationId = OrganizationId(2);

const GUID: &str = "{00000000-0000-0000-0000-00000000000A}";

fn service(resources: MockResourceRepository) -> ResourceService {
    with_blobs(resources, MockBlobStore::new())
}

fn with_blobs(resources: MockResourceRepository, blobs: MockBlobStore) -> ResourceService {
    let (ledger, clock) = (Arc::new(MockBlobLedger::new()), Arc::new(FixedClock::new(at(5))));
    let uploads = Uploads::new(Arc::new(blobs), ledger, clock, Arc::new(CountingIds::default()));
    ResourceService::new(Arc::new(resources), uploads, Limits::default())
}

/// Where the resource 10 is to be found.
struct Found {
    own: bool,
    published: bool,
    elsewhere: bool,
}

/// A repository that is asked in the order of decision T15, and no further than needed.
fn repository(found: &Found) -> MockResourceRepository {
    let resource = |there: bool, owner| there.then(|| stored(owner, a_resource(10)));
    let (own, published, elsewhere) = (resource(found.own, ACME), resource(found.published, ZENITH), found.elsewhere);
    let mut resources = MockResourceRepository::new();
    resources
        .expect_find()
        .times(1)
        .withf(|organization, guid| *organization == ACME && *guid == resource_guid(10))
        .return_once(move |_, _| Ok(own));
    if !found.own {
        resources.expect_find_published().times(1).return_once(move |_| Ok(published));
    }
    resources.expect_exists_anywhere().returning(move |_| Ok(elsewhere));
    resources
}

const NOWHERE: Found = Found { own: false, published: false, elsewhere: false };

fn owner(found: &StoredResource) -> OrganizationId {
    found.organization
}

#[tokio::test]
async fn the_callers_own_resource_comes_first() {
    // Decisions R7, T15.
    let found = Found { own: true, published: true, elsewhere: true };
    let file = service(repository(&found)).find(&a_caller(ACME), GUID).await.unwrap();
    let info = service(repository(&found)).info(&a_caller(ACME), GUID).await.unwrap();
    assert_eq!((owner(&file), owner(&info)), (ACME, ACME));
}

#[tokio::test]
async fn a_publishers_public_resource_is_found_else() {
    // Decision T15.
    let found = Found { published: true, elsewhere: true, ..NOWHERE };
    let file = service(repository(&found)).find(&a_caller(ACME), GUID).await.unwrap();
    let info = service(repository(&found)).info(&a_caller(ACME), GUID).await.unwrap();
    assert_eq!((owner(&file), owner(&info)), (ZENITH, ZENITH));
}

#[tokio::test]
async fn a_resource_of_somebody_else_is_no_access_for_info_only() {
    // Decision T15.
    let found = Found { elsewhere: true, ..NOWHERE };
    let info = service(repository(&found)).info(&a_caller(ACME), GUID).await;
    assert_eq!(reason(info), Reason::ResourceNoAccess);
    let file = service(repository(&found)).find(&a_caller(ACME), GUID).await;
    assert_eq!(reason(file), Reason::ResourceNotFound);
}

#[tokio::test]
async fn a_resource_that_is_nowhere_is_not_found() {
    // Interface part 7.
    assert_eq!(reason(service(repository(&NOWHERE)).find(&a_caller(ACME), GUID).await), Reason::ResourceNotFound);
    assert_eq!(reason(service(repository(&NOWHERE)).info(&a_caller(ACME), GUID).await), Reason::ResourceNotFound);
}

fn any_state() -> Preconditions {
    Preconditions::None
}

#[tokio::test]
async fn a_malformed_guid_in_a_path_is_not_found_without_looking() {
    // Decisions R1, R7, R9.
    for guid in ["", "x", "list", "00000000-0000-0000-0000-00000000000A\0", "00000000-0000-0000-0000-0000000000"] {
        let service = service(MockResourceRepository::new());
        let caller = a_caller(ACME);
        assert_eq!(reason(service.find(&caller, guid).await), Reason::ResourceNotFound, "{guid:?}");
        assert_eq!(reason(service.info(&caller, guid).await), Reason::ResourceNotFound, "{guid:?}");
    }
    for guid in ["x", "list", "88de5c02"] {
        let outcome = service(MockResourceRepository::new()).delete(&a_caller(ACME), Some(guid), any_state()).await;
        assert_eq!(reason(outcome), Reason::ResourceToDeleteNotFound, "{guid:?}");
    }
}

#[tokio::test]
async fn delete_without_a_guid_says_so() {
    // Decision T16.
    for guid in [None, Some(""), Some(" ")] {
        let outcome = service(MockResourceRepository::new()).delete(&a_caller(ACME), guid, any_state()).await;
        assert_eq!(reason(outcome), Reason::ResourceGuidMissing, "{guid:?}");
    }
}

#[tokio::test]
async fn delete_answers_what_became_of_the_resource() {
    // Decisions O3, R11, T15, T17.
    let deleting = |answer: DeleteOutcome| {
        let mut resources = MockResourceRepository::new();
        resources
            .expect_delete()
            .times(1)
            .withf(|organization, guid, preconditions, now| {
                (*organization, *guid, *now) == (ACME, resource_guid(10), at(5)) && *preconditions == any_state()
            })
            .return_once(move |_, _, _, _| Ok(answer));
        service(resources)
    };
    let caller = a_caller(ACME);
    assert!(deleting(DeleteOutcome::Deleted).delete(&caller, Some(GUID), any_state()).await.is_ok());
    let not_found = deleting(DeleteOutcome::NotFound).delete(&caller, Some(GUID), any_state()).await;
    assert_eq!(reason(not_found), Reason::ResourceToDeleteNotFound);
    let in_use = || DeleteOutcome::InUse { by: "queue \"Banner\"".to_owned() };
    assert_eq!(reason(deleting(in_use()).delete(&caller, Some(GUID), any_state()).await), Reason::ResourceInUse);
    assert!(detail(deleting(in_use()).delete(&caller, Some(GUID), any_state()).await).contains("queue \"Banner\""));
    let other = OtherState { checksum: Sha1Checksum::of(b"abc"), modified: at(7) };
    let other_state = || DeleteOutcome::OtherState(other.clone());
    assert_eq!(
        reason(deleting(other_state()).delete(&caller, Some(GUID), any_state()).await),
        Reason::PreconditionFailed
    );
    let output = detail(deleting(other_state()).delete(&caller, Some(GUID), any_state()).await);
    assert!(output.contains("\"A9993E364706816ABA3E25717850C26C9CD0D89D\""), "{output}");
    assert!(output.contains(&at(7).precise()), "{output}");
}

#[tokio::test]
async fn a_list_is_asked_for_within_the_callers_organization() {
    // Decisions T15, T19.
    let mut resources = MockResourceRepository::new();
    let wanted = ListFilter { types: None, domain: Domain::Public };
    resources
        .expect_list()
        .times(1)
        .withf(move |organization, filter| *organization == ACME && *filter == wanted)
        .returning(|_, _| {
            let resource = a_resource(10);
            let item = ResourceListItem {
                guid: resource.guid,
                resource_type: resource.resource_type,
                checksum: resource.checksum,
                name: resource.meta.name,
            };
            stream::iter([Ok(item), Err(StoreError::unavailable("the connection broke"))]).boxed()
        });
    let filter = ListFilter::new(&["*".to_owned()], Some("Public")).unwrap();
    let listed: Vec<_> = service(resources).list(&a_caller(ACME), filter).collect().await;
    assert_eq!(listed[0].as_ref().unwrap().name, "Resource 10");
    assert!(listed[1].is_err(), "a failure within the stream reaches the reader");
}

#[tokio::test]
async fn a_pmm_lookup_stays_within_the_callers_organization() {
    // Decisions T15, T20.
    let key = pmm_key("Latex", "VINYL", "6 Pass");
    let looking_up = |found: Option<StoredResource>| {
        let mut resources = MockResourceRepository::new();
        resources
            .expect_find_by_pmm()
            .times(1)
            .withf(|organization, key| *organization == ACME && *key == pmm_key("latex", "Vinyl", "6 pass"))
            .return_once(move |_, _| Ok(found));
        service(resources)
    };
    let found = looking_up(Some(stored(ACME, a_resource(10)))).find_by_pmm(&a_caller(ACME), &key).await.unwrap();
    assert_eq!(found.guid, resource_guid(10));
    assert_eq!(reason(looking_up(None).find_by_pmm(&a_caller(ACME), &key).await), Reason::PmmNotFound);
}

#[tokio::test]
async fn a_content_is_streamed_whole_or_in_a_range() {
    // Decision T17.
    for range in [None, Some(2..5)] {
        let wanted = range.clone();
        let mut blobs = MockBlobStore::new();
        let resource = stored(ACME, a_resource(10));
        let key = resource.content.key.clone();
        blobs.expect_read().times(1).withf(move |asked, range| *asked == key && *range == wanted).returning(|_, _| {
            Ok(Some(stream::iter([Ok(Bytes::from_static(b"con")), Ok(Bytes::from_static(b"tent"))]).boxed()))
        });
        let content = with_blobs(MockResourceRepository::new(), blobs).content(&resource, range).await.unwrap();
        let content: Vec<Bytes> = content.try_collect().await.unwrap();
        assert_eq!(content.concat(), b"content");
    }
}

#[tokio::test]
async fn a_content_that_is_missing_is_damage_and_no_missing_resource() {
    // Decision R4.
    let mut blobs = MockBlobStore::new();
    blobs.expect_read().times(1).returning(|_, _| Ok(None));
    let resource = stored(ACME, a_resource(10));
    let missing = with_blobs(MockResourceRepository::new(), blobs).content(&resource, None).await;
    let Err(StoreError::Corrupt { id, .. }) = missing else {
        panic!("a content that isn't there was served");
    };
    assert_eq!(id, resource.content.key.as_str());
}

#[tokio::test]
async fn a_store_that_is_down_is_our_failure() {
    // Decision R4: never a 404 because nothing could be asked.
    fn down<T>() -> Result<T, StoreError> {
        Err(StoreError::unavailable("no route"))
    }
    let caller = a_caller(ACME);
    let mut resources = MockResourceRepository::new();
    resources.expect_find().returning(|_, _| down());
    resources.expect_delete().returning(|_, _, _, _| down());
    resources.expect_find_by_pmm().returning(|_, _| down());
    let service = service(resources);
    assert!(is_store_failure(&service.find(&caller, GUID).await));
    assert!(is_store_failure(&service.info(&caller, GUID).await));
    assert!(is_store_failure(&service.delete(&caller, Some(GUID), any_state()).await));
    let key = pmm_key("a", "b", "c");
    assert!(is_store_failure(&service.find_by_pmm(&caller, &key).await));
}
