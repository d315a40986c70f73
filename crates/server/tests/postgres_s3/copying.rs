//! `platen copy` between the two set-ups, both ways.

use crate::support::client::Client;
use crate::support::content::blocks;
use crate::support::setup::s3_server::{Fault, S3Server};
use crate::support::setup::{Setup, Stores};
use crate::support::{COMPUTER, DEVICE, FLEET, Ran, Site, USED_RESOURCE, eventually, files_below};
use serde_json::{Value, json};
use std::fs;
use std::process::{Child, Stdio};

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

fn bucket(site: &Site) -> &S3Server {
    match site.stores() {
        Stores::PostgresAndS3 { s3, .. } => s3,
        Stores::Defaults => unreachable!("a site on S3"),
    }
}

/// The target's stores, with absolute paths.
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

fn begin_copy(from: &Site, to: &Site) -> Child {
    let toml = to.path("platen.toml");
    let mut copy = from.command();
    copy.args(["copy", "--to", toml.to_str().unwrap()]).stdout(Stdio::null()).stderr(Stdio::null());
    copy.spawn().unwrap()
}

fn kill(mut copy: Child) {
    copy.kill().unwrap();
    copy.wait().unwrap();
}

#[tokio::test]
async fn a_copy_that_was_killed_among_the_contents_and_among_the_records_goes_on() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    fill(&origin).await;
    there.run("migrate").succeeded();
    let bucket = bucket(&there);
    let organizations = async || there.sql("SELECT count(*) FROM organization").await.remove(0);

    bucket.misbehave("/resources/", Fault::Silence, usize::MAX);
    let interrupted = begin_copy(&origin, &there);
    eventually("some contents are there", async || files_below(&there.contents("crash-reports")).len() == 2).await;
    kill(interrupted);
    bucket.behave();
    assert_eq!((there.stored_files(), organizations().await.as_str()), (2, "0"), "records come after contents");

    for sql in HANG {
        there.sql(sql).await;
    }
    let interrupted = begin_copy(&origin, &there);
    let entries = async || there.sql("SELECT count(*) FROM log_entry").await.remove(0);
    eventually("some records are there", async || entries().await == "30").await;
    kill(interrupted);
    for sql in HANG_NO_MORE {
        there.sql(sql).await;
    }
    assert_eq!(there.sql("SELECT count(*) FROM crash_report").await, ["0"]);

    copy(&origin, &there).succeeded();
    assert_eq!(seen(&there).await, seen(&origin).await);
    let checked = there.run("blobs check").succeeded();
    assert_eq!(checked, "checked 5, missing 0, damaged 0, orphans 0, removed 0\n");
}

/// Inserting a crash report waits.
const HANG: [&str; 2] = [
    "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS \
     $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$",
    "CREATE TRIGGER hang BEFORE INSERT ON crash_report FOR EACH ROW EXECUTE FUNCTION hang()",
];

/// The killed one's session would wait on.
const HANG_NO_MORE: [&str; 2] = [
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity \
     WHERE datname = current_database() AND application_name = 'platen'",
    "DROP FUNCTION hang CASCADE",
];

#[tokio::test]
async fn a_target_of_somebody_else_is_refused_and_left_alone() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    fill(&origin).await;
    there.write("other.json", &FLEET.replace("Acme Print", "Other Print"));
    there.run("fleet apply other.json").succeeded();
    let before = there.run("fleet export").succeeded();
    let output = copy(&origin, &there).failed(1);
    let expected = "error: cannot copy the records: the target holds another record as organization 1; \
                    copy into an empty database";
    assert_eq!(output, expected);
    assert_eq!(there.run("fleet export").succeeded(), before);
    assert_eq!(there.stored_files(), 0);
}

#[tokio::test]
async fn neither_side_may_be_in_use() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    fill(&origin).await;
    there.run("migrate").succeeded();
    for (from, to) in [(&origin, &there), (&there, &origin)] {
        for (busy, side) in [(from, "source"), (to, "target")] {
            let server = busy.serve_with(&[]).await;
            let output = copy(from, to).failed(1);
            assert!(output.starts_with(&format!("error: {side}: the database ")), "{output}");
            assert!(output.ends_with(" is in use; stop what runs over it"), "{output}");
            server.stop();
        }
    }
}

#[tokio::test]
async fn a_server_that_is_started_while_both_sides_are_copied_does_not_come_in() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    fill(&origin).await;
    bucket(&there).misbehave("/resources/", Fault::Silence, usize::MAX);
    let copy = begin_copy(&origin, &there);
    eventually("the copy has begun", async || files_below(&there.contents("crash-reports")).len() == 2).await;
    let output = origin.run("serve").failed(1);
    assert!(output.ends_with(" is in use; stop what runs over it"), "{output}");
    kill(copy);
}

#[tokio::test]
async fn only_the_contents_move_where_both_sides_use_one_database() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::Defaults)];
    fill(&origin).await;
    let [database, folder] =
        [origin.path("data/platen.db"), there.path("data/blobs")].map(|path| path.display().to_string());
    there.configure(&format!("database.url = 'sqlite://{database}'\nblobs.path = '{folder}'"));
    let expected = "records: both sides use the same database\n\
                    contents: copied 5, there before 0, missing 0, damaged 0\n";
    assert_eq!(copy(&origin, &there).succeeded(), expected);
    let checked = there.run("blobs check").succeeded();
    assert_eq!(checked, "checked 5, missing 0, damaged 0, orphans 0, removed 0\n");
}

#[tokio::test]
async fn a_blob_store_that_both_sides_use_is_warned_of_and_memory_is_refused() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::Defaults)];
    fill(&origin).await;
    let [database, folder] =
        [there.path("data/platen.db"), origin.path("data/blobs")].map(|path| path.display().to_string());
    there.configure(&format!("database.url = 'sqlite://{database}'\nblobs.path = '{folder}'"));
    let ran = copy(&origin, &there);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.starts_with("warning: both sides use one blob store: "), "{ran:?}");
    assert!(ran.out.ends_with("contents: copied 0, there before 5, missing 0, damaged 0\n"), "{ran:?}");
    for memory in ["database.url = 'sqlite::memory:'", "blobs.kind = 'memory'"] {
        there.configure(memory);
        assert!(copy(&origin, &there).failed(2).contains("nothing would be left"), "{memory}");
    }
}

#[tokio::test]
async fn there_must_be_something_to_copy() {
    let [origin, there] = [target(Setup::Defaults), target(Setup::PostgresAndS3)];
    let output = copy(&origin, &there).failed(1);
    assert!(output.starts_with("error: source: there is no database ") && output.contains("platen.db; "), "{output}");
    assert_eq!(there.stored_files(), 0);
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
