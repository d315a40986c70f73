//! Devices and the overview.

use super::support::{Who, World};
use domain::testing::{acme_records, zenith_records};
use serde_json::{Value, json};

async fn names(world: &World, query: &str) -> Vec<String> {
    let listed = world.get(&format!("/devices?{query}"), Who::Viewer).await.body;
    let names = listed["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned());
    names.collect()
}

#[actix_web::test]
async fn a_device_has_its_status_with_its_age_and_its_inks() {
    // Decision I3.
    let world = World::new().await;
    world.clock.advance(std::time::Duration::from_mins(1));
    let path = format!("/devices/{}", acme_records().device);
    let device = world.get(&path, Who::AdminOfAcme).await.body;
    assert_eq!(
        (&device["status"], &device["age_seconds"], &device["is_silent"]),
        (&json!("Error"), &json!(60), &json!(false))
    );
    assert_eq!((&device["attention"], &device["organization"]), (&json!("error"), &json!("Acme Print")));
    assert_eq!(device["queue"], json!({ "measure": "length", "amount": 0.0 }));
    let cyan = json!({
        "index": 1.0, "name": "Cyan", "level": 410.0, "max_level": 800.0, "per_day": null, "empties_at": null
    });
    assert_eq!(device["inks"][0], cyan);
    assert_eq!(device["inks"][1]["level"], Value::Null, "it isn't known");
    world.clock.advance(std::time::Duration::from_mins(15));
    let later = world.get(&path, Who::AdminOfAcme).await.body;
    assert_eq!((&later["is_silent"], &later["attention"]), (&json!(true), &json!("silent")));
    for unknown in ["/devices/nonsense", "/devices/00000000-0000-0000-0000-000000000001"] {
        assert_eq!(world.get(unknown, Who::Admin).await.status, 404, "{unknown}");
    }
}

#[actix_web::test]
async fn devices_are_filtered_and_sorted() {
    let world = World::new().await;
    assert_eq!(names(&world, "").await, ["Latex 1", "Flatbed"], "who needs somebody comes first");
    assert_eq!(names(&world, "sort=name&status=&q=").await, ["Flatbed", "Latex 1"]);
    assert_eq!(names(&world, "status=printing,Idle").await, ["Flatbed"]);
    assert_eq!(names(&world, "silent=true").await, Vec::<String>::new());
    assert_eq!(names(&world, "q=latex&attention=error&seen=true").await, ["Latex 1"]);
    assert_eq!(names(&world, "organization=Zenith%20Media").await, ["Flatbed"]);
    for wrong in ["status=Broken", "silent=yes", "seen=1", "attention=none", "sort=age", "cursor=1"] {
        let answer = world.get(&format!("/devices?{wrong}"), Who::Viewer).await;
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.body);
    }
    let foreign = world.get("/devices?organization=Zenith%20Media", Who::AdminOfAcme).await;
    assert_eq!(foreign.status, 404, "decision P8");
}

/// Decisions I1 and I12.
#[actix_web::test]
async fn a_device_has_a_history_and_a_timeline() {
    let world = World::new().await;
    let path = |piece: &str| format!("/devices/{}/{piece}", zenith_records().device);
    let history = world.get(&path("history"), Who::AdminOfZenith).await.body;
    assert_eq!((&history["changes"][0]["status"], &history["is_cut"]), (&json!("Printing"), &json!(false)));
    assert_eq!(history["samples"][0]["inks"][0]["level"], json!(410.0));
    let before = world.get(&path("history?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"), Who::Admin).await.body;
    assert_eq!((&before["changes"], &before["samples"]), (&json!([]), &json!([])));
    for wrong in ["history?from=yesterday", "history?from=2020-01-02T00:00:00Z&to=2020-01-01T00:00:00Z"] {
        assert_eq!(world.get(&path(wrong), Who::Admin).await.status, 400, "{wrong}");
    }
    let timeline = world.get(&path("timeline"), Who::AdminOfZenith).await.body;
    assert_eq!(timeline["items"].as_array().map(Vec::len), Some(1), "{timeline}");
}

#[actix_web::test]
async fn the_overview_counts_what_the_operator_sees() {
    // Decision P8.
    let world = World::new().await;
    let all = world.get("/overview", Who::Viewer).await.body;
    assert_eq!(
        (&all["devices"]["all"], &all["devices"]["error"], &all["devices"]["printing"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!(all["needing"][0]["name"], json!("Latex 1"));
    assert_eq!(all["log_entries"].as_array().map(Vec::len), Some(24));
    let own = world.get("/overview", Who::AdminOfZenith).await.body;
    assert_eq!((&own["devices"]["all"], &own["needing"]), (&json!(1), &json!([])));
    assert_eq!(world.get("/overview?organization=Zenith%20Media", Who::Admin).await.body["devices"]["all"], json!(1));
    assert_eq!(world.get("/overview?organization=Zenith%20Media", Who::AdminOfAcme).await.status, 404);
}
