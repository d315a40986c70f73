//! What the log tells of requests (decisions R4, A9). One test: the log is one for the whole
//! process, and the other tests write into it too.

use super::support::failing::CAUSE;
use super::support::{Request, Server};
use domain::access::CredentialDigest;
use domain::testing::{ACME_HASH, ACME_SERIAL, ANN_KEY, acme_records};
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a lock that no panic broke").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// The one line that holds all of these.
    fn with(&self, texts: &[&str]) -> String {
        let all = String::from_utf8_lossy(&self.0.lock().expect("a lock that no panic broke")).into_owned();
        let mut found = all.lines().filter(|line| texts.iter().all(|text| line.contains(text)));
        let line = found.next().unwrap_or_else(|| panic!("no line with {texts:?} in {all}"));
        assert_eq!(found.next(), None, "{texts:?}");
        line.to_owned()
    }
}

#[test]
fn each_request_has_its_line_and_no_line_holds_a_credential() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || writer.clone());
    subscriber.init();
    let server = Server::start();
    let named = |request: Request, id: &str| server.send(request.header("X-Request-Id", id));

    named(Request::get("/api/v2"), "line-plain").assert_success("Server is running");
    let line = lines.with(&["\"line-plain\""]);
    let expected = [
        "\"INFO\"",
        "\"method\":\"GET\"",
        "\"operation\":\"server_status\"",
        "\"status\":200",
        "\"organization\":\"Acme Print\"",
        "\"user\":\"Ann\"",
        "\"client\":\"127.0.0.1\"",
        "\"bytes_in\":0",
        "\"bytes_out\":19",
        "\"duration_ms\":",
        "\"broke_off\":false",
    ];
    for text in expected {
        assert!(line.contains(text), "{text} in {line}");
    }
    assert!(!line.contains("reason") && !line.contains("trace_id"), "{line}");

    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let traced = Request::post("/api/v2/log").json("{\"a\":1}").without("MisKey");
    let traced = traced.header("HardwareHash", ACME_HASH).header("SerialNumber", ACME_SERIAL);
    let traced = traced.header("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"));
    assert_eq!(named(traced, "line-traced").status, 400);
    let line = lines.with(&["\"line-traced\""]);
    let computer = format!("\"computer\":\"{}\"", acme_records().computer);
    let trace = format!("\"trace_id\":\"{trace}\"");
    for text in [&trace, &computer, "\"reason\":\"log_fields_required\"", "\"bytes_in\":7", "\"status\":400"] {
        assert!(line.contains(text), "{text} in {line}");
    }
    let malformed = Request::get("/api/v2").header("traceparent", "00-malformed-01");
    named(malformed, "line-malformed").assert_success("Server is running");
    assert!(!lines.with(&["\"line-malformed\""]).contains("trace_id"));

    // Decision A9: the client's address and the beginning of a digest.
    let wrong = "wrong-key-0123456789";
    named(Request::get("/api/v2").header("MisKey", wrong), "line-refused").assert_error(401, "Invalid MisKey");
    let line = lines.with(&["\"line-refused\"", "authentication failed"]);
    let digest = format!("\"mis_key\":\"{:?}\"", CredentialDigest::of(wrong));
    for text in ["\"WARN\"", "\"client\":\"127.0.0.1\"", &digest, "mis_key_invalid"] {
        assert!(line.contains(text), "{text} in {line}");
    }
    assert!(!line.contains("hardware_hash"), "{line}");
    lines.with(&["\"line-refused\"", "\"status\":401"]);

    // Decision R4: the cause is logged once, under the request's id.
    server.failing.credentials.set(true);
    named(Request::get("/api/v2"), "line-failed").assert_error(500, "Internal Server Error");
    let line = lines.with(&["\"line-failed\"", CAUSE]);
    assert!(line.contains("\"ERROR\""), "{line}");
    lines.with(&["\"line-failed\"", "\"status\":500"]);

    let all = String::from_utf8_lossy(&lines.0.lock().unwrap()).into_owned();
    assert!(!all.contains(wrong) && !all.contains(ANN_KEY), "{all}");
}
