//! Bodies that end too early, at every place (decisions R3, R12, T12, T13, C2).

use crate::support::content::sha1;
use crate::support::hostile::{Before, GUID, MALFORMED, NOT_JSON, entry, message};
use crate::support::raw::{Raw, head};
use crate::support::records::Reader;
use crate::support::{Server, Site, eventually, form};
use serde_json::json;

fn upload(content: &[u8]) -> Vec<u8> {
    let json = json!({
        "ResourceGUID": GUID, "ResourceChecksum": sha1(content), "ResourceType": "Label", "Meta": { "Name": "Label" },
    });
    let json = json.to_string();
    form::of(&[("JsonString", "application/json", json.as_bytes()), ("f", "application/octet-stream", content)])
}

fn crash_report(dump: &[u8]) -> Vec<u8> {
    form::of(&[("CallStack", "text/plain", b"main"), ("dump", "application/octet-stream", dump)])
}

/// A request whose body is cut, how many bytes of the body must be there for it to be whole, and what answers fewer.
struct Cut {
    path: &'static str,
    kind: &'static str,
    body: Vec<u8>,
    whole: usize,
    refused: (u16, &'static str),
}

fn form_of(path: &'static str, body: Vec<u8>) -> Cut {
    // The closing boundary may end the body without a line's end.
    let whole = body.len() - 2;
    Cut { path, kind: form::CONTENT_TYPE, body, whole, refused: (415, MALFORMED) }
}

fn small() -> [Cut; 3] {
    let body = entry("cut").into_bytes();
    let log = Cut { path: "/api/v2/log", kind: "application/json", whole: body.len(), body, refused: (400, NOT_JSON) };
    [form_of("/api/v2/resource", upload(b"cut")), form_of("/api/v2/log/crashreport", crash_report(b"cut")), log]
}

impl Cut {
    /// Sends the first bytes of the body; its length is announced, or it is in two chunks of which the second is
    /// cut.
    fn send(&self, connection: &mut Raw, length: usize, chunked: bool) {
        let kind = format!("Content-Type: {}\r\n", self.kind);
        let (head, body) = if chunked {
            let first = length / 2;
            let chunks = [
                format!("{first:x}\r\n").as_bytes(),
                &self.body[..first],
                format!("\r\n{:x}\r\n", self.body.len() - first).as_bytes(),
                &self.body[first..length],
            ]
            .concat();
            // A chunk of no bytes would end the body in order.
            let chunks = if first == 0 { chunks[5..].to_vec() } else { chunks };
            (head("POST", self.path, &format!("{kind}Transfer-Encoding: chunked\r\n")), chunks)
        } else {
            let announced = format!("{kind}Content-Length: {}\r\n", self.body.len());
            (head("POST", self.path, &announced), self.body[..length].to_vec())
        };
        connection.send([head.as_bytes(), &body].concat());
    }

    fn assert_refused(&self, server: &Server, length: usize, chunked: bool) {
        let mut connection = Raw::connect(server);
        self.send(&mut connection, length, chunked);
        connection.finish();
        let answer = connection.answer().unwrap_or_else(|| panic!("no answer to {} of {}", length, self.path));
        let (status, text) = self.refused;
        assert_eq!((answer.status, answer.text()), (status, message(text)), "{length} bytes of {}", self.path);
        assert!(connection.answer().is_none(), "the connection is closed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_cut_at_any_byte_is_refused_and_nothing_of_it_is_kept() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"content").await;
    let mut reader = Reader::of(&site).await;
    let (stored, before) = (reader.read().await, Before::of(&server));
    let mut cuts = 0;
    for request in small() {
        for length in 0..request.whole {
            request.assert_refused(&server, length, length % 2 == 0);
            cuts += 1;
        }
    }
    before.assert_flat(&server, &format!("{cuts} bodies that were cut"));
    let now = reader.read().await;
    assert!(now == stored, "{}", stored.difference(&now));
    assert_eq!(server.client().download(GUID).await, b"content");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_large_body_that_is_cut_or_dropped_no_half_written_file_and_no_part_is_left() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"content").await;
    let mut reader = Reader::of(&site).await;
    let (stored, before) = (reader.read().await, Before::of(&server));
    let content = vec![7; 12_000_000];
    for request in
        [form_of("/api/v2/resource", upload(&content)), form_of("/api/v2/log/crashreport", crash_report(&content))]
    {
        // Around the sizes in which content is taken and written.
        for size in [65_536, 1_048_576, 5_242_880, 8_388_608, request.whole - 1] {
            for length in [size - 1, size, size + 1] {
                let length = length.min(request.whole - 1);
                request.assert_refused(&server, length, length % 2 == 0);
                // One that goes away without a word.
                let mut gone = Raw::connect(&server);
                request.send(&mut gone, length, length % 2 == 1);
            }
        }
    }
    eventually("nothing is left of them", async || site.stored_files() == 1 && reader.read().await == stored).await;
    before.assert_flat(&server, "large bodies that were cut");
    assert_eq!(server.client().download(GUID).await, b"content");
}
