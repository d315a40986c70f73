//! What tests build on: domain values made in one call, a clock and identifiers that they steer, and
//! an in-memory implementation of every port that passes the suite of [`crate::contract`].
//!
//! Nothing here is part of the product; the feature `test-support` keeps it out.

mod blobs;
mod builders;
mod fleet;
mod parts;
mod passwords;
mod sources;
mod store;

pub use blobs::InMemoryBlobs;
pub use builders::{
    a_blob_key, a_caller, a_crash_report, a_log_entry, a_meta, a_refusal, a_resource, a_status, at, numbered, pmm_key,
    resource_guid, stored,
};
pub use fleet::{
    ACME, ACME_HASH, ACME_SERIAL, ANN_KEY, BOB_KEY, Records, ZENITH, ZENITH_HASH, ZENITH_SERIAL, ZOE_KEY, a_fleet,
    acme_records, zenith_records,
};
pub use parts::{InMemoryPart, InMemoryParts};
pub use passwords::PlainHasher;
pub use sources::{CountingIds, FixedClock};
pub use store::InMemoryStore;
