//! A database or bucket that is unreachable or refuses access, at the start and while the server runs.

use crate::support::client::Client;
use crate::support::setup::postgres::Cluster;
use crate::support::setup::s3_server::{Fault, S3Server, SECRET};
use crate::support::setup::{Setup, Stores};
use crate::support::{COMPUTER, Server, Site, eventually};
use futures_util::future::join_all;
use reqwest::Response;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::block_in_place;
use tokio::time::sleep;

const GUID: &str = "11111111-2222-3333-4444-555555555555";

/// A client has its 500 within five seconds; two waits of four, one after the other, would take longer than this.
const SOON: Duration = Duration::from_secs(8);

/// A site with its own cluster, and the server of that cluster.
fn site() -> Site {
    Site::on(Setup::OwnPostgresAndS3)
}

fn cluster(site: &Site) -> &Cluster {
    match site.stores() {
        Stores::PostgresAndS3 { cluster, .. } => cluster,
        Stores::Defaults => unreachable!("a site on PostgreSQL"),
    }
}

fn bucket(site: &Site) -> &S3Server {
    match site.stores() {
        Stores::PostgresAndS3 { s3, .. } => s3,
        Stores::Defaults => unreachable!("a site on S3"),
    }
}

fn entry(text: &str) -> Value {
    json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": text })
}

/// Sends a log entry; the status, which must come soon.
async fn log(client: &Client, text: &str) -> u16 {
    let since = Instant::now();
    let request = client.post("/api/v2/log").header("Content-Type", "application/json").body(entry(text).to_string());
    let answer = request.send().await.unwrap();
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
    let status = answer.status().as_u16();
    if status == 500 {
        assert_eq!(answer.text().await.unwrap(), r#"{"Message":"Internal Server Error"}"#);
    }
    status
}

/// Lists the log; the status, which must come soon.
async fn is_listed(client: &Client) -> u16 {
    let since = Instant::now();
    let request = client.post("/api/v2/log/list").header("Content-Type", "application/json").body(r#"{"User":"*"}"#);
    let status = request.send().await.unwrap().status().as_u16();
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
    status
}

/// The answer is a 500 that comes soon.
async fn failed(fault: Fault, sent: impl Future<Output = Response>) {
    let since = Instant::now();
    assert_eq!(sent.await.status(), 500, "{fault:?}");
    assert!(since.elapsed() < SOON, "{fault:?}: {:?}", since.elapsed());
}

async fn readiness(server: &Server) -> u16 {
    Client::with_key(&server.ops, "").get("/health/ready").await.status().as_u16()
}

/// The start ends with exit code 1. Returns its output: a line for each try that failed, and the error.
#[track_caller]
fn refused(site: &Site, variables: &[(&str, &str)]) -> String {
    let since = Instant::now();
    let variables = [variables, &[("PLATEN_LOG__LEVEL", "warn"), ("PLATEN_LOG__FORMAT", "text")]].concat();
    let output = site.run_with(["serve"], &variables);
    assert_eq!((output.code, output.out.as_str()), (Some(1), ""), "{output:?}");
    let output = output.err;
    assert!(since.elapsed() < Duration::from_mins(1), "{output}: {:?}", since.elapsed());
    for secret in ["only-for-tests", "a-wrong-password", "a-wrong-secret", SECRET] {
        assert!(!output.contains(secret), "{output}");
    }
    output
}

#[test]
fn a_database_that_cannot_be_reached_ends_the_start_after_some_tries() {
    let site = Site::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgres://platen:only-for-tests@127.0.0.1:{port}/platen");
    let output = refused(&site, &[("PLATEN_DATABASE__URL", &url)]);
    let place = format!("127.0.0.1:{port}");
    assert_tries(&output, "the database can't be reached yet", &[&place, "refused"]);
    let error = output.lines().last().unwrap();
    let names = [place.as_str(), "(6 tries)", "refused"];
    assert!(error.starts_with("error: ") && names.iter().all(|name| error.contains(name)), "{output}");
}

/// Each try but the last has its line, with all `words`.
#[track_caller]
fn assert_tries(output: &str, what: &str, words: &[&str]) {
    let tries: Vec<&str> = output.lines().filter(|line| line.contains(what)).collect();
    assert_eq!(tries.len(), 5, "{output}");
    assert_eq!(output.trim_end().lines().count(), 6, "{output}");
    assert!(tries.iter().all(|line| words.iter().all(|word| line.contains(word))), "{output}");
}

#[test]
fn a_database_that_refuses_the_login_ends_the_start_at_once() {
    let site = Site::new();
    let url = Cluster::shared().maintenance_url();
    let output = refused(&site, &[("PLATEN_DATABASE__URL", &url.replace("only-for-tests", "a-wrong-password"))]);
    assert!(output.contains("password authentication failed"), "{output}");
    let (base, _) = url.rsplit_once('/').unwrap();
    let output = refused(&site, &[("PLATEN_DATABASE__URL", &format!("{base}/no_such_database"))]);
    assert!(output.contains("no_such_database") && output.contains("does not exist"), "{output}");
}

#[test]
fn a_bucket_that_cannot_be_reached_ends_the_start_after_some_tries() {
    let site = Site::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = format!("http://127.0.0.1:{port}");
    let output = refused(&site, &[("PLATEN_BLOBS__ENDPOINT", &endpoint)]);
    assert_tries(&output, "the blob store can't be reached yet", &[&endpoint, "Connection refused"]);
    let error = output.lines().last().unwrap();
    let names = [endpoint.as_str(), "(6 tries)", "Connection refused"];
    assert!(error.starts_with("error: ") && names.iter().all(|name| error.contains(name)), "{output}");
}

#[test]
fn a_bucket_that_is_missing_or_refuses_access_ends_the_start() {
    let site = Site::new();
    let output = refused(&site, &[("PLATEN_BLOBS__BUCKET", "no-such-bucket")]);
    assert!(output.contains("bucket no-such-bucket at ") && output.contains("NoSuchBucket"), "{output}");
    let output = refused(&site, &[("PLATEN_BLOBS__SECRET_ACCESS_KEY", "a-wrong-secret")]);
    assert!(output.contains("403 Forbidden") && output.contains("SignatureDoesNotMatch"), "{output}");
    let output = refused(&site, &[("PLATEN_BLOBS__ACCESS_KEY_ID", "AKIANOBODY")]);
    assert!(output.contains("403 Forbidden"), "{output}");
}

#[tokio::test]
async fn a_database_that_stops_is_500_soon_and_not_ready_until_it_is_back_and_nothing_is_lost() {
    let site = site();
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    assert_eq!(log(&client, "before").await, 200);

    cluster(&site).crash();
    assert_eq!(log(&client, "meanwhile").await, 500);
    assert_eq!(client.get(&format!("/api/v2/resource/{GUID}")).await.status(), 500);
    assert_eq!(readiness(&server).await, 503);
    assert_eq!(Client::with_key(&server.ops, "").get("/health/live").await.status(), 200);
    // The first answers may come from connections of the pool that have broken only now.
    let no_connection = format!("at {}: Connection refused", site.stores().address());
    let says_why =
        |output: &str| output.lines().any(|line| line.contains("not ready") && line.contains(&no_connection));
    eventually("it says why", async || readiness(&server).await == 503 && says_why(&site.read("server.err"))).await;
    let output = site.read("server.err");
    let cause = output.lines().find(|line| line.contains("\"level\":\"ERROR\"")).expect("a line with the cause");
    assert!(cause.contains("database"), "{cause}");
    assert!(!output.contains("timed out"), "{output}");
    assert!(!output.contains("only-for-tests"));

    cluster(&site).restart();
    eventually("it serves again", async || log(&client, "after").await == 200).await;
    eventually("it is ready again", async || readiness(&server).await == 200).await;
    assert_eq!(client.download(GUID).await, b"content");
    let kept = site.sql("SELECT description FROM log_entry ORDER BY id").await;
    assert_eq!(kept, ["before", "after"]);
}

#[tokio::test]
async fn a_bucket_that_fails_is_500_soon_and_not_ready_until_it_is_back_and_nothing_is_half_there() {
    let site = site();
    let server = site.serve().await;
    let client = server.client();
    // Too large to be answered from memory.
    let content = vec![7; 4_200_000];
    assert_eq!(client.upload_at("2026-09-01T00:00:00Z", GUID, &content).await.status(), 200);

    for fault in [Fault::Error, Fault::Closed, Fault::Silence] {
        bucket(&site).misbehave("", fault, usize::MAX);
        let path = format!("/api/v2/resource/{GUID}");
        failed(fault, client.get(&path)).await;
        failed(fault, client.upload_at("2026-10-01T00:00:00Z", GUID, b"newer")).await;
        failed(fault, async { client.try_report_crash("RIP", "main", b"dump").await.unwrap() }).await;
        assert_eq!(readiness(&server).await, 503, "{fault:?}");
        // What needs no content goes on.
        assert_eq!(log(&client, "meanwhile").await, 200, "{fault:?}");

        bucket(&site).misbehave("", fault, 0);
        eventually("it is ready again", async || readiness(&server).await == 200).await;
        assert!(client.download(GUID).await == content, "{fault:?}");
    }
    assert!(!site.read("server.err").contains(SECRET));
    assert_eq!(client.upload_at("2026-10-01T00:00:00Z", GUID, b"newer").await.status(), 200);
    assert_eq!(client.download(GUID).await, b"newer");
    server.stop();
    let output = site.run("blobs check").succeeded();
    assert!(output.contains("checked 1, missing 0, damaged 0, "), "{output}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_that_is_full_is_named_in_the_log_and_passes() {
    let site = site();
    site.configure("database.max_connections = 1");
    let server = site.serve().await;
    let client = server.client();
    assert_eq!(log(&client, "before").await, 200);
    let (url, held) = (cluster(&site), site.sql("SELECT current_database()").await.remove(0));
    // A list of the log waits for this lock, and holds the one connection of the pool.
    std::thread::scope(|scope| {
        scope.spawn(|| url.psql(&held, "BEGIN; LOCK TABLE log_entry; SELECT pg_sleep(9); COMMIT"));
        block_in_place(|| {
            Handle::current().block_on(async {
                sleep(Duration::from_secs(1)).await;
                // The first holds the connection and waits for the lock, the others for the connection.
                let (one, other) = tokio::join!(is_listed(&client), is_listed(&client));
                assert_eq!((one, other), (500, 500));
            });
        });
    });
    let output = site.read("server.err");
    assert!(output.contains("no connection to the database became free in time"), "{output}");
    eventually("it serves again", async || log(&client, "after").await == 200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_takes_no_writes_is_500_or_503_with_a_time_and_not_ready_until_it_does() {
    let site = site();
    let server = site.serve().await;
    let client = server.client();
    assert_eq!(log(&client, "before").await, 200);
    let (url, held) = (cluster(&site), site.sql("SELECT current_database()").await.remove(0));
    let alive = Client::with_key(&server.ops, "");
    std::thread::scope(|scope| {
        scope.spawn(|| url.psql(&held, "BEGIN; LOCK TABLE log_entry IN EXCLUSIVE MODE; SELECT pg_sleep(12); COMMIT"));
        block_in_place(|| {
            Handle::current().block_on(async {
                sleep(Duration::from_secs(1)).await;
                // 16 of them fill the queue, 64 the line.
                let large = entry(&"x".repeat(1000 * 1000)).to_string();
                let send = async || {
                    let request = client.post("/api/v2/log").header("Content-Type", "application/json");
                    let answer = request.body(large.clone()).send().await.unwrap();
                    (answer.status().as_u16(), answer.headers().get("Retry-After").is_some())
                };
                let answers = join_all((0..100).map(|_| send())).await;
                assert!(answers.iter().all(|answer| [(500, true), (503, true)].contains(answer)), "{answers:?}");
                assert!(answers.contains(&(500, true)) && answers.contains(&(503, true)), "{answers:?}");
                let more = join_all((0..20).map(|_| send()));
                let ((), _) = tokio::join!(eventually("it says so", async || readiness(&server).await == 503), more);
                assert_eq!(alive.get("/health/live").await.status(), 200);
            });
        });
    });
    eventually("it writes again", async || log(&client, "after").await == 200).await;
    eventually("it is ready again", async || readiness(&server).await == 200).await;
    let metrics = alive.get("/metrics").await.text().await.unwrap();
    for name in [
        r#"platen_refusals_total{organization="Acme Print",reason="overloaded"}"#,
        r#"platen_commits_total{outcome="written"}"#,
        r#"platen_queue_depth{queue="commit"} 0"#,
        r#"platen_queue_depth{queue="commit_admission"} 0"#,
        r#"platen_database_connections{state="in_use"}"#,
        "platen_commit_rows_bucket",
    ] {
        assert!(metrics.contains(name), "{name}:\n{metrics}");
    }
}
