//! Clients that fail to authenticate again and again, and organizations that upload without end (ADR 42, 43).

use super::support::bodies::{BOUNDARY, GUID, add_label, call_stack, crash_request};
use super::support::{Connection, Options, Request, Server};
use http_actix::{Network, UploadBounds, parse_network};
use std::time::Duration;

fn status(key: &str) -> Request {
    Request::get("/api/v2").without("MisKey").header("MisKey", key)
}

fn throttling(trusted_proxies: Vec<Network>) -> Server {
    Server::with(Options { max_failed_authentications: 3, trusted_proxies, ..Options::default() })
}

#[test]
fn who_fails_too_often_is_told_to_wait() {
    let server = throttling(Vec::new());
    for _ in 0..3 {
        server.send(status("guessed")).assert_error(401, "Invalid MisKey");
    }
    let refused = server.send(status("guessed"));
    refused.assert_error(429, "Too Many Requests");
    assert_eq!(refused.header("Retry-After"), Some("20"));
    assert_eq!(refused.detail(), "too many requests from this address failed to authenticate");
    // Whatever is guessed, and wherever.
    let crash = crash_request(&[call_stack()]).without("MisKey").header("MisKey", "other");
    server.send(crash).assert_error(429, "Too Many Requests");
    server.clock.advance(Duration::from_secs(20));
    server.send(status("guessed")).assert_error(401, "Invalid MisKey");
    server.send(status("guessed")).assert_error(429, "Too Many Requests");
}

#[test]
fn those_who_were_admitted_are_not_held_up_by_one_that_fails_beside_them() {
    let server = throttling(Vec::new());
    server.send(Request::get("/api/v2")).assert_success("Server is running");
    for _ in 0..10 {
        server.send(status("guessed"));
    }
    server.send(status("guessed")).assert_error(429, "Too Many Requests");
    server.send(Request::get("/api/v2")).assert_success("Server is running");
    server.send(Request::get("/health/live")).assert_success("Live");
}

#[test]
fn failures_are_counted_by_the_address_that_a_trusted_proxy_names() {
    let server = throttling(vec![parse_network("127.0.0.0/8").unwrap()]);
    let from = |client: &str| status("guessed").header("X-Forwarded-For", client);
    for _ in 0..3 {
        server.send(from("198.51.100.1")).assert_error(401, "Invalid MisKey");
    }
    server.send(from("198.51.100.1")).assert_error(429, "Too Many Requests");
    server.send(from("203.0.113.9, 198.51.100.1")).assert_error(429, "Too Many Requests");
    server.send(from("198.51.100.2")).assert_error(401, "Invalid MisKey");
}

#[test]
fn without_a_trusted_proxy_a_client_cannot_choose_its_address() {
    let server = throttling(Vec::new());
    for client in ["198.51.100.1", "198.51.100.2", "198.51.100.3"] {
        server.send(status("guessed").header("X-Forwarded-For", client)).assert_error(401, "Invalid MisKey");
    }
    server.send(status("guessed").header("X-Forwarded-For", "198.51.100.4")).assert_error(429, "Too Many Requests");
}
#[test]
fn a_request_without_credentials_is_told_what_is_missing() {
    let server = throttling(Vec::new());
    for _ in 0..5 {
        server.send(status("guessed"));
    }
    let missing = Request::get("/api/v2").without("MisKey");
    let message = "“MisKey” or “HardwareHash”, “SerialNumber” and “ApplicationVersion” header are required";
    server.send(missing).assert_error(401, message);
}

#[test]
fn a_throttled_upload_is_refused_before_its_body_is_read() {
    let server = throttling(Vec::new());
    for _ in 0..3 {
        server.send(status("guessed"));
    }
    let mut connection = server.connect();
    let upload = add_label(GUID, b"label").without("MisKey").header("MisKey", "guessed");
    connection.write(&upload.head());
    connection.read_reply("POST").assert_error(429, "Too Many Requests");
}

/// A connection on which an upload was begun.
fn begun(server: &Server) -> Connection {
    let mut connection = server.connect();
    let begun = Request::post("/api/v2/resource")
        .header("Content-Type", &format!("multipart/form-data; boundary={BOUNDARY}"))
        .header("Content-Length", "1000");
    connection.write(&begun.head());
    // The server has one worker: what it answers after, it has read after.
    server.send(Request::get("/api/v2")).assert_success("Server is running");
    connection
}

#[test]
fn an_upload_beyond_the_bound_waits_and_is_told_to_come_again() {
    let bounds = UploadBounds { of_organization: 1, in_all: 0 };
    let server = Server::with(Options { uploads: bounds, ..Options::default() });
    let open = begun(&server);
    let refused = server.send(add_label(GUID, b"label"));
    refused.assert_error(503, "Service Unavailable");
    assert_eq!(refused.header("Retry-After"), Some("5"));
    assert_eq!(refused.detail(), "the organization has too many uploads under way; send it again later");
    server.send(crash_request(&[call_stack()])).assert_error(503, "Service Unavailable");
    // Whatever is no upload goes on.
    server.send(Request::get("/api/v2")).assert_success("Server is running");
    drop(open);
    server.send(add_label(GUID, b"label")).assert_success("Resource successfully added");
}

#[test]
fn all_uploads_together_have_a_bound() {
    let bounds = UploadBounds { of_organization: 0, in_all: 1 };
    let server = Server::with(Options { uploads: bounds, ..Options::default() });
    let open = begun(&server);
    let refused = server.send(add_label(GUID, b"label"));
    refused.assert_error(503, "Service Unavailable");
    assert_eq!(refused.detail(), "too many uploads are under way; send it again later");
    drop(open);
    server.send(add_label(GUID, b"label")).assert_success("Resource successfully added");
}
