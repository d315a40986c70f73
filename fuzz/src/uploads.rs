//! A multipart body that adds a resource.

use crate::bench::{ACME, Bench, LIMITS, assert_storable, cuts, receive, refusal};
use crate::split_first;
use bytes::Bytes;
use domain::body::PartSource;
use domain::checksum::Sha1Checksum;
use domain::error::Reason;
use domain::resource::{Domain, ListFilter, ResourceRepository, ResourceService, StoredResource};
use domain::testing::a_caller;
use domain::text::is_blank;
use futures_executor::{block_on, block_on_stream};
use http_actix::fuzzing::read_description;
use serde_json::Value;

/// Stands in a body for the checksum of its file, which no fuzzer guesses.
const CHECKSUM: &[u8; 40] = &[b'0'; 40];

/// What is stored after a body.
type Left = (Option<Reason>, Vec<StoredResource>, Vec<Bytes>);

/// The first byte says where the body is cut, and of some bodies that their Timestamp is none. Whatever it holds, a
/// resource is stored with its content, or nothing is.
pub fn upload(input: &[u8]) {
    let (size, body) = split_first(input);
    let body = with_checksum(body);
    let [whole, others @ ..] = cuts(&body, size);
    let timestamp = (size % 16 == 15).then_some("yesterday");
    let left = add(whole, timestamp);
    assert!(timestamp.is_none() || left.0.is_some(), "a Timestamp that is none is refused");
    check(&left);
    for pieces in others {
        let cut = add(pieces, timestamp);
        assert_eq!(cut, left, "the pieces in which a body arrives decide nothing");
    }
}

fn add(pieces: Vec<Bytes>, timestamp: Option<&str>) -> Left {
    let (bench, caller) = (Bench::new(), a_caller(ACME));
    let service = ResourceService::new(bench.store.clone(), bench.uploads(), LIMITS);
    let outcome =
        receive(pieces, async |mut parts| service.store(&caller, timestamp, &mut *parts, &read_description).await);
    let listed = [Domain::Private, Domain::Public].map(|domain| ListFilter { types: None, domain });
    let listed = listed.map(|filter| bench.store.list(caller.organization, filter));
    let listed = listed.into_iter().flat_map(block_on_stream).map(|item| item.expect("a store in memory works"));
    let stored = listed.map(|item| {
        let found = block_on(bench.store.find(caller.organization, item.guid));
        found.expect("a store in memory works").expect("what is listed is there")
    });
    (refusal(&outcome), stored.collect(), bench.contents())
}

fn check((refused, stored, contents): &Left) {
    let accepted = usize::from(refused.is_none());
    assert_eq!(stored.len(), accepted, "one resource is stored, or none: {refused:?}");
    assert_eq!(contents.len(), accepted, "its content is, and no other");
    for (resource, content) in stored.iter().zip(contents) {
        assert_eq!(Sha1Checksum::of(content), resource.checksum, "the content is the one that was announced");
        assert_eq!(content.len() as u64, resource.content.size);
        assert!(resource.content.size <= LIMITS.max_resource_size, "{} bytes", content.len());
        assert_storable([resource.resource_type.as_str(), &resource.meta.name, &resource.meta.json]);
        assert!(!is_blank(&resource.meta.name) && !is_blank(resource.resource_type.as_str()));
        let meta: Value = serde_json::from_str(&resource.meta.json).expect("what is answered as Meta is JSON");
        assert_eq!(meta["Name"], *resource.meta.name);
    }
}

/// The body with the checksum of its first part that is no JSON in place of [`CHECKSUM`].
fn with_checksum(body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    if !body.windows(CHECKSUM.len()).any(|window| window == CHECKSUM) {
        return body;
    }
    let file = receive(vec![Bytes::copy_from_slice(&body)], first_file);
    let checksum = Sha1Checksum::of(&file.unwrap_or_default()).to_string();
    while let Some(place) = body.windows(CHECKSUM.len()).position(|window| window == CHECKSUM) {
        body[place..place + CHECKSUM.len()].copy_from_slice(checksum.as_bytes());
    }
    body
}

async fn first_file(mut parts: Box<dyn PartSource>) -> Option<Vec<u8>> {
    while let Ok(Some(_)) = parts.next_part().await {
        let mut content = Vec::new();
        while let Ok(Some(bytes)) = parts.chunk().await {
            content.extend_from_slice(&bytes);
        }
        if !content.windows(CHECKSUM.len()).any(|window| window == CHECKSUM) {
            return Some(content);
        }
    }
    None
}
