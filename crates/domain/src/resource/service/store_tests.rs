//! Adding and updating over fakes: what is stored, what is returned, and that nothing else is left.

mod clean_up;
mod limits;
mod parts;
mod timestamps;

use crate::blob::{BlobLedger, BlobStore, MockBlobLedger, Uploads};
use crate::body::BodyError;
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::error::{Outcome, Reason};
use crate::limits::Limits;
use crate::resource::{
    Domain, MetaMember, MetaText, MockResourceRepository, NewResource, ResourceService, ResourceType, StoreOutcome,
    StoreResourceInput, StoredResource,
};
use crate::sample::reason;
use crate::testing::{CountingIds, FixedClock, InMemoryBlobs, InMemoryPart, InMemoryParts, a_caller, at, stored};
use serde_json::value::RawValue;
use std::sync::{Arc, Mutex};

const ACME: OrganizationId = OrganizationId(1);

/// The first line of a description.
const DESCRIPTION: &str = "a description";

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
        service.store(&a_caller(ACME), timestamp, &mut body, &read_description).await
    }

    fn service(
        &self,
        resources: MockResourceRepository,
        blobs: Arc<dyn BlobStore>,
        ledger: Arc<dyn BlobLedger>,
    ) -> ResourceService {
        let (clock, ids) = (Arc::new(self.clock.clone()), Arc::new(CountingIds::default()));
        ResourceService::new(Arc::new(resources), Uploads::new(blobs, ledger, clock, ids), self.limits)
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

/// What describes `content`: a Label.
fn described(content: &[u8]) -> StoreResourceInput {
    StoreResourceInput {
        guid: Some(GUID.to_owned()),
        checksum: Some(Sha1Checksum::of(content).to_string()),
        resource_type: Some("Label".to_owned()),
        domain: None,
        meta: Some(vec![MetaMember::Text(MetaText::Name, "Gloss".to_owned())]),
    }
}

/// A description as text. To these tests JSON is a line for each value: how it is spelled is the adapter's business.
fn written(input: &StoreResourceInput) -> String {
    let StoreResourceInput { guid, checksum, resource_type, domain, meta } = input;
    let values = [("guid", guid), ("checksum", checksum), ("type", resource_type), ("domain", domain)];
    let values = values.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
    let members = meta.iter().flatten().map(|member| match member {
        MetaMember::Text(_, text) => format!("name={text}"),
        MetaMember::Further(name, json) => format!("meta={name}:{json}"),
    });
    [DESCRIPTION.to_owned()].into_iter().chain(values).chain(members).collect::<Vec<_>>().join("\n")
}

/// Reads what [`written`] wrote.
fn read_description(text: &[u8]) -> Outcome<StoreResourceInput> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let Some(lines) = text.trim_end().strip_prefix(DESCRIPTION) else {
        return Err(Reason::NotProperlyFormatted.because("no description"));
    };
    let mut input = StoreResourceInput::default();
    let mut meta = Vec::new();
    for (name, value) in lines.lines().filter_map(|line| line.split_once('=')) {
        match name {
            "guid" => input.guid = Some(value.to_owned()),
            "checksum" => input.checksum = Some(value.to_owned()),
            "type" => input.resource_type = Some(value.to_owned()),
            "domain" => input.domain = Some(value.to_owned()),
            "name" => meta.push(MetaMember::Text(MetaText::Name, value.to_owned())),
            _ => meta.extend(value.split_once(':').map(|(name, json)| further(name, json))),
        }
    }
    input.meta = Some(meta);
    Ok(input)
}

fn further(name: &str, json: &str) -> MetaMember {
    MetaMember::Further(name.to_owned(), RawValue::from_string(json.to_owned()).unwrap())
}

fn json_string(input: &StoreResourceInput) -> InMemoryPart {
    InMemoryPart::named("JsonString").content_type("application/json").chunk(written(input))
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
    let json = written(&described(b"content"));
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
    let json = StoreResourceInput { domain: Some("pUBLIC".to_owned()), ..described(b"c") };
    bench.add(resources, None, vec![json_string(&json), file(b"c")]).await.unwrap();
    assert_eq!(the(&asked).domain, Some(Domain::Public));
}
