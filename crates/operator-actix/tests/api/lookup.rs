//! Computers and the search.

use super::support::{Who, World};
use domain::testing::{ACME, acme_records, zenith_records};
use serde_json::json;

/// Decision I8.
#[actix_web::test]
async fn computers_are_listed_and_shown() {
    let world = World::new().await;
    let all = world.get("/computers", Who::Admin).await.body;
    let names: Vec<_> = all["items"].as_array().unwrap().iter().map(|item| item["name"].clone()).collect();
    assert_eq!(names, ["RIP-01", "RIP-02"], "{all}");
    for (query, count) in [
        ("q=rip-01", 1),
        ("q=ANN", 1),
        ("q=", 2),
        ("seen_since=2026-01-01T00:00:00Z", 0),
        ("organization=Acme%20Print", 1),
    ] {
        let listed = world.get(&format!("/computers?{query}"), Who::Admin).await.body;
        assert_eq!(listed["items"].as_array().unwrap().len(), count, "{query}: {listed}");
    }
    assert_eq!(world.get("/computers?seen_since=lately", Who::Admin).await.status.as_u16(), 400);
    let found = world.get(&World::example("/computers/{guid}", ACME), Who::ViewerOfAcme).await.body;
    assert_eq!(
        (&found["name"], &found["user"], &found["last_request"]),
        (&json!("RIP-01"), &json!("Ann"), &json!(null))
    );
    assert_eq!(found["crash_groups"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(world.get("/computers/no-guid", Who::Admin).await.status.as_u16(), 404);
}

/// Decision I12.
#[actix_web::test]
async fn the_timeline_of_a_computer_is_read_page_by_page() {
    let world = World::new().await;
    let path = World::example("/computers/{guid}/timeline", ACME);
    let page = world.get(&format!("{path}?limit=1"), Who::Admin).await.body;
    let event = &page["items"][0];
    assert_eq!((&event["kind"], &event["application_version"]), (&json!("crash"), &json!("9.0")), "{page}");
    assert!(event["crash_report"].is_string() && page["next"].is_null(), "{page}");
    assert_eq!(world.get(&format!("{path}?cursor=x"), Who::Admin).await.status.as_u16(), 400);
}

/// Decision P8: a search finds what the operator sees.
#[actix_web::test]
async fn a_search_says_what_something_is() {
    let world = World::new().await;
    let find = async |q: &str, who| {
        let found = world.get(&format!("/search?q={q}"), who).await.body;
        let items = found["items"].as_array().unwrap().clone();
        items.iter().map(|item| (item["kind"].clone(), item["name"].clone())).collect::<Vec<_>>()
    };
    let computer = acme_records().computer.to_string();
    assert_eq!(find(&computer, Who::Admin).await, [(json!("computer"), json!("RIP-01"))]);
    assert_eq!(find(&computer.to_uppercase(), Who::ViewerOfAcme).await.len(), 1);
    assert!(find(&computer, Who::AdminOfZenith).await.is_empty());
    assert!(find(&zenith_records().queue.to_string(), Who::AdminOfAcme).await.is_empty());
    assert_eq!(find("banner", Who::Admin).await, [(json!("queue"), json!("Banner"))]);
    assert!(find("", Who::Admin).await.is_empty());
    let report = World::example("/crash-reports/{id}", ACME).rsplit('/').next().unwrap().to_owned();
    assert_eq!(find(&report, Who::Admin).await, [(json!("crash_report"), json!("Rip"))]);
}
