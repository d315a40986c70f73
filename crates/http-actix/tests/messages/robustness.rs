//! Whatever arrives is answered or let go: no hang, no 500, no half-written record.

use super::support::bodies::{GUID, add_label, call_stack, crash_request};
use super::support::{Options, Request, Server};
use domain::blob::BlobKind;
use domain::testing::ANN_KEY;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::time::Duration;

fn start() -> Server {
    Server::with(Options { read_timeout: Duration::from_secs(5), ..Options::default() })
}

/// Runs `test` on many inputs over one server.
fn for_many<T: std::fmt::Debug>(inputs: impl Strategy<Value = T>, test: impl Fn(&Server, &T)) {
    let server = start();
    let mut runner = TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() });
    runner
        .run(&inputs, |input| {
            test(&server, &input);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    server.send(Request::get("/api/v2")).assert_success("Server is running");
}

/// Sends bytes and nothing more; the statuses of all answers until the connection ends.
fn statuses(server: &Server, bytes: &[u8]) -> Vec<u16> {
    let mut connection = server.connect();
    connection.write(bytes);
    connection.finish();
    let mut statuses = Vec::new();
    loop {
        match connection.try_read_reply("GET") {
            Ok(reply) => statuses.push(reply.status),
            Err(end) => {
                assert!(end.starts_with("closed after \"\"") || end == "reset", "{end}");
                return statuses;
            }
        }
    }
}

fn pieces(of: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(of).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

#[test]
fn any_head_is_answered_or_let_go() {
    let inputs = pieces(&[
        "GET",
        " ",
        "/",
        "/api/v2",
        " HTTP/1.1",
        " HTTP/1.0",
        "\r\n",
        "\r\n\r\n",
        "\n",
        "\r",
        "\n\n",
        "Host: a",
        "Host:",
        "Content-Length: 5",
        "Content-Length: 0",
        "Transfer-Encoding: chunked",
        "Expect: 100-continue",
        "hello",
        "Connection: close",
        "Upgrade: websocket",
        "Connection: upgrade",
        "0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ]);
    for_many(inputs, |server, bytes| {
        for status in statuses(server, bytes) {
            assert!(matches!(status, 100 | 200 | 307 | 400 | 401 | 404 | 405 | 431), "{status}");
        }
    });
}

#[test]
fn any_chunking_is_answered_or_let_go() {
    let inputs = pieces(&[
        "5\r\nhello\r\n",
        "0\r\n\r\n",
        "0\r\n",
        "1;x\r\na\r\n",
        "\r\n",
        "ffffffffffffffff\r\n",
        "5\r\n",
        "A: b\r\n",
        "g",
    ]);
    let head = Request::post("/api/v2/log").json("").chunked(1).head();
    for_many(inputs, |server, bytes| {
        for status in statuses(server, &[head.clone(), bytes.clone()].concat()) {
            assert!(status == 400, "{status}");
        }
    });
}

/// How many contents are stored that no record claims.
fn unclaimed(server: &Server) -> usize {
    let claims = server.kept.claims(BlobKind::Resource) + server.kept.claims(BlobKind::CrashReport);
    server.kept.contents().len() - claims
}

#[test]
fn any_damage_to_a_form_is_refused_or_harmless() {
    let damage = (any::<prop::sample::Index>(), any::<u8>(), 0_usize..3);
    let inputs = (any::<bool>(), prop::collection::vec(damage, 1..4));
    for_many(inputs, |server, (is_crash, damages)| {
        let mut request = if *is_crash { crash_request(&[call_stack()]) } else { add_label(GUID, b"content") };
        for (place, byte, kind) in damages {
            let place = place.index(request.body.len());
            match kind {
                0 => request.body[place] = *byte,
                1 => request.body.insert(place, *byte),
                _ => drop(request.body.remove(place)),
            }
        }
        let before = unclaimed(server);
        let reply = server.send(request);
        assert!(matches!(reply.status, 200 | 400 | 413 | 415), "{reply:?}");
        let left = unclaimed(server).saturating_sub(before);
        // An accepted update may keep the content that it replaces for a while; a refused one leaves nothing.
        assert!(left <= usize::from(reply.status == 200), "{left} contents are left behind by {reply:?}");
    });
}

#[test]
fn any_json_is_refused_or_accepted() {
    let inputs = pieces(&[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"DeviceGUID\"",
        "\"ResourceTypes\"",
        "\"*\"",
        "\"Meta\"",
        "null",
        "1e999",
        "-",
        "\"\\u0000\"",
        "\"ComputerGUID\"",
        "\"Type\"",
        "\"log\"",
        "\"User\"",
        "\"DateTime\"",
        "\"From\"",
        "{}",
        "\"\"",
        "\"Domain\"",
    ]);
    for_many(inputs, |server, body| {
        for path in ["log", "log/list", "resource/list", "resource/pmminfo", "device/status"] {
            let reply = server.send(Request::post(&format!("/api/v2/{path}")).json("").body(body.clone()));
            assert!(matches!(reply.status, 200 | 400 | 404), "{reply:?}");
        }
    });
}

#[test]
fn any_headers_are_refused_or_accepted() {
    let text = "[ -~\u{e9}]{0,40}";
    for_many((text, text, text, text, text), |server, (key, hash, serial, timestamp, range)| {
        let request = add_label(GUID, b"x").also("MisKey", key).header("HardwareHash", hash);
        let reply = server.send(request.header("SerialNumber", serial).header("Timestamp", timestamp));
        assert!(matches!(reply.status, 400 | 401), "{reply:?}");
        assert!(!reply.detail().contains(ANN_KEY), "never a credential");
        let file = Request::get(&format!("/api/v2/resource/{GUID}")).header("Range", range).header("If-Range", key);
        assert_eq!(server.send(file.header("If-None-Match", hash)).status, 404);
    });
}
