//! Memory must not grow with the number of uploads to a bucket. Alone in its process, so that no other
//! test counts.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails its test")]
#![cfg(target_os = "linux")]

use adapters_blob::{AccessKey, BlobConfig, S3Config, open};
use bytes::Bytes;
use domain::blob::{BlobKey, BlobKind};
use futures_util::future::join_all;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::pin::Pin;
use tokio::net::TcpListener;
use uuid::Uuid;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Over one part, so that each holds all that an upload ever holds.
const PIECES: u64 = 88;
const UPLOADS: u128 = 64;

/// The most memory that this process ever had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * KIB
}

/// Takes everything and keeps nothing: a server that hashes would be slower than the uploads.
async fn sink(mut request: Request<Incoming>) -> hyper::Result<Response<String>> {
    while let Some(frame) = poll_fn(|cx| Pin::new(request.body_mut()).poll_frame(cx)).await {
        frame?;
    }
    let (bucket, sum) = ("<Bucket>blobs</Bucket><Key>x</Key>", "<ETag>\"x\"</ETag>");
    let answer = match (request.method(), request.uri().query().unwrap_or_default()) {
        (&Method::POST, "uploads=" | "uploads") => {
            format!("<InitiateMultipartUploadResult>{bucket}<UploadId>1</UploadId></InitiateMultipartUploadResult>")
        }
        (&Method::POST, _) => format!("<CompleteMultipartUploadResult>{bucket}{sum}</CompleteMultipartUploadResult>"),
        (&Method::GET, _) => "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>".to_owned(),
        _ => String::new(),
    };
    Ok(Response::builder().header("etag", "\"x\"").body(answer).unwrap())
}

async fn serve(listener: TcpListener) {
    loop {
        let (connection, _) = listener.accept().await.unwrap();
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(connection), service_fn(sink)));
    }
}

#[tokio::test]
async fn memory_does_not_grow_with_the_number_of_uploads() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let bucket = S3Config {
        bucket: "blobs".to_owned(),
        endpoint: Some(format!("http://{}", listener.local_addr().unwrap())),
        access_key: Some(AccessKey { id: "AKIATEST".into(), secret: "a-secret-of-the-tests".into() }),
        allow_http: true,
        path_style: true,
        ..S3Config::default()
    };
    tokio::spawn(serve(listener));
    let store = open(&BlobConfig::S3(bucket)).await.unwrap();
    let before = peak();
    join_all((0..UPLOADS).map(async |number| {
        let mut writer = store.create(&BlobKey::new(BlobKind::Resource, Uuid::from_u128(number))).await.unwrap();
        for _ in 0..PIECES {
            // Each a buffer of its own, as they come from a connection.
            writer.write(Bytes::from(vec![7; 64 * 1024])).await.unwrap();
        }
        writer.finish().await.unwrap();
    }))
    .await;
    // That of the server is counted with it.
    let grown = peak() - before;
    assert!(grown < 100 * MIB, "64 uploads took {grown} bytes");
}
