//! Crash groups and crash reports.

use super::support::{Answer, Who, World};
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG};
use domain::testing::ZENITH;
use serde_json::json;

/// The value of a header.
fn header(answer: &Answer, name: actix_web::http::header::HeaderName) -> &str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// Decision I5.
#[actix_web::test]
async fn groups_are_listed_with_their_numbers_and_filtered() {
    let world = World::new().await;
    let all = world.get("/crash-groups", Who::Admin).await.body;
    let items = all["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["state"], &items[0]["reports"]), (2, &json!("new"), &json!(1)), "{all}");
    assert_eq!(items[0]["daily"].as_array().unwrap().len(), 30);
    for (query, count) in [
        ("state=new", 2),
        ("state=resolved", 0),
        ("q=SPOOLER", 2),
        ("application=Rip&sort=reports", 2),
        ("application=rip", 0),
        ("state=&q=&application=&sort=&organization=", 2),
        ("organization=Zenith%20Media", 1),
    ] {
        let listed = world.get(&format!("/crash-groups?{query}"), Who::Admin).await.body;
        assert_eq!(listed["items"].as_array().unwrap().len(), count, "{query}: {listed}");
    }
    for (query, field) in [("state=closed", "state"), ("sort=name", "sort"), ("computer=x", "computer")] {
        let refused = world.get(&format!("/crash-groups?{query}"), Who::Admin).await;
        assert_eq!((refused.status.as_u16(), &refused.body["errors"][0]["field"]), (400, &json!(field)));
    }
    let path = World::example("/crash-groups/{id}", ZENITH);
    let found = world.get(&path, Who::Admin).await.body;
    assert_eq!(
        (&found["organization"], &found["by_version"]),
        (&json!(ZENITH), &json!([{ "value": "9.0", "reports": 1 }]))
    );
}

/// Decision P9: and of two people the second learns that it changed.
#[actix_web::test]
async fn the_state_of_a_group_is_changed_with_the_version_that_was_read() {
    let world = World::new().await;
    let path = World::example("/crash-groups/{id}", ZENITH);
    let read = world.get(&path, Who::Admin).await;
    let tag = header(&read, ETAG).to_owned();
    assert!(tag.starts_with('"') && tag.len() == 18, "{tag}");
    let resolved = json!({ "state": "resolved", "resolved_in": " 9.4 " });
    let changed = world.patch(&path, Who::AdminOfZenith, &[("if-match", &tag)], &resolved).await;
    assert_eq!(changed.status.as_u16(), 200, "{}", changed.body);
    assert_eq!((&changed.body["state"], &changed.body["resolved_in"]), (&json!("resolved"), &json!("9.4")));
    assert_ne!(header(&changed, ETAG), tag);
    let new = json!({ "state": "new" });
    let stale = world.patch(&path, Who::Admin, &[("if-match", &tag)], &new).await;
    assert_eq!((stale.status.as_u16(), &stale.body["title"]), (412, &json!("Precondition Failed")));
    let weak = format!("W/{}", header(&changed, ETAG));
    assert_eq!(world.patch(&path, Who::Admin, &[("if-match", &weak)], &new).await.status.as_u16(), 412);
    for headers in [&[("if-match", "*")][..], &[]] {
        assert_eq!(world.patch(&path, Who::Admin, headers, &new).await.status.as_u16(), 200);
    }
    for (body, field) in [
        (json!({ "state": "regressed" }), "state"),
        (json!({ "state": "new", "resolved_in": "9" }), "resolved_in"),
        (json!({ "state": "resolved", "resolved_in": "9".repeat(100_000) }), "resolved_in"),
        (json!({ "status": "new" }), "body"),
        (json!("new"), "body"),
    ] {
        let refused = world.patch(&path, Who::Admin, &[], &body).await;
        assert_eq!((refused.status.as_u16(), &refused.body["errors"][0]["field"]), (400, &json!(field)), "{body}");
    }
    let records = world.get("/audit?what=crash_group.changed", Who::AdminOfZenith).await.body;
    let records = records["items"].as_array().unwrap();
    assert_eq!(records.len(), 2, "{records:?}");
    assert_eq!(records[1]["values"][0], json!({ "member": "state", "before": "new", "after": "resolved" }));
    assert!(records[1]["on"].as_str().unwrap().starts_with("crash group "));
    let viewer = world.patch(&path, Who::Viewer, &[], &new).await;
    assert_eq!(viewer.status.as_u16(), 403);
}

/// Decisions I4, I6.
#[actix_web::test]
async fn a_report_is_shown_with_signature_frames_and_parts() {
    let world = World::new().await;
    let listed = world.get("/crash-reports?version=9.0&organization=Acme%20Print", Who::Admin).await.body;
    let item = &listed["items"][0];
    assert_eq!((&item["application"], &item["signature"]), (&json!("Rip"), &json!("Spooler::render")), "{listed}");
    let group = item["group"].as_str().unwrap();
    let of_group = world.get(&format!("/crash-reports?group={group}"), Who::AdminOfAcme).await.body;
    assert_eq!(of_group["items"].as_array().unwrap().len(), 1);
    for query in ["group=x", "computer=x", "from=yesterday", "to=1"] {
        assert_eq!(world.get(&format!("/crash-reports?{query}"), Who::Admin).await.status.as_u16(), 400, "{query}");
    }
    let path = World::example("/crash-reports/{id}", domain::testing::ACME);
    let found = world.get(&path, Who::Admin).await.body;
    let roles: Vec<_> = found["frames"].as_array().unwrap().iter().map(|frame| frame["role"].clone()).collect();
    assert!(roles.contains(&json!("end")), "{found}");
    assert_eq!(
        (&found["basis"], &found["minidump"], &found["parts"][0]["number"]),
        (&json!("frames"), &json!(null), &json!(1))
    );
    assert_eq!(world.get("/crash-reports/no-guid", Who::Admin).await.status.as_u16(), 404);
}

/// Decision P7.
#[actix_web::test]
async fn a_part_is_a_file_without_a_path() {
    let world = World::new().await;
    let path = World::example("/crash-reports/{id}/parts/{number}", domain::testing::ACME);
    let part = world.get(&path, Who::ViewerOfAcme).await;
    assert_eq!((part.status.as_u16(), header(&part, CONTENT_TYPE)), (200, "application/octet-stream"));
    let disposition = header(&part, CONTENT_DISPOSITION);
    assert!(disposition.starts_with("attachment; filename=\"") && !disposition.contains(['/', '\\']), "{disposition}");
    assert!(String::from_utf8_lossy(&part.bytes).contains("Spooler::render"));
    for number in ["0", "2", "-1", "x", "99999999999999999999999"] {
        let other = format!("{}/{number}", path.rsplit_once('/').unwrap().0);
        assert_eq!(world.get(&other, Who::Admin).await.status.as_u16(), 404, "{number}");
    }
}
