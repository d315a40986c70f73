//! `platen logs`

use super::{HOSTILE, SHOWN, is_order, lines, on_terminal};
use crate::support::{COMPUTER, DEVICE, Server, Site, eventually};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

async fn add(server: &Server, description: &str, more: Value) {
    let mut entry = json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": description });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    server.client().post_json("/api/v2/log", &entry).await;
}

/// A command that runs until it is ended.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn log_entries_are_listed_by_the_filters_of_the_interface() {
    let site = Site::new();
    let server = site.serve().await;
    add(&server, "first", json!({ "RipVersion": "9.1.0" })).await;
    add(&server, "second", json!({ "DeviceGUID": DEVICE, "Type": "configuration" })).await;
    add(&server, HOSTILE, json!({ "JobName": HOSTILE })).await;
    let descriptions = |options: &[&str]| -> Vec<String> {
        let all = lines(&site, &[&["logs", "--json"], options].concat());
        all.iter().map(|entry| entry["description"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(descriptions(&[]), [HOSTILE, "second", "first"]);
    assert_eq!(descriptions(&["--log-type", "LOG"]), [HOSTILE, "first"]);
    assert_eq!(descriptions(&["--source", "latex*"]), ["second"]);
    for device in ["latex 1", DEVICE, &DEVICE[..6]] {
        assert_eq!(descriptions(&["--device", device]), ["second"]);
    }
    assert_eq!(descriptions(&["--search", "SEC"]), ["second"]);
    assert_eq!(descriptions(&["--limit", "1", "--from", "today", "--serial", "SN-CLIENT"]), [HOSTILE]);
    assert_eq!(descriptions(&["--entry-version", "9.*", "--user", "ANN"]), ["first"]);
    assert_eq!(descriptions(&["--computer", "rip-01", "--serial-number", "sn-client"]).len(), 3);
    assert_eq!(descriptions(&["--computer", "rip"]), [""; 0]);
    assert_eq!(descriptions(&["--since", "1h", "--organization", "Acme Print"]).len(), 3);
    assert_eq!(descriptions(&["--to", "2026-01-01T00:00:00Z"]), [""; 0]);
    let entry = &lines(&site, &["logs", "--json", "--source", "Latex 1"])[0];
    assert_eq!((&entry["type"], &entry["serial_number"]), (&json!("configuration"), &json!("SN-CLIENT")));
    assert!(entry["received"].as_str().unwrap().ends_with('Z'));

    let table = site.run("logs").succeeded();
    assert!(table.starts_with("RECEIVED ") && table.contains(SHOWN) && !table.contains(is_order), "{table}");
    let shown = on_terminal(&site, 90, "logs", &[]);
    assert!(
        shown.lines().count() >= 5 && shown.contains("second") && shown.lines().all(|line| line.chars().count() <= 90),
        "{shown}"
    );
    assert!(site.run("logs --follow --since 1h").failed(2).contains("cannot be used with"));
    assert!(site.run("logs --from yesterday").failed(2).contains("such as 2026-05-04T07:00:00Z"));
}

#[tokio::test]
async fn a_renamed_computer_is_found_with_its_former_entries() {
    let site = Site::new();
    let server = site.serve().await;
    add(&server, "before", json!({})).await;
    let renamed = format!(
        r#"{{ "organizations": [ {{ "name": "Acme Print", "computers": [ {{ "guid": "{COMPUTER}", "name": "Proofer" }} ] }} ] }}"#
    );
    site.write("renamed.json", &renamed);
    site.run("fleet apply renamed.json").succeeded();
    eventually("the new name is known", async || {
        add(&server, "after", json!({})).await;
        lines(&site, &["logs", "--json"])[0]["computer"] == "Proofer"
    })
    .await;
    for (computer, is_before_found) in
        [("proofer", true), (COMPUTER, true), (&COMPUTER[..5], true), ("rip-01", true), ("Proof*", false)]
    {
        let found = lines(&site, &["logs", "--json", "--computer", computer]);
        assert_eq!(found.iter().any(|entry| entry["description"] == "before"), is_before_found, "{computer}");
    }
}

#[tokio::test]
async fn a_long_log_is_read_no_further_than_its_reader_wants() {
    let site = Site::new();
    let server = site.serve().await;
    add(&server, "entry", json!({})).await;
    site.sql(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
        INSERT INTO log_entry (organization_id, received_at, log_type, description, user_name, user_folded, source,
            source_folded, version, version_folded, computer, computer_folded, serial_number, serial_folded,
            computer_guid, application_version)
        SELECT organization_id, received_at + i, log_type, 'entry ' || i, user_name, user_folded, source,
            source_folded, version, version_folded, computer, computer_folded, serial_number, serial_folded,
            computer_guid, application_version
        FROM log_entry, n",
    )
    .await;
    let mut running =
        Running(site.command().arg("logs").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut reader = BufReader::new(running.0.stdout.take().unwrap());
    let mut line = String::new();
    for expected in ["DESCRIPTION\n", "entry 60000\n", "entry 59999\n"] {
        line.clear();
        reader.read_line(&mut line).unwrap();
        assert!(line.ends_with(expected), "{line}");
    }
    drop(reader);
    let status = running.0.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    let mut output = String::new();
    std::io::Read::read_to_string(&mut running.0.stderr.take().unwrap(), &mut output).unwrap();
    assert_eq!(output, "");
    // As many as there are, each once.
    assert_eq!(site.run("logs --json").succeeded().lines().count(), 60_001);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_sees_every_entry_once_and_ends_with_its_reader() {
    let site = Site::new();
    let server = site.serve().await;
    let second = site.serve_second("second-").await;
    add(&server, "before", json!({})).await;
    let out = File::create(site.path("followed")).unwrap();
    let running = Running(site.command().args(["logs", "--follow", "--json"]).stdout(out).spawn().unwrap());
    let followed = || -> Vec<String> {
        let text = site.read("followed");
        let whole = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        whole.map(|entry| entry["description"].as_str().unwrap().to_owned()).collect()
    };
    // It follows once it shows what is added.
    eventually("it follows", async || {
        add(&server, "probe", json!({})).await;
        !followed().is_empty()
    })
    .await;
    let adds = (0..200).map(|number| {
        let server = if number % 2 == 0 { &server } else { &second };
        async move { add(server, &format!("entry {number}"), json!({})).await }
    });
    futures_util::future::join_all(adds).await;
    let entries = || followed().into_iter().filter(|entry| entry.starts_with("entry ")).collect::<Vec<_>>();
    eventually("all are followed", async || entries().len() >= 200).await;
    add(&server, "last", json!({})).await;
    eventually("the last is followed", async || followed().last().is_some_and(|entry| entry == "last")).await;
    let mut all = entries();
    all.sort();
    all.dedup();
    assert_eq!((all.len(), entries().len()), (200, 200));
    assert!(!followed().contains(&"before".to_owned()));
    drop(running);

    let mut command = site.wrapped("script");
    let line = format!("{} logs --follow", env!("CARGO_BIN_EXE_platen"));
    command.args(["-qefc", &line, "/dev/null"]).stdout(File::create(site.path("terminal")).unwrap());
    let running = Running(command.spawn().unwrap());
    eventually("the wait is shown", async || site.read("terminal").starts_with("waiting for entries; Ctrl-C")).await;
    drop(running);

    let mut command = site.command();
    command.args(["logs", "--follow"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(command.spawn().unwrap());
    drop(running.0.stdout.take());
    let mut status = None;
    eventually("the follower ends though nothing comes", async || {
        status = running.0.try_wait().unwrap();
        status.is_some()
    })
    .await;
    assert_eq!(status.unwrap().code(), Some(0));
}
