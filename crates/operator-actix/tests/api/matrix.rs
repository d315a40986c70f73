//! Every route of the operator API with every kind of operator (decision P8). A new route joins by one line.

use super::support::{Who, World};
use domain::testing::{ACME, ZENITH};
use operator_actix::authenticate::Access;

/// Each route: method, path of the OpenAPI document, and who may call it.
pub(crate) const ROUTES: &[(&str, &str, Access)] = &[
    ("GET", "/me", Access::Viewer),
    ("GET", "/overview", Access::Viewer),
    ("GET", "/devices", Access::Viewer),
    ("GET", "/devices/{guid}", Access::Viewer),
    ("GET", "/devices/{guid}/history", Access::Viewer),
    ("GET", "/devices/{guid}/timeline", Access::Viewer),
    ("GET", "/organizations", Access::Viewer),
    ("GET", "/resources", Access::Viewer),
    ("GET", "/resources/{organization}/{guid}", Access::Viewer),
    ("GET", "/resources/{organization}/{guid}/content", Access::Viewer),
    ("GET", "/resources/{organization}/{guid}/holders", Access::Viewer),
    ("GET", "/resources/{organization}/{guid}/icc", Access::Viewer),
    ("GET", "/crash-groups", Access::Viewer),
    ("GET", "/crash-groups/{id}", Access::Viewer),
    ("PATCH", "/crash-groups/{id}", Access::Admin),
    ("GET", "/crash-reports", Access::Viewer),
    ("GET", "/crash-reports/{id}", Access::Viewer),
    ("GET", "/crash-reports/{id}/parts/{number}", Access::Viewer),
    ("GET", "/computers", Access::Viewer),
    ("GET", "/computers/{guid}", Access::Viewer),
    ("GET", "/computers/{guid}/timeline", Access::Viewer),
    ("GET", "/search", Access::Viewer),
    ("GET", "/operators", Access::Admin),
    ("GET", "/tokens", Access::Admin),
    ("GET", "/audit", Access::Admin),
    ("GET", "/logs", Access::Viewer),
    ("GET", "/logs/stream", Access::Viewer),
    ("GET", "/refusals", Access::Viewer),
];

/// The organization that an operator sees, if only one.
fn own(who: Who) -> &'static str {
    if who == Who::AdminOfZenith { ZENITH } else { ACME }
}

/// What each kind of operator gets from a route of this access, where the route needs no further input.
fn expected(access: Access, who: Who) -> u16 {
    match (who, access) {
        (Who::Nobody | Who::Idle | Who::Expired | Who::Revoked | Who::Removed | Who::Forged, _) => 401,
        (_, Access::Viewer) | (Who::Admin, _) | (Who::AdminOfAcme | Who::AdminOfZenith, Access::Admin) => 200,
        _ => 403,
    }
}

/// Decisions P3, P6, P8.
#[actix_web::test]
async fn each_operator_calls_what_role_and_scope_allow() {
    let world = World::new().await;
    for (method, path, access) in ROUTES {
        for who in Who::ALL {
            let answer = world.call(method, &World::example(path, own(who)), who, &[]).await;
            assert_eq!(answer.status.as_u16(), expected(*access, who), "{method} {path} as {who:?}: {}", answer.body);
        }
    }
}

/// Decision P8: no answer to an operator of one organization names anything of another one.
#[actix_web::test]
async fn an_operator_of_one_organization_learns_of_no_other() {
    let world = World::new().await;
    for (method, path, _) in ROUTES {
        for (who, own, foreign) in [
            (Who::AdminOfZenith, "zenith", "acme"),
            (Who::AdminOfAcme, "acme", "zenith"),
            (Who::ViewerOfAcme, "acme", "zenith"),
        ] {
            if path.contains('{') {
                // A record of another organization is as one that doesn't exist.
                let other = if foreign == "acme" { ACME } else { ZENITH };
                let answer = world.call(method, &World::example(path, other), who, &[]).await;
                assert!([403, 404].contains(&answer.status.as_u16()), "{method} {path} as {who:?}: {}", answer.body);
                continue;
            }
            let answer = world.call(method, path, who, &[]).await;
            let text = answer.body.to_string().to_lowercase();
            assert!(!text.contains(foreign), "{method} {path} as {who:?}: {text}");
            let is_refused = answer.status.as_u16() == 403;
            assert!(is_refused || text.contains(own) || text.contains("[]"), "{method} {path} as {who:?}: {text}");
        }
    }
    for foreign in ["/audit?organization=Acme%20Print", "/audit?organization=Nowhere"] {
        let answer = world.get(foreign, Who::AdminOfZenith).await;
        assert_eq!(answer.status.as_u16(), 404, "{foreign}");
    }
}

/// Decision P5. Every later route that changes something is held to it by this test.
#[actix_web::test]
async fn a_change_from_another_site_is_refused() {
    let world = World::new().await;
    for (method, path, access) in ROUTES {
        for (headers, passes) in [
            (&[("sec-fetch-site", "cross-site")][..], *method == "GET"),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[], *method == "GET"),
        ] {
            let path = World::example(path, ACME);
            let answer = world.call_as_browser(method, &path, Who::Admin, headers).await;
            let is_refused = answer.status.as_u16() == 403;
            assert_eq!(!is_refused, passes, "{method} {path} ({access:?}) with {headers:?}");
        }
    }
}
