//! Texts that are none, or more than they seem: invalid UTF-8, U+0000, repeated headers, names that are paths, control
//! characters (decisions R4, R7, R9, R11, A7, A8, T2, C1, C3, C4).

use crate::support::content::sha1;
use crate::support::hostile::{Before, GUID, MALFORMED, NOT_JSON, assert_lives, entry, message};
use crate::support::raw::{Answer, Raw, head, post};
use crate::support::{ANNS_KEY, COMPUTER, DEVICE, Server, Site, files_below, form};
use serde_json::{Value, json};

fn log(body: &[u8]) -> Vec<u8> {
    post("/api/v2/log", "application/json", body)
}

fn ask_json(server: &Server, path: &str, body: &Value) -> Answer {
    Raw::ask(server, post(path, "application/json", body.to_string().as_bytes()))
}

fn description(guid: &str) -> String {
    json!({ "ResourceGUID": guid, "ResourceChecksum": sha1(b"x"), "Meta": { "Name": "n" } }).to_string()
}

fn statuses(server: &Server, bytes: &[u8]) -> Vec<u16> {
    let mut connection = Raw::connect(server);
    connection.send(bytes);
    connection.finish();
    connection.answers().iter().map(|answer| answer.status).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_utf_8_is_refused_in_json_and_kept_in_contents() {
    let site = Site::new();
    let server = site.serve().await;
    let before = Before::of(&server);
    for bytes in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\x80"] {
        let damaged = |text: &str| {
            let (begin, end) = text.split_once("MARK").unwrap();
            [begin.as_bytes(), bytes, end.as_bytes()].concat()
        };
        for path in ["log", "log/list", "resource/list", "resource/pmminfo", "device/status"] {
            let body = damaged(r#"{"Description":"MARK"}"#);
            let answer = Raw::ask(&server, post(&format!("/api/v2/{path}"), "application/json", &body));
            assert_eq!((answer.status, answer.text()), (400, message(NOT_JSON)), "{path} {bytes:x?}");
        }
        let json = damaged(&description(GUID).replace("\"n\"", "\"MARK\""));
        let body = form::of(&[("JsonString", "application/json", &json), ("f", "a/b", b"x")]);
        let answer = Raw::ask(&server, post("/api/v2/resource", form::CONTENT_TYPE, &body));
        assert_eq!((answer.status, answer.text()), (415, message(MALFORMED)), "{bytes:x?}");
        // Decision C4: a call stack is kept byte for byte, whatever its encoding.
        let body = form::of(&[("CallStack", "text/plain", &[b"main ", bytes].concat())]);
        assert_eq!(Raw::ask(&server, post("/api/v2/log/crashreport", form::CONTENT_TYPE, &body)).status, 200);
        // Names of parts and files are texts of no importance.
        let body = damaged(
            "--b\r\nContent-Disposition: form-data; name=\"CallStack\"; filename=\"MARK\"\r\n\r\nx\r\n--b--\r\n",
        );
        assert_eq!(Raw::ask(&server, post("/api/v2/log/crashreport", form::CONTENT_TYPE, &body)).status, 200);
        let path = damaged("GET /api/v2/resource/MARK HTTP/1.1\r\nHost: platen\r\n\r\n");
        assert!(matches!(statuses(&server, &path)[..], [400 | 401]), "{bytes:x?}");
        // In a header it is a value like any other: no credential, no date, but a version.
        let with = |name: &str| damaged(&head("GET", "/api/v2", &format!("{name}: MARK\r\n")));
        let others = |name: &str| {
            let head = head("GET", "/api/v2", "").replace(&format!("{name}: "), &format!("{name}: MARK"));
            damaged(&head)
        };
        assert_eq!(Raw::ask(&server, others("MisKey")).text(), message("Invalid MisKey"), "{bytes:x?}");
        assert_eq!(Raw::ask(&server, with("HardwareHash")).text(), message("Invalid HardwareHash"), "{bytes:x?}");
        assert_eq!(Raw::ask(&server, others("ApplicationVersion")).status, 200, "{bytes:x?}");
        assert_eq!(Raw::ask(&server, with("X-Request-Id")).status, 200, "{bytes:x?}");
    }
    before.assert_flat(&server, "invalid UTF-8");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u_0000_is_replaced_in_texts_and_malformed_in_identifiers() {
    // Decision R9.
    let site = Site::new();
    let server = site.serve().await;
    let sent = json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": "a\0b", "JobName": "\0" });
    assert_eq!(ask_json(&server, "/api/v2/log", &sent).status, 200);
    let listed = ask_json(&server, "/api/v2/log/list", &json!({ "Source": "\0" })).text();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!((&listed[0]["Description"], &listed[0]["Source"]), (&json!("a\u{FFFD}b"), &json!("\u{FFFD}")));
    for (path, body, status, text) in [
        (
            "log",
            json!({ "ComputerGUID": format!("{COMPUTER}\0"), "Type": "log", "Description": "x" }),
            404,
            "ComputerGUID is not found",
        ),
        (
            "log",
            json!({ "ComputerGUID": COMPUTER, "DeviceGUID": "\0", "Type": "log", "Description": "x" }),
            404,
            "DeviceGUID is not found",
        ),
        (
            "device/status",
            json!({ "DeviceGUID": format!("\0{DEVICE}"), "Status": "Idle" }),
            404,
            "DeviceGUID is not found",
        ),
    ] {
        let answer = ask_json(&server, &format!("/api/v2/{path}"), &body);
        assert_eq!((answer.status, answer.text()), (status, message(text)), "{body}");
    }
    let upload = |json: &str| {
        let body = form::of(&[("JsonString", "application/json", json.as_bytes()), ("f", "a/b", b"x")]);
        Raw::ask(&server, post("/api/v2/resource", form::CONTENT_TYPE, &body))
    };
    let answer = upload(&description(GUID).replace(GUID, &format!("{GUID}\\u0000")));
    assert_eq!((answer.status, answer.text()), (400, message("“ResourceGUID” is not a valid GUID")));
    assert_eq!(upload(&description(GUID).replace("\"n\"", r#""\u0000","\u0000":["\u0000"]"#)).status, 200);
    let meta = &server.client().info(GUID).await["Meta"];
    assert_eq!(*meta, json!({ "Name": "\u{FFFD}", "\u{FFFD}": ["\u{FFFD}"] }));
    // As a byte it has no place in JSON or in a head.
    assert_eq!(Raw::ask(&server, log(&entry("a\u{1}b").replace("\\u0001", "\0").into_bytes())).status, 400);
    assert_eq!(statuses(&server, head("GET", "/api/v2", "X: a\0b\r\n").as_bytes()), [400]);
    let answer = Raw::ask(&server, head("GET", &format!("/api/v2/resource/{GUID}%00"), ""));
    assert_eq!((answer.status, answer.text()), (404, message("ResourceGUID not found")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_header_that_is_sent_twice_or_joined_counts_once_or_is_refused() {
    let site = Site::new();
    let server = site.serve().await;
    let get = |more: &str| Raw::ask(&server, head("GET", "/api/v2", more));
    // Decisions A7, A8. The head has one of each already.
    for (more, status) in [
        (format!("MisKey: {ANNS_KEY}\r\n"), 200),
        (format!("MisKey: {ANNS_KEY} , {ANNS_KEY},\r\n"), 200),
        ("MisKey: \r\nMisKey:\r\n".to_owned(), 200),
        ("MisKey: other\r\n".to_owned(), 401),
        (format!("MisKey: {ANNS_KEY},other\r\n"), 401),
        ("HardwareHash: HH-0001\r\nHardwareHash: HH-0001\r\n".to_owned(), 401),
        ("SerialNumber: SN\r\nApplicationVersion: 2\r\n".to_owned(), 200),
        ("SerialNumber: other\r\n".to_owned(), 200),
        ("X-Request-Id: a\r\nX-Request-Id: b\r\n".to_owned(), 200),
        ("Accept: a\r\nAccept: b, c\r\nRange: x\r\nRange: y\r\n".to_owned(), 200),
        ("Host: other\r\n".to_owned(), 400),
    ] {
        assert_eq!(get(&more).status, status, "{more}");
    }
    let json = "application/json";
    let length = entry("x").len();
    for (more, status) in [
        (format!("Content-Type: {json}\r\nContent-Type: {json}\r\n"), 200),
        (format!("Content-Type: {json}, {json}\r\n"), 415),
        (format!("Content-Type: text/plain\r\nContent-Type: {json}\r\n"), 415),
        (format!("Content-Type: {json}\r\nContent-Encoding: identity\r\nContent-Encoding: identity\r\n"), 200),
        (format!("Content-Type: {json}\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n"), 415),
    ] {
        let head = head("POST", "/api/v2/log", &format!("{more}Content-Length: {length}\r\n"));
        assert_eq!(Raw::ask(&server, head + &entry("x")).status, status, "{more}");
    }
    let body = form::of(&[("JsonString", "application/json", description(GUID).as_bytes()), ("f", "a/b", b"x")]);
    let upload = |more: &str| {
        let kind = format!("Content-Type: {}\r\nContent-Length: {}\r\n", form::CONTENT_TYPE, body.len());
        Raw::ask(&server, [head("POST", "/api/v2/resource", &(kind + more)).as_bytes(), &body].concat())
    };
    // Decision T2: two times in one value are no time; one that a proxy has sent twice is one.
    let time = "2026-05-04T00:00:00Z";
    for (more, status) in [
        (format!("Timestamp: {time}, {time}\r\n"), 400),
        (format!("Timestamp: {time}\r\nTimestamp: 2027-01-01T00:00:00Z\r\n"), 400),
        (format!("Timestamp: {time}\r\nTimestamp: {time}\r\n"), 200),
    ] {
        assert_eq!(upload(&more).status, status, "{more}");
    }
    // Decision C3: no crash is lost over its headers.
    let body = form::of(&[("CallStack", "text/plain", b"main")]);
    let more = format!(
        "OS: 0\r\nOS: 1\r\nApplicationName: a\r\nApplicationName: b\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
        form::CONTENT_TYPE,
        body.len()
    );
    let answer = Raw::ask(&server, [head("POST", "/api/v2/log/crashreport", &more).as_bytes(), &body].concat());
    assert_eq!(answer.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_are_paths_lead_nowhere() {
    let site = Site::new();
    let server = site.serve().await;
    let names = [
        "..",
        ".",
        "../../../../tmp/platen-was-here",
        "..\\..\\platen-was-here",
        "/etc/passwd",
        "/dev/null",
        "C:\\x",
        "C:x",
        "\\\\host\\share",
        "CON",
        "nul.txt",
        "COM1",
        "a/../../b",
        "a\u{0}b",
        "%2e%2e%2f",
        "~",
        "$HOME",
        "`id`",
        "x; rm -rf .",
        "\u{202e}txt.exe",
        "..%c0%af",
    ];
    for (number, name) in names.into_iter().enumerate() {
        let guid = format!("11111111-2222-3333-4444-{number:012}");
        // As names of files and of parts.
        let part = |part: &str, content: &str| {
            let disposition = format!("Content-Disposition: form-data; name=\"{part}\"; filename=\"{name}\"");
            let star = format!("filename*=UTF-8''{}", name.replace('\0', "%00").replace('/', "%2f"));
            format!("--b\r\n{disposition}; {star}\r\n\r\n{content}\r\n").replace('\0', "?")
        };
        let body = format!("{}{}--b--\r\n", part("JsonString", &description(&guid)), part(name, "x"));
        let answer = Raw::ask(&server, post("/api/v2/resource", form::CONTENT_TYPE, body.as_bytes()));
        assert_eq!(answer.status, 200, "{name:?}: {answer:?}");
        assert_eq!(server.client().download(&guid).await, b"x");
        let body = format!("{}{}--b--\r\n", part("CallStack", "main"), part(name, "more"));
        let answer = Raw::ask(&server, post("/api/v2/log/crashreport", form::CONTENT_TYPE, body.as_bytes()));
        assert_eq!(answer.status, 200, "{name:?}");

        // As GUIDs: in a path, plain and encoded, and in a body.
        let plain = name.replace(['\0', ' ', '\u{202e}'], "_");
        let encoded = plain.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
        for guid in [&plain, &encoded] {
            for (method, path) in [("GET", "resource/"), ("DELETE", "resource/"), ("GET", "resource/info/")] {
                let answer = Raw::ask(&server, head(method, &format!("/api/v2/{path}{guid}"), ""));
                // A path that is none of ours, or a GUID that is none.
                assert!(matches!(answer.status, 400 | 404 | 405), "{method} {path}{guid}: {answer:?}");
            }
        }
        let body = form::of(&[
            ("JsonString", "application/json", description(&name.replace('\\', "\\\\")).as_bytes()),
            ("f", "a/b", b"x"),
        ]);
        let answer = Raw::ask(&server, post("/api/v2/resource", form::CONTENT_TYPE, &body));
        assert_eq!((answer.status, answer.text()), (400, message("“ResourceGUID” is not a valid GUID")), "{name:?}");
        let status = json!({ "DeviceGUID": name, "Status": "Idle", "QueueLength": { "Sheets": 1 } });
        assert_eq!(ask_json(&server, "/api/v2/device/status", &status).status, 404, "{name:?}");
    }
    // Keys are of the program's own making: hexadecimal digits below one folder for each kind.
    for kind in ["resources", "crash-reports"] {
        for path in files_below(&site.contents(kind)) {
            let key = path.strip_prefix(site.contents(kind)).unwrap().to_str().unwrap().replace('/', "");
            assert!(key.chars().all(|c| c.is_ascii_hexdigit() || c == '-'), "{key}");
        }
    }
    let strangers: Vec<_> = files_below(&site.path("."))
        .into_iter()
        .filter(|path| path.to_string_lossy().contains("was-here") || path.to_string_lossy().contains(".."))
        .collect();
    assert!(strangers.is_empty() && !std::path::Path::new("/tmp/platen-was-here").exists(), "{strangers:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_characters_make_no_header_and_no_line_of_the_log() {
    let site = Site::new();
    let server = site.serve().await;
    for byte in (0..=31).chain([127]).filter(|byte| !matches!(byte, b'\t' | b'\n' | b'\r')) {
        for name in ["X", "MisKey", "SerialNumber", "X-Request-Id", "Timestamp"] {
            let value = format!("{name}: a{}b\r\n", char::from(byte));
            let output = statuses(&server, head("GET", "/api/v2", &value).as_bytes());
            // No value may hold one (RFC 9110); a deletion character is taken by some readers.
            assert!(
                matches!(output[..], [400]) || byte == 127 && matches!(output[..], [200 | 401]),
                "{byte} {name}: {output:?}"
            );
        }
    }
    for line in
        ["X: a\rInjected: b\r\n", "X: a\n Injected: b\r\n", "X\r\n", ": x\r\n", "X y: z\r\n", "X: a\r\n folded\r\n"]
    {
        let output = statuses(&server, head("GET", "/api/v2", line).as_bytes());
        assert!(matches!(output[..], [400 | 200]), "{line:?}: {output:?}");
    }
    // What is repeated to the client is printable, and one line (decision R11).
    for (path, more) in [
        ("/api/v2/resource/%0d%0aInjected:%20yes", ""),
        ("/api/v2/resource/%1b%5b31m%7f%c2%85", ""),
        ("/api/v2/resource/x", "X-Request-Id: a b\r\n"),
    ] {
        let answer = Raw::ask(&server, head("GET", path, more));
        assert_eq!((answer.status, answer.text()), (404, message("ResourceGUID not found")), "{path}");
        assert_eq!(answer.header("Injected"), None, "{answer:?}");
        assert!(answer.head.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\r' | b'\n')), "{answer:?}");
    }
    let json = json!({ "ResourceTypes": ["*"], "Domain": "a\r\nInjected: yes\u{1b}[31m\u{85}\u{2028}" });
    let answer = ask_json(&server, "/api/v2/resource/list", &json);
    assert_eq!((answer.status, answer.header("Injected")), (400, None));
    assert!(answer.head.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\r' | b'\n')), "{answer:?}");
    assert_lives(&server);
    server.stop();
    for line in site.read("server.err").lines() {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no line of the log: {line}"));
        assert!(event["timestamp"].is_string() && !line.contains('\u{1b}'), "{line}");
    }
}
