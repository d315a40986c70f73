//! What clients ask for, with marks in all that they send: in order, badly, and of stores that fail.

use super::marks::{BAD_HASH, BAD_KEY, CALL_STACK, DUMP, FILE, HASH, KEY, LOG, META, OTHERS_KEY, STATUS, XML};
use crate::support::client::Client;
use crate::support::content::sha1;
use crate::support::form::{self, Part};
use crate::support::{COMPUTER, DEVICE, Server};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

const GUID: &str = "11111111-2222-3333-4444-555555555555";

/// The responses, except those that give callers their own data.
#[derive(Default)]
pub(super) struct Responses(Vec<(u16, String)>);

impl Responses {
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn statuses(&self) -> Vec<u16> {
        self.0.iter().map(|(status, _)| *status).collect()
    }

    pub(super) fn count(&self, status: u16) -> usize {
        self.0.iter().filter(|(output, _)| *output == status).count()
    }

    async fn send(&mut self, request: RequestBuilder) -> u16 {
        let answer = request.send().await.unwrap();
        let (status, head) = (answer.status().as_u16(), format!("{:?}", answer.headers()));
        self.0.push((status, format!("{status} {head} {}", answer.text().await.unwrap_or_default())));
        status
    }
}

fn ann(server: &Server) -> Client {
    Client::with_key(&server.api, KEY)
}

fn post(client: &Client, path: &str, body: impl Into<reqwest::Body>) -> RequestBuilder {
    client.post(&format!("/api/v2/{path}")).header(CONTENT_TYPE, "application/json").body(body)
}

fn form(client: &Client, path: &str, parts: &[Part<'_>]) -> RequestBuilder {
    client.post(&format!("/api/v2/{path}")).header(CONTENT_TYPE, form::CONTENT_TYPE).body(form::of(parts))
}

/// A content of more than one chunk, with a mark at either end.
fn content() -> Vec<u8> {
    [FILE.as_bytes(), &vec![b'.'; 300_000], FILE.as_bytes()].concat()
}

fn description(checksum: &str) -> Value {
    json!({
        "ResourceGUID": GUID, "ResourceChecksum": checksum, "ResourceType": "Label",
        "Meta": { "Name": META, "ProfileGroup": META, "Media": META, "Mode": META, META: [META] },
    })
}

fn upload(client: &Client, description: &str, content: &[u8]) -> RequestBuilder {
    let parts: [Part<'_>; 2] =
        [("JsonString", "application/json", description.as_bytes()), ("file", "application/octet-stream", content)];
    form(client, "resource", &parts)
}

fn entry() -> Value {
    json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": LOG, "JobName": LOG })
}

fn crash_report() -> [Part<'static>; 4] {
    [
        ("CallStack", "text/plain", CALL_STACK.as_bytes()),
        ("Xml", "application/xml", XML.as_bytes()),
        ("dump", "application/octet-stream", DUMP.as_bytes()),
        ("more", "application/octet-stream", DUMP.as_bytes()),
    ]
}

fn status() -> Value {
    json!({
        "DeviceGUID": DEVICE, "Status": "Idle", "QueueLength": { "Sheets": 1 }, "Message": STATUS,
        "ConnectionMessage": STATUS,
        "RemainingInks": [ { "InkIndex": 0, "InkName": "Cyan", "Level": 1, "MaxLevel": 2 } ],
    })
}

/// Everything that changes something, as it should be sent; the answer to each is a message.
fn changes(client: &Client) -> [RequestBuilder; 4] {
    [
        upload(client, &description(&sha1(&content())).to_string(), &content()),
        post(client, "log", entry().to_string()),
        form(client, "log/crashreport", &crash_report()),
        post(client, "device/status", status().to_string()),
    ]
}

/// All operations, as they should be called.
pub(super) async fn run_well(server: &Server, output: &mut Responses) {
    for client in [ann(server), Client::on_computer(&server.api, HASH, "SN-1000")] {
        for change in changes(&client) {
            assert_eq!(output.send(change).await, 200);
        }
        // These give the caller what is theirs.
        let mut own = Responses::default();
        let logs = json!({ "User": "*", "Source": LOG });
        let pmm = json!({ "ProfileGroup": META, "Media": META, "Mode": META });
        for request in [
            client.request(Method::GET, &format!("/api/v2/resource/{GUID}")),
            client.request(Method::GET, &format!("/api/v2/resource/info/{GUID}")),
            post(&client, "resource/list", json!({ "ResourceTypes": ["*"] }).to_string()),
            post(&client, "resource/pmminfo", pmm.to_string()),
            post(&client, "log/list", logs.to_string()),
        ] {
            assert_eq!(own.send(request).await, 200);
        }
        assert_eq!(own.text().matches(LOG).count() % 2, 0);
        assert!([FILE, META, LOG].iter().all(|mark| own.text().contains(mark)));
    }
}

/// Everything that is refused, and what is half sent.
pub(super) async fn run_badly(server: &Server, output: &mut Responses) {
    let (ann, zoe) = (ann(server), Client::with_key(&server.api, OTHERS_KEY));
    for client in [Client::with_key(&server.api, BAD_KEY), Client::on_computer(&server.api, BAD_HASH, "SN-1000")] {
        for change in changes(&client) {
            assert_eq!(output.send(change).await, 401);
        }
    }
    // Several credentials in one request, repeated ones, and such as stand in the wrong place.
    let bare = Client::without_credentials(&server.api);
    let get =
        |path: &str| bare.request(Method::GET, path).header("SerialNumber", "S").header("ApplicationVersion", "1");
    for (request, expected) in [
        (get("/api/v2").header("MisKey", KEY).header("HardwareHash", HASH), 401),
        (get("/api/v2").header("MisKey", KEY).header("MisKey", BAD_KEY), 401),
        (get("/api/v2").header("MisKey", format!("{KEY}, {BAD_KEY}")), 401),
        (get("/api/v2").header("HardwareHash", KEY), 401),
        (get("/api/v2").header("Authorization", format!("Bearer {KEY}")), 401),
        (get(&format!("/api/v2?MisKey={KEY}&HardwareHash={HASH}")), 401),
        (
            get("/api/v2").header("MisKey", OTHERS_KEY).header("HardwareHash", HASH).header("SerialNumber", "SN-1000"),
            401,
        ),
        (get("/api/v2").header("Cookie", format!("MisKey={KEY}")), 401),
    ] {
        assert_eq!(output.send(request).await, expected);
    }
    // What others have.
    let pmm = json!({ "ProfileGroup": META, "Media": META, "Mode": META }).to_string();
    for request in [
        zoe.request(Method::GET, &format!("/api/v2/resource/{GUID}")),
        zoe.request(Method::GET, &format!("/api/v2/resource/info/{GUID}")),
        zoe.request(Method::DELETE, &format!("/api/v2/resource/{GUID}")),
        post(&zoe, "resource/list", json!({ "ResourceTypes": ["*"] }).to_string()),
        post(&zoe, "resource/pmminfo", pmm),
        post(&zoe, "log", entry().to_string()),
        post(&zoe, "log/list", json!({ "User": "*" }).to_string()),
        post(&zoe, "device/status", status().to_string()),
    ] {
        output.send(request).await;
    }
    // Bodies that are damaged where a mark stands.
    let whole = description(&sha1(&content())).to_string();
    let wrong = description(&"0".repeat(40)).to_string();
    let nameless = whole.replace("\"Name\"", "\"Nome\"");
    for (description, status) in
        [(wrong, 400), (nameless, 400), (whole.replace(":[", "::["), 415), (whole.clone(), 400)]
    {
        let old = upload(&ann, &description, &content()).header("Timestamp", "2000-01-01T00:00:00Z");
        assert_eq!(output.send(old).await, status);
    }
    let file: Part<'_> = ("file", "application/octet-stream", FILE.as_bytes());
    let json: Part<'_> = ("JsonString", "application/json", whole.as_bytes());
    for parts in [&[json, file, file][..], &[file], &[json], &[json, json, file]] {
        output.send(form(&ann, "resource", parts)).await;
    }
    let bodies = [("resource", form::of(&[json, file])), ("log/crashreport", form::of(&crash_report()))];
    for (path, body) in bodies {
        for cut in 0..10 {
            let part = body[..body.len() * cut / 10].to_vec();
            let request = ann.post(&format!("/api/v2/{path}")).header(CONTENT_TYPE, form::CONTENT_TYPE);
            output.send(request.body(part)).await;
        }
        let wrong = body.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect::<Vec<_>>();
        let request = ann.post(&format!("/api/v2/{path}")).header(CONTENT_TYPE, form::CONTENT_TYPE);
        output.send(request.body(wrong)).await;
        for coding in ["gzip", "br", "zstd", "deflate", "rot13"] {
            let request = ann.post(&format!("/api/v2/{path}")).header(CONTENT_TYPE, form::CONTENT_TYPE);
            output.send(request.header("Content-Encoding", coding).body(body.clone())).await;
        }
    }
    output.send(form(&ann, "log/crashreport", &crash_report()[1..3])).await;
    for (path, body, mark) in [("log", entry(), LOG), ("device/status", status(), STATUS)] {
        let text = body.to_string();
        let damaged = [
            text.replace(mark, &format!("{mark}\u{1}")),
            text.replace(&format!("\"{mark}\""), mark),
            text.replace(&format!("\"{mark}\""), &format!("[\"{mark}\"")),
            text.replace(&format!("\"{mark}\""), &format!("{{\"{mark}\":1}}")),
            text[..text.len() - 3].to_owned(),
            text.replace(COMPUTER, "no-guid").replace(DEVICE, "no-guid"),
            format!("\"{mark}\""),
            format!("[[\"{mark}\"]]"),
        ];
        for body in damaged {
            output.send(post(&ann, path, body)).await;
        }
        output.send(post(&ann, path, text.clone()).header(CONTENT_TYPE, "text/plain")).await;
    }
    for client in [&ann, &zoe] {
        output.send(client.request(Method::PUT, "/api/v2/resource").body(FILE)).await;
        output.send(client.request(Method::POST, "/nowhere").body(FILE)).await;
    }
}

/// What changes something, while it can't be stored.
pub(super) async fn run_into_failures(server: &Server, output: &mut Responses) {
    let client = ann(server);
    for change in changes(&client) {
        output.send(change).await;
    }
    let file = client.get(&format!("/api/v2/resource/{GUID}")).await;
    if file.status() != 200 {
        output.send(client.request(Method::GET, &format!("/api/v2/resource/{GUID}"))).await;
    }
}
