//! The adapters themselves over the set-up of the test binary, without the program: what the tests of every
//! message run over.

use super::setup::{Stores as Places, databases};
use domain::blob::BlobStore;
use domain::contract::Stores;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// The ports over an empty database and an empty blob store, and what has to stay while they are used.
pub(crate) fn open(runtime: &Runtime) -> (Stores, Arc<dyn BlobStore>, impl Sized + use<>) {
    let (places, folder) = (Places::new(crate::SETUP), tempfile::tempdir().unwrap());
    let (database, blobs) = places.adapters(folder.path());
    let (database, blobs) = runtime.block_on(async {
        (databases::open(database, Some(folder)).await, adapters_blob::open(&blobs).await.unwrap())
    });
    (database.stores(), blobs, (database.folder, places))
}
