//! The use cases over stores in memory, so that an input runs in microseconds.

use bytes::Bytes;
use domain::blob::Uploads;
use domain::body::PartSource;
use domain::caller::OrganizationId;
use domain::error::{Failure, Outcome, Reason};
use domain::fleet::FleetRegistry;
use domain::limits::Limits;
use domain::testing::{CountingIds, FixedClock, InMemoryBlobs, InMemoryStore, a_fleet, at};
use futures_executor::block_on;
use futures_util::future::join;
use http_actix::fuzzing;
use std::future::Future;
use std::sync::Arc;

/// The boundary of every body.
pub(crate) const BOUNDARY: &str = "b";

/// The first organization that is registered.
pub(crate) const ACME: OrganizationId = OrganizationId(1);

/// So small that inputs come near them.
pub(crate) const LIMITS: Limits =
    Limits { max_resource_size: 512, max_crash_report_size: 512, max_json_size: 1024, max_timestamp_ahead: None };

/// Stores and the means to use them.
pub(crate) struct Bench {
    pub(crate) store: Arc<InMemoryStore>,
    pub(crate) blobs: Arc<InMemoryBlobs>,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) ids: Arc<CountingIds>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let clock = FixedClock::new(at(0));
        let blobs = InMemoryBlobs::new(Arc::new(clock.clone()));
        Self { store: Arc::default(), blobs: Arc::new(blobs), clock: Arc::new(clock), ids: Arc::default() }
    }

    /// With the fleet of the tests.
    pub(crate) fn registered() -> Self {
        let bench = Self::new();
        block_on(bench.store.apply(&a_fleet(), &[], at(0))).expect("the fleet of the tests is one");
        bench
    }

    pub(crate) fn uploads(&self) -> Uploads {
        Uploads::new(self.blobs.clone(), self.store.clone(), self.clock.clone(), self.ids.clone())
    }

    /// Every content that is stored.
    pub(crate) fn contents(&self) -> Vec<Bytes> {
        self.blobs.keys().iter().filter_map(|key| self.blobs.content(key)).collect()
    }
}

/// The reason of a refusal, if it is one. We are never at fault, whatever is sent.
pub(crate) fn refusal<T>(outcome: &Outcome<T>) -> Option<Reason> {
    match outcome {
        Ok(_) => None,
        Err(Failure::Refused(refusal)) => Some(refusal.reason),
        Err(Failure::Store(error)) => panic!("answered 500: {error}"),
    }
}

/// The ways in which a body is cut: whole, by the byte, into pieces of a size, and at one place.
pub(crate) fn cuts(body: &[u8], size: usize) -> [Vec<Bytes>; 4] {
    let pieces = |size: usize| body.chunks(size.max(1)).map(Bytes::copy_from_slice).collect();
    let (before, after) = body.split_at(body.len() * size / 256);
    [pieces(body.len()), pieces(1), pieces(size), vec![Bytes::copy_from_slice(before), Bytes::copy_from_slice(after)]]
}

/// Runs `take` on a multipart body that arrives piece by piece, each when the one before was taken.
pub(crate) fn receive<T, Fut: Future<Output = T>>(
    pieces: Vec<Bytes>,
    take: impl FnOnce(Box<dyn PartSource>) -> Fut,
) -> T {
    let (parts, fed) = fuzzing::parts(pieces, BOUNDARY);
    block_on(join(take(Box::new(parts)), fed)).0
}

/// Texts that are stored hold no U+0000 (decision R9), which PostgreSQL can't hold.
pub(crate) fn assert_storable<'a>(texts: impl IntoIterator<Item = &'a str>) {
    for text in texts {
        assert!(!text.contains('\0'), "{text:?} is stored");
    }
}
