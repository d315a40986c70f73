//! The bodies that operations take.

use super::client::Request;
use domain::checksum::Sha1Checksum;

pub const BOUNDARY: &str = "----boundary-7MA4YWxkTrZu0gW";

/// A part of a form: the lines of its head, and its content.
pub struct Part {
    pub head: String,
    pub content: Vec<u8>,
}

/// A part with a name and a content type.
pub fn part(name: &str, content_type: &str, content: impl Into<Vec<u8>>) -> Part {
    let head = format!("Content-Disposition: form-data; name=\"{name}\"\r\nContent-Type: {content_type}\r\n");
    Part { head, content: content.into() }
}

/// A part with these lines as its head.
pub fn raw_part(head: &str, content: impl Into<Vec<u8>>) -> Part {
    Part { head: head.to_owned(), content: content.into() }
}

pub fn form(parts: &[Part]) -> Vec<u8> {
    let mut body = Vec::new();
    for part in parts {
        body.extend_from_slice(format!("--{BOUNDARY}\r\n{}\r\n", part.head).as_bytes());
        body.extend_from_slice(&part.content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// A request with a form of these parts.
pub fn with_form(request: Request, parts: &[Part]) -> Request {
    let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
    request.header("Content-Type", &content_type).body(form(parts))
}

pub const GUID: &str = "88de5c02-cce6-411f-950f-be309caa4439";

/// The JSON part of a label of this content.
pub fn label_json(guid: &str, content: &[u8]) -> String {
    let checksum = Sha1Checksum::of(content);
    format!(
        r#"{{"ResourceGUID":"{guid}","ResourceChecksum":"{checksum}","ResourceType":"Label","Meta":{{"Name":"A label"}}}}"#
    )
}

/// The request that adds a resource of this JSON part and content.
pub fn add_request(json: &str, content: &[u8]) -> Request {
    let parts = [part("JsonString", "application/json", json), part("file", "application/octet-stream", content)];
    with_form(Request::post("/api/v2/resource"), &parts)
}

/// The request that adds a label.
pub fn add_label(guid: &str, content: &[u8]) -> Request {
    add_request(&label_json(guid, content), content)
}

/// The request that adds a crash report of these parts.
pub fn crash_request(parts: &[Part]) -> Request {
    let request = Request::post("/api/v2/log/crashreport").header("ApplicationName", "Rip").header("OS", "1");
    with_form(request, parts)
}

pub fn call_stack() -> Part {
    part("CallStack", "text/plain", "main\n  at rip.cpp:7")
}
