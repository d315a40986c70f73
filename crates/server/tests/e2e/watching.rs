//! How a running server is watched: what it counts, what it refused, the traces that it exports.

use crate::support::client::Client;
use crate::support::collector::Collector;
use crate::support::{ANNS_KEY, COMPUTER, Server, Site, eventually};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use serde_json::{Value, json};

/// The ApplicationVersion that the clients send.
const VERSION: &str = "1.2.3";

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
        "platen_refusals_total{organization=\"Acme Print\",reason=\"resource_not_found\"} 1",
        "platen_refusals_total{organization=\"\",reason=\"mis_key_invalid\"} 1",
        "platen_authentication_failures_total{reason=\"mis_key_invalid\"} 1",
        "platen_devices{organization=\"Acme Print\",status=\"never_seen\"} 1",
        "platen_devices_silent{organization=\"Acme Print\"} 0",
        "platen_database_size_bytes ",
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
        assert!(name.starts_with("platen_") || name.starts_with("process_"), "{line}");
        assert!(text.contains(&format!("# HELP {name} ")), "{name} isn't explained: {text}");
    }
}

#[tokio::test]
async fn the_process_and_the_free_space_of_its_disks_are_in_the_metrics() {
    let site = Site::new();
    let server = site.serve().await;
    let value = |text: &str, series: &str| -> Option<f64> {
        text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
    };
    let mut series = vec!["process_resident_memory_bytes", "process_open_fds", "process_start_time_seconds"];
    if !site.is_on_postgres() {
        // PostgreSQL and S3 have their own disks.
        series.extend(["platen_disk_free_bytes{store=\"blobs\"}", "platen_disk_free_bytes{store=\"database\"}"]);
    }
    eventually("they are collected", async || {
        let text = metrics(&server).await;
        series.iter().all(|series| value(&text, series).is_some_and(|value| value > 0.0))
    })
    .await;
}

#[tokio::test]
async fn the_last_refusals_are_listed_from_the_command_line() {
    let site = Site::new();
    let server = site.serve().await;
    let unknown = format!("/api/v2/resource/{GUID}");
    assert_eq!(server.client().get(&unknown).await.status(), 404);
    let on_computer = Client::on_computer(&server.api, "HH-0001", "SN-1000");
    assert_eq!(on_computer.delete(&unknown).await.status(), 404);
    let wrong = "a-key-that-nobody-has";
    assert!(!Client::with_key(&server.api, wrong).is_admitted().await);
    let listed = |options: &str| -> Vec<Value> {
        let lines = site.run(&format!("refusals --json {options}")).succeeded();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    // The computer is known by its hash, but was sent under another serial number.
    let misplaced = Client::on_computer(&server.api, "HH-0001", "SN-2000");
    assert!(!misplaced.is_admitted().await);
    eventually("the refusals are recorded", async || listed("").len() == 4).await;
    let reasons = |options: &str| -> Vec<String> {
        listed(options).iter().map(|refused| refused["reason"].as_str().unwrap().to_owned()).collect()
    };
    let expected = ["hardware_hash_invalid", "mis_key_invalid", "resource_to_delete_not_found", "resource_not_found"];
    assert_eq!(reasons(""), expected);
    assert_eq!(reasons("--since 1h").len(), 4);
    assert_eq!(reasons(&format!("--computer {COMPUTER}")), ["hardware_hash_invalid", "resource_to_delete_not_found"]);
    let all = listed("");
    assert_eq!((&all[0]["organization"], &all[0]["computer"]), (&json!("Acme Print"), &json!(COMPUTER)));
    assert_eq!((&all[0]["serial_number"], &all[0]["admitted"]), (&json!("SN-2000"), &json!(false)));
    assert_eq!((&all[1]["organization"], &all[1]["address"]), (&Value::Null, &json!("127.0.0.1")));
    assert_eq!((&all[2]["serial_number"], &all[2]["admitted"]), (&json!("SN-1000"), &json!(true)));
    assert_eq!((&all[3]["organization"], &all[3]["user"]), (&json!("Acme Print"), &json!("Ann")));
    for refused in &all {
        assert_eq!(refused["application_version"], json!(VERSION), "{refused}");
    }
    let of_acme = site.run_with(["refusals", "--organization", "Acme Print"], &[]).succeeded();
    let lines: Vec<&str> = of_acme.lines().collect();
    assert!(lines.len() == 4 && lines[0].starts_with("TIME "), "{of_acme}");
    assert!(lines[0].contains("  SERIAL") && lines[0].contains("  VERSION"), "{of_acme}");
    assert!(lines[1].contains("Acme Print / RIP-01 / 127.0.0.1"), "{of_acme}");
    assert!(lines[1].contains("  SN-2000 ") && lines[1].contains(VERSION), "{of_acme}");
    assert!(lines[2].contains("delete_resource") && lines[2].contains("RIP-01"), "{of_acme}");
    assert!(lines[3].contains("Acme Print / Ann") && lines[3].contains("get_file"), "{of_acme}");
    let folded = site.run_with(["refusals", "--organization", "acme print"], &[]).succeeded();
    assert_eq!(folded, of_acme);
    let unregistered = site.run_with(["refusals", "--organization", "acme printers"], &[]).failed(1);
    assert!(unregistered.ends_with("organization \"acme printers\" is not registered"), "{unregistered}");
    for answer in [of_acme, format!("{all:?}"), site.run("refusals").succeeded()] {
        assert!(!answer.contains(wrong) && !answer.contains(ANNS_KEY) && !answer.contains("HH-0001"), "{answer}");
    }
    let text = metrics(&server).await;
    assert!(text.contains("platen_refusal_records_total{outcome=\"kept\"} 4"), "{text}");

    // What waits to be written when the server is stopped is not lost.
    assert_eq!(server.client().get(&unknown).await.status(), 404);
    server.stop();
    assert_eq!(listed("").len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_a_span_of_its_clients_trace_at_the_collector() {
    let collector = Collector::start().await;
    let site = Site::new();
    site.configure(&format!("telemetry.otlp_endpoint = '{}'", collector.url));
    let server = site.serve().await;
    let ask = |flags: &str| {
        let parent = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}");
        server.client().post("/api/v2/log").header("traceparent", parent).header("X-Request-Id", flags).send()
    };
    assert_eq!(ask("01").await.unwrap().status(), 415);
    assert_eq!(ask("00").await.unwrap().status(), 415);
    let log = site.read("server.err");
    // The last spans are sent before the process ends.
    server.stop();
    let exports = collector.exports();
    let service = exports[0].resource_spans[0].resource.as_ref().unwrap();
    assert_eq!(text_of(&service.attributes, "service.name").as_deref(), Some("platen"));
    let spans = exports.iter().flat_map(|export| &export.resource_spans).flat_map(|of| &of.scope_spans);
    let spans: Vec<_> = spans.flat_map(|of| &of.spans).collect();
    let span = |id: &str| {
        spans.iter().find(|span| text_of(&span.attributes, "platen.request_id").as_deref() == Some(id)).copied()
    };
    let traced = span("01").expect("the request is exported");
    assert_eq!(traced.name, "add_log");
    assert_eq!(traced.trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes());
    assert_eq!(traced.parent_span_id, 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes());
    assert!(traced.span_id.len() == 8 && traced.span_id != traced.parent_span_id);
    assert!(traced.end_time_unix_nano >= traced.start_time_unix_nano && traced.start_time_unix_nano > 0);
    assert_eq!(text_of(&traced.attributes, "error.type").as_deref(), Some("json_expected"));
    assert_eq!(text_of(&traced.attributes, "platen.organization").as_deref(), Some("Acme Print"));
    assert!(span("00").is_none(), "a trace that its client doesn't record isn't recorded by us");
    let begun = spans.iter().find(|span| span.name == "health_ready").expect("a trace begins here where none was sent");
    assert!(begun.parent_span_id.is_empty() || begun.parent_span_id == [0; 8]);
    assert!(log.contains("\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\""), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_gone_hinders_nothing() {
    let site = Site::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    site.configure(&format!("telemetry.otlp_endpoint = 'http://{closed}'"));
    let server = site.serve().await;
    assert!(server.client().is_admitted().await);
    server.stop();
    assert!(site.read("server.err").contains("BatchSpanProcessor.ExportError"));
}

fn text_of(attributes: &[KeyValue], key: &str) -> Option<String> {
    let value = attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()?.value.as_ref()?;
    if let any_value::Value::StringValue(text) = value { Some(text.clone()) } else { None }
}
