//! The operator API over fakes: who may call what, and what the answers are.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crashes;
mod devices;
mod logs;
mod lookup;
mod matrix;
mod refusals;
mod resources;
mod support;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CACHE_CONTROL, WWW_AUTHENTICATE};
use domain::contract::fleet_author;
use domain::fleet::RecordRegistry;
use domain::testing::ACME;
use serde_json::{Value, json};
use support::{Answer, Who, World};

/// Decisions P3, P6.
#[actix_web::test]
async fn an_operator_learns_who_it_is() {
    let world = World::new().await;
    let Answer { body, headers, .. } = world.get("/me", Who::Viewer).await;
    assert_eq!(
        (&body["name"], &body["role"], &body["organization"]),
        (&json!("viewer"), &json!("viewer"), &json!(null))
    );
    assert!(body["session"]["ends"].as_str().unwrap().ends_with("00.000000Z"), "{body}");
    assert_eq!(body["token"], json!(null));
    assert_eq!(headers.get(CACHE_CONTROL).unwrap(), "no-store");
    let by_token = world.get("/me", Who::Token).await.body;
    assert_eq!((&by_token["name"], &by_token["role"]), (&json!("admin"), &json!("viewer")), "the lesser role");
    assert_eq!((&by_token["session"], &by_token["token"]["name"]), (&json!(null), &json!("ci")));
    let of_acme = world.get("/me", Who::AdminOfAcme).await.body;
    assert_eq!(of_acme["organization"], json!(ACME));
}

#[actix_web::test]
async fn every_error_is_a_problem() {
    let world = World::new().await;
    for (path, who, status, title) in [
        ("/me", Who::Nobody, 401, "Unauthorized"),
        ("/audit", Who::Viewer, 403, "Forbidden"),
        ("/nothing", Who::Admin, 404, "Not Found"),
        ("/operators?limit=0", Who::Admin, 400, "Bad Request"),
        ("/audit?organization=Nowhere", Who::Admin, 404, "Not Found"),
    ] {
        let answer = world.get(path, who).await;
        assert_eq!(answer.status.as_u16(), status, "{path}");
        assert_eq!(answer.headers.get("content-type").unwrap(), "application/problem+json", "{path}");
        assert_eq!((&answer.body["title"], &answer.body["status"]), (&json!(title), &json!(status)), "{path}");
        assert!(!answer.body["detail"].as_str().unwrap().is_empty(), "{path}");
    }
    let unknown = world.get("/audit?what=all", Who::Admin).await.body;
    assert_eq!(unknown["errors"][0]["field"], "what");
    let nobody = world.get("/me", Who::Nobody).await;
    assert_eq!(nobody.headers.get(WWW_AUTHENTICATE).unwrap(), "Bearer");
    let post = world.call("POST", "/me", Who::Nobody, &[]).await;
    assert_eq!(post.status, StatusCode::METHOD_NOT_ALLOWED, "a method needs no credentials");
    assert_eq!(post.headers.get(ALLOW).unwrap(), "GET, HEAD");
    world.store.set_failing(true);
    let failed = world.get("/me", Who::Admin).await;
    assert_eq!(failed.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!failed.body.to_string().contains("database"), "{}", failed.body);
}

/// A path with further members of its query.
fn with(path: &str, members: &str) -> String {
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}{members}")
}

#[actix_web::test]
async fn lists_are_read_page_by_page() {
    let world = World::new().await;
    for path in ["/operators", "/organizations", "/resources", "/tokens", "/audit", "/devices", "/devices?sort=name"] {
        let whole = world.get(&with(path, "limit=500"), Who::Admin).await.body;
        let whole = whole["items"].as_array().unwrap().clone();
        assert!(whole.len() >= 2, "{path}");
        let (mut items, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = world.get(&with(path, &format!("limit=1{cursor}")), Who::Admin).await.body;
            items.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["next"].as_str() else { break };
            cursor = format!("&cursor={}", next.replace(' ', "%20"));
        }
        assert_eq!(items, whole, "{path}");
    }
}

/// Decision P9.
#[actix_web::test]
async fn audit_records_are_filtered() {
    let world = World::new().await;
    world.store.by(fleet_author()).rename_organization(ACME, "Acme & Sons").await.unwrap();
    let listed = async |query: &str, who| -> Vec<Value> {
        world.get(&format!("/audit?{query}"), who).await.body["items"].as_array().unwrap().clone()
    };
    let renamed = listed("what=organization.renamed&who=ROOT", Who::Admin).await;
    assert_eq!(renamed.len(), 1);
    assert_eq!(renamed[0]["values"], json!([{ "member": "name", "before": ACME, "after": "Acme & Sons" }]));
    assert_eq!(listed("what=organization.renamed", Who::AdminOfAcme).await, renamed);
    assert!(listed("to=2020-01-01T00:00:00Z", Who::Admin).await.is_empty());
    assert_eq!(listed("organization=Acme%20%26%20Sons&what=organization.renamed", Who::Admin).await.len(), 1);
}

/// Decision P5: a token is in no cookie, so that no other site can send it.
#[actix_web::test]
async fn the_openapi_document_is_open_and_describes_every_route() {
    let world = World::new().await;
    let document = world.raw("GET", "/api/operator/openapi.json", &[]).await;
    assert_eq!(document.status, StatusCode::OK);
    for (path, item) in document.body["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let is_tested = matrix::ROUTES.iter().any(|(m, p, _)| m.eq_ignore_ascii_case(method) && p == path);
            assert!(is_tested, "{method} {path} is not in the matrix");
        }
    }
    for (method, path, _) in matrix::ROUTES {
        let operation = &document.body["paths"][path][method.to_ascii_lowercase()];
        assert!(operation["operationId"].is_string(), "{method} {path} is not described");
    }
}

/// A proxy may ask for a sign-in of its own, which browsers send with each request.
#[actix_web::test]
async fn another_scheme_of_authorization_hides_no_session() {
    let world = World::new().await;
    let basic = ("authorization", "Basic YTpi");
    assert_eq!(world.call("GET", "/me", Who::Admin, &[basic]).await.status, StatusCode::OK);
    assert_eq!(world.call("GET", "/me", Who::Nobody, &[basic]).await.status, StatusCode::UNAUTHORIZED);
    let wrong = ("authorization", "Bearer plt_guess");
    assert_eq!(world.call("GET", "/me", Who::Admin, &[wrong]).await.status, StatusCode::UNAUTHORIZED);
}

/// Decision R3.
#[actix_web::test]
async fn a_body_of_which_nothing_arrives_is_refused_in_time() {
    let world = World::new().await;
    let group = "/crash-groups/00000000-0000-0000-0000-000000000001";
    tokio::time::pause();
    assert_eq!(world.stall(group, Who::Admin).await, StatusCode::REQUEST_TIMEOUT);
}

/// Decision R9.
#[actix_web::test]
async fn a_query_with_odd_texts_is_answered() {
    let world = World::new().await;
    for path in ["/audit?who=%00", "/tokens?operator=%00", "/operators?cursor=%00", "/logs?q=%00&user=%00"] {
        assert_eq!(world.get(path, Who::Admin).await.status, StatusCode::OK, "{path}");
    }
    for path in ["/audit?organization=%00", "/logs?organization=a%00"] {
        assert_eq!(world.get(path, Who::Admin).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}
