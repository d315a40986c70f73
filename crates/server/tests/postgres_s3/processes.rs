//! Three server processes over one database and one bucket are one service.

use crate::retention::{RETENTION, age, entries, log, multiply_entries, removed};
use crate::support::client::Client;
use crate::support::content::sha1;
use crate::support::{ANNS_KEY, DEVICE, Server, Site, eventually};
use futures_util::{StreamExt, stream};
use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const RESOURCES: usize = 20;
const UPDATES: usize = 2000;

/// Requests that are under way at once.
const AT_ONCE: usize = 48;

/// Three servers that have the same fleet.
async fn three(site: &Site) -> [Server; 3] {
    site.run("fleet apply fleet.json").succeeded();
    [site.serve_second("first.").await, site.serve_second("second.").await, site.serve_second("third.").await]
}

fn guid(resource: usize) -> String {
    format!("11111111-2222-3333-4444-{resource:012}")
}

/// What update `number` brings: a content of its own, from nothing to tens of kilobytes.
fn content(number: usize) -> Vec<u8> {
    format!("update {number} ").repeat(number * 7 % 3001).into_bytes()
}

fn timestamp(number: usize) -> String {
    format!("2026-05-04T{:02}:{:02}:{:02}Z", number / 3600, number / 60 % 60, number % 60)
}

/// All updates in an order that has nothing to do with their timestamps: a walk by a step that is prime to
/// their number.
fn shuffled() -> impl Iterator<Item = usize> {
    (0..UPDATES).map(|step| (step * 1_237 + 611) % UPDATES)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_thousand_concurrent_updates_the_newest_of_each_resource_stays_and_downloads_are_whole() {
    let site = Site::new();
    // All three sweep all the time.
    site.configure("blobs.discarded_grace = '3s'");
    let servers = three(&site).await;
    let clients: Vec<Client> = servers.iter().map(Server::client).collect();
    let clients = &clients;
    let number_of: HashMap<String, usize> = (0..UPDATES).map(|number| (sha1(&content(number)), number)).collect();
    let (number_of, accepted, done) = (&number_of, &AtomicUsize::new(0), &AtomicBool::new(false));

    let updates = async {
        let update = |(step, number): (usize, usize)| async move {
            let client = &clients[step % clients.len()];
            let answer = client.upload_at(&timestamp(number), &guid(number % RESOURCES), &content(number)).await;
            match answer.status().as_u16() {
                200 => accepted.fetch_add(1, Ordering::Relaxed),
                _ => assert_refused(answer, "Validation of Timestamp failed").await,
            }
        };
        stream::iter(shuffled().enumerate()).map(update).buffer_unordered(AT_ONCE).collect::<Vec<_>>().await;
        done.store(true, Ordering::Relaxed);
    };
    let downloads = async {
        let mut seen = 0;
        let mut newest = [0; RESOURCES];
        for turn in 0.. {
            if done.load(Ordering::Relaxed) {
                break;
            }
            let resource = turn * 7 % RESOURCES;
            let path = format!("/api/v2/resource/{}", guid(resource));
            let answer = clients[turn % clients.len()].get(&path).await;
            if answer.status() == 404 {
                assert_eq!(newest[resource], 0, "a resource that was there is gone");
                continue;
            }
            assert_eq!(answer.status(), 200);
            let etag = answer.headers()["ETag"].to_str().unwrap().trim_matches('"').to_owned();
            let received = answer.bytes().await.unwrap();
            assert_eq!(sha1(&received), etag, "whole, and what the answer says it is");
            let number = number_of[&etag];
            assert_eq!(number % RESOURCES, resource, "the content of another resource");
            assert!(number >= newest[resource], "an older one came back");
            newest[resource] = number;
            seen += 1;
        }
        seen
    };
    let ((), seen) = tokio::join!(updates, downloads);
    assert!(seen > RESOURCES, "{seen} downloads ran during the updates");
    let accepted = accepted.load(Ordering::Relaxed);
    assert!((RESOURCES..UPDATES).contains(&accepted), "{accepted} were accepted");

    for resource in 0..RESOURCES {
        let newest = UPDATES - RESOURCES + resource;
        for client in clients {
            let info = client.info(&guid(resource)).await;
            assert_eq!(info["Timestamp"], timestamp(newest), "{resource}");
            assert_eq!(info["ResourceChecksum"], sha1(&content(newest)), "{resource}");
            assert!(client.download(&guid(resource)).await == content(newest), "{resource}");
        }
    }
    eventually("all that was replaced is swept", async || site.stored_files() == RESOURCES).await;
    let output = site.run("blobs check").succeeded();
    assert_eq!(output, format!("checked {RESOURCES}, missing 0, damaged 0, orphans 0, removed 0\n"));
}

/// Every other one is too large to be answered from memory.
fn size(round: usize) -> usize {
    [2_000_000, 4_200_000][round % 2] + round
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn downloads_beside_updates_and_deletions_are_whole_or_not_found() {
    let site = Site::new();
    site.configure("blobs.discarded_grace = '3s'");
    let servers = three(&site).await;
    let clients: Vec<Client> = servers.iter().map(Server::client).collect();
    let clients = &clients;
    let done = &AtomicBool::new(false);
    let resource = "22222222-2222-3333-4444-555555555555";
    let path = &format!("/api/v2/resource/{resource}");
    let changes = async {
        for round in 0..60 {
            let body = vec![u8::try_from(round).unwrap(); size(round)];
            clients[round % 3].upload(resource, "Label", &body).await;
            if round % 3 == 2 {
                assert_eq!(clients[(round + 1) % 3].delete(path).await.status(), 200);
            }
        }
        done.store(true, Ordering::Relaxed);
    };
    let download = || async move {
        let mut whole = 0;
        for turn in 0_usize.. {
            if done.load(Ordering::Relaxed) {
                break;
            }
            let answer = clients[turn % 3].get(path).await;
            if answer.status() == 404 {
                continue;
            }
            assert_eq!(answer.status(), 200);
            let received = answer.bytes().await.unwrap();
            let round = usize::from(received[0]);
            assert!(received.len() == size(round) && received.iter().all(|byte| *byte == received[0]));
            whole += 1;
        }
        whole
    };
    let ((), first, second) = tokio::join!(changes, download(), download());
    assert!(first + second > 0);
    let output = site.run("blobs check").succeeded();
    assert!(output.ends_with("missing 0, damaged 0, orphans 0, removed 0\n"), "{output}");
}

#[tokio::test]
async fn the_last_device_status_received_wins_whichever_process_received_it() {
    let site = Site::new();
    let servers = three(&site).await;
    let clients = servers.each_ref().map(|server| Client::on_computer(&server.api, "HH-0001", "SN-1000"));
    for number in 0..60 {
        let status = json!({ "DeviceGUID": DEVICE, "Status": "Printing", "QueueLength": { "Sheets": number + 1 } });
        clients[number % 3].post_json("/api/v2/device/status", &status).await;
        assert_eq!(site.sql("SELECT queue_amount FROM device_status").await, [(number + 1).to_string()]);
    }
}

#[tokio::test]
async fn a_revoked_key_is_refused_by_every_process_within_five_seconds() {
    let site = Site::new();
    let servers = three(&site).await;
    let clients = servers.each_ref().map(|server| Client::with_key(&server.api, ANNS_KEY));
    for client in &clients {
        assert!(client.is_admitted().await);
    }
    site.run_with(["key", "revoke", "--organization", "Acme Print", "--user", "Ann"], &[]).succeeded();
    let since = Instant::now();
    for client in &clients {
        eventually("the key is refused", async || !client.is_admitted().await).await;
    }
    assert!(since.elapsed() < Duration::from_secs(5), "decision A6: {:?}", since.elapsed());
}

#[tokio::test]
async fn processes_that_start_at_once_migrate_once() {
    let site = Site::new();
    let output: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..6).map(|_| scope.spawn(|| site.run("migrate").succeeded())).collect();
        running.into_iter().map(|migrate| migrate.join().unwrap()).collect()
    });
    assert_eq!(output.iter().filter(|line| line.contains("from version 0 to")).count(), 1, "{output:?}");
    assert_eq!(output.iter().filter(|line| line.contains("up to date")).count(), 5, "{output:?}");
}

async fn assert_refused(answer: reqwest::Response, message: &str) -> usize {
    assert_eq!(answer.status(), 400);
    assert_eq!(answer.text().await.unwrap(), json!({ "Message": message }).to_string());
    0
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_remove_each_old_record_once() {
    let site = Site::new();
    let server = site.serve().await;
    log(&server.client(), "old").await;
    for number in 0..20 {
        server.client().report_crash(&format!("old {number}"), b"dump").await;
    }
    server.stop();
    multiply_entries(&site, 5_000).await;
    age(&site, 100).await;
    site.configure(RETENTION);
    let servers = [site.serve_second("first.").await, site.serve_second("second.").await];
    for (kind, count) in [("logs", 5_000), ("crash_reports", 20)] {
        let mut counted = 0;
        eventually("all is removed", async || {
            counted = removed(&servers[0], kind).await + removed(&servers[1], kind).await;
            counted >= count
        })
        .await;
        assert_eq!(counted, count, "{kind}");
    }
    assert_eq!(entries(&site).await, 0);
    eventually("the content is swept", async || site.stored_files() == 0).await;
    servers.into_iter().for_each(Server::stop);
    assert_eq!(site.run("blobs check").succeeded(), "checked 0, missing 0, damaged 0, orphans 0, removed 0\n");
}
