//! How a running server is watched: what it counts.

use crate::support::client::Client;
use crate::support::{Server, Site, eventually};

const GUID: &str = "11111111-2222-4333-8444-555555555555";

async fn metrics(server: &Server) -> String {
    Client::with_key(&server.ops, "").get("/metrics").await.text().await.unwrap()
}

#[tokio::test]
async fn what_is_done_is_counted_under_names_that_are_explained() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    assert_eq!(client.download(GUID).await, b"content");
    assert_eq!(client.get("/api/v2/resource/unknown").await.status(), 404);
    assert!(!Client::with_key(&server.api, "a-key-that-nobody-has").is_admitted().await);
    // A request is counted when it is over, which is a moment after the client has its answer.
    let expected = [
        "platen_http_requests_total{operation=\"add_resource\",status=\"200\"} 1",
        "platen_http_requests_total{operation=\"get_file\",status=\"404\"} 1",
        "platen_http_request_duration_seconds_count{operation=\"add_resource\"} 1",
        "platen_http_request_duration_seconds_bucket{operation=\"add_resource\",le=\"+Inf\"} 1",
        "platen_http_request_duration_seconds_bucket{operation=\"get_file\",le=\"60\"} 2",
        "platen_http_sent_bytes_total{operation=\"get_file\"} ",
        "platen_http_received_bytes_total{operation=\"add_resource\"} ",
        "platen_refusals_total{reason=\"resource_not_found\"} 1",
        "platen_refusals_total{reason=\"mis_key_invalid\"} 1",
        "platen_authentication_failures_total{reason=\"mis_key_invalid\"} 1",
        "platen_blob_operation_duration_seconds_count{operation=\"write\",outcome=\"ok\"} 1",
        "platen_blob_operation_duration_seconds_count{operation=\"read\",outcome=\"ok\"} 1",
    ];
    let mut text = String::new();
    eventually("all is counted", async || {
        text = metrics(&server).await;
        expected.iter().all(|line| text.contains(line))
    })
    .await;
    let value = |series: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(series)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!(value("platen_http_received_bytes_total{operation=\"add_resource\"}") > 200.0, "{text}");
    assert!(value("platen_http_sent_bytes_total{operation=\"get_file\"}") > 40.0, "{text}");
    assert!(value("platen_http_requests_running") >= 1.0, "the scrape itself is running: {text}");
    for line in text.lines().filter(|line| line.starts_with("# TYPE ")) {
        let name = line.split(' ').nth(2).unwrap();
        assert!(name.starts_with("platen_"), "{line}");
        assert!(text.contains(&format!("# HELP {name} ")), "{name} isn't explained: {text}");
    }
}
