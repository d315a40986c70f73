//! Connections: early answers, kept-alive and pipelined requests, clients that go away (decisions R3,
//! R10, R12).

use super::support::bodies::{GUID, add_label};
use super::support::{ACME, Connection, Options, Request, Server};
use domain::testing::acme_records;
use std::io::Write;
use std::time::{Duration, Instant};

fn log(description: &str) -> Request {
    let computer = acme_records().computer;
    Request::post("/api/v2/log")
        .json(&format!(r#"{{"ComputerGUID":"{computer}","Type":"log","Description":"{description}"}}"#))
}

fn running() -> Request {
    Request::get("/api/v2")
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_body_is_asked_for_once_the_head_is_accepted() {
    // Decision R10.
    let server = Server::start();
    for request in [log("x"), add_label(GUID, &vec![1; 300_000]), add_label(GUID, b"x").chunked(3)] {
        let request = request.header("Expect", "100-continue");
        let mut connection = server.connect();
        connection.write(&request.head());
        assert_eq!(connection.try_read_reply("POST").unwrap().status, 100);
        connection.write(&request.wire_body());
        assert_eq!(connection.read_reply("POST").status, 200);
        connection.send(&running()).assert_success("Server is running");
    }
}

#[test]
fn a_request_refused_for_its_head_is_answered_before_its_body_is_read() {
    // Decisions R1, R10: `100 Continue` may come before.
    let server = Server::start();
    let expected = [
        (Request::post("/nowhere"), 404),
        (Request::post("/api/v2"), 405),
        (log("x").anonymous(), 401),
        (log("x").header("Content-Type", "text/plain"), 415),
        (add_label(GUID, b"x").header("Content-Type", "text/plain"), 415),
        (log("x").header("Content-Encoding", "rot13"), 415),
        (log("x").header("Content-Length", "99999999"), 413),
        (log("x").anonymous().chunked(5), 401),
    ];
    for (request, status) in expected {
        let mut connection = server.connect();
        connection.write(&request.header("Expect", "100-continue").head());
        let reply = connection.read_reply("POST");
        assert_eq!(reply.status, status);
        assert!(reply.header("X-Request-Id").is_some());
        connection.finish();
        assert!(connection.is_closed());
    }
}

/// Sends a request with 64 MiB of body, reading the answer meanwhile or afterwards; whether all of it
/// was taken.
fn send_much(server: &Server, request: &Request, chunked: bool, read_meanwhile: bool) -> (u16, bool) {
    const PIECES: usize = 1024;
    let mut connection = server.connect();
    let mut writer = connection.writer();
    let head = if chunked {
        request.clone().chunked(1).head()
    } else {
        request.clone().header("Content-Length", &(PIECES * 65536).to_string()).head()
    };
    let sending = std::thread::spawn(move || {
        let piece = vec![b'x'; 65536];
        let mut whole = writer.write_all(&head).is_ok();
        for _ in 0..PIECES {
            let framed = |bytes: &[u8]| if chunked { [b"10000\r\n", bytes, b"\r\n"].concat() } else { bytes.to_vec() };
            whole = whole && writer.write_all(&framed(&piece)).is_ok();
        }
        whole
    });
    let reply = read_meanwhile.then(|| connection.read_reply("POST"));
    let whole = sending.join().expect("a sender that doesn't panic");
    let reply = reply.unwrap_or_else(|| connection.read_reply("POST"));
    (reply.status, whole)
}

#[test]
fn an_early_answer_reaches_a_client_that_is_still_sending() {
    // Decision R12.
    let server = Server::start();
    let json = || log("x").body("");
    let form = || add_label(GUID, b"x").body("");
    for (request, status) in [
        (Request::post("/nowhere"), 404),
        (form().anonymous(), 401),
        (json().header("Content-Type", "text/plain"), 415),
        (json(), 413),
        // Not a form: refused while the body is read.
        (form(), 415),
    ] {
        for (chunked, meanwhile) in [(false, false), (false, true), (true, false), (true, true)] {
            let (answered, whole) = send_much(&server, &request, chunked, meanwhile);
            assert_eq!(answered, status, "{request:?} chunked: {chunked}, reading meanwhile: {meanwhile}");
            assert!(whole, "what is sent is read on");
        }
    }
}

#[test]
fn after_an_early_answer_the_connection_closes_once_the_whole_body_has_arrived() {
    // Decision R12.
    let server = Server::start();
    for body in [300_000, 3_000_000] {
        let not_json = log("x").header("Content-Type", "text/plain");
        for request in [Request::post("/nowhere"), log("x").anonymous(), not_json] {
            let request = request.body(vec![b'x'; body]);
            for request in [request.clone(), request.chunked(10_000)] {
                let mut connection = server.connect();
                let reply = connection.send(&request);
                assert_eq!(reply.header("Connection"), Some("close"), "{reply:?}");
                let start = Instant::now();
                assert!(connection.is_closed());
                assert!(start.elapsed() < Duration::from_secs(4), "closed after {:?}", start.elapsed());
            }
        }
    }
}

#[test]
fn after_an_early_answer_to_a_short_body_the_connection_is_kept() {
    // Decision R12.
    let server = Server::start();
    let mut connection = server.connect();
    for request in [Request::post("/nowhere"), log("x").anonymous(), log("x").header("Content-Type", "text/plain")] {
        for request in [request.clone().body(vec![b'x'; 20_000]), request.body(vec![b'x'; 20_000]).chunked(100)] {
            let reply = connection.send(&request);
            assert!(reply.status >= 400 && reply.header("Connection").is_none(), "{reply:?}");
        }
    }
    connection.send(&running()).assert_success("Server is running");
}

#[test]
fn a_slow_sender_that_reads_afterwards_finds_its_early_answer() {
    // Decision R12.
    let server = Server::start();
    let piece = vec![b'x'; 16 * 1024];
    let mut connection = server.connect();
    connection.write(&log("x").anonymous().header("Content-Length", &(30 * piece.len()).to_string()).head());
    for _ in 0..30 {
        connection.write(&piece);
        std::thread::sleep(Duration::from_millis(400));
    }
    assert_eq!(connection.read_reply("POST").status, 401);
    assert!(connection.is_closed());
}

#[test]
fn a_client_that_keeps_a_body_back_does_not_delay_the_end_of_the_server() {
    // Decision R12: after a while nothing more of the body is waited for.
    let server = Server::start();
    let mut connection = server.connect();
    connection.write(&log("x").anonymous().header("Content-Length", "1000000").head());
    connection.write(&vec![b'x'; 200_000]);
    assert_eq!(connection.read_reply("POST").status, 401);
    let start = Instant::now();
    drop(server.handle().stop(true));
    server.join();
    assert!(start.elapsed() < Duration::from_secs(15), "stopped after {:?}", start.elapsed());
}

#[test]
fn after_a_body_that_was_not_read_the_connection_closes_or_serves_the_next_request() {
    // Decision R12.
    let server = Server::start();
    let body = vec![b'x'; 500_000];
    for request in [
        Request::post("/nowhere"),
        log("x").anonymous(),
        log("x").header("Content-Type", "text/plain"),
        add_label(GUID, b"x"),
        Request::get("/api/v2"),
        Request::new("DELETE", "/api/v2/resource"),
    ] {
        for request in [request.clone().body(body.clone()), request.clone().body(body.clone()).chunked(1000)] {
            let mut connection = server.connect();
            if connection.send(&request).header("Connection") != Some("close") {
                connection.send(&running()).assert_success("Server is running");
            }
        }
    }
}

#[test]
fn requests_on_one_connection_are_answered_in_order_and_whole() {
    // Decision R12.
    let server = Server::start();
    let content: Vec<u8> = (0..700_000_u32).map(|number| (number % 249) as u8).collect();
    let file = Request::get(&format!("/api/v2/resource/{GUID}"));
    let head = Request::new("HEAD", &file.path);
    let requests = [
        running(),
        add_label(GUID, &content),
        head.clone(),
        file.clone(),
        head,
        add_label(GUID, &content[1..]).chunked(1234),
        log("x").chunked(3),
        file,
        log("y"),
        running().header("Connection", "close"),
    ];
    let mut connection = server.connect();
    let replies: Vec<_> = requests.iter().map(|request| connection.send(request)).collect();
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    assert_eq!(statuses, [200; 10]);
    let closing: Vec<_> = replies.iter().map(|reply| reply.header("Connection")).collect();
    assert_eq!(closing[..9], [None; 9]);
    assert_eq!(closing[9], Some("close"));
    assert!(replies[3].body == content && replies[7].body == content[1..]);
    assert_eq!(replies[2].header("Content-Length"), Some("700000"));
    assert!(connection.is_closed());
}

#[test]
fn a_request_behind_one_that_closes_the_connection_is_not_begun() {
    // Decision R12: its sender has to send it again, so it must not have had an effect.
    let server = Server::start();
    let refused = log("x").body(vec![b'x'; 3_000_000]);
    let mut connection = server.connect();
    let mut writer = connection.writer();
    let bytes = [refused.bytes(), log("y").bytes()].concat();
    let writing = std::thread::spawn(move || writer.write_all(&bytes).is_ok());
    let reply = connection.read_reply("POST");
    reply.assert_error(413, "Request body too large");
    assert_eq!(reply.header("Connection"), Some("close"));
    writing.join().unwrap();
    assert!(connection.try_read_reply("POST").is_err());
    assert!(server.kept.log_entries(ACME).is_empty());
}

#[test]
fn a_body_that_breaks_off_is_refused_and_leaves_nothing() {
    // Decisions T12, T13, R3.
    let server = Server::start();
    let label = add_label(GUID, &vec![7; 100_000]);
    for (request, status, message) in [
        (label.clone(), 415, "This request is not properly formatted"),
        (label.chunked(1000), 415, "This request is not properly formatted"),
        (log("x"), 400, "Request body is not valid JSON"),
    ] {
        let bytes = request.bytes();
        let mut connection = server.connect();
        connection.write(&bytes[..bytes.len() - 20]);
        connection.finish();
        let reply = connection.read_reply("POST");
        reply.assert_error(status, message);
        assert!(reply.detail().contains("broke off after"), "{}", reply.detail());
    }
    assert!(server.kept.contents().is_empty() && server.kept.log_entries(ACME).is_empty());
}

/// The HTTP library closes the connection if the handler has not responded yet.
#[test]
fn a_malformed_chunk_is_never_read_as_a_body() {
    let server = Server::start();
    let mut connection = server.connect();
    connection.write(&log("x").chunked(9).head());
    connection.write(b"5\r\n{\"a\":\r\nxyz\r\n");
    if let Ok(reply) = connection.try_read_reply("POST") {
        reply.assert_error(400, "Request body is not valid JSON");
        assert!(reply.detail().contains("broke off after 5 bytes"), "{}", reply.detail());
    }
    assert!(connection.is_closed());
    assert!(server.kept.log_entries(ACME).is_empty());
}

#[test]
fn a_write_that_was_begun_runs_to_its_end_even_if_the_client_hangs_up() {
    let server = Server::start();
    for _ in 0..20 {
        server.connect().write(&log("x").bytes());
    }
    wait_until("all entries are stored", || server.kept.log_entries(ACME).len() == 20);
    server.connect().write(&add_label(GUID, &vec![1; 50_000]).bytes());
    wait_until("the resource is stored", || {
        server.send(Request::get(&format!("/api/v2/resource/{GUID}"))).status == 200
    });
}

#[test]
fn a_head_that_is_not_complete_in_time_is_refused() {
    // Decision R3.
    let server = Server::with(Options { read_timeout: Duration::from_secs(1), ..Options::default() });
    let mut connection = server.connect();
    connection.write(b"GET /api/v2 HTTP/1.1\r\nHost:");
    assert_unreadable(&mut connection, 408);
}

#[test]
fn a_client_that_stops_reading_is_given_up() {
    let server = Server::with(Options { read_timeout: Duration::from_secs(2), ..Options::default() });
    // More than lies in the buffers of a connection.
    let content = vec![7; 32 * 1024 * 1024];
    server.connect().send(&add_label(GUID, &content)).assert_success("Resource successfully added");
    let file = Request::get(&format!("/api/v2/resource/{GUID}"));
    let mut connection = server.connect();
    connection.write(&file.bytes());
    // The system looks at the timeout when it probes the client: after 0.2, 0.6, 1.4, 3 and 6.2 seconds.
    std::thread::sleep(Duration::from_secs(8));
    assert!(connection.try_read_reply("GET").is_err(), "what is left isn't sent any more");
    // One that reads is served whole.
    assert!(server.connect().send(&file).body == content);
}

/// Demands what the HTTP library answers by itself (decision R3).
fn assert_unreadable(connection: &mut Connection, status: u16) {
    assert_eq!(connection.read_reply("GET").status, status);
    assert!(connection.is_closed());
}

#[test]
fn a_head_that_cannot_be_read_is_refused() {
    // Decisions R3, R12.
    let server = Server::start();
    let large = format!("GET /api/v2 HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(500_000));
    let many = format!("GET /api/v2 HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(200));
    for (head, status) in [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET /api/v2 HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET /api/v2 HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n".to_owned(), 400),
        ("GET /api/v2 HTTP/7.0\r\nHost: a\r\n\r\n".to_owned(), 400),
        (many, 431),
        (large, 431),
    ] {
        let mut fresh = server.connect();
        let mut kept = server.connect();
        kept.send(&running()).assert_success("Server is running");
        for connection in [&mut fresh, &mut kept] {
            // The answer may come, and the connection close, before all of it was sent: then it may be lost.
            connection.try_write(head.as_bytes());
            match connection.try_read_reply("GET") {
                Ok(reply) => assert_eq!(reply.status, status),
                Err(end) => assert!(head.len() > 400_000, "{end}"),
            }
            assert!(connection.is_closed());
        }
    }
}

#[test]
fn a_head_of_96_fields_and_of_nearly_128_kibibytes_is_read_and_one_field_more_is_not() {
    let server = Server::start();
    let running = String::from_utf8(running().bytes()).unwrap();
    let fields = running.trim_end().lines().count() - 1;
    let with = |more: &str| running.replacen("\r\n\r\n", &format!("\r\n{more}\r\n"), 1);
    let full = with(&"X: y\r\n".repeat(96 - fields));
    let large = with(&format!("X: {}\r\n", "y".repeat(131_000 - running.len())));
    for head in [full, large] {
        let mut connection = server.connect();
        connection.write(head.as_bytes());
        connection.read_reply("GET").assert_success("Server is running");
    }
    let mut connection = server.connect();
    connection.write(with(&"X: y\r\n".repeat(97 - fields)).as_bytes());
    connection.finish();
    assert_unreadable(&mut connection, 431);
}

#[test]
fn a_client_of_http_1_0_is_served_and_let_go() {
    let server = Server::start();
    let mut connection = server.connect();
    connection.write(&String::from_utf8(running().bytes()).unwrap().replace("HTTP/1.1", "HTTP/1.0").into_bytes());
    connection.read_reply("GET").assert_success("Server is running");
    assert!(connection.is_closed());
}

#[test]
fn an_offer_to_upgrade_is_declined() {
    // Java's HTTP client offers h2c on every first request.
    let server = Server::start();
    let offer = running().header("Connection", "Upgrade, HTTP2-Settings").header("Upgrade", "h2c");
    let reply = server.send(offer.header("HTTP2-Settings", "AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA"));
    reply.assert_success("Server is running");
    assert_eq!((reply.header("Connection"), reply.header("Upgrade")), (Some("close"), None));
}
