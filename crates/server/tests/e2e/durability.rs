//! What was answered with 200 is there after the server was killed in the same moment.

use crate::support::client::Client;
use crate::support::content::sha1;
use crate::support::{COMPUTER, DEVICE, Site};
use serde_json::{Value, json};

const GUID: &str = "11111111-2222-3333-4444-555555555555";

#[tokio::test]
async fn an_upload_and_an_update_outlive_a_kill() {
    let site = Site::new();
    let contents = [b"first".repeat(200_000), b"second".repeat(300_000), b"small".to_vec()];
    for content in &contents {
        let server = site.serve().await;
        server.client().upload(GUID, "Label", content).await;
        server.kill();

        let server = site.serve().await;
        let client = server.client();
        assert_eq!(client.info(GUID).await["ResourceChecksum"], sha1(content));
        assert_eq!(client.download(GUID).await, *content);
        server.kill();
        assert_clean(&site);
    }
}

#[tokio::test]
async fn a_deletion_outlives_a_kill() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"content").await;
    assert_eq!(server.client().delete(&format!("/api/v2/resource/{GUID}")).await.status(), 200);
    server.kill();

    let server = site.serve().await;
    assert_eq!(server.client().get(&format!("/api/v2/resource/{GUID}")).await.status(), 404);
    server.kill();
    assert_clean(&site);
}

#[tokio::test]
async fn log_entries_outlive_a_kill() {
    let site = Site::new();
    for number in 0..3 {
        let server = site.serve().await;
        let entry = json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": format!("entry {number}") });
        server.client().post_json("/api/v2/log", &entry).await;
        server.kill();
    }
    let server = site.serve().await;
    let answer = server.client().post_json("/api/v2/log/list", &json!({ "LogType": "Log" })).await;
    let entries: Vec<Value> = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    let output: Vec<_> = entries.iter().map(|entry| entry["Description"].as_str().unwrap()).collect();
    assert_eq!(output, ["entry 2", "entry 1", "entry 0"]);
    assert!(entries.iter().all(|entry| entry["User"] == "Ann" && entry["Computer"] == "RIP-01"));
}

#[tokio::test]
async fn a_crash_report_outlives_a_kill_with_all_its_parts() {
    let site = Site::new();
    let server = site.serve().await;
    let dump: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    let id = server.client().report_crash("main\n  at crash", &dump).await;
    server.kill();

    // No operation reads crash reports: the check compares the stored parts with their checksums, and
    // finds them by the report's number.
    assert_eq!(site.run("blobs check").succeeded(), "checked 2, missing 0, damaged 0, orphans 0, removed 0\n");
    for part in crate::support::files_below(&site.contents("crash-reports")) {
        std::fs::remove_file(part).unwrap();
    }
    let ran = site.run("blobs check");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.out.matches(&id).count(), 2, "{ran:?}");
    assert!(ran.out.contains(&format!("{} bytes, SHA1 {}", dump.len(), sha1(&dump))), "{ran:?}");
}

#[tokio::test]
async fn a_device_status_outlives_a_kill() {
    let site = Site::new();
    let server = site.serve().await;
    let client = Client::on_computer(&server.api, "HH-0001", "SN-1000");
    let status = json!({ "DeviceGUID": DEVICE, "Status": "Printing", "QueueLength": { "Length": 12.5 } });
    client.post_json("/api/v2/device/status", &status).await;
    server.kill();

    let kept = site.sql("SELECT status FROM device_status").await;
    assert_eq!(kept, ["Printing"]);
}

#[track_caller]
fn assert_clean(site: &Site) {
    let output = site.run("blobs check").succeeded();
    assert!(output.ends_with("missing 0, damaged 0, orphans 0, removed 0\n"), "{output}");
}
