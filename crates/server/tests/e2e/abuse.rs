//! Clients that fail to authenticate without end, as the program is configured for them (decision 42 of
//! docs/decisions).

use crate::support::Site;
use crate::support::client::Client;

const FAILURES: usize = 5;

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
    assert!(metrics.contains("platen_refusals_total{reason=\"authentication_throttled\"} 101"), "{metrics}");
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
