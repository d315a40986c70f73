//! Requests in general: paths, methods, identities, health (decisions R1–R4, R8, R13).

use super::support::bodies::{GUID, add_label, call_stack, crash_request};
use super::support::{Connection, Options, Request, Server};
use domain::testing::acme_records;
use std::sync::atomic::Ordering;

#[test]
fn the_server_says_that_it_is_running() {
    // Decision R13.
    let server = Server::start();
    server.send(Request::get("/api/v2")).assert_success("Server is running");
    server.send(Request::get("/API/V2/")).assert_success("Server is running");
    let reply = server.send(Request::get("/api/v2").anonymous());
    let message = "“MisKey” or “HardwareHash”, “SerialNumber” and “ApplicationVersion” header are required";
    reply.assert_error(401, message);
}

#[test]
fn unknown_paths_are_answered_without_credentials() {
    // Decisions R1, R3.
    let server = Server::start();
    for path in ["/api", "/api/v1/log", "/api/v2/logs", "/api/v2/resource/info/a/b", "/api/v2//log", "/metrics"] {
        server.send(Request::get(path).anonymous()).assert_error(404, "Not Found");
    }
}

#[test]
fn the_root_leads_a_browser_to_the_documentation() {
    let server = Server::with(Options { base_path: "/print", ..Options::default() });
    let reply = server.send(Request::get("/").anonymous());
    assert_eq!((reply.status, reply.header("Location")), (307, Some("print/api/docs")));
    let reply = Server::start().send(Request::get("/").anonymous());
    assert_eq!((reply.status, reply.header("Location")), (307, Some("api/docs")));
}

#[test]
fn a_slash_too_many_at_the_beginning_does_not_matter() {
    // Clients put a base URL that ends with a slash before a path that begins with one.
    let server = Server::start();
    server.send(Request::get("//api/v2")).assert_success("Server is running");
    server.send(Request::get("//health/live").anonymous()).assert_success("Live");
}

#[test]
fn wrong_methods_are_answered_without_credentials() {
    // Decisions R1, R3.
    let server = Server::start();
    let expected = [
        ("GET", "/api/v2/resource", "POST, DELETE"),
        ("GET", "/api/v2/resource/list", "POST"),
        ("GET", "/api/v2/resource/pmminfo", "POST"),
        ("PUT", "/api/v2/resource/abc", "GET, HEAD, DELETE"),
        ("POST", "/api/v2/resource/info/abc", "GET, HEAD"),
        ("HEAD", "/api/v2/log", "POST"),
        ("OPTIONS", "/api/v2/log/list", "POST"),
        ("DELETE", "/api/v2/log/crashreport", "POST"),
        ("GET", "/api/v2/device/status", "POST"),
        ("POST", "/api/v2", "GET, HEAD"),
    ];
    for (method, path, allow) in expected {
        let reply = server.send(Request::new(method, path).anonymous());
        assert_eq!((reply.status, reply.header("Allow")), (405, Some(allow)), "{method} {path}");
        if method != "HEAD" {
            reply.assert_error(405, "Method Not Allowed");
        }
    }
}

#[test]
fn a_path_that_only_looks_like_info_asks_for_a_file() {
    // Decision R1.
    let server = Server::start();
    server.send(Request::get("/api/v2/resource/info")).assert_error(404, "ResourceGUID not found");
    assert_eq!(server.send(Request::get("/api/v2/resource/info").anonymous()).status, 401);
}

#[test]
fn case_and_a_trailing_slash_do_not_matter_and_head_works_where_get_does() {
    // Decision R8.
    let server = Server::start();
    server.send(add_label(GUID, b"content")).assert_success("Resource successfully added");
    for path in [format!("/Api/V2/Resource/{GUID}"), format!("/api/v2/RESOURCE/{GUID}/")] {
        assert_eq!(server.send(Request::get(&path)).body, b"content");
        let head = server.send(Request::new("HEAD", &path));
        assert_eq!((head.status, head.header("Content-Length")), (200, Some("7")));
    }
    let info = format!("/api/v2/resource/INFO/{GUID}");
    let length = server.send(Request::get(&info)).body.len().to_string();
    let head = server.send(Request::new("HEAD", &info));
    assert_eq!((head.status, head.header("Content-Length")), (200, Some(length.as_str())));
}

#[test]
fn a_base_path_stands_before_the_api() {
    let server = Server::with(Options { base_path: "/print/cloud", ..Options::default() });
    server.send(Request::get("/Print/cloud/api/v2")).assert_success("Server is running");
    server.send(Request::get("/api/v2")).assert_error(404, "Not Found");
    server.send(Request::get("/health/live").anonymous()).assert_success("Live");
}

#[test]
fn a_usable_request_id_comes_back_and_others_are_replaced() {
    // Decision R4.
    let server = Server::start();
    let reply = server.send(Request::get("/api/v2").header("X-Request-Id", "trace.7_A-z"));
    assert_eq!(reply.header("X-Request-Id"), Some("trace.7_A-z"));
    for unusable in ["", "a b", "a\"b"] {
        let reply = server.send(Request::get("/nowhere").header("X-Request-Id", unusable));
        assert_eq!(reply.header("X-Request-Id").map(str::len), Some(36), "{unusable}");
    }
}

#[test]
fn a_failing_store_is_an_internal_server_error_that_tells_nothing() {
    // Decision R4.
    let server = Server::start();
    server.failing.credentials.set(true);
    let reply = server.send(Request::post("/api/v2/log").json("{}"));
    reply.assert_error(500, "Internal Server Error");
    assert_eq!(reply.detail(), "");
}

#[test]
fn what_finds_no_room_is_told_when_to_come_again() {
    let server = Server::start();
    server.failing.room.set(true);
    let records = acme_records();
    let entry = format!(r#"{{"ComputerGUID":"{}","Type":"log","Description":"x"}}"#, records.computer);
    let status = format!(r#"{{"DeviceGUID":"{}","Status":"Idle","QueueLength":{{"Sheets":1}}}}"#, records.device);
    let requests = || {
        let logs = Request::post("/api/v2/log").json(&entry);
        let list = Request::post("/api/v2/log/list").json(r#"{"User":"*"}"#);
        [logs, list, Request::post("/api/v2/device/status").json(&status), crash_request(&[call_stack()])]
    };
    for request in requests() {
        let reply = server.send(request);
        reply.assert_error(503, "Service Unavailable");
        assert_eq!(reply.header("Retry-After"), Some("5"));
        assert!(!reply.detail().is_empty(), "decision R11");
    }
    assert!(server.kept.contents().is_empty());
    // What doesn't wait for it goes on.
    server.send(add_label(GUID, b"content")).assert_success("Resource successfully added");
    server.failing.room.set(false);
    assert!(requests().into_iter().all(|request| server.send(request).status == 200));
}

#[test]
fn every_operation_that_finds_no_turn_is_told_when_to_come_again() {
    let server = Server::start();
    server.failing.turns.set(true);
    let crash = crash_request(&[call_stack()]);
    for request in
        [Request::get("/api/v2"), Request::get(&format!("/api/v2/resource/{GUID}")), add_label(GUID, b"x"), crash]
    {
        let reply = server.send(request);
        reply.assert_error(503, "Service Unavailable");
        assert_eq!(reply.header("Retry-After"), Some("5"));
    }
    server.send(Request::get("/health/live").anonymous()).assert_success("Live");
    server.send(Request::get("/health/ready").anonymous()).assert_success("Ready");
    server.failing.turns.set(false);
    server.send(Request::get("/api/v2")).assert_success("Server is running");
}

#[test]
fn health_is_on_both_listeners_and_metrics_on_the_operators() {
    let server = Server::start();
    for address in [server.api, server.ops] {
        let ask = |path: &str| Connection::open(address).send(&Request::get(path).anonymous());
        server.ready.store(true, Ordering::SeqCst);
        ask("/health/live").assert_success("Live");
        ask("/health/ready").assert_success("Ready");
        server.ready.store(false, Ordering::SeqCst);
        ask("/health/live").assert_success("Live");
        let reply = ask("/health/ready");
        reply.assert_error(503, "Service Unavailable");
        assert_eq!(reply.detail(), "");
    }
    let metrics = Connection::open(server.ops).send(&Request::get("/metrics").anonymous());
    assert_eq!((metrics.status, metrics.text()), (200, "answered 1\n"));
    assert_eq!(metrics.header("Content-Type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    Connection::open(server.ops).send(&Request::get("/api/v2")).assert_error(404, "Not Found");
}

#[test]
fn a_graceful_stop_lets_a_running_request_finish() {
    let server = Server::start();
    let request = Request::post("/api/v2/log/list").json(r#"{"User":"*"}"#);
    let mut connection = server.connect();
    connection.write(&request.head());
    // Once the server asks for nothing more than the body, the request is running.
    let mut idle = server.connect();
    idle.send(&Request::get("/api/v2")).assert_success("Server is running");
    drop(server.handle().stop(true));
    assert!(idle.is_closed(), "idle connections are closed");
    connection.write(&request.body);
    let reply = connection.read_reply("POST");
    assert_eq!((reply.status, reply.text()), (200, "[]"));
    server.join();
}
