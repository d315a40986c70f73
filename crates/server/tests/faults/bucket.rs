//! An S3 service that fails in the middle of an upload, a crash report or a download, at each request that it consists
//! of: it answers 500 or 503, it closes the connection, its answer is lost, it is slow.

use crate::support::client::Client;
use crate::support::setup::s3_server::{Fault, S3Server};
use crate::support::setup::{Setup, Stores};
use crate::support::{Server, Site, eventually};
use crate::{GUID, readiness, status, update};
use std::time::Duration;

/// What fails and doesn't pass by itself.
const FAULTS: [Fault; 4] = [Fault::Error, Fault::Busy, Fault::Closed, Fault::Lost];

/// One request, and several parts.
const SIZES: [usize; 2] = [1_000, 12_000_000];

/// The requests that bring content, and no others.
const WRITING: [&str; 2] = ["PUT /", "POST /"];

/// How many of these requests must be spared. Where the answer to the first request of an upload in parts is lost, no one
/// knows what the bucket calls it; it holds no content, and a lifecycle rule of the bucket ends it.
fn first(fault: Fault, pattern: &str) -> usize {
    usize::from(matches!(fault, Fault::Lost) && pattern == "POST /")
}

fn bucket(site: &Site) -> &S3Server {
    match site.stores() {
        Stores::PostgresAndS3 { s3, .. } => s3,
        Stores::Defaults => unreachable!("a site on S3"),
    }
}

async fn serve() -> (Site, Server, Client) {
    let site = Site::on(Setup::PostgresAndS3);
    // What an upload may have left is noted down and swept.
    site.configure("blobs.discarded_grace = '1s'");
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    (site, server, client)
}

async fn assert_whole(site: &Site, server: Server, count: usize) {
    eventually("nothing is kept of what failed", async || site.stored_files() == count).await;
    assert_eq!(readiness(&server).await, 200);
    server.stop();
    let output = site.run("blobs check").succeeded();
    assert!(output.ends_with(&format!("checked {count}, missing 0, damaged 0, orphans 0, removed 0\n")), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_fails_at_any_request_of_an_upload_keeps_the_former_content_and_no_parts() {
    let (site, server, client) = serve().await;
    let (mut current, mut minute) = (b"content".to_vec(), 0);
    for fault in FAULTS {
        for (size, pattern) in SIZES.into_iter().flat_map(|size| WRITING.map(|pattern| (size, pattern))) {
            for spared in first(fault, pattern).. {
                minute += 1;
                let content = vec![u8::try_from(minute).unwrap(); size];
                bucket(&site).misbehave_after(spared, pattern, fault, usize::MAX);
                let answer = update(&client, minute, &content).await;
                let failed = bucket(&site).behave();
                let output = format!("{fault:?} after {spared} {pattern} of {size} bytes");
                assert_eq!(answer, if failed { 500 } else { 200 }, "{output}");
                bucket(&site).no_parts().await;
                if !failed {
                    current = content;
                }
                assert!(client.download(GUID).await == current, "{output}");
                if !failed {
                    break;
                }
            }
        }
    }
    assert_whole(&site, server, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_fails_at_any_request_of_a_crash_report_keeps_no_part_of_it() {
    let (site, server, client) = serve().await;
    let mut reports = 0;
    for fault in FAULTS {
        for (size, pattern) in SIZES.into_iter().flat_map(|size| WRITING.map(|pattern| (size, pattern))) {
            for spared in first(fault, pattern).. {
                bucket(&site).misbehave_after(spared, pattern, fault, usize::MAX);
                let answer = status(client.try_report_crash("RIP", "main", &vec![7; size])).await;
                let failed = bucket(&site).behave();
                let output = format!("{fault:?} after {spared} {pattern} of {size} bytes");
                assert_eq!(answer, if failed { 500 } else { 200 }, "{output}");
                bucket(&site).no_parts().await;
                reports += usize::from(!failed);
                let kept = site.sql("SELECT count(*) FROM crash_report").await;
                assert_eq!(kept, [reports.to_string()], "{output}");
                if !failed {
                    break;
                }
            }
        }
    }
    // Call stack and dump of each, and the content of the resource.
    assert_whole(&site, server, 2 * reports + 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_a_bucket_fails_is_500_or_breaks_off_and_is_never_taken_for_whole() {
    let (site, server, client) = serve().await;
    let content = vec![7; 12_000_000];
    assert_eq!(update(&client, 1, &content).await, 200);
    let path = format!("/api/v2/resource/{GUID}");
    let mut seen = [0, 0, 0];
    for fault in FAULTS {
        // For a while, and for good.
        for times in [1, 2, usize::MAX] {
            bucket(&site).misbehave("GET /blobs/platen/resources", fault, times);
            let answer = client.get(&path).await;
            let ending = match answer.status().as_u16() {
                200 => match answer.bytes().await {
                    Ok(bytes) => {
                        assert!(bytes == content, "{fault:?} {times} times: {} bytes", bytes.len());
                        0
                    }
                    // Its length was announced, so the client sees that it is short.
                    Err(_) => 1,
                },
                500 => 2,
                other => panic!("{other}"),
            };
            seen[ending] += 1;
            bucket(&site).behave();
            assert!(client.download(GUID).await == content, "{fault:?} {times} times");
        }
    }
    assert!(seen[2] > 0 && seen[0] + seen[1] > 0, "whole, broken off, 500: {seen:?}");
    assert_whole(&site, server, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_slow_but_answers_serves() {
    let (site, server, client) = serve().await;
    let content = vec![7; 12_000_000];
    bucket(&site).misbehave("", Fault::Slow(Duration::from_secs(1)), usize::MAX);
    assert_eq!(update(&client, 1, &content).await, 200);
    assert!(client.download(GUID).await == content);
    assert_eq!(status(client.try_report_crash("RIP", "main", b"dump")).await, 200);
    bucket(&site).behave();
    assert_whole(&site, server, 3).await;
}
