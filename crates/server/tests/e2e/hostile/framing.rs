//! Where a body begins and ends: no length, false ones, contradictory ones; what follows a refused request; and
//! `Expect: 100-continue` (decisions R10, R12).

use crate::support::hostile::{Before, GUID, MALFORMED, NOT_JSON, assert_lives, entry, message};
use crate::support::raw::{Raw, head, head_with_key};
use crate::support::{Server, Site, form};

const JSON: &str = "Content-Type: application/json\r\n";

/// Sends bytes and nothing more; the statuses until the connection ends.
fn statuses(server: &Server, bytes: impl AsRef<[u8]>) -> Vec<u16> {
    let mut connection = Raw::connect(server);
    connection.send(bytes);
    connection.finish();
    connection.answers().iter().map(|answer| answer.status).collect()
}

fn log_head(more: &str) -> String {
    head("POST", "/api/v2/log", &format!("{JSON}{more}"))
}

async fn kept(site: &Site) -> usize {
    site.sql("SELECT CAST(count(*) AS TEXT) FROM log_entry").await.remove(0).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_length_that_is_missing_or_false_is_never_believed() {
    let site = Site::new();
    let server = site.serve().await;
    let before = Before::of(&server);
    let body = entry("x");
    let length = body.len();
    // Without a length a request has no body; what follows isn't one.
    assert_eq!(Raw::ask(&server, log_head("")).text(), message(NOT_JSON));
    let no_form = head("POST", "/api/v2/resource", &format!("Content-Type: {}\r\n", form::CONTENT_TYPE));
    assert_eq!(Raw::ask(&server, no_form).text(), message(MALFORMED));
    assert_eq!(statuses(&server, log_head("") + &body), [400, 400]);
    // Shorter than what comes: the rest is no request. Longer: the body broke off.
    assert_eq!(statuses(&server, log_head(&format!("Content-Length: {}\r\n", length - 1)) + &body), [400, 400]);
    assert_eq!(statuses(&server, log_head(&format!("Content-Length: {}\r\n", length + 1)) + &body), [400]);
    for lie in [
        "Content-Length: -1\r\n".to_owned(),
        format!("Content-Length: +{length}\r\n"),
        format!("Content-Length: {length}.0\r\n"),
        format!("Content-Length: 0x{length:x}\r\n"),
        format!("Content-Length: {length} {length}\r\n"),
        format!("Content-Length: {length}, {}\r\n", length + 1),
        format!("Content-Length: {length}\r\nContent-Length: {}\r\n", length + 1),
        format!("Content-Length: {}\r\nContent-Length: {length}\r\n", length + 1),
        "Content-Length: 18446744073709551616\r\n".to_owned(),
        "Content-Length: 99999999999999999999999999\r\n".to_owned(),
        "Content-Length:\r\n".to_owned(),
        "Content-Length: many\r\n".to_owned(),
    ] {
        let output = statuses(&server, log_head(&lie) + &body);
        assert_eq!(output, [400], "{lie}");
    }
    let announced = statuses(&server, log_head("Content-Length: 18446744073709551615\r\n") + &body);
    assert_eq!(announced, [413]);
    before.assert_flat(&server, "false lengths");
    assert_eq!(kept(&site).await, 0);
}

/// Two readers of one connection (a proxy and the server) must not see two different requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_framed_in_two_ways_hides_no_second_request() {
    let site = Site::new();
    let server = site.serve().await;
    let hidden = head("GET", "/api/v2", "");
    let chunks = format!("{:x}\r\n{}\r\n0\r\n\r\n", entry("x").len(), entry("x"));
    for framing in [
        format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", chunks.len() + hidden.len()),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", chunks.len() + hidden.len()),
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n".to_owned(),
        "Transfer-Encoding: xchunked\r\n".to_owned(),
        "Transfer-Encoding: chunked, identity\r\n".to_owned(),
        "Transfer-Encoding: identity\r\nContent-Length: 5\r\n".to_owned(),
        "Transfer-Encoding : chunked\r\n".to_owned(),
        " Transfer-Encoding: chunked\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n".to_owned(),
        "Transfer-Encoding:\x0bchunked\r\n".to_owned(),
        "Transfer-Encoding: gzip, chunked\r\n".to_owned(),
    ] {
        let output = statuses(&server, [log_head(&framing), chunks.clone(), hidden.clone()].concat());
        assert_eq!(output, [400], "{framing}");
    }
    assert_eq!(kept(&site).await, 0);
    assert_lives(&server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunk_that_is_malformed_ends_the_connection_with_a_refusal() {
    let site = Site::new();
    let server = site.serve().await;
    let before = Before::of(&server);
    let head = log_head("Transfer-Encoding: chunked\r\n");
    for chunks in [
        "g\r\n".to_owned(),
        "-1\r\nx\r\n".to_owned(),
        "+5\r\nhello\r\n".to_owned(),
        "0x5\r\nhello\r\n".to_owned(),
        "5\r\nhelloworld\r\n".to_owned(),
        "ffffffffffffffff\r\nhello\r\n".to_owned(),
        "10000000000000000\r\nhello\r\n".to_owned(),
        "5\rhello\r\n".to_owned(),
        "\r\n".to_owned(),
        format!("{}\r\n", "0".repeat(1_000_000)),
        format!("5;{}\r\nhello\r\n", "x".repeat(1_000_000)),
        format!("0\r\n{}", "X: y\r\n".repeat(200_000)),
        format!("0\r\nX: {}\r\n\r\n", "y".repeat(1_000_000)),
    ] {
        let output = statuses(&server, [head.as_str(), &chunks].concat());
        let is_refused = !output.is_empty() && output.iter().all(|status| matches!(status, 400 | 413 | 431));
        assert!(is_refused, "{chunks:.60}: {output:?}");
    }
    before.assert_flat(&server, "malformed chunks");
    assert_eq!(kept(&site).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_follows_a_refused_upload_is_answered_or_not_begun() {
    let site = Site::new();
    let server = site.serve().await;
    let body = form::of(&[("JsonString", "application/json", b"{}"), ("f", "application/octet-stream", b"content")]);
    let kind = format!("Content-Type: {}\r\n", form::CONTENT_TYPE);
    let (path, next) = ("/api/v2/resource", log_head(&format!("Content-Length: {}\r\n", entry("next").len())));
    let next = next + &entry("next");
    let sized = |length: usize| format!("{kind}Content-Length: {length}\r\n");
    let chunked = [format!("{:x}\r\n", body.len()).as_bytes(), &body[..], b"\r\n0\r\n\r\n"].concat();
    let by_chunks = format!("{kind}Transfer-Encoding: chunked\r\n");
    let text_plain = format!("Content-Type: text/plain\r\nContent-Length: {}\r\n", body.len());
    let mut count = 0;
    for (head, body, status) in [
        (head_with_key("nobody", "POST", path, &sized(body.len())), body.clone(), 401),
        (head_with_key("nobody", "POST", path, &by_chunks), chunked.clone(), 401),
        (head("POST", path, &sized(body.len())), body.clone(), 400),
        (head("POST", path, &by_chunks), chunked, 400),
        (head("POST", path, &text_plain), body.clone(), 415),
        (head("POST", "/nowhere", &sized(body.len())), body.clone(), 404),
    ] {
        let output = statuses(&server, [head.as_bytes(), &body, next.as_bytes()].concat());
        count += 1;
        assert_eq!((output, kept(&site).await), (vec![status, 200], count), "{head}");
    }
    // A rest that is too long to be thrown away: its sender has to send what follows again.
    let large = vec![b'x'; 5_000_000];
    for (head, status) in [
        (head_with_key("nobody", "POST", path, &sized(large.len())), 401),
        (head("POST", path, &sized(large.len())), 415),
        (head("POST", "/api/v2/log", &format!("{JSON}Content-Length: {}\r\n", large.len())), 413),
    ] {
        let output = statuses(&server, [head.as_bytes(), &large, next.as_bytes()].concat());
        assert_eq!((output, kept(&site).await), (vec![status], count), "{head}");
    }
    assert_lives(&server);
    assert_eq!(site.stored_files(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_is_asked_for_from_those_who_may_send_it() {
    // Decision R10.
    let site = Site::new();
    let server = site.serve().await;
    let content = vec![7; 300_000];
    let json = format!(
        r#"{{"ResourceGUID":"{GUID}","ResourceChecksum":"{}","Meta":{{"Name":"n"}}}}"#,
        crate::support::content::sha1(&content)
    );
    let body =
        form::of(&[("JsonString", "application/json", json.as_bytes()), ("f", "application/octet-stream", &content)]);
    let more =
        |expect: &str| format!("{expect}Content-Type: {}\r\nContent-Length: {}\r\n", form::CONTENT_TYPE, body.len());
    for expect in ["Expect: 100-continue\r\n", "expect: 100-Continue\r\n"] {
        let mut good = Raw::connect(&server);
        good.send(head("POST", "/api/v2/resource", &more(expect)));
        assert_eq!(good.any_answer().unwrap().status, 100, "{expect}");
        good.send(&body);
        assert_eq!(good.any_answer().unwrap().status, 200);

        let mut bad = Raw::connect(&server);
        bad.send(head_with_key("nobody", "POST", "/api/v2/resource", &more(expect)));
        // `100 Continue` may come first (decision R10).
        let answer = bad.answer().unwrap();
        assert_eq!((answer.status, answer.text()), (401, message("Invalid MisKey")));
        assert_eq!(answer.header("Connection"), Some("close"));
        // A body that comes anyway is read or the connection is closed; it is never taken for a second request.
        bad.send(&body);
        bad.finish();
        assert!(bad.any_answer().is_none());
    }
    // A client that doesn't wait is served too, and an unknown expectation is ignored.
    for (expect, key, status) in [
        ("Expect: 100-continue\r\n", crate::support::ANNS_KEY, 200),
        ("Expect: 100-continue\r\n", "nobody", 401),
        ("Expect: the-unexpected\r\n", "nobody", 401),
    ] {
        let head = head_with_key(key, "POST", "/api/v2/resource", &more(expect));
        assert_eq!(Raw::ask(&server, [head.as_bytes(), &body].concat()).status, status, "{expect} {key}");
    }
    assert_eq!(server.client().download(GUID).await, content);
}
