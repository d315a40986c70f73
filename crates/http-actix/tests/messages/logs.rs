//! Adding and listing log entries (interface 4.7, 4.9, decisions L1–L8, O1).

use super::support::{ACME, Reply, Request, Server};
use domain::testing::{ACME_HASH, ACME_SERIAL, BOB_KEY, ZOE_KEY, acme_records, at, zenith_records};
use std::time::Duration;

const ADDED: &str = "Log successfully added";
const REQUIRED: &str = "“ComputerGUID”, “Type” and “Description” values are required";

fn add(server: &Server, members: &str) -> Reply {
    server.send(Request::post("/api/v2/log").json(&format!("{{{members}}}")))
}

/// The required members.
fn required(description: &str) -> String {
    format!(r#""ComputerGUID":"{}","Type":"log","Description":"{description}""#, acme_records().computer)
}

fn list(server: &Server, body: &str) -> Reply {
    server.send(Request::post("/api/v2/log/list").json(body))
}

fn descriptions(reply: &Reply) -> Vec<String> {
    assert_eq!(reply.status, 200, "{reply:?}");
    let entries: Vec<serde_json::Value> = serde_json::from_slice(&reply.body).expect("an array");
    entries.iter().map(|entry| entry["Description"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn an_entry_comes_back_with_its_five_members() {
    // Decision L4.
    let server = Server::start();
    let device = acme_records().device;
    add(&server, &format!(r#"{},"DeviceGUID":"{device}","RipVersion":"1.2.3""#, required("first\\n\u{1F5A8}")))
        .assert_success(ADDED);
    let reply = list(&server, r#"{"Computer":"rip-01"}"#);
    assert_eq!(
        reply.text(),
        "[{\"User\":\"Ann\",\"Source\":\"Latex 1\",\"Version\":\"1.2.3\",\"Computer\":\"RIP-01\",\"Description\":\"first\\n\u{1F5A8}\"}]"
    );
    assert_eq!(reply.header("Content-Type"), Some("application/json; charset=utf-8"));
}

#[test]
fn user_source_and_version_have_their_fallbacks() {
    // Decision L4.
    let server = Server::start();
    let records = acme_records();
    let queue = format!(r#""QueueGUID":"{}","JobGUID":"{}","JobName":"Own""#, records.queue, records.job);
    add(&server, &format!("{},{queue}", required("queue"))).assert_success(ADDED);
    let job = format!(r#""JobGUID":"{}""#, records.job);
    add(&server, &format!(r#"{},{job},"JobName":"Own""#, required("job name"))).assert_success(ADDED);
    add(&server, &format!("{},{job}", required("job"))).assert_success(ADDED);
    let computer = Request::post("/api/v2/log").anonymous().also("HardwareHash", ACME_HASH);
    let computer = computer.also("SerialNumber", ACME_SERIAL).also("ApplicationVersion", "7");
    let entry = format!("{{{}}}", required("computer"));
    server.send(computer.json(&entry)).assert_success(ADDED);
    server.send(Request::post("/api/v2/log").header("MisKey", BOB_KEY).json(&entry)).assert_success(ADDED);
    let of = |user: &str, source: &str, version: &str, description: &str| {
        format!(
            r#"{{"User":"{user}","Source":"{source}","Version":"{version}","Computer":"RIP-01","Description":"{description}"}}"#
        )
    };
    let expected = [
        of("Bob", "", "9.1", "computer"),
        of("Ann", "", "7", "computer"),
        of("Ann", "Order 17", "9.1", "job"),
        of("Ann", "Own", "9.1", "job name"),
        of("Ann", "Banner", "9.1", "queue"),
    ];
    assert_eq!(list(&server, r#"{"LogType":"LOG"}"#).text(), format!("[{}]", expected.join(",")));
}

#[test]
fn required_values_are_demanded() {
    // Decisions L1, R9.
    let server = Server::start();
    let all = required("x");
    add(&server, "").assert_error(400, REQUIRED);
    let computer = acme_records().computer;
    for (from, to) in [
        (format!("\"{computer}\""), "null".to_owned()),
        (format!("\"{computer}\""), "\"\"".to_owned()),
        ("\"log\"".to_owned(), "\"trace\"".to_owned()),
        ("\"log\"".to_owned(), "[]".to_owned()),
        ("\"x\"".to_owned(), "\" \\t\"".to_owned()),
        ("Description".to_owned(), "Text".to_owned()),
    ] {
        add(&server, &all.replace(&from, &to)).assert_error(400, REQUIRED);
    }
    let lenient = all.replace("\"log\"", "\"CONFIGURATION\"").replace("Type", "TYPE").replace("\"x\"", "12.50");
    add(&server, &lenient).assert_success(ADDED);
    assert_eq!(server.kept.log_entries(ACME)[0].description, "12.50", "decision R5");
}

#[test]
fn the_first_unknown_reference_answers() {
    // Decisions L2, O1, R7.
    let server = Server::start();
    let foreign = zenith_records();
    let (device, queue, job) = (foreign.device, foreign.queue, foreign.job);
    let references = format!(r#""DeviceGUID":"{device}","QueueGUID":"{queue}","JobGUID":"{job}""#);
    let all = format!("{},{references}", required("x"));
    let foreign_computer = all.replace(&acme_records().computer.to_string(), &foreign.computer.to_string());
    add(&server, &foreign_computer).assert_error(404, "ComputerGUID is not found");
    add(&server, &required("x").replace("00000000", "xyz")).assert_error(404, "ComputerGUID is not found");
    add(&server, &all).assert_error(404, "DeviceGUID is not found");
    add(&server, &all.replace(&device.to_string(), "")).assert_error(404, "QueueGUID is not found");
    let without = all.replace(&format!("\"{device}\""), "null").replace(&queue.to_string(), "");
    add(&server, &without).assert_error(404, "JobGUID is not found");
    add(&server, &without.replace(&job.to_string(), "")).assert_success(ADDED);
}

#[test]
fn values_are_checked_before_references() {
    // Decision R1.
    let server = Server::start();
    let unknown = required("").replace(&acme_records().computer.to_string(), "unknown");
    add(&server, &unknown).assert_error(400, REQUIRED);
}

#[test]
fn a_long_version_is_cut_never_refused() {
    // Decision L3.
    let server = Server::start();
    let version = "ü".repeat(100);
    add(&server, &format!(r#"{},"RipVersion":"{version}""#, required("x"))).assert_success(ADDED);
    assert_eq!(server.kept.log_entries(ACME)[0].version, "ü".repeat(64));
}

#[test]
fn filters_combine_and_stars_match_any_run() {
    // Decisions L5, L8.
    let server = Server::start();
    for description in ["one", "two", "three"] {
        let members = format!(r#"{},"JobName":"Größe {description}""#, required(description));
        add(&server, &members).assert_success(ADDED);
    }
    let listed = |body: &str| descriptions(&list(&server, body));
    assert_eq!(listed(r#"{"User":"*"}"#), ["three", "two", "one"]);
    assert_eq!(listed(r#"{"Source":"GRÖSSE T*","LogType":"log"}"#), ["three", "two"]);
    assert_eq!(listed(r#"{"Source":"größe"}"#), [""; 0]);
    assert_eq!(listed(r#"{"Source":"*o*e*","SerialNumber":"sn-7","Version":"9.1"}"#), ["one"]);
    assert_eq!(listed(r#"{"LogType":"Configuration"}"#), [""; 0]);
    let foreign = Request::post("/api/v2/log/list").json(r#"{"User":"*"}"#).header("MisKey", ZOE_KEY);
    assert_eq!(server.send(foreign).text(), "[]");
}

#[test]
fn times_of_receipt_are_filtered_inclusively() {
    // Decision L6.
    let server = Server::start();
    for seconds in [0, 10, 20] {
        server.clock.set(at(seconds));
        add(&server, &required(&seconds.to_string())).assert_success(ADDED);
    }
    server.clock.advance(Duration::from_secs(100));
    let listed = |filter: &str| descriptions(&list(&server, &format!(r#"{{"DateTime":{filter}}}"#)));
    assert_eq!(listed(r#"{"From":"2026-01-01T00:00:10Z"}"#), ["20", "10"]);
    assert_eq!(listed(r#"{"from":"2026-01-01 02:00:05+02","To":"2026-01-01T00:00:15"}"#), ["10"]);
    for malformed in [r#"{"From":"yesterday"}"#, r#"{"To":"2026-01-01"}"#, r#""2026-01-01T00:00:00Z""#] {
        list(&server, &format!(r#"{{"DateTime":{malformed}}}"#)).assert_error(400, "“DateTime” is not valid");
    }
    list(&server, r#"{"LogType":"Trace"}"#).assert_error(400, "“LogType” must be Log or Configuration");
}

#[test]
fn a_list_without_any_filter_is_refused() {
    // Decision L7.
    let server = Server::start();
    for body in ["{}", "[]", "7", r#"{"User":null,"Source":"","DateTime":{}}"#, r#"{"Unknown":"x"}"#] {
        list(&server, body).assert_error(400, REQUIRED);
    }
}

#[test]
fn other_content_types_are_refused() {
    // Decision R6, interface part 7.
    let server = Server::start();
    for path in ["/api/v2/log", "/api/v2/log/list"] {
        let request = Request::post(path).body(r#"{"User":"*"}"#);
        for content_type in ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"] {
            let reply = server.send(request.clone().header("Content-Type", content_type));
            reply.assert_error(415, "Expected type: application/json");
        }
        server.send(request).assert_error(415, "Expected type: application/json");
    }
}

#[test]
fn a_list_that_fails_at_once_is_an_internal_server_error() {
    // Decision R4.
    let server = Server::start();
    let mut connection = server.connect();
    connection.send(&Request::get("/api/v2")).assert_success("Server is running");
    server.failing.logs.set(true);
    list(&server, r#"{"User":"*"}"#).assert_error(500, "Internal Server Error");
}
