//! The server from its start on: what it makes, tells, applies and refuses.

use crate::support::client::Client;
use crate::support::content::{MIB, blocks};
use crate::support::raw::{Raw, head};
use crate::support::{ANNS_KEY, FLEET, Site, USED_RESOURCE, eventually};
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_start_tells_its_addresses_and_both_answer_for_its_health() {
    let site = Site::new();
    let server = site.serve_with(&[]).await;
    for (file, base) in [("api.bind", &server.api), ("ops.bind", &server.ops)] {
        assert_eq!(format!("http://{}", site.read(file)), *base);
        let client = Client::with_key(base, "");
        for path in ["/health/live", "/health/ready"] {
            assert_eq!(client.get(path).await.status(), 200, "{base}{path}");
        }
    }
    let metrics = Client::with_key(&server.ops, "").get("/metrics").await.text().await.unwrap();
    let build = format!("platen_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"));
    assert!(metrics.lines().any(|line| line == build), "{metrics}");
    site.run("healthcheck").succeeded();
    server.stop();
    assert!(site.run("healthcheck").failed(1).contains("does not answer"));
}

#[tokio::test]
async fn logs_are_json_without_a_terminal_and_name_the_addresses() {
    let site = Site::new();
    let server = site.serve_with(&[]).await;
    let log = site.read("server.err");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let serving = lines.iter().find(|line| line["message"] == "serving").expect("a line tells that it serves");
    assert_eq!(format!("http://{}", serving["api"].as_str().unwrap()), server.api);
    assert_eq!(format!("http://{}", serving["ops"].as_str().unwrap()), server.ops);
    let warned = lines.iter().any(|line| {
        line["level"] == "WARN" && line["message"].as_str().unwrap().contains("every request will be refused")
    });
    assert!(warned, "{log}");
    // Decision P2.
    let printed: Value =
        serde_json::from_str(&site.read("server.out")).expect("stdout is for the link of the first start");
    let (_, code) = printed["console"].as_str().unwrap().split_once("/console/setup?code=").expect("a link");
    assert!(code.len() == 64 && !log.contains(code), "{printed}");
    server.stop();

    site.configure("log.format = 'text'\nlog.level = 'warn,platen=info'");
    let server = site.serve_with(&[]).await;
    let log = site.read("server.err");
    let serving = log.lines().find(|line| line.contains("serving")).expect("a line tells that it serves");
    assert!(serving.contains(" INFO ") && serving.contains(server.api.trim_start_matches("http://")), "{serving}");
    assert!(!log.contains("actix_server") && !log.contains('\u{1b}'), "{log}");
}

#[tokio::test]
async fn a_store_that_is_gone_is_told_by_readiness_until_it_is_back() {
    let site = Site::new();
    let server = site.serve().await;
    let (blobs, away) = (site.blob_store(), site.blob_store().with_file_name("away"));
    fs::rename(&blobs, &away).unwrap();
    let client = Client::with_key(&server.ops, "");
    assert_eq!(client.get("/health/ready").await.status(), 503);
    assert_eq!(client.get("/health/live").await.status(), 200);
    let output = site.run("healthcheck").failed(1);
    assert!(output.starts_with("error: the server is not ready: ") && output.contains("503"), "{output}");
    assert!(site.read("server.err").contains("blob store: "), "the log tells which");
    fs::rename(&away, &blobs).unwrap();
    site.run("healthcheck").succeeded();
}

#[tokio::test]
async fn serving_with_a_fleet_file_prints_the_issued_keys_which_are_accepted() {
    let site = Site::new();
    site.write("ida.json", r#"{ "organizations": [ { "name": "Ink & Paper Co", "users": [ { "name": "Ida" } ] } ] }"#);
    let server = site.serve_with(&["--fleet", "ida.json"]).await;
    let printed = site.read("server.out");
    let [key, console] = printed.lines().collect::<Vec<_>>()[..] else { panic!("{printed}") };
    assert!(console.starts_with("{\"console\":"), "{console}");
    let key: Value = serde_json::from_str(key).unwrap();
    assert_eq!(key["user"], "Ida");
    assert!(Client::with_key(&server.api, key["mis_key"].as_str().unwrap()).is_admitted().await);
    assert!(!site.read("server.err").contains(key["mis_key"].as_str().unwrap()));
}

#[tokio::test]
async fn the_fleet_of_the_readme_is_accepted() {
    let site = Site::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fleet.json");
    fs::copy(example, site.path("fleet.json")).unwrap();
    let server = site.serve().await;
    assert!(Client::with_key(&server.api, "demo-key-of-ann-at-acme-print").is_admitted().await);
    assert!(Client::on_computer(&server.api, "demo-hardware-hash-of-rip-01", "SN-1000").is_admitted().await);
}

#[tokio::test]
async fn what_a_queue_of_the_fleet_file_uses_is_kept_until_it_no_longer_does() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    client.upload(USED_RESOURCE, "Label", b"content").await;
    let path = format!("/api/v2/resource/{USED_RESOURCE}");
    assert_eq!(client.delete(&path).await.status(), 400);
    site.write("fleet.json", &FLEET.replace(&format!("[\"{USED_RESOURCE}\"]"), "[]"));
    site.run("fleet apply fleet.json").succeeded();
    assert_eq!(client.delete(&path).await.status(), 200);
}

#[tokio::test]
async fn a_base_path_stands_before_the_interface_only() {
    let site = Site::new();
    site.configure("http.base_path = '/print/shop/'");
    let server = site.serve().await;
    let client = server.client();
    assert_eq!(client.get("/print/shop/api/v2").await.status(), 200);
    assert_eq!(client.get("/api/v2").await.status(), 404);
    assert_eq!(client.get("/health/live").await.status(), 200);
}

#[tokio::test]
async fn a_port_that_is_taken_ends_with_one_and_names_the_key() {
    let site = Site::new();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap().to_string();
    for (variable, key) in [("PLATEN_HTTP__BIND", "http.bind"), ("PLATEN_OPS__BIND", "ops.bind")] {
        let output = site.run_with(["serve"], &[(variable, &address)]).failed(1);
        assert!(output.starts_with(&format!("error: cannot listen on {address} ({key}): ")), "{output}");
    }
    assert!(!site.path("data").exists(), "nothing was touched");
}

#[tokio::test]
async fn a_database_of_a_newer_version_ends_every_command_with_one() {
    let site = Site::new();
    site.run("migrate").succeeded();
    site.sql("INSERT INTO seaql_migrations (version, applied_at) VALUES ('9999_from_the_future', 0)").await;
    let commands = ["migrate", "serve", "fleet apply fleet.json", "fleet export", "blobs check"];
    let key = ["key issue --organization A --user B", "key revoke --organization A --user B"];
    for line in commands.into_iter().chain(key) {
        let output = site.run(line).failed(1);
        assert!(output.contains("newer"), "{line}: {output}");
    }
}

#[tokio::test]
async fn a_revoked_key_is_refused_by_the_running_server_within_five_seconds() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    assert!(client.is_admitted().await);
    site.run_with(["key", "revoke", "--organization", "Acme Print", "--user", "Ann"], &[]).succeeded();
    let since = Instant::now();
    eventually("the key is refused", async || !client.is_admitted().await).await;
    assert!(since.elapsed() < Duration::from_secs(5), "decision A6: {:?}", since.elapsed());

    let issued = site.run_with(["key", "issue", "--organization", "Acme Print", "--user", "Ann"], &[]).succeeded();
    let key: Value = serde_json::from_str(&issued).unwrap();
    let client = Client::with_key(&server.api, key["mis_key"].as_str().unwrap());
    let since = Instant::now();
    eventually("the new key is accepted", async || client.is_admitted().await).await;
    assert!(since.elapsed() < Duration::from_secs(5), "decision A6: {:?}", since.elapsed());
    assert!(!Client::with_key(&server.api, ANNS_KEY).is_admitted().await);
}

/// A download that received all bytes of a content has ended: the second time it is copied, and what comes next is
/// answered from memory (ADR 56). On one connection, on which nothing is answered before the former answer is over.
#[tokio::test]
async fn what_was_downloaded_whole_is_read_from_the_store_twice() {
    let site = Site::new();
    let server = site.serve().await;
    let content = blocks(3).collect::<Vec<_>>().concat();
    server.client().upload(USED_RESOURCE, "Label", &content).await;
    let mut connection = Raw::connect(&server);
    for _ in 0..4 {
        connection.send(head("GET", &format!("/api/v2/resource/{USED_RESOURCE}"), ""));
        let answer = connection.answer().expect("an answer");
        assert_eq!(answer.header("Content-Length"), Some((3 * MIB).to_string().as_str()));
        assert!(answer.body == content, "{} bytes", answer.body.len());
    }
    let metrics = Client::with_key(&server.ops, "").get("/metrics").await.text().await.unwrap();
    for (outcome, count) in [("miss", 2), ("hit", 2)] {
        let line = format!("platen_cache_requests_total{{cache=\"content\",outcome=\"{outcome}\"}} {count}");
        assert!(metrics.lines().any(|other| other == line), "{line}: {metrics}");
    }
}
