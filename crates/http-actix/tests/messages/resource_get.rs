//! Getting files and infos (interface 4.2, 4.5, decisions T1, T15, T17, T18).

use super::support::bodies::{GUID, add_label, add_request, label_json};
use super::support::{Reply, Request, Server};
use domain::checksum::Sha1Checksum;
use domain::testing::{ZENITH_HASH, ZENITH_SERIAL, ZOE_KEY, at};

const NOT_FOUND: &str = "ResourceGUID not found";

fn file() -> Request {
    Request::get(&format!("/api/v2/resource/{GUID}"))
}

fn info() -> Request {
    Request::get(&format!("/api/v2/resource/info/{GUID}"))
}

fn as_zoe(request: Request) -> Request {
    request.header("MisKey", ZOE_KEY)
}

fn public(content: &[u8]) -> Request {
    let json = label_json(GUID, content).replacen('{', r#"{"Domain":"Public","#, 1);
    add_request(&json, content)
}

fn stored(timestamp: &str, content: &[u8]) -> Server {
    let server = Server::start();
    let request = add_label(GUID, content).header("Timestamp", timestamp);
    server.send(request).assert_success("Resource successfully added");
    server
}

#[test]
fn a_file_comes_with_its_validators() {
    // Decision T17.
    let content: Vec<u8> = (0..200_000_u32).map(|number| (number % 251) as u8).collect();
    let server = stored("2025-06-01T12:00:00.25Z", &content);
    let reply = server.send(file());
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, content);
    let etag = format!("\"{}\"", Sha1Checksum::of(&content));
    let expected = [
        ("Content-Type", "application/octet-stream"),
        ("Content-Length", "200000"),
        ("ETag", etag.as_str()),
        ("Last-Modified", "Sun, 01 Jun 2025 12:00:00 GMT"),
        ("Accept-Ranges", "bytes"),
    ];
    for (name, value) in expected {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
    let head = server.send(Request { method: "HEAD".to_owned(), ..file() });
    for (name, value) in expected {
        assert_eq!(head.header(name), Some(value), "HEAD {name}");
    }
}

#[test]
fn ranges_are_served() {
    // Decision T17.
    let server = stored("2025-06-01T12:00:00Z", b"0123456789");
    let ask = |range: &str| server.send(file().header("Range", range));
    for (range, body, shown) in [
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-1", "9", "bytes 9-9/10"),
        ("bytes=0-99", "0123456789", "bytes 0-9/10"),
    ] {
        let reply = ask(range);
        assert_eq!((reply.status, reply.text(), reply.header("Content-Range")), (206, body, Some(shown)), "{range}");
        assert_eq!(reply.header("Content-Length"), Some(body.len().to_string().as_str()));
    }
    let reply = ask("bytes=10-");
    reply.assert_error(416, "Range Not Satisfiable");
    assert_eq!(reply.header("Content-Range"), Some("bytes */10"));
    for ignored in ["bytes=0-1,3-4", "bytes=4-2", "lines=1-2"] {
        assert_eq!((ask(ignored).status, ask(ignored).text()), (200, "0123456789"), "{ignored}");
    }
    let head = server.send(Request { method: "HEAD".to_owned(), ..file() }.header("Range", "bytes=0-1"));
    assert_eq!((head.status, head.header("Content-Length")), (200, Some("10")));
}

#[test]
fn a_part_is_served_of_the_very_state_only() {
    // Decision T17.
    let server = stored("2025-06-01T12:00:00Z", b"0123456789");
    let etag = format!("\"{}\"", Sha1Checksum::of(b"0123456789"));
    let ask = |if_range: &str| server.send(file().header("Range", "bytes=0-0").header("If-Range", if_range)).status;
    assert_eq!(ask(&etag), 206);
    assert_eq!(ask("Sun, 01 Jun 2025 12:00:00 GMT"), 206);
    assert_eq!(ask("\"other\""), 200);
    assert_eq!(ask("Sun, 01 Jun 2025 12:00:01 GMT"), 200);
}

#[test]
fn what_the_client_has_is_not_sent_again() {
    // Decision T17.
    let server = stored("2025-06-01T12:00:00.5Z", b"content");
    let etag = format!("W/\"{}\"", Sha1Checksum::of(b"content"));
    let reply = server.send(file().header("If-None-Match", &etag));
    assert_eq!((reply.status, reply.header("ETag")), (304, etag.strip_prefix("W/")));
    assert_eq!((reply.header("Content-Length"), reply.header("Content-Type")), (None, None));
    assert_eq!(server.send(file().header("If-None-Match", "\"x\"")).status, 200);
    let since = |date: &str| server.send(file().header("If-Modified-Since", date)).status;
    assert_eq!(since("Sun, 01 Jun 2025 12:00:00 GMT"), 200, "a fraction never hides a change");
    assert_eq!(since("Sun, 01 Jun 2025 12:00:01 GMT"), 304);
    // Neither 304 nor HEAD needs the content.
    server.failing.blobs.set(true);
    assert_eq!(server.send(file().header("If-None-Match", "*")).status, 304);
    assert_eq!(server.send(Request { method: "HEAD".to_owned(), ..file() }).status, 200);
    server.send(file()).assert_error(500, "Internal Server Error");
}

#[test]
fn a_file_that_is_not_the_one_the_client_means_is_not_served() {
    // Decision T17.
    let server = stored("2025-06-01T12:00:00.5Z", b"content");
    let etag = format!("\"{}\"", Sha1Checksum::of(b"content"));
    let part = file().header("Range", "bytes=0-0");
    assert_eq!(server.send(part.clone().header("If-Match", &etag)).status, 206);
    server.send(part.header("If-Match", "\"other\"")).assert_error(412, "Precondition Failed");
    let since = |date: &str| server.send(file().header("If-Unmodified-Since", date));
    assert_eq!(since("Sun, 01 Jun 2025 12:00:00 GMT").status, 200);
    since("Sun, 01 Jun 2025 11:59:59 GMT").assert_error(412, "Precondition Failed");
}

#[test]
fn an_empty_file_ignores_a_range() {
    // Decision T17.
    let server = stored("2025-06-01T12:00:00Z", b"");
    let reply = server.send(file().header("Range", "bytes=0-9"));
    assert_eq!((reply.status, reply.header("Content-Length")), (200, Some("0")));
}

#[test]
fn last_modified_is_never_later_than_now() {
    // Decision T17.
    let server = stored("2999-01-01T00:00:00Z", b"content");
    let shown = server.send(file()).header("Last-Modified").map(str::to_owned);
    assert_eq!(shown.as_deref(), Some("Thu, 01 Jan 2026 00:00:00 GMT"));
    server.clock.set(at(24 * 60 * 60));
    let shown = server.send(file()).header("Last-Modified").map(str::to_owned);
    assert_eq!(shown.as_deref(), Some("Fri, 02 Jan 2026 00:00:00 GMT"));
}

#[test]
fn the_last_modified_that_was_answered_is_one_since_which_the_resource_is_unmodified() {
    // Decision T17, of a Timestamp in the future.
    let server = stored("2026-01-01T05:00:00Z", b"content");
    let shown = server.send(file()).header("Last-Modified").map(str::to_owned).unwrap();
    assert_eq!(shown, "Thu, 01 Jan 2026 00:00:00 GMT");
    server.clock.set(at(60 * 60));
    let since = |request: Request| server.send(request.header("If-Unmodified-Since", &shown));
    assert_eq!(since(file()).status, 200);
    since(Request::new("DELETE", &file().path)).assert_success("Resource successfully deleted");
}

#[test]
fn every_form_of_a_guid_names_the_resource() {
    // Decision R7.
    let server = stored("2025-06-01T12:00:00Z", b"content");
    let plain = GUID.replace('-', "");
    for form in [
        GUID.to_uppercase(),
        plain,
        format!("{{{GUID}}}"),
        format!("%7B{GUID}%7D"),
        format!("({GUID})"),
        format!("urn:uuid:{GUID}"),
        format!("%20{GUID}%20"),
    ] {
        assert_eq!(server.send(Request::get(&format!("/api/v2/resource/{form}"))).text(), "content", "{form}");
    }
    for malformed in ["x", &GUID[1..], "%00", "%FF%FE", "..", "null"] {
        server.send(Request::get(&format!("/api/v2/resource/{malformed}"))).assert_error(404, NOT_FOUND);
        server.send(Request::get(&format!("/api/v2/resource/info/{malformed}"))).assert_error(404, NOT_FOUND);
    }
}

#[test]
fn a_resource_of_another_organization_is_out_of_reach() {
    // Decisions T1, T15, interface part 7.
    let server = Server::start();
    server.send(info()).assert_error(404, NOT_FOUND);
    server.send(public(b"of Acme")).assert_success("Resource successfully added");
    server.send(as_zoe(file())).assert_error(404, NOT_FOUND);
    server.send(as_zoe(info())).assert_error(401, "ResourceGUID no access");
    server.send(as_zoe(add_label(GUID, b"of Zenith"))).assert_success("Resource successfully added");
    assert_eq!(server.send(as_zoe(file())).text(), "of Zenith");
    assert_eq!(server.send(file()).text(), "of Acme");
}

#[test]
fn public_resources_of_a_publisher_are_for_all() {
    // Decision T15.
    let server = Server::start();
    let zenith = as_zoe(public(b"published"));
    server.send(zenith).assert_success("Resource successfully added");
    assert_eq!(server.send(file()).text(), "published");
    assert!(server.send(info()).text().contains(r#""Domain":"Public""#));
    server.send(add_label(GUID, b"own")).assert_success("Resource successfully added");
    assert_eq!(server.send(file()).text(), "own", "the own one comes first");
    let computer = file().anonymous().also("HardwareHash", ZENITH_HASH).also("SerialNumber", ZENITH_SERIAL);
    assert_eq!(server.send(computer.also("ApplicationVersion", "1")).text(), "published");
}

#[test]
fn a_damaged_content_never_looks_whole() {
    // Decision R4: what the store lacks shows as a broken connection, not as a short file.
    let server = stored("2025-06-01T12:00:00Z", &vec![1; 100_000]);
    let key = server.kept.contents().remove(0);
    server.kept.damage(&key, vec![1; 70_000]);
    let mut connection = server.connect();
    connection.write(&file().bytes());
    assert!(connection.try_read_reply("GET").is_err());
}

#[test]
fn a_download_that_has_begun_is_served_whole() {
    // Decision T18.
    let server = stored("2025-06-01T12:00:00Z", &vec![1; 8_000_000]);
    let mut connection = server.connect();
    connection.write(&file().bytes());
    connection.wait_for_bytes();
    let replaced: Reply = server.send(add_label(GUID, b"newer"));
    replaced.assert_success("Resource successfully added");
    server.send(Request::new("DELETE", &file().path)).assert_success("Resource successfully deleted");
    let reply = connection.read_reply("GET");
    assert_eq!((reply.status, reply.body.len()), (200, 8_000_000));
}
