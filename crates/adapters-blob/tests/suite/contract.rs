//! Every clause of the port's contract on every backend.

use crate::bucket_of;
use crate::s3_server::S3Server;
use adapters_blob::{BlobConfig, open, open_for_serving};
use domain::blob::BlobStore;
use std::sync::Arc;
use tempfile::TempDir;

domain::blob_store_contract!(local_disk, in_folder());
domain::blob_store_contract!(local_disk_with_cache, in_folder_with_cache());
domain::blob_store_contract!(memory, in_memory());
domain::blob_store_contract!(s3, in_bucket());
domain::blob_store_contract!(seaweedfs, in_seaweedfs());

async fn in_folder() -> (Arc<dyn BlobStore>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&BlobConfig::Local { path: folder.path().join("data/blobs") }).await.unwrap();
    (store, folder)
}

async fn in_folder_with_cache() -> (Arc<dyn BlobStore>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = open_for_serving(&BlobConfig::Local { path: folder.path().to_owned() }).await.unwrap();
    (store, folder)
}

async fn in_memory() -> (Arc<dyn BlobStore>, ()) {
    (open(&BlobConfig::Memory).await.unwrap(), ())
}

async fn in_bucket() -> (Arc<dyn BlobStore>, S3Server) {
    let server = S3Server::start();
    (open(&BlobConfig::S3(bucket_of(&server))).await.unwrap(), server)
}

async fn in_seaweedfs() -> (Arc<dyn BlobStore>, ()) {
    (open(&BlobConfig::S3(crate::seaweedfs::bucket())).await.unwrap(), ())
}

/// A clause that is written but not listed would never run.
#[test]
fn every_clause_is_listed() {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../domain/src/contract/blob_store.rs");
    let suite = std::fs::read_to_string(suite).unwrap();
    let clauses: Vec<_> =
        suite.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split('(').next()).collect();
    assert!(clauses.len() > 15);
    for clause in clauses {
        assert!(suite.contains(&format!("            {clause}\n")), "{clause} is not listed");
    }
}
