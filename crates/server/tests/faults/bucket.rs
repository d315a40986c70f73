//! An S3 service that goes away in the middle of an upload, at each request that an upload consists of.

use crate::support::setup::s3_server::{Fault, S3Server};
use crate::support::setup::{Setup, Stores};
use crate::support::{Site, eventually};
use crate::{GUID, readiness, update};

fn bucket(site: &Site) -> &S3Server {
    match site.stores() {
        Stores::PostgresAndS3 { s3, .. } => s3,
        Stores::Defaults => unreachable!("a site on S3"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_goes_away_at_any_request_of_an_upload_keeps_the_former_content_and_no_parts() {
    let site = Site::on(Setup::PostgresAndS3);
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    let (mut current, mut day) = (b"content".to_vec(), 0);
    for fault in [Fault::Error, Fault::Closed] {
        for size in [1_000, 12_000_000] {
            for spared in 0.. {
                day += 1;
                let content = vec![u8::try_from(day).unwrap(); size];
                bucket(&site).misbehave_after(spared, "", fault, usize::MAX);
                let answer = update(&client, day, &content).await;
                let failed = bucket(&site).behave();
                assert_eq!(answer, if failed { 500 } else { 200 }, "{fault:?} after {spared} requests of {size} bytes");
                bucket(&site).no_parts().await;
                if !failed {
                    current = content;
                }
                assert!(client.download(GUID).await == current, "{fault:?} after {spared} requests of {size} bytes");
                if !failed {
                    break;
                }
            }
        }
    }
    // What was replaced stays for its grace: the first content, and those but the last that were accepted.
    eventually("nothing is kept of uploads that failed", async || site.stored_files() == 5).await;
    assert_eq!(readiness(&server).await, 200);
    server.stop();
    let told = site.run("blobs check").succeeded();
    assert!(told.ends_with("checked 1, missing 0, damaged 0, orphans 0, removed 0\n"), "{told}");
}
