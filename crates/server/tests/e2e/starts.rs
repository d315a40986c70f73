//! Configurations and fleet files that hold secrets and can't be used: the error names the place and shows none.

use crate::secrets::marks::{Marks, Seen};
use crate::support::Site;
use std::net::TcpListener;

const PASSWORD: &str = "mark-password-of-the-database";
const SECRET: &str = "mark-secret-of-the-bucket";
const ACCESS_KEY: &str = "mark-access-key-of-the-bucket";
const KEY: &str = "mark-key-in-a-fleet-file";

/// Runs a command that logs all that can be logged, and searches what it says.
#[track_caller]
fn run(site: &Site, marks: &Marks, line: &str, code: i32) {
    let ran = site.run_with(line.split_whitespace(), &[("PLATEN_LOG__LEVEL", "trace"), ("RUST_BACKTRACE", "1")]);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    let output = [ran.out, ran.err].concat();
    assert!(!output.is_empty());
    marks.assert_none(&format!("platen {line} on {}", site.read("platen.toml")), output.as_bytes(), Seen::Nowhere);
}

/// No server listens there.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_configuration_that_cannot_be_used_is_refused_without_its_secrets() {
    let site = Site::new();
    let marks = Marks::of(&[PASSWORD, SECRET, ACCESS_KEY]);
    for text in [
        format!("database.url = 'mysql://u:{PASSWORD}@h/d'"),
        format!("database.url = 'postgres://u:{PASSWORD}@h:port/d'"),
        format!("database.url = 'postgres://u:{PASSWORD}@[/d'"),
        format!("database.url = 'postgres://u@h/d?sslmode={PASSWORD}'"),
        format!("database.url = 'sqlite://a.db?key={PASSWORD}'"),
        format!("database.url = ['{PASSWORD}']"),
        format!("database.url = '{PASSWORD}"),
        format!("database.url = {PASSWORD}"),
        format!("database = '{PASSWORD}'"),
        format!("database.password = '{PASSWORD}'"),
        format!("[database]\nurl = 'a'\nurl = '{PASSWORD}'"),
        format!("database.max_connections = 'postgres://u:{PASSWORD}@h/d'"),
        format!("blobs.secret_access_key = '{SECRET}'"),
        format!("blobs.access_key_id = '{ACCESS_KEY}'"),
        format!("blobs.secret_acces_key = '{SECRET}'"),
        format!("blobs.secret_access_key = ['{SECRET}']"),
        format!("blobs = {{ secret_access_key = '{SECRET}', access_key_id = '{ACCESS_KEY}', kind = 's3' }}"),
        format!("blobs.endpoint = 'http://{ACCESS_KEY}:{SECRET}@h'"),
        format!("blobs.endpoint = 'ftp://h/?key={SECRET}'"),
        format!("telemetry.otlp_endpoint = 'http://u:{SECRET}@h'"),
    ] {
        site.write("platen.toml", &text);
        run(&site, &marks, "config", 2);
        // A key of the target comes from its file alone, so the mark must not appear there either.
        site.write("target.toml", &text);
        site.configure("");
        run(&site, &marks, "copy --to target.toml", 2);
    }
    site.configure("");
    for (name, value) in [
        ("PLATEN_DATABASE__URL", format!("mysql://u:{PASSWORD}@h/d")),
        ("PLATEN_BLOBS__SECRET_ACCESS_KEY", SECRET.to_owned()),
        ("PLATEN_BLOBS__SECRET", SECRET.to_owned()),
        ("PLATEN_BLOBS__ENDPOINT", format!("http://u:{SECRET}@h")),
    ] {
        let ran = site.run_with(["serve"], &[(name, &value)]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        marks.assert_none(name, ran.err.as_bytes(), Seen::Nowhere);
    }
}

#[test]
fn stores_that_cannot_be_reached_or_refuse_access_are_reported_without_secrets() {
    let site = Site::new();
    let marks = Marks::of(&[PASSWORD, SECRET, ACCESS_KEY]);
    let port = closed_port();
    let bucket = format!(
        "blobs = {{ kind = 's3', bucket = 'b', endpoint = 'http://127.0.0.1:{port}', access_key_id = '{ACCESS_KEY}', \
         secret_access_key = '{SECRET}', allow_http = true, path_style = true }}"
    );
    let listeners = "http.bind = '127.0.0.1:0'\nops.bind = '127.0.0.1:0'\n";
    for text in [
        format!("database.url = 'postgres://u:{PASSWORD}@127.0.0.1:{port}/d'"),
        format!("database.url = 'postgres://u@127.0.0.1:{port}/d?password={PASSWORD}'"),
        format!("database.url = 'postgres://u:{PASSWORD}@no-such-host.invalid/d'"),
        bucket,
    ] {
        site.write("platen.toml", &format!("{listeners}{text}"));
        for (line, code) in [("config", 0), ("config --json", 0), ("serve", 1)] {
            run(&site, &marks, line, code);
        }
    }
    site.write("target.toml", &site.read("platen.toml"));
    site.configure("");
    site.run("migrate").succeeded();
    run(&site, &marks, "copy --to target.toml", 1);
}

#[test]
fn a_fleet_file_that_cannot_be_used_is_refused_without_its_keys() {
    let site = Site::new();
    let marks = Marks::of(&[KEY]);
    let users = |users: &str| format!(r#"{{ "organizations": [ {{ "name": "Acme", "users": {users} }} ] }}"#);
    let computers = |more: &str| {
        format!(
            r#"{{ "organizations": [ {{ "name": "Acme", "computers": [
               {{ "guid": "6f9619ff-8b86-d011-b42d-00c04fc964ff", "hardware_hash": "{KEY}"{more} }} ] }} ] }}"#
        )
    };
    for (text, code) in [
        (users(&format!(r#"[ {{ "name": "Ann", "mis_key": "{KEY}, {KEY}" }} ]"#)), 2),
        (users(&format!(r#"[ {{ "name": "Ann", "mis_key": "{KEY}\n" }} ]"#)), 2),
        (users(&format!(r#"[ {{ "name": "Ann", "mis_key": ["{KEY}"] }} ]"#)), 2),
        (users(&format!(r#"[ {{ "name": "Ann", "mis_key": "{KEY} ]"#)), 2),
        (users(&format!(r#"[ {{ "name": "Ann", "mis_key": {KEY} }} ]"#)), 2),
        (users(&format!(r#"[ {{ "name": "Ann", "mis-key": "{KEY}" }} ]"#)), 2),
        (users(&format!(r#"[ "{KEY}" ]"#)), 2),
        (users(&format!(r#"[ {{ "name": "A", "mis_key": "{KEY}" }}, {{ "name": "B", "mis_key": "{KEY}" }} ]"#)), 1),
        (computers(""), 2),
        (computers(r#", "serial_number": "S ""#), 2),
        (computers(r#", "serial_number": "S", "user": "Nobody""#), 1),
    ] {
        site.write("fleet.json", &text);
        run(&site, &marks, "fleet apply fleet.json", code);
    }
    // One key of two organizations.
    let owner = |name: &str| {
        format!(
            r#"{{ "organizations": [ {{ "name": "{name}", "users": [ {{ "name": "A", "mis_key": "{KEY}" }} ] }} ] }}"#
        )
    };
    site.write("fleet.json", &owner("Acme"));
    run(&site, &marks, "fleet apply fleet.json", 0);
    site.write("fleet.json", &owner("Zenith"));
    run(&site, &marks, "fleet apply fleet.json", 1);
}
