//! The real program over stores that fail while it runs: a clear error, the former content still served, nothing
//! half left behind, and recovery without a restart.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[path = "../support/mod.rs"]
mod support;

const SETUP: support::setup::Setup = support::setup::Setup::Defaults;

mod bucket;
mod disk;
mod lock;
mod postgres;

use domain::timestamp::Timestamp;
use serde_json::{Value, json};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use support::client::Client;
use support::{COMPUTER, Server, Site};

const GUID: &str = "11111111-2222-3333-4444-555555555555";

/// A client has its 500 within five seconds; two waits of four, one after the other, would take longer than this.
const SOON: Duration = Duration::from_secs(8);

/// Sends a log entry; the status.
async fn log(client: &Client, text: &str) -> u16 {
    let entry = json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": text });
    let request = client.post("/api/v2/log").header("Content-Type", "application/json").body(entry.to_string());
    status(request.send()).await
}

/// When the tests began.
#[expect(clippy::disallowed_methods, reason = "the server has the time of the system too")]
static START: LazyLock<Timestamp> = LazyLock::new(|| {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap())
});

/// Updates the resource with a Timestamp so many minutes ahead, after that of its first upload; the status.
async fn update(client: &Client, minute: u32, content: &[u8]) -> u16 {
    let timestamp = START.plus(Duration::from_mins(10 + u64::from(minute))).to_string();
    status(client.try_upload(&timestamp, GUID, "Label", content)).await
}

/// The status of an answer, which must come soon, and tell nothing of the cause where it is a 500.
async fn status(sent: impl Future<Output = reqwest::Result<reqwest::Response>>) -> u16 {
    let since = Instant::now();
    let answer = sent.await.unwrap();
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
    let status = answer.status().as_u16();
    if status == 500 {
        assert_eq!(answer.text().await.unwrap(), r#"{"Message":"Internal Server Error"}"#);
    }
    status
}

async fn readiness(server: &Server) -> u16 {
    Client::with_key(&server.ops, "").get("/health/ready").await.status().as_u16()
}

/// The descriptions of all log entries, oldest first.
async fn logged(client: &Client) -> Vec<String> {
    let answer = client.post_json("/api/v2/log/list", &json!({ "LogType": "Log" })).await;
    let entries: Vec<Value> = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    entries.iter().rev().map(|entry| entry["Description"].as_str().unwrap().to_owned()).collect()
}

/// A line of the server's log at the level ERROR names the cause.
#[track_caller]
fn assert_logged(site: &Site, cause: &str) {
    let output = site.read("server.err");
    assert!(output.lines().any(|line| line.contains("ERROR") && line.contains(cause)), "no {cause:?} in {output}");
}
