//! Old records are removed while the server runs, their content with them, and nothing else is.

use crate::support::client::Client;
use crate::support::{COMPUTER, Server, Site, eventually, files_below};
use serde_json::{Value, json};

const GUID: &str = "11111111-2222-3333-4444-555555555555";

/// What the tests keep, and for how long.
pub(crate) const RETENTION: &str =
    "retention.logs = '13w'\nretention.crash_reports = '14d'\nblobs.discarded_grace = '1s'";

/// Entries of a long removal. The server may take several seconds for them.
const MANY: u32 = 30_000;

/// Sends an entry.
pub(crate) async fn log(client: &Client, description: &str) {
    let entry = json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": description });
    let answer = client.post_json("/api/v2/log", &entry).await;
    assert_eq!(answer.status(), 200);
}

/// Descriptions of all entries, the oldest first.
async fn logged(server: &Server) -> Vec<String> {
    let listed = server.client().post_json("/api/v2/log/list", &json!({ "LogType": "Log" })).await;
    let listed: Vec<Value> = serde_json::from_slice(&listed.bytes().await.unwrap()).unwrap();
    listed.iter().rev().map(|entry| entry["Description"].as_str().unwrap().to_owned()).collect()
}

/// What a server has counted as removed.
pub(crate) async fn removed(server: &Server, kind: &str) -> u64 {
    let text = Client::with_key(&server.ops, "").get("/metrics").await.text().await.unwrap();
    let series = format!("platen_retention_removed_total{{kind=\"{kind}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&series)).map_or(0, |count| count.parse().unwrap())
}

/// Makes all entries and reports that are there as old as that.
pub(crate) async fn age(site: &Site, days: i64) {
    let micros = days * 86_400 * 1_000_000;
    for table in ["log_entry", "crash_report"] {
        site.sql(&format!("UPDATE {table} SET received_at = received_at - {micros}")).await;
    }
}

/// Makes of the one entry that is there as many, of two organizations.
pub(crate) async fn multiply_entries(site: &Site, count: u32) {
    site.sql(&format!(
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
        INSERT INTO log_entry (organization_id, received_at, log_type, description, user_name, user_folded, source,
            source_folded, version, version_folded, computer, computer_folded, serial_number, serial_folded,
            computer_guid, application_version)
        SELECT organization_id + i % 2, received_at + i, log_type, description, user_name, user_folded, source,
            source_folded, version, version_folded, computer, computer_folded, serial_number, serial_folded,
            computer_guid, application_version
        FROM log_entry, n"
    ))
    .await;
    assert_eq!(entries(site).await, u64::from(count));
}

/// How many entries there are.
pub(crate) async fn entries(site: &Site) -> u64 {
    site.sql("SELECT CAST(count(*) AS TEXT) FROM log_entry").await[0].parse().unwrap()
}

#[tokio::test]
async fn what_is_older_than_its_retention_goes_with_its_content() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    log(&client, "old").await;
    client.report_crash("old", b"old dump").await;
    client.report_crash("old too", b"").await;
    server.stop();
    age(&site, 80).await;
    // In the end these are 12 days old, and the others 92.
    let server = site.serve().await;
    log(&server.client(), "young").await;
    server.client().report_crash("young", b"").await;
    server.stop();
    age(&site, 12).await;

    site.configure(RETENTION);
    let server = site.serve().await;
    let client = server.client();
    log(&client, "new").await;
    client.report_crash("new", b"new dump").await;
    eventually("all is removed", async || {
        (removed(&server, "logs").await, removed(&server, "crash_reports").await) == (1, 2)
    })
    .await;
    assert_eq!(logged(&server).await, ["young", "new"]);
    let parts = || files_below(&site.contents("crash-reports"));
    eventually("their content is swept", async || parts().len() == 4).await;
    assert_eq!(client.download(GUID).await, b"content");
    eventually("the log tells it", async || site.read("server.err").contains("removed old records")).await;
    let output = site.read("server.err");
    let output: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let output: Vec<_> = output.iter().filter(|line| line["message"] == "removed old records").collect();
    assert_eq!(output.len(), 1, "{output:?}");
    assert_eq!((&output[0]["log_entries"], &output[0]["crash_reports"]), (&json!(1), &json!(2)));
    server.stop();
    assert_eq!(site.run("blobs check").succeeded(), "checked 5, missing 0, damaged 0, orphans 0, removed 0\n");
    assert_eq!(site.sql("SELECT CAST(count(*) AS TEXT) FROM discarded_blob").await, ["0"]);
    let kept = site.sql("SELECT CAST(count(*) AS TEXT) FROM crash_part").await;
    assert_eq!(kept, ["4"]);
}

#[tokio::test]
async fn a_long_removal_loses_nothing_that_arrives_and_ends_when_the_server_does() {
    let site = Site::new();
    let server = site.serve().await;
    log(&server.client(), "old").await;
    server.stop();
    multiply_entries(&site, MANY).await;
    age(&site, 100).await;
    site.configure(RETENTION);
    let server = site.serve().await;
    let client = server.client();
    let mut sent = Vec::new();
    eventually("the removal is under way", async || {
        sent.push(format!("entry {}", sent.len()));
        log(&client, sent.last().unwrap()).await;
        removed(&server, "logs").await > 0
    })
    .await;
    for _ in 0..5 {
        sent.push(format!("entry {}", sent.len()));
        log(&client, sent.last().unwrap()).await;
    }
    server.stop();
    let all = u64::try_from(sent.len()).unwrap();
    assert!(entries(&site).await > all, "the removal had ended by itself");

    let server = site.serve().await;
    eventually("the next start goes on", async || entries(&site).await == all).await;
    assert_eq!(logged(&server).await, sent);
}
