//! A `PostgreSQL` that is halted, so that it neither answers nor closes, and one that is restarted under load.

use crate::support::setup::postgres::Cluster;
use crate::support::setup::{Setup, Stores};
use crate::support::{Site, eventually};
use crate::{GUID, assert_logged, log, logged, readiness, status, update};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

fn cluster(site: &Site) -> &Cluster {
    match site.stores() {
        Stores::PostgresAndS3 { cluster, .. } => cluster,
        Stores::Defaults => unreachable!("a site on PostgreSQL"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_halted_is_500_soon_and_not_ready_until_it_goes_on_and_nothing_is_half_there() {
    let site = Site::on(Setup::OwnPostgresAndS3);
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    assert_eq!(log(&client, "before").await, 200);

    cluster(&site).pause();
    let path = format!("/api/v2/resource/{GUID}");
    let output = tokio::join!(
        log(&client, "meanwhile"),
        update(&client, 1, b"meanwhile"),
        status(client.try_report_crash("RIP", "main", b"meanwhile")),
        status(client.try_get(&path)),
        status(client.try_delete(&path)),
        readiness(&server),
    );
    assert_eq!(output, (500, 500, 500, 500, 500, 503));
    // Who comes later waits no longer.
    assert_eq!(log(&client, "meanwhile too").await, 500);
    assert_eq!(crate::support::client::Client::with_key(&server.ops, "").get("/health/live").await.status(), 200);
    assert_logged(&site, "a request failed on our side");

    cluster(&site).go_on();
    eventually("it is ready again", async || readiness(&server).await == 200).await;
    eventually("it serves again", async || log(&client, "after").await == 200).await;
    eventually("it reads again", async || !matches!(status(client.try_get(&path)).await, 500)).await;
    let every = || client.post("/api/v2/log/list").header("Content-Type", "application/json");
    eventually("it lists again", async || status(every().body(r#"{"LogType":"Log"}"#).send()).await == 200).await;
    // What was answered 500 was done whole or not at all; the database goes on with what it had been asked for.
    let entries = logged(&client).await;
    let known = ["before", "meanwhile", "meanwhile too", "after"];
    assert!(entries.iter().all(|entry| known.contains(&entry.as_str())), "{entries:?}");
    assert_eq!((entries.first().unwrap().as_str(), entries.last().unwrap().as_str()), ("before", "after"));
    let answer = client.get(&path).await;
    let is_deleted = answer.status() == 404;
    if !is_deleted {
        let content = client.download(GUID).await;
        assert!(content == b"content" || content == b"meanwhile", "{content:?}");
    }
    assert_eq!(update(&client, 2, b"after").await, 200);
    assert_eq!(client.download(GUID).await, b"after");
    let reports: usize = site.sql("SELECT count(*) FROM crash_report").await.remove(0).parse().unwrap();
    assert!(reports <= 1);
    server.stop();
    let output = site.run("blobs check").succeeded();
    // At worst the contents of the update and of the report are left without a record.
    assert!(output.contains("missing 0, damaged 0, orphans "), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_restarted_under_load_loses_nothing_that_was_answered_200() {
    let site = Site::on(Setup::OwnPostgresAndS3);
    let server = site.serve().await;
    let client = server.client();
    let done = AtomicBool::new(false);
    let writer = |name: usize| {
        let (client, done) = (&client, &done);
        async move {
            let mut kept = Vec::new();
            for number in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let text = format!("{name} {number}");
                match log(client, &text).await {
                    200 => kept.push(text),
                    500 => {}
                    other => panic!("{other}"),
                }
            }
            kept
        }
    };
    let kept = thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3 {
                cluster(&site).restart_in_order();
                thread::sleep(Duration::from_secs(2));
            }
            done.store(true, Ordering::Relaxed);
        });
        let writers = async { tokio::join!(writer(1), writer(2), writer(3)) };
        let (first, second, third) = block_in_place(|| Handle::current().block_on(writers));
        [first, second, third].concat()
    });
    eventually("it is ready again", async || readiness(&server).await == 200).await;
    eventually("it writes again", async || log(&client, "after").await == 200).await;
    assert!(!kept.is_empty());
    let all = logged(&client).await;
    let missing: Vec<_> = kept.iter().filter(|text| !all.contains(text)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The disk of the database alone is full: PostgreSQL answers every insertion by SQLSTATE 53100.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_of_the_database_is_500_and_not_ready_until_there_is_room_again() {
    let site = Site::on(Setup::PostgresAndS3);
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    assert_eq!(log(&client, "before").await, 200);

    let refuse = "BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END";
    site.sql(&format!("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $${refuse}$$")).await;
    let tables = ["log_entry", "resource", "crash_report", "device_status", "write_probe"];
    for table in tables {
        let event = format!("BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse()");
        site.sql(&format!("CREATE TRIGGER full_disk {event}")).await;
    }
    assert_eq!(log(&client, "meanwhile").await, 500);
    assert_eq!(update(&client, 1, b"meanwhile").await, 500);
    assert_eq!(status(client.try_report_crash("RIP", "main", b"meanwhile")).await, 500);
    let answer = client.try_report_crash("RIP", "main", b"meanwhile").await.unwrap();
    assert!(answer.headers().contains_key("Retry-After"), "{answer:?}");
    assert_logged(&site, "No space left on device");
    assert_eq!(readiness(&server).await, 503);
    assert_eq!(client.download(GUID).await, b"content");

    for table in tables {
        site.sql(&format!("DROP TRIGGER full_disk ON {table}")).await;
    }
    eventually("it is ready again", async || readiness(&server).await == 200).await;
    assert_eq!(log(&client, "after").await, 200);
    assert_eq!(update(&client, 2, b"after").await, 200);
    assert_eq!(client.download(GUID).await, b"after");
    assert_eq!(logged(&client).await, ["before", "after"]);
    server.stop();
    let output = site.run("blobs check").succeeded();
    assert!(output.contains("missing 0, damaged 0, orphans 0"), "nothing is left of what was refused: {output}");
}
