//! `platen computers`

use super::{is_order, lines, on_terminal};
use crate::support::{COMPUTER, Site};
use serde_json::json;
use std::slice::from_ref;

#[tokio::test]
async fn computers_are_listed_and_shown_with_user_last_seen_and_version() {
    let site = Site::new();
    let server = site.serve().await;
    let more = r#"{ "organizations": [ { "name": "Beta", "computers": [
        { "guid": "11111111-2222-4333-8444-555555555555", "name": "Silent" } ] } ] }"#;
    site.write("more.json", more);
    site.run("fleet apply more.json").succeeded();
    let entry = json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": "entry" });
    server.client().post_json("/api/v2/log", &entry).await;

    let all = lines(&site, &["computers", "--json"]);
    let [rip, silent] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&rip["organization"], &rip["computer"]), (&json!("Acme Print"), &json!(COMPUTER)));
    assert_eq!((&rip["name"], &rip["user"]), (&json!("RIP-01"), &json!("Ann")));
    assert!(rip["age_seconds"].as_i64().unwrap() < 3_600 && rip["application_version"].is_string(), "{rip}");
    assert_eq!((&silent["name"], &silent["last_seen"]), (&json!("Silent"), &json!(null)));
    assert_eq!(lines(&site, &["computers", "--json", "--organization", "Beta"]), from_ref(silent));
    assert_eq!(lines(&site, &["computers", "--json", "--older-than", "1h"]), from_ref(silent));
    let first = lines(&site, &["computers", "--json", "--limit", "1"]);
    assert_eq!((first.len(), &first[0]["computer"]), (1, &rip["computer"]));
    let table = site.run("computers").succeeded();
    assert!(table.starts_with("ORGANIZATION  COMPUTER") && table.contains("SN-1000"), "{table}");
    let narrow = on_terminal(&site, 80, "computers", &[]);
    assert!(narrow.contains(COMPUTER) && narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");

    for name in ["rip-01", COMPUTER, &COMPUTER[..5]] {
        let shown = site.run(&format!("computers show {name}")).succeeded();
        assert!(shown.contains(COMPUTER) && shown.contains("Last seen") && !shown.contains(is_order), "{shown}");
    }
    let shown = &lines(&site, &["computers", "show", "RIP-01", "--json"])[0];
    assert_eq!((&shown["last_log_entry"], &shown["last_refusal"]), (&rip["last_seen"], &json!(null)));
    let error = site.run("computers show RIP-09").failed(1);
    assert!(error.contains("computer \"RIP-09\" is not registered"), "{error}");
}
