//! Adding and updating over fakes: what is stored, what is answered, and that nothing is left behind.

mod clean_up;
mod limits;
mod parts;
mod timestamps;

use crate::blob::{BlobLedger, BlobStore, MockBlobLedger};
use crate::body::BodyError;
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::error::{Outcome, Reason};
use crate::json::Json;
use crate::limits::Limits;
use crate::resource::{
    Domain, MockResourceRepository, NewResource, ResourceService, ResourceType, StoreOutcome, StoredResource,
};
use crate::sample::{object, parse, reason, text};
use crate::testing::{CountingIds, FixedClock, InMemoryBlobs, InMemoryPart, InMemoryParts, a_caller, at, stored};
use std::sync::{Arc, Mutex};

const ACME: OrganizationId = OrganizationId(1);

const GUID: &str = "88de5c02-cce6-411f-950f-be309caa4439";

/// The blob store, the clock and the limits of one test.
struct Bench {
    blobs: InMemoryBlobs,
    clock: FixedClock,
    limits: Limits,
}

/// What a repository was asked to store.
type Asked = Arc<Mutex<Option<NewResource>>>;

impl Bench {
    /// It is `at(0)`, and the limits are small: 100 bytes of JSON are too few for no test.
    fn new() -> Self {
        let clock = FixedClock::new(at(0));
        let limits = Limits { max_json_size: 1000, max_resource_size: 2000, ..Limits::default() };
        Self { blobs: InMemoryBlobs::new(Arc::new(clock.clone())), clock, limits }
    }

    async fn add(
        &self,
        resources: MockResourceRepository,
        timestamp: Option<&str>,
        parts: Vec<InMemoryPart>,
    ) -> Outcome<()> {
        self.add_body(resources, timestamp, InMemoryParts::new(parts)).await
    }

    async fn add_body(
        &self,
        resources: MockResourceRepository,
        timestamp: Option<&str>,
        mut body: InMemoryParts,
    ) -> Outcome<()> {
        // Nothing is discarded unless removing fails: a call would panic.
        let service = self.service(resources, Arc::new(self.blobs.clone()), Arc::new(MockBlobLedger::new()));
        service.add(&a_caller(ACME), timestamp, &mut body).await
    }

    fn service(
        &self,
        resources: MockResourceRepository,
        blobs: Arc<dyn BlobStore>,
        ledger: Arc<dyn BlobLedger>,
    ) -> ResourceService {
        let (clock, ids) = (Arc::new(self.clock.clone()), Arc::new(CountingIds::default()));
        ResourceService::new(Arc::new(resources), blobs, ledger, clock, ids, self.limits, parse)
    }

    fn is_clean(&self) -> bool {
        self.blobs.keys().is_empty()
    }
}

/// The answer to a body that must never reach the database, and that no blob was left.
async fn refused(timestamp: Option<&str>, parts: Vec<InMemoryPart>) -> Reason {
    let bench = Bench::new();
    let outcome = bench.add(MockResourceRepository::new(), timestamp, parts).await;
    assert!(bench.is_clean(), "a refused body left {:?}", bench.blobs.keys());
    reason(outcome)
}

/// A repository that stores what it is asked to.
fn storing() -> (MockResourceRepository, Asked) {
    answering(|_| StoreOutcome::Stored)
}

/// A repository that is asked once and answers so.
fn answering(answer: impl Fn(&NewResource) -> StoreOutcome + Send + 'static) -> (MockResourceRepository, Asked) {
    let (mut resources, asked) = (MockResourceRepository::new(), Asked::default());
    let kept = Arc::clone(&asked);
    resources.expect_store().times(1).returning(move |organization, resource, _| {
        assert_eq!(organization, ACME);
        let answer = answer(&resource);
        *kept.lock().unwrap() = Some(resource);
        Ok(answer)
    });
    (resources, asked)
}

/// A repository that keeps what an earlier request stored, with another blob.
fn holding(change: impl Fn(&mut StoredResource) + Send + 'static) -> MockResourceRepository {
    let answer = move |resource: &NewResource| {
        let mut former = stored(ACME, resource.clone());
        former.content.key = crate::testing::a_blob_key(999);
        change(&mut former);
        StoreOutcome::NotNewer(Box::new(former))
    };
    answering(answer).0
}

fn the(asked: &Asked) -> NewResource {
    asked.lock().unwrap().clone().expect("a resource was stored")
}

/// What JsonString says of `content`: a Label.
fn described(content: &[u8]) -> Json {
    object(&[
        ("ResourceGUID", text(GUID)),
        ("ResourceChecksum", text(&Sha1Checksum::of(content).to_string())),
        ("ResourceType", text("Label")),
        ("Meta", object(&[("Name", text("Gloss"))])),
    ])
}

fn json_string(json: &Json) -> InMemoryPart {
    InMemoryPart::named("JsonString").content_type("application/json").chunk(json.to_string())
}

fn file(content: &'static [u8]) -> InMemoryPart {
    InMemoryPart::named("file").content_type("application/octet-stream").chunk(content)
}

fn broken() -> BodyError {
    BodyError::Malformed("the body ends within a part".to_owned())
}

#[tokio::test]
async fn a_resource_is_stored_with_all_that_was_sent() {
    // Interface 4.1.
    let (bench, (resources, asked)) = (Bench::new(), storing());
    let parts = vec![json_string(&described(b"content")), file(b"content")];
    bench.add(resources, Some("2026-05-06T07:08:09Z"), parts).await.unwrap();

    let resource = the(&asked);
    assert_eq!(resource.guid.to_string(), GUID);
    assert_eq!(resource.resource_type, ResourceType::new("Label").unwrap());
    assert_eq!(resource.checksum, Sha1Checksum::of(b"content"));
    assert_eq!(resource.modified.to_string(), "2026-05-06T07:08:09Z");
    assert_eq!(resource.domain, None);
    assert_eq!(resource.meta.json, r#"{"Name":"Gloss"}"#);
    assert_eq!(resource.content.size, 7);
    assert_eq!(bench.blobs.content(&resource.content.key).as_deref(), Some(&b"content"[..]));
    assert_eq!(bench.blobs.keys(), [resource.content.key]);
}

#[tokio::test]
async fn a_content_that_arrives_in_pieces_is_one_file() {
    // Decision T6: the checksum is that of the whole content.
    let (bench, (resources, asked)) = (Bench::new(), storing());
    let pieces = InMemoryPart::named("file").chunk("con").chunk("").chunk("tent");
    let json = described(b"content").to_string();
    let (half, rest) = json.split_at(40);
    let json = InMemoryPart::named("JsonString").chunk(half.to_owned()).chunk(rest.to_owned());
    bench.add(resources, None, vec![json, pieces]).await.unwrap();
    assert_eq!(bench.blobs.content(&the(&asked).content.key).as_deref(), Some(&b"content"[..]));
}

#[tokio::test]
async fn an_empty_file_is_a_file() {
    // Decision T11.
    let (bench, (resources, asked)) = (Bench::new(), storing());
    bench.add(resources, None, vec![json_string(&described(b"")), file(b"")]).await.unwrap();
    assert_eq!(the(&asked).content.size, 0);
    assert_eq!(bench.blobs.keys().len(), 1);
}

#[tokio::test]
async fn a_checksum_of_another_content_is_refused() {
    // Decision T6.
    let parts = || vec![json_string(&described(b"content")), file(b"other")];
    assert_eq!(refused(None, parts()).await, Reason::ChecksumMismatch);

    let outcome = Bench::new().add(MockResourceRepository::new(), None, parts()).await;
    let detail = crate::sample::detail(outcome);
    assert!(detail.contains(&Sha1Checksum::of(b"content").to_string()), "{detail}");
    assert!(detail.contains(&Sha1Checksum::of(b"other").to_string()), "{detail}");
}

#[tokio::test]
async fn a_domain_that_is_sent_is_stored() {
    // Decision T10.
    let (bench, (resources, asked)) = (Bench::new(), storing());
    let json = crate::sample::with(&described(b"c"), "Domain", Some(text("pUBLIC")));
    bench.add(resources, None, vec![json_string(&json), file(b"c")]).await.unwrap();
    assert_eq!(the(&asked).domain, Some(Domain::Public));
}
