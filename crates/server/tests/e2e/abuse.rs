//! Clients that fail to authenticate without end, more uploads than there are turns, and more connections than can be, as
//! the program is configured for them (ADR 42, 43, 44).

use crate::support::client::Client;
use crate::support::raw::{Raw, head};
use crate::support::{Site, eventually};

const FAILURES: usize = 5;

const GUID: &str = "11111111-2222-3333-4444-555555555555";

#[tokio::test]
async fn who_fails_without_end_waits_beside_neighbours_that_are_served() {
    let site = Site::new();
    site.configure(&format!("abuse.max_failed_authentications = {FAILURES}\nabuse.failure_window = '1h'"));
    let server = site.serve().await;
    let known = server.client();
    assert!(known.is_admitted().await);
    let guess = async |key: &str| Client::with_key(&server.api, key).get("/api/v2").await;
    for number in 0..FAILURES {
        assert_eq!(guess(&number.to_string()).await.status(), 401);
    }
    let refused = guess("one-more").await;
    assert_eq!(refused.status(), 429);
    let wait: u64 = refused.headers()["Retry-After"].to_str().unwrap().parse().unwrap();
    assert!((1..=720).contains(&wait), "{wait}");
    assert_eq!(refused.text().await.unwrap(), r#"{"Message":"Too Many Requests"}"#);
    assert!(known.is_admitted().await);
    for number in 0..100 {
        assert_eq!(guess(&number.to_string()).await.status(), 429);
    }
    let metrics = Client::with_key(&server.ops, "").get("/metrics").await.text().await.unwrap();
    assert!(
        metrics.contains("platen_refusals_total{organization=\"\",reason=\"authentication_throttled\"} 101"),
        "{metrics}"
    );
    server.stop();
    let log = site.read("server.err");
    assert_eq!(log.matches("fail to authenticate too often").count(), 1, "{log}");
    let recorded = site.run("refusals --json");
    assert_eq!(recorded.out.lines().count(), FAILURES, "{}", recorded.out);
}

#[tokio::test]
async fn by_default_fifty_misconfigured_computers_behind_one_address_get_their_exact_401() {
    let site = Site::new();
    site.configure("# As by default: abuse.max_failed_authentications");
    let server = site.serve().await;
    for round in 0..20 {
        for computer in 0..50 {
            let client = Client::with_key(&server.api, &format!("wrong-key-of-{computer}"));
            assert!(!client.is_admitted().await, "{round}");
        }
    }
}

#[tokio::test]
async fn slow_uploads_use_up_their_turns_and_nothing_else() {
    const TURNS: usize = 3;
    let site = Site::new();
    site.configure(&format!("abuse.max_uploads_per_organization = {TURNS}"));
    let server = site.serve().await;
    let client = server.client();
    let begun =
        head("POST", "/api/v2/resource", "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n");
    let mut slow: Vec<Raw> = Vec::new();
    for _ in 0..TURNS {
        let mut connection = Raw::connect(&server);
        assert!(connection.send(format!("{begun}--b\r\n")));
        slow.push(connection);
    }
    let try_upload = async || client.try_upload("2026-10-01T00:00:00Z", GUID, "Label", b"content").await.unwrap();
    // They are admitted one after the other.
    eventually("all turns are taken", async || try_upload().await.status() == 503).await;
    let refused = try_upload().await;
    assert_eq!((refused.status().as_u16(), refused.headers()["Retry-After"].to_str().unwrap()), (503, "5"));
    assert_eq!(client.try_report_crash("RIP", "main", b"dump").await.unwrap().status(), 503);
    assert!(client.is_admitted().await);
    let ops = Client::with_key(&server.ops, "");
    for path in ["/health/live", "/health/ready"] {
        assert_eq!(ops.get(path).await.status(), 200, "{path}");
    }
    // One that hangs up gives its turn back.
    drop(slow.pop());
    eventually("a turn is free again", async || try_upload().await.status() != 503).await;
    assert_eq!(client.download(GUID).await, b"content");
    let metrics = ops.get("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("platen_queue_depth{queue=\"upload\"} 0"), "{metrics}");
}

#[tokio::test]
async fn the_operator_is_answered_however_many_clients_are_connected() {
    const FILES: u32 = 200;
    let site = Site::new();
    let server = site.serve_with_open_files(FILES).await;
    let mut idle = Vec::new();
    for _ in 0..2 * FILES {
        let mut client = Raw::connect(&server);
        client.send("GET ");
        idle.push(client);
    }
    let operator = Client::with_key(&server.ops, "");
    for path in ["/health/live", "/health/ready", "/metrics"] {
        assert_eq!(operator.get(path).await.status(), 200, "{path}");
    }
    let mut late = Raw::connect(&server);
    late.send(head("GET", "/api/v2", ""));
    drop(idle);
    let answer = late.answer().expect("who waited to be accepted is answered");
    assert_eq!(answer.status, 200);
    assert!(server.client().is_admitted().await);
}
