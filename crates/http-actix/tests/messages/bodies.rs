//! Bodies: JSON, codings, limits, time limits (decisions R3, R5, R6, R10).

use super::support::bodies::{GUID, add_label, call_stack, crash_request, part};
use super::support::{ACME, Options, Request, Server};
use actix_web::rt::System;
use async_compression::Level;
use async_compression::tokio::bufread::{BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use domain::limits::Limits;
use domain::testing::acme_records;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};

const NOT_JSON: &str = "Request body is not valid JSON";

fn log_body() -> String {
    format!(r#"{{"ComputerGUID":"{}","Type":"log","Description":"x"}}"#, acme_records().computer)
}

fn log() -> Request {
    Request::post("/api/v2/log").json(&log_body())
}

fn read_all(mut encoder: impl AsyncRead + Unpin) -> Vec<u8> {
    System::new().block_on(async move {
        let mut bytes = Vec::new();
        encoder.read_to_end(&mut bytes).await.expect("a body that can be encoded");
        bytes
    })
}

/// A body in every coding that is decoded.
fn encoded(body: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("gzip", read_all(GzipEncoder::with_quality(body, Level::Fastest))),
        ("X-GZip", read_all(GzipEncoder::with_quality(body, Level::Fastest))),
        ("deflate", read_all(ZlibEncoder::with_quality(body, Level::Fastest))),
        ("deflate", read_all(DeflateEncoder::with_quality(body, Level::Fastest))),
        ("br", read_all(BrotliEncoder::with_quality(body, Level::Fastest))),
        ("zstd", read_all(ZstdEncoder::with_quality(body, Level::Fastest))),
        ("identity", body.to_vec()),
    ]
}

#[test]
fn json_content_types_are_matched_leniently() {
    // Decision R6.
    let server = Server::start();
    for name in ["APPLICATION/JSON; charset=utf-8", "text/json", "application/vnd.acme+json"] {
        server.send(log().header("Content-Type", name)).assert_success("Log successfully added");
    }
}

#[test]
fn a_json_body_is_read_leniently() {
    // Decision R5: mark, one-element array, unknown members, names without case.
    let server = Server::start();
    let body = format!("\u{FEFF} [{}]\n", log_body().replace("\"Type\"", "\"Unknown\":[{}],\"tYPE\""));
    server.send(log().body(body)).assert_success("Log successfully added");
}

#[test]
fn what_is_not_json_is_refused_on_every_operation() {
    // Decisions R1, R3.
    let server = Server::start();
    for path in [
        "/api/v2/log",
        "/api/v2/log/list",
        "/api/v2/resource/list",
        "/api/v2/resource/pmminfo",
        "/api/v2/device/status",
    ] {
        for body in ["", "{", "{\"a\":}", "\u{0}", "<a/>", "{}{}"] {
            let reply = server.send(Request::post(path).json(body));
            reply.assert_error(400, NOT_JSON);
        }
        server.send(Request::post(path).json("").body(&b"{\"a\":\"\xff\"}"[..])).assert_error(400, NOT_JSON);
        let deep = Request::post(path).json(&"[".repeat(100_000));
        server.send(deep).assert_error(400, NOT_JSON);
    }
}

#[test]
fn every_coding_is_decoded() {
    // Decision R10.
    let server = Server::start();
    let content: Vec<u8> = (0..300_000_u32).map(|number| (number % 1009 * number % 253) as u8).collect();
    for (coding, body) in encoded(log_body().as_bytes()) {
        let request = log().header("Content-Encoding", coding).body(body);
        server.send(request.clone()).assert_success("Log successfully added");
        // However it is cut.
        server.send(request.chunked(1)).assert_success("Log successfully added");
    }
    let plain = add_label(GUID, &content);
    for (coding, body) in encoded(&plain.body) {
        let request = plain.clone().header("Content-Encoding", coding).body(body).chunked(1000);
        server.send(request).assert_success("Resource successfully added");
        assert_eq!(server.send(Request::get(&format!("/api/v2/resource/{GUID}"))).body, content, "{coding}");
    }
}

#[test]
fn other_codings_are_refused_with_the_operations_own_message() {
    // Decision R10.
    let server = Server::start();
    let malformed = "This request is not properly formatted";
    for coding in ["compress", "gzip, gzip", "rot13"] {
        let with = |request: Request| server.send(request.header("Content-Encoding", coding));
        with(log()).assert_error(415, "Expected type: application/json");
        with(add_label(GUID, b"x")).assert_error(415, malformed);
        with(crash_request(&[call_stack()])).assert_error(415, malformed);
        with(Request::post("/api/v2/device/status").json("{}")).assert_error(415, malformed);
        with(Request::post("/api/v2/resource/pmminfo").json("{}")).assert_error(415, malformed);
        with(log().anonymous()).assert_error(
            401,
            "“MisKey” or “HardwareHash”, “SerialNumber” and “ApplicationVersion” header are required",
        );
        with(Request::get("/api/v2")).assert_success("Server is running");
    }
}

#[test]
fn a_damaged_encoding_is_a_malformed_body() {
    // Decision R10.
    let server = Server::start();
    let form = add_label(GUID, b"content");
    for (coding, body) in encoded(log_body().as_bytes()).into_iter().filter(|(coding, _)| *coding != "identity") {
        for damaged in [&body[..body.len() / 2], b"", b"\x11\x00\x00", b"not encoded at all"] {
            let reply = server.send(log().header("Content-Encoding", coding).body(damaged));
            reply.assert_error(400, NOT_JSON);
        }
        let reply = server.send(form.clone().header("Content-Encoding", coding));
        reply.assert_error(415, "This request is not properly formatted");
    }
    assert!(server.kept.log_entries(ACME).is_empty() && server.kept.contents().is_empty());
}

#[test]
fn a_body_that_decodes_to_far_more_than_was_sent_is_not_decoded_to_its_end() {
    // Decisions R10, C6; ADR 7.
    let server = Server::with(Options {
        limits: Limits { max_crash_report_size: 1_000_000, ..Limits::default() },
        ..Options::default()
    });
    let dump = || part("dump", "application/octet-stream", vec![0; 200 * 1024 * 1024]);
    for (parts, status) in [([call_stack(), dump()], 200), ([dump(), call_stack()], 413)] {
        let request = crash_request(&parts);
        let body = read_all(ZstdEncoder::with_quality(&request.body[..], Level::Fastest));
        assert!(body.len() < 100_000);
        let reply = server.send(request.header("Content-Encoding", "zstd").body(body));
        assert_eq!(reply.status, status);
        assert!(reply.detail().contains("decode to more than 200 times as many"), "{}", reply.detail());
    }
}

#[test]
fn limits_count_decoded_bytes() {
    // Decisions R3, R10.
    let limits = Limits { max_json_size: 1000, max_resource_size: 5000, ..Limits::default() };
    let server = Server::with(Options { limits, ..Options::default() });
    let too_large = "Request body too large";
    let padded = |length: usize| format!("{}{}", log_body(), " ".repeat(length - log_body().len()));
    server.send(log().body(padded(1000))).assert_success("Log successfully added");
    server.send(log().body(padded(1001))).assert_error(413, too_large);
    server.send(log().body(padded(1001)).chunked(100)).assert_error(413, too_large);
    for (coding, body) in encoded(padded(5_000_000).as_bytes()).into_iter().filter(|(coding, _)| *coding != "identity")
    {
        assert!(body.len() < 60_000);
        server.send(log().header("Content-Encoding", coding).body(body)).assert_error(413, too_large);
    }
    let plain = add_label(GUID, &vec![0; 5_000_000]);
    for (coding, body) in encoded(&plain.body) {
        server.send(plain.clone().header("Content-Encoding", coding).body(body)).assert_error(413, too_large);
    }
    assert!(server.kept.contents().is_empty());
}

#[test]
fn an_announced_length_over_the_limit_is_refused_before_the_body() {
    // Decision R3.
    let server = Server::start();
    for (path, content_type, length) in [
        ("/api/v2/log", "application/json", "1048577"),
        ("/api/v2/device/status", "", "1048577"),
        ("/api/v2/resource", "multipart/form-data; boundary=x", "99999999999"),
    ] {
        let request = Request::post(path).header("Content-Type", content_type).header("Content-Length", length);
        let mut connection = server.connect();
        connection.write(&request.head());
        connection.read_reply("POST").assert_error(413, "Request body too large");
    }
}

#[test]
fn a_client_that_stops_sending_is_told_so() {
    // Decision R3.
    let server = Server::with(Options { read_timeout: Duration::from_secs(1), ..Options::default() });
    for request in
        [log(), add_label(GUID, &vec![1; 200_000]), add_label(GUID, b"x").chunked(10), crash_request(&[call_stack()])]
    {
        let mut connection = server.connect();
        connection.write(&request.head());
        let body = request.wire_body();
        connection.write(&body[..body.len() - 60]);
        let reply = connection.read_reply("POST");
        reply.assert_error(408, "Request Timeout");
        assert_eq!(reply.header("Connection"), Some("close"));
    }
    assert!(server.kept.contents().is_empty(), "nothing is left behind");
}

#[test]
fn a_client_that_is_slow_but_goes_on_is_served() {
    let server = Server::with(Options { read_timeout: Duration::from_secs(5), ..Options::default() });
    let request = add_label(GUID, b"content").chunked(7);
    let mut connection = server.connect();
    for byte in request.bytes() {
        connection.write(&[byte]);
    }
    connection.read_reply("POST").assert_success("Resource successfully added");
}
