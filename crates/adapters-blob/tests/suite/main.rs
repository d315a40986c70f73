//! The blob stores as their callers use them: the contract on each, and what only one of them does.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails its test")]

mod contract;
mod local;
mod s3;

#[path = "../support/s3_server.rs"]
mod s3_server;
#[path = "../support/seaweed.rs"]
mod seaweed;

mod seaweedfs;

use adapters_blob::{AccessKey, S3Config};
use bytes::Bytes;
use domain::blob::{BlobEntry, BlobKey, BlobKind, BlobStore};
use futures_util::TryStreamExt;
use s3_server::{BUCKET, KEY, S3Server, SECRET};
use uuid::Uuid;

fn key(number: u128) -> BlobKey {
    BlobKey::new(BlobKind::Resource, Uuid::from_u128(number))
}

/// The way to the bucket of a server, under a prefix.
fn bucket_of(server: &S3Server) -> S3Config {
    S3Config {
        bucket: BUCKET.to_owned(),
        prefix: Some("platen/test".to_owned()),
        region: None,
        endpoint: Some(server.endpoint()),
        access_key: Some(AccessKey { id: KEY.into(), secret: SECRET.into() }),
        allow_http: true,
        path_style: true,
    }
}

async fn publish(store: &dyn BlobStore, key: &BlobKey, content: &'static [u8]) {
    let mut writer = store.create(key).await.unwrap();
    writer.write(Bytes::from_static(content)).await.unwrap();
    writer.finish().await.unwrap();
}

async fn list(store: &dyn BlobStore) -> Vec<BlobEntry> {
    store.list().try_collect().await.unwrap()
}

/// Everything that an error says, error_chain included.
fn output(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
