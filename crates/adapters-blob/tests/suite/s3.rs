//! What only a bucket does: multipart uploads, faults of the server, configuration.

use crate::s3_server::{Fault, KEY, S3Server, SECRET};
use crate::{bucket_of, key, list, output, publish};
use adapters_blob::{AccessKey, BlobConfig, OpenError, S3Config, open};
use bytes::Bytes;
use domain::blob::{BlobKey, BlobStore, BlobWriter};
use domain::error::StoreError;
use futures_util::TryStreamExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Two parts and a bit.
const LARGE: &[u8] = &[7; 13 * 1024 * 1024];

/// What a client waits for an error, and some more for slow machines.
const SOON: Duration = Duration::from_secs(8);

async fn started() -> (S3Server, Arc<dyn BlobStore>) {
    let server = S3Server::start();
    let store = open(&BlobConfig::S3(bucket_of(&server))).await.unwrap();
    (server, store)
}

/// An upload of which parts have arrived.
async fn begun(server: &S3Server, store: &dyn BlobStore, key: &BlobKey) -> Box<dyn BlobWriter> {
    let mut writer = store.create(key).await.unwrap();
    writer.write(Bytes::from_static(LARGE)).await.unwrap();
    let arrived = async {
        while !server.parts().iter().any(|name| name.contains("part-")) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), arrived).await.expect("a part arrives");
    writer
}

async fn refused(config: BlobConfig) -> OpenError {
    match open(&config).await {
        Ok(_) => panic!("it is opened"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn small_blobs_are_one_request_and_large_ones_are_parts() {
    let (server, store) = started().await;
    publish(&*store, &key(1), b"small").await;
    assert_eq!((server.requests("PUT "), server.requests("POST ")), (1, 0));
    publish(&*store, &key(2), LARGE).await;
    assert_eq!(server.requests("partNumber="), 3);
    assert_eq!(server.parts(), Vec::<String>::new());
}

#[tokio::test]
async fn large_uploads_queue_for_memory_and_small_ones_pass_them() {
    let (_server, store) = started().await;
    let megabyte = Bytes::from(vec![7; 1024 * 1024]);
    // As many uploads as there are slots, none of which gets on.
    let mut stalled = Vec::new();
    for number in 100..108 {
        let mut writer = store.create(&key(number)).await.unwrap();
        writer.write(megabyte.clone()).await.unwrap();
        stalled.push(writer);
    }
    publish(&*store, &key(1), b"small").await;
    let mut large = store.create(&key(2)).await.unwrap();
    let mut write = large.write(megabyte);
    let early = tokio::time::timeout(Duration::from_millis(300), &mut write).await;
    assert!(early.is_err(), "there is no slot for it yet");
    drop(stalled);
    tokio::time::timeout(Duration::from_secs(30), write).await.expect("a slot becomes free").unwrap();
    large.finish().await.unwrap();
}

#[tokio::test]
async fn keys_are_below_the_prefix_and_strangers_are_left_out() {
    let (server, store) = started().await;
    publish(&*store, &key(1), b"x").await;
    assert_eq!(server.requests(&format!("PUT /blobs/platen/test/{}", key(1))), 1);
    for stranger in [key(2).as_str(), "platen/test/resources/00/notes", "platen/test/notes", "platen/tests/x"] {
        server.put_stranger(stranger);
    }
    assert_eq!(list(&*store).await.into_iter().map(|entry| entry.key).collect::<Vec<_>>(), [key(1)]);
}

#[tokio::test]
async fn a_bucket_without_a_prefix_works_too() {
    let server = S3Server::start();
    for prefix in [None, Some("/".to_owned())] {
        let store = open(&BlobConfig::S3(S3Config { prefix, ..bucket_of(&server) })).await.unwrap();
        publish(&*store, &key(1), b"x").await;
        assert_eq!(list(&*store).await.len(), 1);
        assert_eq!(store.size(&key(1)).await.unwrap(), Some(1));
    }
    assert_eq!(server.requests(&format!("PUT /blobs/{}", key(1))), 2);
}

#[tokio::test]
async fn a_dropped_upload_is_aborted() {
    let (server, store) = started().await;
    drop(begun(&server, &*store, &key(1)).await);
    server.no_parts().await;
    assert_eq!(store.size(&key(1)).await.unwrap(), None);
}

#[tokio::test]
async fn an_upload_that_is_given_up_is_aborted() {
    let (server, store) = started().await;
    begun(&server, &*store, &key(1)).await.abort().await.unwrap();
    server.no_parts().await;
}

#[tokio::test]
async fn an_upload_of_which_a_part_fails_is_aborted_and_tells_so() {
    let (server, store) = started().await;
    server.misbehave("partNumber=2", Fault::Error, usize::MAX);
    let mut writer = store.create(&key(1)).await.unwrap();
    let written = writer.write(Bytes::from_static(LARGE)).await;
    let finished = writer.finish().await;
    let error = written.and(finished.map(drop)).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{}", output(&error));
    assert!(output(&error).contains("500 Internal Server Error"), "{}", output(&error));
    assert!(output(&error).contains("InternalError"), "{}", output(&error));
    server.no_parts().await;
    assert_eq!(store.size(&key(1)).await.unwrap(), None);
}

#[tokio::test]
async fn an_upload_that_cannot_be_completed_is_aborted() {
    let (server, store) = started().await;
    let mut writer = begun(&server, &*store, &key(1)).await;
    server.misbehave("POST ", Fault::Error, usize::MAX);
    writer.finish().await.unwrap_err();
    server.no_parts().await;
    assert_eq!(store.size(&key(1)).await.unwrap(), None);
}

#[tokio::test]
async fn parts_that_cannot_be_removed_at_once_are_removed_later() {
    let (server, store) = started().await;
    let writer = begun(&server, &*store, &key(1)).await;
    // All tries of the first attempt.
    server.misbehave("DELETE ", Fault::Error, 4);
    drop(writer);
    server.no_parts().await;
    assert!(server.requests("DELETE ") > 4);
}

#[tokio::test]
async fn faults_that_pass_are_not_noticed() {
    let (server, store) = started().await;
    for (fault, number) in [(Fault::Error, 1), (Fault::Closed, 2)] {
        server.misbehave("PUT ", fault, 2);
        publish(&*store, &key(number), b"small").await;
        server.misbehave("PUT ", fault, 2);
        publish(&*store, &key(number + 10), LARGE).await;
        server.misbehave("GET ", fault, 2);
        let content: Vec<Bytes> = store.read(&key(number), None).await.unwrap().unwrap().try_collect().await.unwrap();
        assert_eq!(content.concat(), b"small");
        server.misbehave("HEAD ", fault, 2);
        assert_eq!(store.size(&key(number)).await.unwrap(), Some(5));
        server.misbehave("DELETE ", fault, 2);
        store.delete(&key(number)).await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_an_error_soon_and_works_again_later() {
    let (server, store) = started().await;
    publish(&*store, &key(1), b"x").await;
    server.misbehave("", Fault::Silence, usize::MAX);
    let began = Instant::now();
    let mut writer = store.create(&key(2)).await.unwrap();
    writer.write(Bytes::from_static(b"x")).await.unwrap();
    let known = key(1);
    let read = async { store.read(&known, None).await.map(|_| ()) };
    let size = async { store.size(&known).await.map(|_| ()) };
    let listed = async { store.list().try_collect::<Vec<_>>().await.map(|_| ()) };
    let (read, size, deleted, pinged, finished) =
        tokio::join!(read, size, store.delete(&known), store.ping(), writer.finish());
    assert!(began.elapsed() < SOON);
    for result in [read, size, deleted, pinged, finished.map(drop)] {
        let error = result.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{}", output(&error));
        assert!(output(&error).contains("no answer within"), "{}", output(&error));
    }
    server.misbehave("", Fault::Silence, 0);
    listed.await.unwrap();
    store.ping().await.unwrap();
    publish(&*store, &key(3), b"x").await;
}

#[tokio::test]
async fn a_server_that_is_gone_is_an_error_soon() {
    let (server, store) = started().await;
    drop(server);
    let began = Instant::now();
    let error = store.ping().await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{}", output(&error));
    assert!(output(&error).contains("Connection refused"), "{}", output(&error));
    let mut writer = store.create(&key(1)).await.unwrap();
    let written = writer.write(Bytes::from_static(LARGE)).await;
    assert!(writer.finish().await.and(written).is_err());
    assert!(began.elapsed() < SOON * 2);
}

#[tokio::test]
async fn a_bucket_that_is_missing_is_named_and_not_taken_for_missing_blobs() {
    let (server, store) = started().await;
    publish(&*store, &key(1), b"x").await;
    server.remove_bucket();
    assert!(store.size(&key(1)).await.is_err());
    let error = store.ping().await.unwrap_err();
    assert!(output(&error).contains("bucket blobs at http://127.0.0.1:"), "{}", output(&error));
    let error = refused(BlobConfig::S3(bucket_of(&server))).await;
    assert!(error.to_string().contains("404 Not Found"), "{error}");
    assert!(error.to_string().contains("NoSuchBucket"), "{error}");
}

#[tokio::test]
async fn wrong_keys_are_named_without_telling_them() {
    let server = S3Server::start();
    let wrong = "a-wrong-secret";
    let secret =
        S3Config { access_key: Some(AccessKey { id: KEY.into(), secret: wrong.into() }), ..bucket_of(&server) };
    let error = refused(BlobConfig::S3(secret)).await.to_string();
    assert!(error.contains("403 Forbidden") && error.contains("SignatureDoesNotMatch"), "{error}");
    assert!(!error.contains(wrong) && !error.contains('\n'), "{error}");
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_told_at_opening() {
    let server = S3Server::start();
    let config = BlobConfig::S3(bucket_of(&server));
    drop(server);
    let error = refused(config).await;
    assert!(error.to_string().contains("Connection refused"), "{error}");
}

#[tokio::test]
async fn unencrypted_endpoints_and_strange_prefixes_are_refused() {
    let server = S3Server::start();
    let http = S3Config { allow_http: false, ..bucket_of(&server) };
    assert!(refused(BlobConfig::S3(http)).await.to_string().contains("allow_http"));
    let prefix = S3Config { prefix: Some("a/../b".to_owned()), ..bucket_of(&server) };
    assert!(refused(BlobConfig::S3(prefix)).await.to_string().contains("prefix"));
}

#[tokio::test]
async fn debug_shows_no_secret() {
    let server = S3Server::start();
    let shown = format!("{:?} {:#?}", BlobConfig::S3(bucket_of(&server)), bucket_of(&server));
    assert!(!shown.contains(SECRET) && shown.contains("bucket"), "{shown}");
}
