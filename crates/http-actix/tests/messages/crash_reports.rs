//! Crash reports (interface 4.8, decisions C1–C7).

use super::support::bodies::{Part, call_stack, crash_request, part, raw_part};
use super::support::{ACME, Options, Reply, Request, Server};
use domain::blob::BlobKind;
use domain::crash_report::{PartRole, StoredCrashReport};
use domain::guid::CrashReportId;
use domain::limits::Limits;

const ADDED: &str = "Crash report successfully added";
const XML_ADDED: &str =
    "<string xmlns=\"http://schemas.microsoft.com/2003/10/Serialization/\">Crash report successfully added</string>";

fn add(server: &Server, parts: &[Part]) -> Reply {
    server.send(crash_request(parts))
}

/// The report that was stored under the id that was answered.
fn stored(server: &Server, reply: &Reply) -> StoredCrashReport {
    assert_eq!(reply.status, 200, "{reply:?}");
    let id = reply.header("Crash-Report-Id").and_then(CrashReportId::parse).expect("an id");
    server.kept.crash_report(ACME, id).expect("the report of this id")
}

fn content(server: &Server, report: &StoredCrashReport, role: PartRole) -> Vec<u8> {
    let part = report.parts.iter().find(|part| part.role == role).expect("a part of this role");
    server.kept.content(&part.key).expect("its content").to_vec()
}

#[test]
fn a_report_is_kept_byte_for_byte_under_the_id_that_is_answered() {
    // Decisions C3, C4, C7.
    let server = Server::start();
    let (stack, dump) = (b"\xff\xfe\x00latin \xe4\r\n--x".to_vec(), vec![0_u8, 13, 10, 45, 45, 255]);
    let parts = [
        part("CallStack", "text/plain; charset=utf-16", stack.clone()),
        part("Xml", "application/xml", "<a/>"),
        part("dump", "application/octet-stream", dump.clone()),
        part("screenshot", "image/png", "png"),
    ];
    let reply = add(&server, &parts);
    reply.assert_success(ADDED);
    let report = stored(&server, &reply);
    assert_eq!((report.application_name.as_deref(), report.os.as_deref()), (Some("Rip"), Some("1")));
    assert_eq!(content(&server, &report, PartRole::CallStack), stack);
    assert_eq!(content(&server, &report, PartRole::Xml), b"<a/>");
    assert_eq!(content(&server, &report, PartRole::Dump), dump);
    let attachment = report.parts.iter().find(|part| part.role == PartRole::Attachment).unwrap();
    assert_eq!(attachment.name.as_deref(), Some("screenshot"));
    assert_eq!(reply.header("X-Error-Detail"), None);
}

#[test]
fn parts_get_their_roles_by_name_and_content_type() {
    // Decision C1.
    let server = Server::start();
    let parts = [
        part("anything", "TEXT/PLAIN", "by content type"),
        part("DUMP", "text/plain", "by name"),
        raw_part(
            "Content-Disposition: form-data; name=\"x\"; filename=\"C:\\tmp\\a.xml\"\r\nContent-Type: text/xml\r\n",
            "<b/>",
        ),
    ];
    let report = stored(&server, &add(&server, &parts));
    assert_eq!(content(&server, &report, PartRole::CallStack), b"by content type");
    assert_eq!(content(&server, &report, PartRole::Dump), b"by name");
    assert_eq!(content(&server, &report, PartRole::Xml), b"<b/>");
    let xml = report.parts.iter().find(|part| part.role == PartRole::Xml).unwrap();
    assert_eq!(xml.file_name.as_deref(), Some("C:\\tmp\\a.xml"));
}

#[test]
fn a_report_without_a_call_stack_is_refused() {
    // Decision C2.
    let server = Server::start();
    let message = "“CallStack” is required";
    add(&server, &[]).assert_error(400, message);
    add(&server, &[part("Xml", "application/xml", "<a/>")]).assert_error(400, message);
    add(&server, &[part("CallStack", "text/plain", " \r\n")]).assert_error(400, message);
    assert!(server.kept.contents().is_empty(), "nothing is left behind");
}

#[test]
fn what_is_no_form_is_refused() {
    // Decision C2.
    let server = Server::start();
    let message = "This request is not properly formatted";
    let request = crash_request(&[call_stack()]);
    server.send(request.clone().header("Content-Type", "application/json")).assert_error(415, message);
    let cut = request.body.len() - 12;
    server.send(request.clone().body(&request.body[..cut])).assert_error(415, message);
    assert!(server.kept.contents().is_empty() && server.kept.claims(BlobKind::CrashReport) == 0);
}

#[test]
fn parts_are_never_mixed() {
    // Decision T12: an empty dump without a line break of its own, before the Xml.
    let server = Server::start();
    let request =
        crash_request(&[call_stack(), part("dump", "application/octet-stream", ""), part("Xml", "text/xml", "<a/>")]);
    let body = String::from_utf8(request.body.clone()).unwrap();
    let mixed = body.replace("octet-stream\r\n\r\n\r\n--", "octet-stream\r\n\r\n--");
    assert_ne!(mixed, body);
    let reply = server.send(request.body(mixed));
    reply.assert_error(415, "This request is not properly formatted");
    assert!(reply.detail().starts_with("part 2 can't be read"), "{}", reply.detail());
    assert!(server.kept.contents().is_empty());
}

#[test]
fn a_control_character_in_a_file_name_loses_no_report() {
    // Decision T12: ISO-2022-JP as some clients send it.
    let server = Server::start();
    let head = "Content-Disposition: form-data; name=\"dump\"; filename=\"\u{1b}$B%@\u{1b}(B.dmp\"\r\n";
    let report = stored(&server, &add(&server, &[call_stack(), raw_part(head, "dump")]));
    let dump = report.parts.iter().find(|part| part.role == PartRole::Dump).unwrap();
    assert_eq!(dump.file_name.as_deref(), Some("?$B%@?(B.dmp"));
}

#[test]
fn an_encoded_part_is_refused_and_the_detail_says_so() {
    let server = Server::start();
    let stack = raw_part(
        "Content-Disposition: form-data; name=\"CallStack\"\r\nContent-Transfer-Encoding: quoted-printable\r\n",
        "main=20",
    );
    let reply = add(&server, &[stack]);
    reply.assert_error(415, "This request is not properly formatted");
    assert_eq!(reply.detail(), "part 1 has the Content-Transfer-Encoding quoted-printable, which isn't decoded");
}

#[test]
fn headers_of_a_report_are_never_a_reason_to_lose_it() {
    // Decision C3.
    let server = Server::start();
    let bare = server.send(crash_request(&[call_stack()]).without("ApplicationName").without("OS"));
    bare.assert_success(ADDED);
    let odd = crash_request(&[call_stack()]).header("ApplicationName", "Größe\u{1}").header("OS", "Amiga");
    let odd = server.send(odd.header("ApplicationName", "Gr\u{f6}\u{df}e"));
    odd.assert_success(ADDED);
    let (bare, odd) = (stored(&server, &bare), stored(&server, &odd));
    assert_eq!((bare.application_name, bare.os), (None, None));
    assert_eq!(odd.application_name.as_deref(), Some("Größe"), "Latin-1, as old clients send it");
    assert_eq!(odd.os.as_deref(), Some("Amiga"));
}

#[test]
fn the_answer_has_the_format_that_is_asked_for() {
    // Decision C5.
    let server = Server::start();
    for (accept, content_type, body) in [
        ("application/xml", "application/xml; charset=utf-8", XML_ADDED),
        ("text/xml;q=0.9, application/json;q=0.1", "text/xml; charset=utf-8", XML_ADDED),
        ("text/json", "text/json; charset=utf-8", "\"Crash report successfully added\""),
        ("image/png", "application/json; charset=utf-8", "\"Crash report successfully added\""),
    ] {
        let reply = server.send(crash_request(&[call_stack()]).header("Accept", accept));
        assert_eq!((reply.status, reply.header("Content-Type"), reply.text()), (200, Some(content_type), body));
    }
}

#[test]
fn errors_follow_accept_too() {
    // Decision C5.
    let server = Server::start();
    let assert = |request: Request, status: u16, message: &str| {
        let reply = server.send(request.header("Accept", "application/xml"));
        let body = format!("<Error><Message>{message}</Message></Error>");
        assert_eq!((reply.status, reply.text()), (status, body.as_str()));
        assert_eq!(reply.header("Content-Type"), Some("application/xml; charset=utf-8"));
        assert_eq!(reply.detail().is_empty(), status == 500);
    };
    assert(crash_request(&[]).anonymous(), 401, "“HardwareHash” header required");
    assert(crash_request(&[]), 400, "“CallStack” is required");
    assert(crash_request(&[]).header("Content-Type", "a/b"), 415, "This request is not properly formatted");
    server.failing.credentials.set(true);
    assert(crash_request(&[call_stack()]), 500, "Internal Server Error");
    server.failing.credentials.set(false);
    // Other operations answer JSON whatever is asked for.
    server.send(Request::get("/api/v2").header("Accept", "application/xml")).assert_success("Server is running");
}

#[test]
fn an_oversized_dump_is_dropped_and_the_report_kept() {
    // Decision C6.
    let limits = Limits { max_crash_report_size: 1000, ..Limits::default() };
    let server = Server::with(Options { limits, ..Options::default() });
    let dump = |size: usize| part("dump", "application/octet-stream", vec![7; size]);
    let reply = add(&server, &[dump(5000), call_stack()]);
    reply.assert_success(ADDED);
    assert!(reply.detail().contains("dump of 5000 bytes"), "{}", reply.detail());
    let report = stored(&server, &reply);
    assert_eq!(report.parts.len(), 1);
    assert!(report.note.is_some_and(|note| note.contains("1000")));
    let stack = part("CallStack", "text/plain", "x".repeat(1001));
    add(&server, &[stack, dump(1)]).assert_error(413, "Request body too large");
}
