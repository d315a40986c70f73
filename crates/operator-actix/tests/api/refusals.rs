//! Refusals for operators.

use super::support::{Who, World};
use actix_web::http::StatusCode;
use domain::inspection::InspectionRepository;
use domain::refusal::{NewRefusal, Owner, RefusalRepository};
use domain::testing::{ACME, ACME_SERIAL, a_refusal, acme_records, at};
use serde_json::{Value, json};

async fn filled() -> World {
    let world = World::new().await;
    let ids: Vec<_> = world.store.organizations(None).await.unwrap().into_iter().map(|one| one.id).collect();
    let stranger = || a_refusal(Owner::Address("192.0.2.1".to_owned()));
    let computer = Some(acme_records().computer);
    let refusals = [
        NewRefusal { at: at(1), computer, user: Some("Ann".to_owned()), ..a_refusal(Owner::Organization(ids[0])) },
        NewRefusal { at: at(2), detail: "of zenith".to_owned(), ..a_refusal(Owner::Organization(ids[1])) },
        NewRefusal { at: at(3), reason: "mis_key_invalid".to_owned(), ..stranger() },
        NewRefusal { at: at(4), computer, named: Some(ids[0]), ..stranger() },
        NewRefusal { at: at(5), serial_number: ACME_SERIAL.to_lowercase(), ..stranger() },
    ];
    RefusalRepository::add(&world.store, &refusals).await.unwrap();
    world
}

fn ids(body: &Value) -> Vec<i64> {
    body["items"].as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect()
}

#[actix_web::test]
async fn a_refusal_is_listed_with_what_it_means_and_whom_it_concerns() {
    let world = filled().await;
    let all = world.get("/refusals", Who::Viewer).await.body;
    assert_eq!((ids(&all), &all["next"]), (vec![5, 4, 3, 2, 1], &Value::Null));
    let guid = acme_records().computer.to_string();
    let computer = json!({ "guid": guid, "name": "RIP-01" });
    assert_eq!((&all["items"][0]["computer"], &all["items"][0]["probable_computer"]), (&Value::Null, &computer));
    let last = &all["items"][4];
    assert_eq!(
        (&last["computer"], &last["probable_computer"], &last["admitted"]),
        (&computer, &Value::Null, &json!(true))
    );
    assert_eq!((&last["organization"], &last["user"]), (&json!(ACME), &json!("Ann")));
    assert_eq!((&last["reason"], &last["status"]), (&json!("timestamp_invalid"), &json!(400)));
    assert!(last["meaning"].as_str().unwrap().contains("newer Timestamp"));
    assert!(last["advice"].as_str().unwrap().contains("clock"));
    assert_eq!(last["detail"], "the Timestamp is not newer");
}

#[actix_web::test]
async fn refusals_are_filtered_and_read_page_by_page() {
    let world = filled().await;
    let guid = acme_records().computer.to_string();
    for (query, expected) in [
        ("reason=mis_key_invalid".to_owned(), vec![3]),
        (format!("computer={guid}"), vec![4, 1]),
        ("organization=Acme%20Print".to_owned(), vec![4, 1]),
        ("since=2026-01-01T00:00:04Z&reason=&computer=&organization=".to_owned(), vec![5, 4]),
    ] {
        assert_eq!(ids(&world.get(&format!("/refusals?{query}"), Who::Admin).await.body), expected, "{query}");
    }
    let first = world.get("/refusals?limit=3", Who::Admin).await.body;
    let rest = world.get(&format!("/refusals?cursor={}", first["next"].as_str().unwrap()), Who::Admin).await.body;
    assert_eq!((ids(&first), ids(&rest)), (vec![5, 4, 3], vec![2, 1]));
    for (query, field) in [("computer=x", "computer"), ("since=x", "since"), ("cursor=x", "cursor")] {
        let refused = world.get(&format!("/refusals?{query}"), Who::Admin).await;
        assert_eq!((refused.status, &refused.body["errors"][0]["field"]), (StatusCode::BAD_REQUEST, &json!(field)));
    }
}

/// Decision P8.
#[actix_web::test]
async fn an_operator_of_one_organization_sees_its_refusals_only() {
    let world = filled().await;
    assert_eq!(ids(&world.get("/refusals", Who::ViewerOfAcme).await.body), [4, 1]);
    assert_eq!(ids(&world.get("/refusals", Who::AdminOfZenith).await.body), [2]);
    let other = world.get("/refusals?organization=Zenith%20Media", Who::ViewerOfAcme).await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);
}
