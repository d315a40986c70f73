//! Last seen, who has which content, and timelines (decisions I8, I9 and I12).

use super::lines;
use crate::support::client::Client;
use crate::support::{COMPUTER, Site, eventually};
use reqwest::Method;
use serde_json::{Value, json};

const GUID: &str = "11111111-2222-4333-8444-555555555555";
const LARGE: &str = "11111111-2222-4333-8444-777777777777";

fn holder<'a>(holders: &'a [Value], name: &str) -> &'a Value {
    holders.iter().find(|holder| holder["name"] == name).unwrap()
}

#[tokio::test]
async fn what_a_computer_fetched_is_known_once_it_has_it_whole() {
    let site = Site::new();
    let server = site.serve().await;
    let (ann, rip) = (server.client(), Client::on_computer(&server.api, "HH-0001", "SN-1000"));
    ann.upload(GUID, "Label", b"first").await;
    ann.upload(LARGE, "Large", &vec![7; 64 * 1024 * 1024]).await;
    let path = format!("/api/v2/resource/{GUID}");

    // Neither the head, nor a part, nor what broke off counts.
    let head = rip.request(Method::HEAD, &path).send().await.unwrap();
    assert_eq!(head.status(), 200);
    let part = rip.request(Method::GET, &path).header("Range", "bytes=0-1").send().await.unwrap();
    assert_eq!(part.status(), 206);
    let mut broken = rip.get(&format!("/api/v2/resource/{LARGE}")).await;
    broken.chunk().await.unwrap();
    drop(broken);
    let any = rip.request(Method::GET, &path).header("If-None-Match", "*").send().await.unwrap();
    assert_eq!(any.status(), 304);
    ann.get(&path).await.bytes().await.unwrap();

    let of_acme = ["resources", "holders", GUID, "--organization", "Acme Print", "--json"];
    let ann_has_it = async || lines(&site, &of_acme).len() == 2;
    eventually("it is stored within 10 seconds", ann_has_it).await;
    let holders = lines(&site, &of_acme);
    assert_eq!(holder(&holders, "RIP-01")["state"], "never_fetched");
    let ann_of = holder(&holders, "Ann");
    assert_eq!((&ann_of["state"], &ann_of["serial_number"]), (&json!("current"), &json!("SN-CLIENT")));

    rip.get(&path).await.bytes().await.unwrap();
    ann.upload(GUID, "Label", b"second").await;
    let etag = format!("\"{}\"", crate::support::content::sha1(b"second"));
    let not_modified = ann.request(Method::GET, &path).header("If-None-Match", etag).send().await.unwrap();
    assert_eq!(not_modified.status(), 304);
    // The rest is stored when the server ends.
    server.stop();
    let holders = lines(&site, &of_acme);
    assert_eq!(holder(&holders, "RIP-01")["state"], "outdated");
    assert_eq!(holder(&holders, "Ann")["state"], "current");
    let outdated = [&of_acme[..], &["--state", "outdated"]].concat();
    assert_eq!(lines(&site, &outdated).len(), 1);
    let large = ["resources", "holders", LARGE, "--organization", "Acme Print", "--json"];
    assert_eq!(lines(&site, &large).len(), 1, "only the computer that never fetched it");

    let shown = lines(&site, &["computers", "show", "RIP-01", "--json"]).remove(0);
    assert_eq!((&shown["address"], &shown["application_version"]), (&json!("127.0.0.1"), &json!("1.2.3")));
    assert_eq!(shown["outdated_resources"][0]["resource"], GUID);
    let timeline = lines(&site, &["computers", "timeline", "RIP-01", "--json"]);
    assert_eq!((timeline.len(), &timeline[0]["kind"], &timeline[0]["name"]), (1, &json!("fetch"), &json!("Label")));
}

#[tokio::test]
async fn a_timeline_shows_entries_refusals_and_changes_in_one_order() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    for (word, description) in [("Idle", "first"), ("Error", "second")] {
        let status = json!({
            "DeviceGUID": crate::support::DEVICE, "Status": word, "QueueLength": { "Sheets": 1 },
        });
        client.post_json("/api/v2/device/status", &status).await;
        let entry = json!({
            "ComputerGUID": COMPUTER, "DeviceGUID": crate::support::DEVICE, "Type": "log", "Description": description,
        });
        client.post_json("/api/v2/log", &entry).await;
    }
    let events = lines(&site, &["devices", "timeline", crate::support::DEVICE, "--json"]);
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["log", "status", "log", "status"], "{events:?}");
    assert_eq!((&events[0]["description"], &events[1]["status"]), (&json!("second"), &json!("Error")));
    let of_computer = lines(&site, &["computers", "timeline", "RIP-01", "--json", "--limit", "1"]);
    assert_eq!((of_computer.len(), &of_computer[0]["description"]), (1, &json!("second")));
}
