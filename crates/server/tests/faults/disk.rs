//! A disk that is full, and a folder that can't be written to. Both are mounts that only the server sees, so
//! that they hold for root too.

use crate::support::{Server, Site, eventually, files_below};
use crate::{GUID, assert_logged, log, logged, readiness, status, update};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

/// A folder or file of the site as the server sees it.
fn seen(site: &Site, server: &Server, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{}/root{}", server.id(), site.path(name).display()))
}

/// A small disk of its own for `folder`.
async fn serve_on_disk(site: &Site, folder: &str) -> Server {
    site.serve_after_script(&format!("mkdir -p {folder}; mount -t tmpfs -o size=8m tmpfs {folder}")).await
}

/// Fills the disk of the database; the file that does.
fn fill(site: &Site, server: &Server) -> PathBuf {
    let filler = seen(site, server, "data/filler");
    let mut file = File::create(&filler).unwrap();
    while file.write(&[0; 4096]).is_ok_and(|written| written > 0) {}
    filler
}

fn contents(site: &Site, server: &Server) -> usize {
    ["resources", "crash-reports"]
        .map(|kind| files_below(&seen(site, server, &format!("data/blobs/{kind}"))).len())
        .iter()
        .sum()
}

#[track_caller]
fn assert_whole(site: &Site, server: &Server) {
    let output = site.run_in_namespace_of(server, &format!("{} blobs check", env!("CARGO_BIN_EXE_platen"))).succeeded();
    assert!(output.ends_with("checked 1, missing 0, damaged 0, orphans 0, removed 0\n"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_the_disk_is_500_and_leaves_nothing() {
    let site = Site::new();
    site.configure("blobs.discarded_grace = '1s'");
    let server = serve_on_disk(&site, "data/blobs").await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    let large = vec![7; 12_000_000];
    for day in 1..4 {
        assert_eq!(update(&client, day, &large).await, 500);
        assert_eq!(status(client.try_report_crash("RIP", "main", &large)).await, 500);
        eventually("nothing is left of them", async || contents(&site, &server) == 1).await;
        assert_eq!(client.download(GUID).await, b"content");
    }
    assert_logged(&site, "No space left on device");
    assert_eq!(update(&client, 9, b"what fits").await, 200);
    assert_eq!(client.download(GUID).await, b"what fits");
    assert_eq!(readiness(&server).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_500_and_not_ready_until_there_is_room_again() {
    let site = Site::new();
    let server = serve_on_disk(&site, "data").await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    assert_eq!(log(&client, "before").await, 200);

    let filler = fill(&site, &server);
    assert_eq!(update(&client, 1, b"meanwhile").await, 500);
    assert_eq!(status(client.try_report_crash("RIP", "main", b"dump")).await, 500);
    // The journal may have room for some more entries; each that it took must be there afterwards.
    let mut expected = vec!["before".to_owned()];
    let full = format!("full {}", "x".repeat(100_000));
    for number in 0.. {
        let text = format!("{number} {full}");
        match log(&client, &text).await {
            200 => expected.push(text),
            500 => break,
            other => panic!("{other}"),
        }
    }
    assert_logged(&site, "No space left on device");
    assert_logged(&site, "full");
    assert_eq!(readiness(&server).await, 503);
    assert_eq!(client.download(GUID).await, b"content");
    assert_eq!(logged(&client).await, expected);

    fs::remove_file(&filler).unwrap();
    eventually("it is ready again", async || readiness(&server).await == 200).await;
    eventually("it writes again", async || log(&client, "after").await == 200).await;
    expected.push("after".to_owned());
    assert_eq!(logged(&client).await, expected);
    eventually("nothing is left", async || contents(&site, &server) == 1).await;
    assert_whole(&site, &server);
    assert_eq!(update(&client, 2, b"after").await, 200);
    assert_eq!(client.download(GUID).await, b"after");
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_that_a_full_database_refuses_leave_no_content() {
    let site = Site::new();
    let script = "mkdir data; mount -t tmpfs -o size=8m tmpfs data; mkdir data/blobs; \
                  mount -t tmpfs -o size=40m tmpfs data/blobs";
    let server = site.serve_after_script(script).await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;

    let filler = fill(&site, &server);
    let large = vec![7; 4_000_000];
    for retry in 1..=8 {
        // Before, the journal may have room for some more records.
        while update(&client, retry, &large).await == 200 {}
        assert_eq!(status(client.try_report_crash("RIP", "main", &large)).await, 500);
        assert!(contents(&site, &server) <= 1, "retry {retry} leaves content");
    }
    assert_logged(&site, "full");

    fs::remove_file(&filler).unwrap();
    eventually("it writes again", async || update(&client, 9, b"after").await == 200).await;
    assert_eq!(client.download(GUID).await, b"after");
}

#[test]
fn a_server_does_not_start_over_a_blob_folder_that_is_read_only_and_a_check_does() {
    let site = Site::new();
    site.run("migrate").succeeded();
    let script = "mkdir -p data/blobs; mount --bind data/blobs data/blobs; mount -o remount,bind,ro data/blobs";
    let output = site.run_after_script(script, "serve");
    assert_eq!(output.code, Some(1), "{output:?}");
    let last = output.err.lines().last().unwrap();
    let folder = site.path("data/blobs").canonicalize().unwrap();
    let expected = format!(
        "error: the blob store (blobs.path) can't be used: cannot write a file in folder {}: Read-only file system",
        folder.display()
    );
    assert!(last.starts_with(&expected), "{last}");
    assert!(!output.err.contains(r#""serving""#), "{output:?}");
    site.run_after_script(script, "blobs check").succeeded();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blob_folder_that_is_read_only_is_500_and_not_ready_while_all_else_goes_on() {
    let site = Site::new();
    let server = serve_on_disk(&site, "data/blobs").await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;

    site.run_in_namespace_of(&server, "mount --bind data/blobs data/blobs").succeeded();
    site.run_in_namespace_of(&server, "mount -o remount,bind,ro data/blobs").succeeded();
    assert_eq!(update(&client, 1, b"meanwhile").await, 500);
    assert_eq!(status(client.try_report_crash("RIP", "main", b"dump")).await, 500);
    assert_logged(&site, "Read-only file system");
    assert_eq!(readiness(&server).await, 503);
    assert_eq!(client.download(GUID).await, b"content");
    assert_eq!(log(&client, "meanwhile").await, 200);

    site.run_in_namespace_of(&server, "umount data/blobs").succeeded();
    eventually("it is ready again", async || readiness(&server).await == 200).await;
    assert_eq!(contents(&site, &server), 1);
    assert_eq!(update(&client, 2, b"after").await, 200);
    assert_eq!(client.download(GUID).await, b"after");
    assert_eq!(logged(&client).await, ["meanwhile"]);
}
