//! Resources by the operator API.

use super::support::{Who, World};
use actix_web::http::StatusCode;
use domain::activity::{ActivityRepository, Fetch, Holder, ResourceKey};
use domain::inspection::InspectionRepository;
use domain::testing::{ACME, a_resource, acme_records, at, resource_guid};
use serde_json::{Value, json};

const ONE: &str = "/resources/Acme%20Print/00000000-0000-0000-0000-000000000001";

fn names(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[actix_web::test]
async fn resources_are_listed_and_filtered() {
    let world = World::new().await;
    let page = world.get("/resources", Who::Admin).await.body;
    let expected = json!({
        "organization": ACME, "guid": resource_guid(1).to_string(), "type": "Label", "name": "Acme profile",
        "domain": "Private", "size": 240, "checksum": a_resource(1).checksum.to_string(),
        "modified": "2026-01-01T00:00:00.000000Z",
    });
    assert_eq!(page["items"][0], expected);
    let guid = format!("q={}", resource_guid(2));
    for (query, expected) in [
        ("q=ZENITH", vec!["Zenith profile"]),
        (&guid, vec!["Zenith profile"]),
        ("organization=Acme%20Print&type=label&domain=private", vec!["Acme profile"]),
        ("organization=&type=&domain=&q=", vec!["Acme profile", "Zenith profile"]),
        ("type=Template", vec![]),
        ("domain=Public", vec![]),
    ] {
        assert_eq!(names(&world.get(&format!("/resources?{query}"), Who::Admin).await.body), expected, "{query}");
    }
    for (query, field) in [("domain=Secret", "domain"), ("limit=0", "limit"), ("cursor=x", "cursor")] {
        let answer = world.get(&format!("/resources?{query}"), Who::Admin).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert_eq!(answer.body["errors"][0]["field"], field);
    }
}

#[actix_web::test]
async fn a_resource_is_shown_with_its_metadata_and_what_uses_it() {
    let world = World::new().await;
    let acme = world.store.organizations(Some(ACME.to_owned())).await.unwrap()[0].id;
    let used = acme_records().used_by_queue;
    world.add_resource(acme, used.as_uuid().as_u128(), "<b>\u{202e}Banner\"", b"a").await;
    let shown = world.get(&format!("/resources/Acme%20Print/{used}"), Who::ViewerOfAcme).await.body;
    assert_eq!(shown["name"], "<b>\u{202e}Banner\"");
    assert_eq!(shown["meta"], json!({ "Name": "<b>\u{202e}Banner\"" }));
    let queue = json!({ "kind": "queue", "guid": acme_records().queue.to_string(), "name": "Banner" });
    assert_eq!(shown["used_by"], json!([queue]));
    for path in ["/resources/Acme%20Print/no-guid", "/resources/Acme%20Print/00000000-0000-0000-0000-0000000000ff"] {
        assert_eq!(world.get(path, Who::Admin).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

/// Decision P7.
#[actix_web::test]
async fn a_content_is_a_download_whatever_it_is() {
    let world = World::new().await;
    let acme = world.store.organizations(Some(ACME.to_owned())).await.unwrap()[0].id;
    world.add_resource(acme, 9, "../<script>alert(1)</script>.html", b"<script>alert(1)</script>").await;
    let path = "/resources/Acme%20Print/00000000-0000-0000-0000-000000000009/content";
    let answer = world.get(path, Who::ViewerOfAcme).await;
    let header = |name: &str| answer.headers.get(name).unwrap().to_str().unwrap();
    assert_eq!(header("content-type"), "application/octet-stream");
    assert_eq!(header("content-disposition"), r#"attachment; filename="_..__script_alert(1)__script_.html""#);
    assert_eq!((header("x-content-type-options"), header("cache-control")), ("nosniff", "no-store"));
    assert_eq!(answer.bytes, b"<script>alert(1)</script>");
}

/// Decision I9.
#[actix_web::test]
async fn holders_are_listed_by_state() {
    let world = World::new().await;
    let acme = world.store.organizations(Some(ACME.to_owned())).await.unwrap()[0].id;
    let key = ResourceKey { organization: acme, guid: resource_guid(1) };
    let fetch = Fetch { checksum: a_resource(7).checksum, at: at(60) };
    let computer = Holder::Computer(acme, acme_records().computer);
    let ann = Holder::User { organization: acme, name: "Ann".to_owned(), serial_number: "SN-7".to_owned() };
    let now = Fetch { checksum: a_resource(1).checksum, at: at(61) };
    world.store.store_fetches(&[((computer, key), fetch), ((ann, key), now)]).await.unwrap();
    let page = world.get(&format!("{ONE}/holders"), Who::AdminOfAcme).await.body;
    let expected = json!([
        {
            "computer": acme_records().computer.to_string(), "name": "RIP-01", "serial_number": null,
            "state": "outdated", "fetched": "2026-01-01T00:01:00.000000Z", "checksum": fetch.checksum.to_string(),
        },
        {
            "computer": null, "name": "Ann", "serial_number": "SN-7",
            "state": "current", "fetched": "2026-01-01T00:01:01.000000Z", "checksum": now.checksum.to_string(),
        },
    ]);
    assert_eq!(page, json!({ "items": expected, "next": null }));
    let current = world.get(&format!("{ONE}/holders?state=current"), Who::Admin).await.body;
    assert_eq!(names(&current), ["Ann"]);
    let first = world.get(&format!("{ONE}/holders?limit=1"), Who::Admin).await.body;
    let rest = format!("{ONE}/holders?limit=1&cursor={}", first["next"].as_str().unwrap());
    assert_eq!(names(&world.get(&rest, Who::Admin).await.body), ["Ann"]);
    let of_zenith = world.get(&format!("{ONE}/holders?organization=Zenith%20Media"), Who::Admin).await.body;
    assert_eq!(of_zenith["items"][0]["state"], "never_fetched");
    let foreign = world.get(&format!("{ONE}/holders?organization=Zenith%20Media"), Who::AdminOfAcme).await;
    assert_eq!(foreign.status, StatusCode::NOT_FOUND, "decision P8");
    assert_eq!(world.get(&format!("{ONE}/holders?state=old"), Who::Admin).await.status, StatusCode::BAD_REQUEST);
}

/// Decision I11.
#[actix_web::test]
async fn the_facts_of_a_colour_profile_are_shown() {
    let world = World::new().await;
    let facts = world.get(&format!("{ONE}/icc"), Who::ViewerOfAcme).await.body;
    assert_eq!((&facts["version"], &facts["size"]), (&json!("4.3"), &json!(240)));
    assert_eq!((&facts["gamut"], &facts["has_declared_size"]), (&json!([[60.5, -20.0]]), &json!(false)));
    let acme = world.store.organizations(Some(ACME.to_owned())).await.unwrap()[0].id;
    world.add_resource(acme, 9, "A label", b"no profile").await;
    let none = world.get("/resources/Acme%20Print/00000000-0000-0000-0000-000000000009/icc", Who::Admin).await;
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}
