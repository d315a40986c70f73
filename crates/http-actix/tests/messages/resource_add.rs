//! Adding and updating resources (interface 4.1, decisions R7, R9, T2–T14).

use super::support::bodies::{
    BOUNDARY, GUID, Part, add_label, add_request, form, label_json, part, raw_part, with_form,
};
use super::support::{Options, Reply, Request, Server};
use domain::checksum::Sha1Checksum;
use domain::limits::Limits;

const ADDED: &str = "Resource successfully added";
const FIELDS: &str = "“ResourceGUID”, “ResourceChecksum” and “ResourceType” are required";
const MALFORMED: &str = "This request is not properly formatted";

fn add(server: &Server, parts: &[Part]) -> Reply {
    server.send(with_form(Request::post("/api/v2/resource"), parts))
}

fn json_part(content: &[u8]) -> Part {
    part("JsonString", "application/json", label_json(GUID, content))
}

fn file_part(content: &[u8]) -> Part {
    part("file", "application/octet-stream", content)
}

fn content(server: &Server) -> Vec<u8> {
    server.send(Request::get(&format!("/api/v2/resource/{GUID}"))).body
}

fn info(server: &Server) -> String {
    server.send(Request::get(&format!("/api/v2/resource/info/{GUID}"))).text().to_owned()
}

#[test]
fn a_resource_is_added_and_its_info_answered() {
    let server = Server::start();
    let checksum = Sha1Checksum::of(b"abc");
    let json = format!(
        r#"{{"ResourceGUID":"{{{}}}","ResourceChecksum":"{}","ResourceType":"NormalProfile","Domain":"public",
        "Meta":{{"Name":"Größe \"M\"","MediaType":"Vinyl","ProfileGroup":7,"mode":"Fast","Extra":[1.50,null,{{"a":1E2}}]}}}}"#,
        GUID.to_uppercase(),
        checksum.to_string().to_lowercase()
    );
    server.send(add_request(&json, b"abc").header("Timestamp", "2025-03-01T10:00:00.5+02:00")).assert_success(ADDED);
    // Decisions R7, T3, T6, T8, T9, T10.
    let expected = format!(
        r#"{{"ResourceGUID":"{GUID}","ResourceChecksum":"{checksum}","ResourceType":"NormalProfile","Timestamp":"2025-03-01T08:00:00Z","Domain":"Public","Meta":{{"Name":"Größe \"M\"","MediaType":"Vinyl","ProfileGroup":"7","Mode":"Fast","Extra":[1.50,null,{{"a":1E2}}],"Media":"Vinyl"}}}}"#
    );
    assert_eq!(info(&server), expected);
    assert_eq!(content(&server), b"abc");
}

#[test]
fn the_parts_are_told_apart_by_name_then_by_content_type() {
    // Decision T11.
    let file = b"content";
    let json = label_json(GUID, file);
    let forms: [Vec<Part>; 6] = [
        vec![file_part(file), json_part(file)],
        vec![raw_part("content-disposition: form-data; name=jsonstring\r\n", json.as_bytes()), file_part(file)],
        vec![part("meta", "application/vnd.x+json; charset=utf-8", json.as_bytes()), file_part(file)],
        vec![raw_part("Content-Type: application/octet-stream\r\n", &file[..]), json_part(file)],
        vec![json_part(file), part("other", "application/json", &file[..])],
        vec![
            json_part(file),
            raw_part("Content-Disposition: attachment; filename*=UTF-8''%E2%82%AC.icc\r\n", &file[..]),
        ],
    ];
    let server = Server::start();
    for parts in forms {
        add(&server, &parts).assert_success(ADDED);
        assert_eq!(content(&server), file);
        server.send(Request::new("DELETE", &format!("/api/v2/resource/{GUID}")));
    }
}

#[test]
fn an_empty_file_is_a_file() {
    // Decision T11.
    let server = Server::start();
    server.send(add_label(GUID, b"")).assert_success(ADDED);
    let reply = server.send(Request::get(&format!("/api/v2/resource/{GUID}")));
    assert_eq!((reply.status, reply.header("Content-Length"), reply.body.len()), (200, Some("0"), 0));
}

#[test]
fn missing_and_surplus_parts_are_refused() {
    // Decisions T7, T11, T12.
    let server = Server::start();
    let file = b"content";
    add(&server, &[json_part(file)]).assert_error(400, "No input file specified");
    add(&server, &[file_part(file)]).assert_error(400, FIELDS);
    add(&server, &[]).assert_error(400, FIELDS);
    let two = [json_part(file), file_part(file), file_part(file)];
    add(&server, &two).assert_error(400, "Only one input file is accepted");
    add(&server, &[json_part(file), json_part(file), file_part(file)]).assert_error(415, MALFORMED);
    assert!(server.kept.contents().is_empty(), "nothing is left behind");
}

#[test]
fn a_form_without_parts_is_well_formed_however_it_is_written() {
    // Decision T12: the second is what .NET sends.
    let server = Server::start();
    let request = with_form(Request::post("/api/v2/resource"), &[]);
    for body in [format!("--{BOUNDARY}--"), format!("--{BOUNDARY}\r\n\r\n--{BOUNDARY}--\r\n")] {
        server.send(request.clone().body(body)).assert_error(400, FIELDS);
    }
}

#[test]
fn what_is_no_form_is_refused() {
    // Decision T12.
    let server = Server::start();
    let request = add_label(GUID, b"content");
    for content_type in ["application/json", "multipart/form-data", "multipart/mixed; boundary=a", ""] {
        server.send(request.clone().header("Content-Type", content_type)).assert_error(415, MALFORMED);
    }
    server.send(request.clone().without("Content-Type")).assert_error(415, MALFORMED);
    let form = form(&[json_part(b"content"), file_part(b"content")]);
    for body in [&b""[..], b"no form at all", &form[..form.len() - 10], &form[..40]] {
        server.send(request.clone().body(body)).assert_error(415, MALFORMED);
    }
    for json in ["", "{", "[]", "7", "[{},{}]"] {
        server.send(add_request(json, b"content")).assert_error(415, MALFORMED);
    }
    assert!(server.kept.contents().is_empty(), "nothing is left behind");
}

#[test]
fn required_fields_are_demanded() {
    // Decisions R7, R9, T6, T7, T8, T10.
    let server = Server::start();
    let checksum = Sha1Checksum::of(b"abc");
    let with = |members: &str| server.send(add_request(&format!("{{{members}}}"), b"abc"));
    let all = format!(r#""ResourceGUID":"{GUID}","ResourceChecksum":"{checksum}","ResourceType":"Label""#);
    let named = r#""Meta":{"Name":"A"}"#;
    with(&format!(r#""ResourceChecksum":"{checksum}","ResourceType":"Label",{named}"#)).assert_error(400, FIELDS);
    with(&format!(r#""ResourceGUID":"{GUID}","ResourceType":"Label",{named}"#)).assert_error(400, FIELDS);
    for kind in ["\"\"", "\" \"", "7", "[]"] {
        let members =
            format!(r#""ResourceGUID":"{GUID}","ResourceChecksum":"{checksum}","ResourceType":{kind},{named}"#);
        with(&members).assert_error(400, FIELDS);
    }
    let bad_guid = all.replace(GUID, "88de5c02");
    with(&format!("{bad_guid},{named}")).assert_error(400, "“ResourceGUID” is not a valid GUID");
    with(&all).assert_error(400, "“Meta.Name” is required");
    with(&format!(r#"{all},"Meta":{{"Name":" "}}"#)).assert_error(400, "“Meta.Name” is required");
    let profile = all.replace("Label", "normalprofile");
    let message = "“Meta.MediaType” and “Meta.ProfileGroup” are required for NormalProfile";
    with(&format!(r#"{profile},"Meta":{{"Name":"A","MediaType":"V"}}"#)).assert_error(400, message);
    for domain in ["\"Shared\"", "\"\"", "7"] {
        with(&format!(r#"{all},{named},"Domain":{domain}"#)).assert_error(400, "“Domain” must be Private or Public");
    }
    for sent in ["0000000000000000000000000000000000000000", "zz", "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709AA"] {
        let reply = with(&format!("{},{named}", all.replace(&checksum.to_string(), sent)));
        reply.assert_error(400, "“ResourceChecksum” does not match the content");
    }
    with(&format!("{},{named}", all.replace("\"Label\"", "null"))).assert_success(ADDED);
    assert!(info(&server).contains(r#""ResourceType":"Generic""#), "decision T7");
}

#[test]
fn json_is_read_leniently() {
    // Decision R5: mark, one-element array, case of names, null, unknown members.
    let server = Server::start();
    let checksum = Sha1Checksum::of(b"abc");
    let json = format!(
        "\u{FEFF}[{{\"resourceguid\":\"{GUID}\",\"RESOURCECHECKSUM\":\"{checksum}\",\"ResourceType\":\"Label\",\
         \"Domain\":null,\"Unknown\":[],\"meta\":{{\"name\":12.50}}}}]"
    );
    server.send(add_request(&json, b"abc")).assert_success(ADDED);
    assert!(info(&server).contains(r#""Domain":"Private","Meta":{"Name":"12.50"}"#), "{}", info(&server));
}

#[test]
fn only_newer_timestamps_win_and_the_exact_repeat_succeeds() {
    // Decisions T2, T10, T13, T14.
    let server = Server::start();
    let send = |content: &[u8], timestamp: &str| server.send(add_label(GUID, content).header("Timestamp", timestamp));
    let failed = "Validation of Timestamp failed";
    send(b"first", "2025-01-02T03:04:05Z").assert_success(ADDED);
    send(b"first", "2025-01-02 03:04:05.000000").assert_success(ADDED);
    send(b"other", "2025-01-02T03:04:05Z").assert_error(400, failed);
    let reply = send(b"older", "2025-01-02T03:04:04.9Z");
    reply.assert_error(400, failed);
    assert!(reply.detail().contains("2025-01-02T03:04:05"), "the stored one is output: {}", reply.detail());
    assert_eq!(content(&server), b"first");
    send(b"newer", "2025-01-02T05:04:05,000001+02").assert_success(ADDED);
    assert_eq!(content(&server), b"newer");
}

#[test]
fn a_timestamp_that_is_none_is_never_read_as_now() {
    // Decision T2.
    let server = Server::start();
    for timestamp in ["", " ", "now", "2025-01-02", "20250102T030405Z", "2025-01-02T25:00:00Z", "1735787045"] {
        let reply = server.send(add_label(GUID, b"a").header("Timestamp", timestamp));
        reply.assert_error(400, "Validation of Timestamp failed");
    }
    let twice = add_label(GUID, b"a").also("Timestamp", "2025-01-02T03:04:05Z");
    server
        .send(twice.clone().also("Timestamp", "2025-01-02T03:04:06Z"))
        .assert_error(400, "Validation of Timestamp failed");
    server.send(twice.also("Timestamp", "2025-01-02T03:04:05Z")).assert_success(ADDED);
}

#[test]
fn without_a_timestamp_two_updates_in_one_second_both_land() {
    // Decisions T2, T4.
    let server = Server::start();
    server.send(add_label(GUID, b"first")).assert_success(ADDED);
    server.send(add_label(GUID, b"second")).assert_success(ADDED);
    assert_eq!(content(&server), b"second");
    server.send(add_label(GUID, b"future").header("Timestamp", "2999-01-01T00:00:00Z")).assert_success(ADDED);
}

#[test]
fn a_file_over_the_limit_is_refused() {
    // Decisions R3, T13.
    let limits = Limits { max_resource_size: 1000, max_json_size: 500, ..Limits::default() };
    let server = Server::with(Options { limits, ..Options::default() });
    server.send(add_label(GUID, &[7; 1000])).assert_success(ADDED);
    let before = server.kept.contents();
    for request in
        [add_label(GUID, &[7; 1001]), add_label(GUID, &vec![7; 200_000]), add_label(GUID, &[7; 9000]).chunked(99)]
    {
        server.send(request).assert_error(413, "Request body too large");
    }
    let json = label_json(GUID, b"a").replace("A label", &"x".repeat(600));
    server.send(add_request(&json, b"a")).assert_error(413, "Request body too large");
    assert_eq!(server.kept.contents(), before);
}

#[test]
fn a_failing_store_leaves_nothing_and_tells_nothing() {
    // Decisions R4, T13.
    let server = Server::start();
    server.failing.blobs.set(true);
    server.send(add_label(GUID, b"content")).assert_error(500, "Internal Server Error");
    server.failing.blobs.set(false);
    assert_eq!(server.send(Request::get(&format!("/api/v2/resource/{GUID}"))).status, 404);
}
