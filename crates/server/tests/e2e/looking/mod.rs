//! The commands that show what clients sent, while the server runs.

mod activity;
mod computers;
mod crashes;
mod logs;
mod resources;

use crate::support::{DEVICE, Site};
use serde_json::{Value, json};
use std::process::Stdio;

/// What a terminal would take for orders, in every place where a client or a fleet file may put it.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}x";

/// The same as it is shown.
const SHOWN: &str = "\\x1b]0;owned\\x07\\u{9b}2J\\u{202e}x";

fn lines(site: &Site, arguments: &[&str]) -> Vec<Value> {
    let answer = site.run_with(arguments.iter().copied(), &[]).succeeded();
    assert!(!answer.contains(is_order), "{answer}");
    answer.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether a terminal may take it for an order.
fn is_order(character: char) -> bool {
    character != '\n' && (character.is_control() || character == '\u{202e}')
}

/// What a command shows on a terminal of this many columns.
fn on_terminal(site: &Site, columns: u32, line: &str, variables: &[(&str, &str)]) -> String {
    let platen = env!("CARGO_BIN_EXE_platen");
    let script = format!("stty cols {columns}; {platen} {line}");
    let mut command = site.wrapped("script");
    command.args(["-qec", &script, "/dev/null"]).env("TERM", "xterm").env_remove("NO_COLOR");
    let ran = command.envs(variables.iter().copied()).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap().replace("\r\n", "\n")
}

#[test]
fn on_a_terminal_an_empty_answer_says_why_it_is_empty() {
    let site = Site::new();
    site.write("none.json", r#"{ "organizations": [] }"#);
    let printed = on_terminal(&site, 80, "fleet apply none.json", &[]);
    let counts = "records of the fleet file: added 0, changed 0, unchanged 0\n";
    if site.is_on_postgres() {
        assert_eq!(printed, counts);
    } else {
        let file = site.path("data/platen.db");
        assert_eq!(printed, format!("note: made the database {}, which was not there\n{counts}", file.display()));
    }
    assert_eq!(on_terminal(&site, 80, "fleet apply none.json", &[]), counts, "it is there");
    for (line, printed) in [
        ("refusals --since 1h", "no refusals found; they are kept for 7 days\n"),
        ("logs", "no log entries found\n"),
        ("logs --json", "no log entries found\n"),
        ("crashes list", "no crash reports found\n"),
        ("computers", "no computers found\n"),
        ("devices", "no devices found\n"),
        ("resources list", "no resources found\n"),
        ("fleet show", "nothing is registered\n"),
    ] {
        assert_eq!(on_terminal(&site, 80, line, &[]), printed, "{line}");
        assert_eq!(site.run(line).succeeded(), "", "{line}: a script is printed nothing");
    }
}

#[tokio::test]
async fn devices_are_listed_with_their_last_status_beside_the_server() {
    let site = Site::new();
    let server = site.serve().await;
    let fleet = json!({ "organizations": [
        { "name": "Acme Print", "devices": [{ "guid": "11111111-2222-4333-8444-555555555555", "name": HOSTILE }] },
        { "name": "Beta", "devices": [{ "guid": "11111111-2222-4333-8444-666666666666", "name": "Flatbed" }] },
    ] });
    site.write("more.json", &fleet.to_string());
    site.run("fleet apply more.json").succeeded();
    let ink = |name: &str, level: f64| json!({ "InkIndex": 0, "InkName": name, "Level": level, "MaxLevel": 800 });
    let status = json!({
        "DeviceGUID": DEVICE, "Status": "printing", "Message": HOSTILE, "QueueLength": { "Sheets": 12 },
        "ConnectionState": "Online", "Temperature": 41.5, "RemainingInks": [ink("Cyan", 410.0), ink(HOSTILE, 20.0)],
    });
    server.client().post_json("/api/v2/device/status", &status).await;

    let all = lines(&site, &["devices", "--json"]);
    let names: Vec<&str> = all.iter().map(|device| device["name"].as_str().unwrap()).collect();
    assert_eq!(names, [HOSTILE, "Latex 1", "Flatbed"]);
    let latex = &all[1];
    assert_eq!((&latex["organization"], &latex["device"]), (&"Acme Print".into(), &DEVICE.into()));
    assert_eq!((&latex["status"], &latex["message"]), (&"Printing".into(), &HOSTILE.into()));
    assert_eq!((&latex["queue_length"], &latex["temperature"]), (&json!({ "sheets": 12 }), &json!(41.5)));
    assert_eq!(latex["remaining_inks"][1]["level"], json!(20.0));
    assert!(latex["age_seconds"].as_i64().unwrap() < 3_600);
    assert_eq!(lines(&site, &["devices", "--json", "--organization", "Beta"]).len(), 1);
    assert_eq!(lines(&site, &["devices", "--json", "--status", "error,PRINTING"]).len(), 1);
    assert!(lines(&site, &["devices", "--json", "--status", "Error"]).is_empty());
    for device in ["latex 1", DEVICE, &DEVICE[..6]] {
        let found = lines(&site, &["devices", "--json", "--device", device]);
        assert_eq!((found.len(), &found[0]["device"]), (1, &latex["device"]), "{device}");
    }
    assert!(site.run("devices --device Oven").failed(1).contains("device \"Oven\" is not registered"));
    assert_eq!(lines(&site, &["devices", "--json", "--limit", "2"]).len(), 2);
    assert_eq!(lines(&site, &["devices", "--json", "--older-than", "1h"]).len(), 2, "they never sent a status");

    // Decisions I1 and I3.
    let shown = lines(&site, &["devices", "show", DEVICE, "--json"]).remove(0);
    assert_eq!((&shown["is_silent"], &shown["forecast"]), (&json!(false), &json!([])));
    assert_eq!(shown["changes"].as_array().unwrap().len(), 1, "{shown}");
    let changes = lines(&site, &["devices", "history", DEVICE, "--json"]);
    assert_eq!((changes.len(), &changes[0]["status"]), (1, &shown["status"]));
    let samples = lines(&site, &["devices", "history", DEVICE, "--json", "--since", "1h", "--samples", "10"]);
    assert_eq!((samples.len(), &samples[0]["remaining_inks"]), (1, &shown["remaining_inks"]));

    let table = site.run("devices").succeeded();
    assert!(table.starts_with("ORGANIZATION  DEVICE") && !table.contains(is_order), "{table}");
    assert!(table.contains(&format!("Cyan 51%, {SHOWN} 2%")), "{table}");
    let printed = site.run_with(["devices", "--organization", HOSTILE], &[]).failed(1);
    assert!(printed.ends_with("is not registered") && !printed.contains(is_order), "{printed}");

    let shown = on_terminal(&site, 70, "devices --organization 'Acme Print'", &[]);
    assert!(shown.contains("\u{1b}[38;5;10mPrinting\u{1b}[39m") && shown.contains("█████░░░░░"), "{shown}");
    let colors = ["\u{1b}[38;5;10m", "\u{1b}[38;5;9m", "\u{1b}[39m"];
    let uncolored = colors.iter().fold(shown, |text, color| text.replace(color, ""));
    assert!(!uncolored.contains(is_order), "{uncolored}");
    let of_acme = "devices --organization 'Acme Print'";
    assert_eq!(on_terminal(&site, 70, of_acme, &[("NO_COLOR", "1")]).lines().count(), uncolored.lines().count());
    assert!(!on_terminal(&site, 70, of_acme, &[("NO_COLOR", "1")]).contains(is_order));
    assert!(uncolored.lines().all(|line| line.chars().count() <= 70), "{uncolored}");
}

#[tokio::test]
async fn the_fleet_is_shown_with_what_belongs_together() {
    let site = Site::new();
    let fleet = json!({ "organizations": [{ "name": HOSTILE, "publisher": true, "users": [{ "name": HOSTILE }] }] });
    site.write("hostile.json", &fleet.to_string());
    site.run("fleet apply fleet.json").succeeded();
    site.run("fleet apply hostile.json");
    let table = site.run("fleet show").succeeded();
    assert!(!table.contains(is_order) && table.contains(SHOWN), "{table}");
    for row in ["device Latex 1, uses 1 resource", "serial number SN-1000, user Ann", "queue Banner", "publisher"] {
        assert!(table.lines().any(|line| line.trim_end().ends_with(row)), "{row}: {table}");
    }
    let all = lines(&site, &["fleet", "show", "--json"]);
    assert_eq!((all.len(), &all[0]["name"], &all[1]["name"]), (2, &HOSTILE.into(), &"Acme Print".into()));
    assert_eq!(lines(&site, &["fleet", "show", "--json", "--organization", "Acme Print"]).len(), 1);
    assert!(!site.run("fleet export").succeeded().contains(is_order));
    let shown = on_terminal(&site, 50, "fleet show", &[]);
    assert!(shown.lines().all(|line| line.chars().count() <= 50), "{shown}");
}

#[test]
fn a_reader_who_has_read_enough_ends_a_listing_in_order() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    for arguments in [&["devices"][..], &["devices", "--json"], &["fleet", "show"], &["refusals"], &["logs"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = site.command().args(arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!((ran.status.code(), ran.stderr.as_slice()), (Some(0), &[][..]), "{arguments:?}: {ran:?}");
    }
}

/// A command that only reads neither migrates nor creates a database.
#[test]
fn looking_changes_no_schema() {
    let site = Site::new();
    for line in ["computers", "devices", "fleet show", "refusals", "logs", "crashes list", "resources list"] {
        let printed = site.run(line).failed(1);
        assert!(printed.starts_with("error: "), "{line}: {printed}");
    }
    site.run("migrate").succeeded();
    assert_eq!(site.run("devices").succeeded(), "");
}
