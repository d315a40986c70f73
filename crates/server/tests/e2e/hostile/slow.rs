//! Clients that take their time (decision R3), many at once, while others are answered.

use crate::support::hostile::{Before, entry, message};
use crate::support::raw::{Raw, head};
use crate::support::{Server, Site};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Clients of each kind.
const EACH: usize = 100;

/// Bytes that each sends slowly, one a second.
const SLOW_BYTES: usize = 8;

/// How long a request of another client may take on a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(5);

/// Shorter than the time that all slow bytes take: a head must be there in time as a whole, a body needs only go on.
const READ_TIMEOUT: Duration = Duration::from_secs(4);

async fn site_and_server() -> (Site, Server) {
    let site = Site::new();
    site.configure(&format!("http.read_timeout = '{}s'", READ_TIMEOUT.as_secs()));
    let server = site.serve().await;
    (site, server)
}

/// A client that has sent the beginning, and what it sends in each second to come.
struct Slow {
    connection: Raw,
    rest: Vec<Vec<u8>>,
    answer: (u16, String),
}

impl Slow {
    fn begin(server: &Server, begin: &str, rest: impl IntoIterator<Item = String>, answer: (u16, String)) -> Self {
        let mut connection = Raw::connect(server);
        assert!(connection.send(begin));
        Self { connection, rest: rest.into_iter().map(String::into_bytes).collect(), answer }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_slow_senders_delay_no_other_client() {
    let (site, server) = site_and_server().await;
    let before = Before::of(&server);
    let body = entry("slow");
    let (begin, last) = body.split_at(body.len() - SLOW_BYTES);
    let bytes: Vec<_> = last.chars().map(String::from).collect();
    let mut chunks: Vec<_> = bytes.iter().map(|byte| format!("1\r\n{byte}\r\n")).collect();
    chunks[SLOW_BYTES - 1].push_str("0\r\n\r\n");
    let json = "Content-Type: application/json\r\n";
    let sized = head("POST", "/api/v2/log", &format!("{json}Content-Length: {}\r\n", body.len())) + begin;
    let chunked = head("POST", "/api/v2/log", &format!("{json}Transfer-Encoding: chunked\r\n"));
    let chunked = format!("{chunked}{:x}\r\n{begin}\r\n", begin.len());
    let unfinished = head("GET", "/api/v2", "Slow: ");
    let unfinished = unfinished.trim_end();
    let added = (200, "\"Log successfully added\"".to_owned());
    // The HTTP library answers a head that is too slow, without a body (decision R3).
    let late = (408, String::new());
    let mut slow = Vec::new();
    for _ in 0..EACH {
        slow.push(Slow::begin(&server, &sized, bytes.clone(), added.clone()));
        slow.push(Slow::begin(&server, &chunked, chunks.clone(), added.clone()));
        slow.push(Slow::begin(&server, unfinished, bytes.clone(), late.clone()));
    }
    let client = server.client();
    let mut taken = Vec::new();
    for place in 0..SLOW_BYTES {
        let second = Instant::now();
        for slow in &mut slow {
            // Who was refused meanwhile can't send more.
            slow.connection.send(&slow.rest[place]);
        }
        while second.elapsed() < Duration::from_secs(1) {
            let since = Instant::now();
            assert!(client.is_admitted().await);
            taken.push(since.elapsed());
            sleep(Duration::from_millis(20)).await;
        }
    }
    taken.sort();
    let (median, longest) = (taken[taken.len() / 2], taken[taken.len() - 1]);
    eprintln!("with {} slow clients: median {median:?}, longest {longest:?} of {}", slow.len(), taken.len());
    assert!(longest < SOON, "{longest:?}");
    for slow in &mut slow {
        let answer = slow.connection.answer().expect("an answer");
        assert_eq!((answer.status, answer.text()), slow.answer);
    }
    before.assert_flat(&server, "slow clients");
    let kept = site.sql("SELECT CAST(count(*) AS TEXT) FROM log_entry").await;
    assert_eq!(kept, [(2 * EACH).to_string()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sends_a_head_and_nothing_more_is_told_so_and_let_go() {
    let (_site, server) = site_and_server().await;
    let before = Before::of(&server);
    let json = "Content-Type: application/json\r\n";
    let form = "Content-Type: multipart/form-data; boundary=b\r\n";
    let heads = [
        ("/api/v2/log", format!("{json}Content-Length: 100\r\n")),
        ("/api/v2/log", format!("{json}Transfer-Encoding: chunked\r\n")),
        ("/api/v2/resource", format!("{form}Content-Length: 100\r\n")),
        ("/api/v2/resource", format!("{form}Transfer-Encoding: chunked\r\n")),
        ("/api/v2/log/crashreport", format!("{form}Content-Length: 100\r\n")),
    ];
    let mut waiting: Vec<Raw> = Vec::new();
    for (path, more) in heads.iter().cycle().take(2 * EACH) {
        let mut connection = Raw::connect(&server);
        assert!(connection.send(head("POST", path, more)));
        waiting.push(connection);
    }
    // And such as don't finish their head, or say nothing.
    for begin in ["POST /api/v2/log HTTP/1.1\r\nHost: platen\r\n", "P", ""].iter().cycle().take(EACH) {
        let mut connection = Raw::connect(&server);
        assert!(connection.send(begin));
        waiting.push(connection);
    }
    for (number, connection) in waiting.iter_mut().enumerate() {
        let answer = connection.answer().expect("an answer");
        let body = if number < 2 * EACH { message("Request Timeout") } else { String::new() };
        assert_eq!((answer.status, answer.text()), (408, body), "client {number}");
        connection.finish();
        assert!(connection.answer().is_none(), "client {number}");
    }
    before.assert_flat(&server, "clients that send heads only");
}
