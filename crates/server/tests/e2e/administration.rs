//! Renaming, removing and rotating keys, by the commands while the server runs (decision A6).

use crate::support::client::Client;
use crate::support::{ANNS_KEY, COMPUTER, Server, Site, eventually};
use serde_json::{Value, json};

const ORGANIZATION: &str = "Acme Print";

async fn status(server: &Server, key: &str) -> u16 {
    Client::with_key(&server.api, key).get("/api/v2").await.status().as_u16()
}

async fn log_status(client: &Client) -> u16 {
    let entry = json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": "text" });
    let request = client.post("/api/v2/log").header("Content-Type", "application/json").body(entry.to_string());
    request.send().await.unwrap().status().as_u16()
}

fn listed(site: &Site) -> Vec<Value> {
    let keys = site.run("key list --json").succeeded();
    keys.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_rotated_without_a_gap() {
    let site = Site::new();
    let server = site.serve().await;
    let old = listed(&site).remove(0);
    assert_eq!((&old["organization"], &old["user"]), (&ORGANIZATION.into(), &"Ann".into()));
    assert_eq!((&old["last_used"], &old["revoked"]), (&Value::Null, &Value::Null));

    let issue = ["key", "issue", "--organization", ORGANIZATION, "--user", "Ann"];
    let issued: Value = serde_json::from_str(site.run_with(issue, &[]).succeeded().trim()).unwrap();
    let new = issued["mis_key"].as_str().unwrap();
    eventually("the new key works", async || status(&server, new).await == 200).await;
    assert_eq!(status(&server, ANNS_KEY).await, 200);

    let beginning = &old["id"].as_str().unwrap()[..6];
    let output = site.run(&format!("key revoke --id {beginning}")).succeeded();
    assert!(output.ends_with("of Ann of Acme Print; valid keys of the user: 1\n"), "{output}");
    eventually("the old key is refused", async || status(&server, ANNS_KEY).await == 401).await;
    assert_eq!(status(&server, new).await, 200);

    let table = site.run("key list").succeeded();
    assert!(!table.contains(ANNS_KEY) && !table.contains(new), "{table}");
    // The server stores the uses that are left when it ends.
    server.stop();
    let last_used = |id: &Value| listed(&site).into_iter().find(|key| key["id"] == *id).unwrap()["last_used"].clone();
    assert!(last_used(&old["id"]).is_string() && listed(&site).iter().all(|key| key["last_used"].is_string()));
}

#[test]
fn a_key_that_is_not_there_is_not_revoked() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    assert_eq!(site.run("key revoke --id 00").failed(1), "error: there is no key 00");
    assert_eq!(site.run("key revoke --id Ann").failed(1), "error: there is no key Ann");
    let both = site.run("key revoke --id 00 --organization A --user B").failed(2);
    assert!(both.contains("cannot be used with"), "{both}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organization_and_a_user_are_renamed_and_keep_keys_and_data() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    assert_eq!(log_status(&client).await, 200);

    let rename = ["organization", "rename", ORGANIZATION, "Acme & Sons"];
    let output = site.run_with(rename, &[]).succeeded();
    assert_eq!(output, "renamed organization \"Acme Print\" to \"Acme & Sons\"\n");
    let rename = ["user", "rename", "--organization", "Acme & Sons", "Ann", "Anna"];
    site.run_with(rename, &[]).succeeded();
    assert_eq!(log_status(&client).await, 200);
    let shown = site.run("fleet show").succeeded();
    assert!(shown.contains("Acme & Sons") && shown.contains("Anna") && !shown.contains(ORGANIZATION), "{shown}");
    let logs = site.run("logs --json").succeeded();
    assert_eq!(logs.lines().count(), 2, "{logs}");

    let again = site.run_with(["organization", "rename", ORGANIZATION, "Other"], &[]).failed(1);
    assert_eq!(again, "error: organization \"Acme Print\" is not registered");
    assert!(site.run_with(["organization", "rename", "Acme & Sons", " "], &[]).failed(2).contains("must not be blank"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_removed_is_refused_shown_as_removed_and_stays_so_until_it_is_restored() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    assert_eq!(log_status(&client).await, 200);

    let output = site.run("computer remove rip-01").succeeded();
    assert_eq!(output, format!("removed computer {COMPUTER} \"RIP-01\" of \"Acme Print\"\n"));
    eventually("it is no target", async || log_status(&client).await == 404).await;
    assert!(site.run("fleet show").succeeded().contains("removed"), "it is shown");
    assert!(!site.run("fleet export").succeeded().contains("RIP-01"), "a fleet file has no place for it");
    assert!(!site.run("logs --computer RIP-01 --json").succeeded().is_empty(), "its data stays");

    let applied = site.run("fleet apply fleet.json");
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert!(applied.err.contains("was removed and is left as it is"), "{applied:?}");
    assert_eq!(log_status(&client).await, 404);

    site.run(&format!("computer restore {COMPUTER}")).succeeded();
    eventually("it is found again", async || log_status(&client).await == 200).await;

    site.run_with(["user", "remove", "--organization", ORGANIZATION, "Ann"], &[]).succeeded();
    eventually("her key is refused", async || status(&server, ANNS_KEY).await == 401).await;
    let again = site.run_with(["user", "remove", "--organization", ORGANIZATION, "Ann"], &[]).succeeded();
    assert_eq!(again, "user \"Ann\" of \"Acme Print\" was removed before\n");
    site.run_with(["user", "restore", "--organization", ORGANIZATION, "Ann"], &[]).succeeded();
    eventually("her key works again", async || status(&server, ANNS_KEY).await == 200).await;
    assert_eq!(site.run("device remove nothing").failed(1), "error: device \"nothing\" is not registered");
}

#[test]
fn a_dry_run_names_values_and_what_the_file_leaves_out() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    let file = json!({ "organizations": [{
        "name": ORGANIZATION,
        "computers": [{ "guid": COMPUTER, "name": "RIP-09" }],
    }] });
    site.write("changed.json", &file.to_string());
    let output = site.run("fleet apply --dry-run changed.json").succeeded();
    let expected = format!("would change computer {COMPUTER} of \"Acme Print\": name \"RIP-01\" to \"RIP-09\"");
    assert!(output.lines().any(|line| line == expected), "{output}");
    assert!(output.lines().any(|line| line == "not in the file: user \"Ann\" of \"Acme Print\""), "{output}");
}

#[test]
fn a_conflict_names_both_records() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    let file = json!({ "organizations": [{ "name": "Beta Print", "computers": [{ "guid": COMPUTER }] }] });
    site.write("other.json", &file.to_string());
    let expected =
        format!("error: computer {COMPUTER} is registered under another organization, as \"RIP-01\" of \"Acme Print\"");
    assert_eq!(site.run("fleet apply other.json").failed(1), expected);
}
