//! Deleting, listing and looking up resources (interface 4.3, 4.4, 4.6, decisions O3, T15, T16, T19, T20).

use super::support::bodies::{GUID, add_label, add_request};
use super::support::{Reply, Request, Server};
use domain::checksum::Sha1Checksum;
use domain::testing::{ZOE_KEY, acme_records, resource_guid};

const ADDED: &str = "Resource successfully added";
const DELETED: &str = "Resource successfully deleted";

fn delete(path: &str) -> Request {
    Request::new("DELETE", path)
}

fn list(server: &Server, body: &str) -> Reply {
    server.send(Request::post("/api/v2/resource/list").json(body))
}

fn pmm(server: &Server, body: &str) -> Reply {
    server.send(Request::post("/api/v2/resource/pmminfo").body(body))
}

/// Adds a resource with these members of JsonString, in addition to GUID and checksum.
fn add(server: &Server, number: u128, members: &str) {
    let guid = resource_guid(number);
    let checksum = Sha1Checksum::of(b"x");
    let json = format!(r#"{{"ResourceGUID":"{guid}","ResourceChecksum":"{checksum}",{members}}}"#);
    server.send(add_request(&json, b"x")).assert_success(ADDED);
}

fn item(number: u128, kind: &str, name: &str) -> String {
    format!(r#"["{}","{kind}","{}","{name}"]"#, resource_guid(number), Sha1Checksum::of(b"x"))
}

#[test]
fn a_deleted_resource_is_gone() {
    let server = Server::start();
    let path = format!("/api/v2/resource/{GUID}");
    server.send(add_label(GUID, b"content")).assert_success(ADDED);
    server.send(delete(&path)).assert_success(DELETED);
    server.send(Request::get(&path)).assert_error(404, "ResourceGUID not found");
    server.send(delete(&path)).assert_error(404, "ResourceGUID is not found");
    server.send(delete("/api/v2/resource/xyz")).assert_error(404, "ResourceGUID is not found");
}

#[test]
fn delete_without_a_guid_asks_for_it() {
    // Decision T16.
    let server = Server::start();
    for path in ["/api/v2/resource", "/api/v2/resource/", "/api/v2/resource/%20"] {
        server.send(delete(path)).assert_error(400, "“ResourceGUID” value required");
    }
}

#[test]
fn a_resource_in_use_stays_but_may_be_updated() {
    // Decision O3.
    let server = Server::start();
    for guid in [acme_records().used_by_queue, acme_records().used_by_job] {
        let guid = guid.to_string();
        server.send(add_label(&guid, b"first")).assert_success(ADDED);
        let path = format!("/api/v2/resource/{guid}");
        server.send(delete(&path)).assert_error(400, "Resource still in use");
        server.send(add_label(&guid, b"second")).assert_success(ADDED);
        assert_eq!(server.send(Request::get(&path)).text(), "second");
        // Another organization's records don't hold it (decision O3).
        let zoe = |request: Request| server.send(request.header("MisKey", ZOE_KEY));
        zoe(add_label(&guid, b"third")).assert_success(ADDED);
        zoe(delete(&path)).assert_success(DELETED);
    }
}

#[test]
fn a_resource_is_deleted_in_the_state_only_that_the_client_means() {
    // Decision T17.
    let server = Server::start();
    let path = format!("/api/v2/resource/{GUID}");
    let sum = Sha1Checksum::of(b"content");
    let tag = format!("\"{sum}\"");
    let (weak, list) = (format!("W/{tag}"), format!("\"x\", {tag}"));
    let (then, earlier, later) =
        ("Sun, 01 Jun 2025 12:00:00 GMT", "Sun, 01 Jun 2025 11:59:59 GMT", "Sun, 01 Jun 2025 12:00:01 GMT");
    let add = || {
        let added = server.send(add_label(GUID, b"content").header("Timestamp", "2025-06-01T12:00:00.5Z"));
        added.assert_success(ADDED);
    };
    let deleting = |headers: &[(&str, &str)]| {
        server.send(headers.iter().fold(delete(&path), |request, (name, value)| request.header(name, value)))
    };
    deleting(&[("If-Match", "\"other\"")]).assert_error(404, "ResourceGUID is not found");
    add();
    for refused in [
        &[("If-Match", "\"other\"")][..],
        &[("If-Match", weak.as_str())],
        &[("If-Match", tag.trim_matches('"'))],
        &[("If-Match", "")],
        &[("If-Unmodified-Since", earlier)],
        &[("If-Match", "\"other\""), ("If-Unmodified-Since", later)],
    ] {
        let reply = deleting(refused);
        reply.assert_error(412, "Precondition Failed");
        let detail = format!("the stored file has the ETag {tag} and the Timestamp 2025-06-01T12:00:00.500000Z");
        assert_eq!(reply.header("X-Error-Detail"), Some(detail.as_str()), "{refused:?}");
    }
    assert_eq!(server.send(Request::get(&path)).text(), "content");
    for met in [
        &[("If-Match", tag.as_str())][..],
        &[("If-Match", list.as_str())],
        &[("If-Match", "*")],
        &[("If-Match", tag.as_str()), ("If-Unmodified-Since", earlier)],
        &[("If-Match", "*"), ("If-Unmodified-Since", earlier)],
        &[("If-Unmodified-Since", then)],
        &[("If-Unmodified-Since", "yesterday")],
    ] {
        deleting(met).assert_success(DELETED);
        add();
    }
}

#[test]
fn a_stale_state_is_answered_before_a_use() {
    // Decision T17.
    let server = Server::start();
    let guid = acme_records().used_by_queue.to_string();
    server.send(add_label(&guid, b"content")).assert_success(ADDED);
    let request = delete(&format!("/api/v2/resource/{guid}"));
    server.send(request.clone().header("If-Match", "\"other\"")).assert_error(412, "Precondition Failed");
    server.send(request.header("If-Match", "*")).assert_error(400, "Resource still in use");
}

#[test]
fn delete_reaches_the_own_organization_only() {
    // Decision T15.
    let server = Server::start();
    server.send(add_label(GUID, b"content")).assert_success(ADDED);
    let reply = server.send(delete(&format!("/api/v2/resource/{GUID}")).header("MisKey", ZOE_KEY));
    reply.assert_error(404, "ResourceGUID is not found");
}

#[test]
fn a_list_holds_what_matches_in_order() {
    // Decision T19, interface 2.4.
    let server = Server::start();
    add(&server, 3, r#""ResourceType":"Label","Meta":{"Name":"beta"}"#);
    add(&server, 2, r#""ResourceType":"My\"Type","Meta":{"Name":"Alpha"}"#);
    add(&server, 1, r#""ResourceType":"label","Meta":{"Name":"BETA"}"#);
    add(&server, 4, r#""ResourceType":"Label","Domain":"Public","Meta":{"Name":"public"}"#);
    let [alpha, upper, lower] = [item(2, r#"My\"Type"#, "Alpha"), item(1, "label", "BETA"), item(3, "Label", "beta")];
    let all = list(&server, r#"{"ResourceTypes":["Template","*"]}"#);
    assert_eq!((all.status, all.text()), (200, format!("[{alpha},{upper},{lower}]").as_str()));
    assert_eq!(all.header("Content-Type"), Some("application/json; charset=utf-8"));
    assert_eq!(list(&server, r#"[{"resourcetypes":["LABEL"]}]"#).text(), format!("[{upper},{lower}]"));
    let public = list(&server, r#"{"ResourceTypes":["*"],"Domain":"PUBLIC"}"#);
    assert_eq!(public.text(), format!("[{}]", item(4, "Label", "public")));
    assert_eq!(list(&server, r#"{"ResourceTypes":["Unknown"]}"#).text(), "[]");
    let foreign = Request::post("/api/v2/resource/list").json(r#"{"ResourceTypes":["*"]}"#).header("MisKey", ZOE_KEY);
    assert_eq!(server.send(foreign).text(), "[]");
}

#[test]
fn a_list_without_types_is_refused() {
    // Decisions T10, T19, R6.
    let server = Server::start();
    for body in ["{}", "[]", r#"{"ResourceTypes":[]}"#, r#"{"ResourceTypes":"*"}"#, r#"{"ResourceTypes":null}"#] {
        list(&server, body).assert_error(400, "“ResourceTypes” is required");
    }
    let shared = r#"{"ResourceTypes":["*"],"Domain":"Shared"}"#;
    list(&server, shared).assert_error(400, "“Domain” must be Private or Public");
    let text = Request::post("/api/v2/resource/list").body("{}").header("Content-Type", "text/plain");
    server.send(text).assert_error(415, "Expected type: application/json");
    server.send(Request::post("/api/v2/resource/list").body("{}")).assert_error(415, "Expected type: application/json");
}

#[test]
fn a_long_list_is_streamed_and_whole() {
    let server = Server::start();
    let name = "n".repeat(2000);
    for number in 1..=60 {
        add(&server, number, &format!(r#""ResourceType":"Label","Meta":{{"Name":"{name}"}}"#));
    }
    let expected: Vec<String> = (1..=60).map(|number| item(number, "Label", &name)).collect();
    let request = Request::post("/api/v2/resource/list").json(r#"{"ResourceTypes":["*"]}"#);
    let reply = server.send(request.clone());
    assert_eq!(reply.header("Transfer-Encoding"), Some("chunked"));
    assert_eq!(reply.text(), format!("[{}]", expected.join(",")));
    // A client of HTTP/1.0 knows no chunks: the end of the connection is the end of the list.
    let mut connection = server.connect();
    connection.write(&String::from_utf8(request.bytes()).unwrap().replacen("HTTP/1.1", "HTTP/1.0", 1).into_bytes());
    let reply = connection.read_reply("POST");
    assert_eq!(reply.header("Transfer-Encoding"), None);
    assert_eq!(reply.text(), format!("[{}]", expected.join(",")));
}

#[test]
fn a_profile_is_looked_up_by_pmm() {
    // Decisions R6, T9, T20.
    let server = Server::start();
    let meta = r#""ProfileGroup":"Größe","MediaType":"Vinyl","Mode":"Fast""#;
    add(&server, 2, &format!(r#""ResourceType":"NormalProfile","Meta":{{"Name":"older",{meta}}}"#));
    add(&server, 1, &format!(r#""ResourceType":"NormalProfile","Meta":{{"Name":"newer",{meta}}}"#));
    let body = r#"{"ProfileGroup":"GRÖSSE","Media":"vinyl","Mode":"FAST"}"#;
    for body in [body.to_owned(), format!("[{body}]")] {
        let reply = pmm(&server, &body);
        assert_eq!(reply.status, 200, "{reply:?}");
        assert!(reply.text().contains(r#""Name":"newer""#) && reply.text().contains(r#""Media":"Vinyl""#));
    }
    pmm(&server, &body.replace("FAST", "Slow")).assert_error(404, "PMM not found");
    let foreign = Request::post("/api/v2/resource/pmminfo").body(body).header("MisKey", ZOE_KEY);
    server.send(foreign).assert_error(404, "PMM not found");
}

#[test]
fn a_pmm_lookup_needs_all_three_values() {
    // Decision T20.
    let server = Server::start();
    let message = "“ProfileGroup”, “Media” and “Mode” values are required";
    let refused = [
        "{}",
        "[]",
        "7",
        "[{},{}]",
        r#"{"ProfileGroup":"a","Media":"b"}"#,
        r#"{"ProfileGroup":"a","Media":" ","Mode":"c"}"#,
        r#"{"ProfileGroup":"a","Media":null,"Mode":"c"}"#,
    ];
    for body in refused {
        pmm(&server, body).assert_error(400, message);
    }
    pmm(&server, "").assert_error(400, "Request body is not valid JSON");
}
