//! What a real S3 server shows that one inside the test process doesn't: concurrency, and being gone in
//! the middle of things.

use crate::seaweed::{BUCKET, KEY, SECRET, Seaweed};
use crate::{key, list};
use adapters_blob::{AccessKey, BlobConfig, S3Config, open};
use bytes::Bytes;
use domain::blob::BlobStore;
use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt};
use std::sync::Arc;
use std::time::{Duration, Instant};

const MIB: usize = 1024 * 1024;

/// A prefix of the shared server's bucket that no other test has.
pub(crate) fn bucket() -> S3Config {
    bucket_of(Seaweed::shared())
}

fn bucket_of(server: &Seaweed) -> S3Config {
    S3Config {
        bucket: BUCKET.to_owned(),
        prefix: Some(Seaweed::prefix()),
        endpoint: Some(server.endpoint()),
        access_key: Some(AccessKey { id: KEY.into(), secret: SECRET.into() }),
        allow_http: true,
        path_style: true,
        ..S3Config::default()
    }
}

async fn store(config: S3Config) -> Arc<dyn BlobStore> {
    open(&BlobConfig::S3(config)).await.unwrap()
}

/// A content that no other number has, of some parts.
fn content(number: u8) -> Vec<Bytes> {
    let size = MIB + usize::from(number) * 37;
    (0..7 + number % 5).map(|piece| Bytes::from(vec![number ^ (piece << 5); size])).collect()
}

async fn read(store: &dyn BlobStore, number: u8) -> Vec<u8> {
    let stream = store.read(&key(number.into()), None).await.unwrap().unwrap();
    stream.try_collect::<Vec<_>>().await.unwrap().concat()
}

#[tokio::test]
async fn uploads_and_downloads_at_once_keep_their_contents() {
    let store = &*store(bucket()).await;
    try_join_all((0..16_u8).map(|number| async move {
        let mut writer = store.create(&key(number.into())).await?;
        for piece in content(number) {
            writer.write(piece).await?;
        }
        writer.finish().await
    }))
    .await
    .unwrap();
    let numbers: Vec<u8> = (0..16).chain(0..16).collect();
    let check = |number: u8| async move { assert!(read(store, number).await == content(number).concat(), "{number}") };
    futures_util::future::join_all(numbers.into_iter().map(check)).await;
    assert_eq!(list(store).await.len(), 16);
}

#[tokio::test]
async fn uploads_that_are_given_up_leave_no_parts() {
    let config = bucket();
    let prefix = config.prefix.clone().unwrap();
    let store = store(config).await;
    for number in 0..6_u8 {
        let mut writer = store.create(&key(number.into())).await.unwrap();
        for piece in content(number) {
            writer.write(piece).await.unwrap();
        }
        if number % 2 == 0 {
            writer.abort().await.unwrap();
        }
    }
    let since = Instant::now();
    while !Seaweed::shared().uploads(&prefix).is_empty() {
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", Seaweed::shared().uploads(&prefix));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(list(&*store).await.is_empty());
}

#[tokio::test]
async fn a_server_that_goes_away_cuts_nothing_short_unnoticed() {
    let server = Seaweed::start();
    let store = store(bucket_of(&server)).await;
    let mut writer = store.create(&key(1)).await.unwrap();
    for _ in 0..20 {
        writer.write(Bytes::from(vec![7; MIB])).await.unwrap();
    }
    writer.finish().await.unwrap();

    let mut upload = store.create(&key(2)).await.unwrap();
    upload.write(Bytes::from(vec![8; 7 * MIB])).await.unwrap();
    let mut download = store.read(&key(1), None).await.unwrap().unwrap();
    let mut received = download.next().await.unwrap().unwrap().len();
    drop(server);
    let mut broken = false;
    while let Some(piece) = download.next().await {
        match piece {
            Ok(piece) => received += piece.len(),
            Err(_) => broken = true,
        }
    }
    assert!(broken || received == 20 * MIB, "{received} bytes and no error");
    let written = upload.write(Bytes::from(vec![8; 7 * MIB])).await;
    assert!(upload.finish().await.and(written).is_err());
}
