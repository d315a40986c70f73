//! Small requests that ask for much: encoded bodies that decode to gibibytes, forms of thousands of parts, headers
//! that don't end, JSON that is nested ten thousand times (decisions R3, R5, R10, T12, C6).

use crate::support::content::MIB;
use crate::support::hostile::{Before, MALFORMED, NOT_JSON, message};
use crate::support::raw::{Raw, head, head_with_key, post};
use crate::support::{Server, Site, form};
use async_compression::Level;
use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZstdEncoder};
use tokio::io::{AsyncRead, AsyncReadExt};

const TOO_LARGE: &str = "Request body too large";

async fn whole(mut encoder: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    encoder.read_to_end(&mut bytes).await.unwrap();
    bytes
}

/// What decodes to `before` and 32 mebibytes of zeros, in gzip's case so many times more of them.
async fn bombs(before: &[u8], more: usize) -> [(&'static str, Vec<u8>); 3] {
    let zeros = vec![0; usize::try_from(32 * MIB).unwrap()];
    let begin = [before, &zeros].concat();
    // A gzip file may have any number of members.
    let gzip = whole(GzipEncoder::with_quality(&begin[..], Level::Fastest)).await;
    let member = whole(GzipEncoder::with_quality(&zeros[..], Level::Fastest)).await;
    [
        ("gzip", [gzip, member.repeat(more)].concat()),
        ("br", whole(BrotliEncoder::with_quality(&begin[..], Level::Fastest)).await),
        ("zstd", whole(ZstdEncoder::with_quality(&begin[..], Level::Fastest)).await),
    ]
}

fn encoded(key: &str, path: &str, kind: &str, coding: &str, body: &[u8]) -> Vec<u8> {
    let more = format!("Content-Type: {kind}\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n", body.len());
    [head_with_key(key, "POST", path, &more).as_bytes(), body].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_decodes_to_gibibytes_is_given_up_at_the_limit() {
    let site = Site::new();
    site.configure("limits.max_resource_size = '16MiB'\nlimits.max_crash_report_size = '2MiB'");
    let server = site.serve().await;
    let key = crate::support::ANNS_KEY;
    let of_json = bombs(br#"{"Description":""#, 40).await;
    let file = form::of(&[("f", "application/octet-stream", b"")]);
    let of_file = bombs(&file[..file.len() - 9], 40).await;
    let stack = form::of(&[("CallStack", "text/plain", b"main"), ("dump", "application/octet-stream", b"")]);
    let of_dump = bombs(&stack[..stack.len() - 9], 2).await;
    assert!([&of_json, &of_file, &of_dump].into_iter().flatten().all(|(_, body)| body.len() < 10_000_000));
    let before = Before::of(&server);
    for (coding, body) in &of_json {
        for path in ["log", "log/list", "resource/list", "resource/pmminfo", "device/status"] {
            let path = format!("/api/v2/{path}");
            let answer = Raw::ask(&server, encoded(key, &path, "application/json", coding, body));
            assert_eq!((answer.status, answer.text()), (413, message(TOO_LARGE)), "{path} {coding}");
            // Nothing is decoded for who isn't known.
            let answer = Raw::ask(&server, encoded("nobody", &path, "application/json", coding, body));
            assert_eq!((answer.status, answer.text()), (401, message("Invalid MisKey")), "{path} {coding}");
        }
    }
    for (coding, body) in &of_file {
        let answer = Raw::ask(&server, encoded(key, "/api/v2/resource", form::CONTENT_TYPE, coding, body));
        assert_eq!((answer.status, answer.text()), (413, message(TOO_LARGE)), "{coding}");
        let answer = Raw::ask(&server, encoded("nobody", "/api/v2/resource", form::CONTENT_TYPE, coding, body));
        assert_eq!(answer.status, 401, "{coding}");
    }
    for (coding, body) in &of_dump {
        // The form never ends in order; else the call stack would be kept without its dump, so it is read on.
        let path = "/api/v2/log/crashreport";
        let answer = Raw::ask(&server, encoded(key, path, form::CONTENT_TYPE, coding, body));
        assert_eq!((answer.status, answer.text()), (415, message(MALFORMED)), "{coding}");
        let answer = Raw::ask(&server, encoded("nobody", path, form::CONTENT_TYPE, coding, body));
        assert_eq!((answer.status, answer.text()), (401, message("“HardwareHash” header required")), "{coding}");
    }
    before.assert_flat(&server, "bodies that decode to gibibytes");
    assert_eq!(site.stored_files(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_parts_and_headers_without_end_are_refused() {
    let site = Site::new();
    let server = site.serve().await;
    let before = Before::of(&server);
    let part = "--b\r\nContent-Disposition: form-data; name=\"p\"\r\n\r\nx\r\n";
    let many = |count: usize| format!("{}--b--\r\n", part.repeat(count)).into_bytes();
    let disposition = "--b\r\nContent-Disposition: form-data; name=\"p\"";
    let endless = [
        format!("{disposition}\r\n{}", "X: y\r\n".repeat(1_000_000)),
        format!("{disposition}; filename=\"{}", "x".repeat(6_000_000)),
        format!("--b\r\n{}", "x".repeat(6_000_000)),
        "x".repeat(6_000_000),
        "--".repeat(3_000_000),
        "\r\n".repeat(3_000_000),
        "--b\r\n".repeat(1_000_000),
        "--b\r\n\r\n".repeat(1_000_000),
        format!("{disposition}\r\nContent-Type: {}", "multipart/mixed; boundary=b, ".repeat(200_000)),
    ];
    for path in ["/api/v2/resource", "/api/v2/log/crashreport"] {
        for count in [1001, 5_000, 100_000] {
            let answer = Raw::ask(&server, post(path, form::CONTENT_TYPE, &many(count)));
            assert_eq!((answer.status, answer.text()), (413, message(TOO_LARGE)), "{path} {count}");
        }
        for body in &endless {
            let answer = Raw::ask(&server, post(path, form::CONTENT_TYPE, body.as_bytes()));
            assert_eq!((answer.status, answer.text()), (415, message(MALFORMED)), "{path} {body:.80}");
        }
    }
    // A boundary of any length is searched for.
    for boundary in ["b".repeat(50_000), format!("{}b", "-".repeat(200))] {
        let kind = format!("multipart/form-data; boundary={boundary}");
        let answer = Raw::ask(&server, post("/api/v2/resource", &kind, &vec![b'-'; 3_000_000]));
        assert!(matches!(answer.status, 415 | 431), "{answer:?}");
    }
    before.assert_flat(&server, "forms without end");
    assert_eq!(site.stored_files(), 0);
}

fn nested(depth: usize, open: &str, close: &str) -> String {
    format!("{}0{}", open.repeat(depth), close.repeat(depth))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_that_is_nested_ten_thousand_times_is_refused() {
    let site = Site::new();
    let server = site.serve().await;
    let before = Before::of(&server);
    for depth in [200, 10_000, 100_000] {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}"), (r#"[{"Meta":"#, "}]"), ("[", ""), (r#"{"a":["#, "")] {
            let json = nested(depth, open, close);
            for path in ["log", "log/list", "resource/list", "resource/pmminfo", "device/status"] {
                let answer = Raw::ask(&server, post(&format!("/api/v2/{path}"), "application/json", json.as_bytes()));
                let is_too_large = json.len() > 1024 * 1024;
                let expected = if is_too_large { (413, TOO_LARGE) } else { (400, NOT_JSON) };
                assert_eq!((answer.status, answer.text()), (expected.0, message(expected.1)), "{path} {open} {depth}");
            }
            if json.len() > 1024 * 1024 {
                continue;
            }
            let meta = format!(r#"{{"ResourceGUID":"x","Meta":{json}}}"#);
            for json in [&json, &meta] {
                let body = form::of(&[("JsonString", "application/json", json.as_bytes()), ("f", "a/b", b"x")]);
                let answer = Raw::ask(&server, post("/api/v2/resource", form::CONTENT_TYPE, &body));
                assert_eq!((answer.status, answer.text()), (415, message(MALFORMED)), "{open} {depth}");
            }
        }
    }
    before.assert_flat(&server, "nested JSON");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heads_of_any_size_are_bounded() {
    let site = Site::new();
    let server = site.serve().await;
    let before = Before::of(&server);
    let refused = |server: &Server, bytes: String| {
        let mut connection = Raw::connect(server);
        connection.send(bytes);
        connection.finish();
        connection.answers().iter().map(|answer| answer.status).collect::<Vec<_>>()
    };
    for _ in 0..20 {
        assert_eq!(refused(&server, head("GET", "/api/v2", &"X: y\r\n".repeat(100_000))), [431]);
        assert_eq!(refused(&server, head("GET", "/api/v2", &format!("X: {}\r\n", "y".repeat(5_000_000)))), [431]);
        let path = refused(&server, head("GET", &format!("/{}", "x".repeat(5_000_000)), ""));
        assert!(matches!(path[..], [400 | 414 | 431]), "{path:?}");
        let method = refused(&server, "X".repeat(5_000_000));
        assert!(matches!(method[..], [400 | 431]), "{method:?}");
    }
    before.assert_flat(&server, "heads without end");
}
