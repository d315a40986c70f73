//! `platen crashes`

use super::{HOSTILE, SHOWN, is_order, lines};
use crate::support::Site;
use crate::support::content::sha1;
use serde_json::json;
use std::fs;

const STACK: &str = "Crash in Größe()\r\n\tat main.cpp:12 \u{1b}[2J\u{202e}\n";

#[tokio::test]
async fn crash_reports_are_listed_shown_and_saved_beside_the_server() {
    let site = Site::new();
    let server = site.serve().await;
    let dump: Vec<u8> = (0..300_000_u32).map(|number| (number % 251) as u8).collect();
    let first = server.client().report_crash("first", b"").await;
    let id = server.client().report_crash(STACK, &dump).await;

    wait_for_analysis(&site);
    let all = lines(&site, &["crashes", "list", "--json"]);
    assert_eq!((all.len(), &all[0]["id"], &all[1]["id"]), (2, &json!(id), &json!(first)));
    let newest = &all[0];
    assert_eq!(
        (&newest["application_name"], &newest["os"], &newest["user"]),
        (&json!("RIP"), &json!("Windows"), &json!("Ann"))
    );
    assert_eq!((&newest["parts"], &newest["size"]), (&json!(2), &json!(STACK.len() + dump.len())));
    assert_eq!(lines(&site, &["crashes", "list", "--json", "--organization", "Acme Print", "--since", "1h"]).len(), 2);
    assert!(lines(&site, &["crashes", "list", "--json", "--to", "2026-01-01T00:00Z"]).is_empty());
    let computer = ["crashes", "list", "--json", "--computer", "6f9619ff-8b86-d011-b42d-00c04fc964ff"];
    assert!(lines(&site, &computer).is_empty(), "they were sent with a key alone");
    assert_eq!((&newest["signature"], &newest["computer_name"]), (&json!("Crash in Größe()"), &json!(null)));
    assert_eq!(lines(&site, &["crashes", "list", "--json", "--limit", "1"]).len(), 1);
    assert_eq!(lines(&site, &["crashes", "show", &id[..10], "--json"])[0]["id"], json!(id));
    let table = site.run("crashes list").succeeded();
    assert!(table.starts_with("RECEIVED ") && table.contains(&id) && table.contains("293.0 KiB"), "{table}");

    // Decision I5.
    let groups = lines(&site, &["crashes", "groups", "--json", "--state", "new", "--organization", "Acme Print"]);
    let counts: Vec<_> = groups.iter().map(|group| (&group["signature"], &group["reports"])).collect();
    assert_eq!(counts, [(&json!("Crash in Größe()"), &json!(1)), (&json!("first"), &json!(1))]);
    assert!(lines(&site, &["crashes", "groups", "--json", "--state", "resolved"]).is_empty());
    assert_eq!(site.run("crashes analyze --all").succeeded(), "analyzed 2, failed 0, postponed 0\n");
    assert_eq!(lines(&site, &["crashes", "groups", "--json"]), groups);

    let shown = site.run(&format!("crashes show {id}")).succeeded();
    assert!(shown.ends_with("\n\nCrash in Größe()\n    at main.cpp:12 \\x1b[2J\\u{202e}\n"), "{shown}");
    assert!(shown.contains("Acme Print") && !shown.contains(is_order), "{shown}");
    let json = &lines(&site, &["crashes", "show", &id, "--json"])[0];
    assert_eq!((&json["call_stack"], &json["parts"][1]["checksum"]), (&json!(STACK), &json!(sha1(&dump))));

    let saved = site.run(&format!("crashes export {id}")).succeeded();
    let folder = format!("crash-{id}");
    assert_eq!(saved, format!("{folder}/CallStack.txt\n{folder}/dump.dmp\n"));
    assert_eq!(fs::read(site.path(&folder).join("CallStack.txt")).unwrap(), STACK.as_bytes());
    assert_eq!(fs::read(site.path(&folder).join("dump.dmp")).unwrap(), dump);
    assert_eq!(fs::read_dir(site.path(&folder)).unwrap().count(), 2);
    let output = site.run(&format!("crashes export {id}")).failed(1);
    assert!(output.contains("CallStack.txt is there already; --force overwrites it"), "{output}");
    site.run(&format!("crashes export {id} --force")).succeeded();
    site.run(&format!("crashes export {id} some/where")).succeeded();
    assert_eq!(fs::read(site.path("some/where/dump.dmp")).unwrap(), dump);

    let unknown = "11111111-2222-4333-8444-555555555555";
    assert_eq!(
        site.run(&format!("crashes show {unknown}")).failed(1),
        format!("error: there is no crash report {unknown}")
    );
    site.write("beta.json", r#"{ "organizations": [ { "name": "Beta" } ] }"#);
    site.run("fleet apply beta.json").succeeded();
    let output = site.run(&format!("crashes show {id} --organization Beta")).failed(1);
    assert!(output.contains("there is no crash report"), "{output}");
}

/// Decision I7: within seconds.
fn wait_for_analysis(site: &Site) {
    for _ in 0..100 {
        let waits = |report: &serde_json::Value| report["signature"] == "(not analyzed yet)";
        if !lines(site, &["crashes", "list", "--json"]).iter().any(waits) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    panic!("the reports are not analyzed");
}

#[tokio::test]
async fn names_that_clients_chose_lead_nowhere_and_drive_nothing() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().report_crash("stack", b"dump").await;
    // Headers and file names of clients are kept as they are; here as hostile as no client of ours could send them.
    site.sql(&format!("UPDATE crash_report SET application_name = '{HOSTILE}', note = '{HOSTILE}' RETURNING os")).await;
    site.sql("UPDATE crash_part SET file_name = '../../../outside' WHERE position = 0 RETURNING place").await;
    site.sql(&format!("UPDATE crash_part SET file_name = '/tmp/nul.{HOSTILE}' WHERE position = 1 RETURNING place"))
        .await;
    let id = lines(&site, &["crashes", "list", "--json"])[0]["id"].as_str().unwrap().to_owned();
    for line in ["crashes list".to_owned(), format!("crashes show {id}")] {
        let shown = site.run(&line).succeeded();
        assert!(shown.contains(SHOWN) && !shown.contains(is_order), "{shown}");
    }
    let saved = site.run(&format!("crashes export {id} in/here")).succeeded();
    assert!(!saved.contains(is_order), "{saved}");
    assert_eq!(saved.lines().next(), Some("in/here/outside"));
    assert_eq!(fs::read_dir(site.path("in/here")).unwrap().count(), 2, "{saved}");
    assert_eq!(fs::read_dir(site.path("in")).unwrap().count(), 1);
    assert!(saved.lines().nth(1).unwrap().starts_with("in/here/_nul."), "{saved}");
}
