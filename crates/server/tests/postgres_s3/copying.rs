//! `platen copy` between the two set-ups, both ways.

use crate::support::client::Client;
use crate::support::content::blocks;
use crate::support::setup::Setup;
use crate::support::{COMPUTER, DEVICE, FLEET, Ran, Site, USED_RESOURCE, files_below};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

const LARGE: &str = "11111111-2222-3333-4444-555555555555";
const SMALL: &str = "22222222-2222-3333-4444-555555555555";

/// Something of everything that clients send.
async fn fill(site: &Site) {
    let server = site.serve().await;
    let client = server.client();
    client.upload(LARGE, "Large", &blocks(20).collect::<Vec<_>>().concat()).await;
    client.upload(SMALL, "Small", b"first").await;
    client.upload(SMALL, "Small", b"second").await;
    client.upload(USED_RESOURCE, "Used", b"").await;
    client.report_crash("main at crash", &vec![7; 100_000]).await;
    for number in 0..30 {
        let entry =
            json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": format!("entry {number} \u{1d11e}") });
        client.post_json("/api/v2/log", &entry).await;
    }
    let status = json!({ "DeviceGUID": DEVICE, "Status": "Printing", "QueueLength": { "Length": 12.5 } });
    Client::on_computer(&server.api, "HH-0001", "SN-1000").post_json("/api/v2/device/status", &status).await;
    server.stop();
}

/// What a client sees, asked of a running server.
async fn seen(site: &Site) -> Vec<String> {
    let server = site.serve_with(&[]).await;
    let client = server.client();
    let mut seen = Vec::new();
    for guid in [LARGE, SMALL, USED_RESOURCE] {
        seen.push(client.info(guid).await.to_string());
        seen.push(crate::support::content::sha1(&client.download(guid).await));
    }
    let list = client.post_json("/api/v2/log/list", &json!({ "LogType": "Log" })).await;
    seen.push(list.text().await.unwrap());
    seen.extend(site.sql("SELECT status || queue_amount FROM device_status").await);
    seen.extend(site.sql("SELECT place || checksum FROM crash_part ORDER BY position").await);
    server.stop();
    seen.push(site.run("fleet export").succeeded());
    seen
}

fn copy(from: &Site, to: &Site) -> Ran {
    let target = to.path("platen.toml");
    from.run_with(["copy", "--to", target.to_str().unwrap()], &[])
}

/// The target's stores, told with absolute paths.
fn target(setup: Setup) -> Site {
    let site = Site::on(setup);
    if setup == Setup::Defaults {
        let data = site.path("data");
        let data = data.display();
        site.configure(&format!("database.url = 'sqlite://{data}/platen.db'\nblobs.path = '{data}/blobs'"));
    }
    site
}

#[tokio::test]
async fn everything_moves_from_sqlite_and_a_folder_to_postgresql_and_s3_and_back() {
    let [origin, there, back] = [target(Setup::Defaults), target(Setup::PostgresAndS3), target(Setup::Defaults)];
    fill(&origin).await;
    let before = seen(&origin).await;
    for (from, to) in [(&origin, &there), (&there, &back)] {
        let first = copy(from, to).succeeded();
        assert!(first.ends_with("contents: copied 5, there before 0, missing 0, damaged 0\n"), "{first}");
        let records = first.strip_prefix("records: copied ").unwrap().split(',').next().unwrap();
        let again = copy(from, to).succeeded();
        let expected = format!(
            "records: copied 0, there before {records}\ncontents: copied 0, there before 5, missing 0, damaged 0\n"
        );
        assert_eq!(again, expected);
        assert_eq!(seen(to).await, before);
        let checked = to.run("blobs check").succeeded();
        assert_eq!(checked, "checked 5, missing 0, damaged 0, orphans 0, removed 0\n");
    }
    // What arrives later takes the next numbers.
    let server = there.serve_with(&[]).await;
    let entry = json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": "the newest" });
    server.client().post_json("/api/v2/log", &entry).await;
    let list = server.client().post_json("/api/v2/log/list", &json!({ "LogType": "Log" })).await;
    let entries: Vec<Value> = serde_json::from_slice(&list.bytes().await.unwrap()).unwrap();
    assert_eq!((entries.len(), &entries[0]["Description"]), (31, &"the newest".into()));
    server.stop();
}

#[tokio::test]
async fn a_copy_that_was_killed_goes_on() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    fill(&origin).await;
    let toml = there.path("platen.toml");
    for pause in [20, 60, 120, 250, 400] {
        let mut copy = origin.command();
        copy.args(["copy", "--to", toml.to_str().unwrap()]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut copy = copy.spawn().unwrap();
        sleep(Duration::from_millis(pause));
        copy.kill().unwrap();
        copy.wait().unwrap();
    }
    let since = Instant::now();
    // The database may still be busy with what the killed one had asked for.
    while copy(&origin, &there).code != Some(0) {
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", copy(&origin, &there));
    }
    assert_eq!(seen(&there).await, seen(&origin).await);
    let checked = there.run("blobs check").succeeded();
    assert_eq!(checked, "checked 5, missing 0, damaged 0, orphans 0, removed 0\n");
}

#[tokio::test]
async fn a_target_of_somebody_else_is_refused_and_left_alone() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    fill(&origin).await;
    there.write("other.json", &FLEET.replace("Acme Print", "Other Print"));
    there.run("fleet apply other.json").succeeded();
    let before = there.run("fleet export").succeeded();
    let told = copy(&origin, &there).failed(1);
    let expected = "error: cannot copy the records: the target holds another record as organization 1; \
                    copy into an empty database";
    assert_eq!(told, expected);
    assert_eq!(there.run("fleet export").succeeded(), before);
    assert_eq!(there.stored_files(), 0);
}

#[tokio::test]
async fn neither_side_may_be_in_use() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    fill(&origin).await;
    for (busy, side) in [(&origin, "source"), (&there, "target")] {
        let server = busy.serve_with(&[]).await;
        let expected = format!("error: {side}: the database is in use; stop the servers that run over it");
        assert_eq!(copy(&origin, &there).failed(1), expected);
        server.stop();
    }
    assert_eq!(copy(&origin, &origin).failed(1).split(':').nth(1), Some(" target"), "nothing is copied onto itself");
    copy(&origin, &there).succeeded();
}

#[tokio::test]
async fn content_that_is_missing_or_damaged_is_named_and_ends_with_one() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    fill(&origin).await;
    let crash_parts = files_below(&origin.contents("crash-reports"));
    fs::remove_file(&crash_parts[0]).unwrap();
    fs::write(&crash_parts[1], "other").unwrap();
    let ran = copy(&origin, &there);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.out.contains("missing crash-reports/") && ran.out.contains("damaged crash-reports/"), "{ran:?}");
    assert!(ran.out.ends_with("contents: copied 3, there before 0, missing 1, damaged 1\n"), "{ran:?}");
}

#[tokio::test]
async fn the_environment_changes_nothing_of_the_target() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    fill(&origin).await;
    let toml = there.path("platen.toml");
    let data = origin.path("data");
    let url = format!("sqlite://{}/platen.db", data.display());
    let variables = [("PLATEN_DATABASE__URL", url.as_str())];
    let ran = origin.run_with(["copy", "--to", toml.to_str().unwrap()], &variables).succeeded();
    assert!(ran.contains("contents: copied 5"), "{ran}");
    assert!(origin.run("copy --to no.toml").failed(2).contains("no.toml"));
}
