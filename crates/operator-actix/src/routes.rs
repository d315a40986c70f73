//! All routes of the operator API.

use crate::authenticate::{Access, requires};
use crate::error::{Problem, log_problem};
use crate::services::{Services, Settings};
use crate::{audit, me, openapi, operators, organizations, resources, tokens};
use actix_web::guard::{Any, Get, Head};
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, ServiceConfig};
use actix_web::{HttpResponse, Resource, Route, Scope};
use std::future::ready;

/// The methods of a read-only path, for the header `Allow`.
const READ: &str = "GET, HEAD";

/// Adds the routes of the operator API.
pub fn configure(config: &mut ServiceConfig, services: &Services, settings: &Settings) {
    services.register(config);
    let document = Bytes::from(openapi::document(&settings.base_path));
    let document = move || {
        let response = HttpResponse::Ok().insert_header((CONTENT_TYPE, "application/json")).body(document.clone());
        ready(response)
    };
    let scope = web::scope(&format!("{}/api/operator", settings.base_path.to_ascii_lowercase()))
        .service(resource("/openapi.json", READ).route(http_actix::operation("operator_openapi", get().to(document))))
        .service(v1())
        .default_service(web::to(not_found))
        .wrap(from_fn(log_problem));
    config.service(scope);
}

fn v1() -> Scope {
    web::scope("/v1")
        .service(resource("/me", READ).route(requires(Access::Viewer, "operator_me", get().to(me::me))))
        .service(resource("/organizations", READ).route(requires(
            Access::Viewer,
            "list_organizations",
            get().to(organizations::list),
        )))
        .service(resource("/operators", READ).route(requires(
            Access::Admin,
            "list_operators",
            get().to(operators::list),
        )))
        .service(resource("/tokens", READ).route(requires(Access::Admin, "list_tokens", get().to(tokens::list))))
        .service(resource("/audit", READ).route(requires(Access::Admin, "list_audit", get().to(audit::list))))
        .configure(add_resources)
        .default_service(web::to(not_found))
}

fn add_resources(config: &mut ServiceConfig) {
    let viewer = |operation, route| requires(Access::Viewer, operation, route);
    let one = "/resources/{organization}/{guid}";
    config
        .service(resource("/resources", READ).route(viewer("list_resources", get().to(resources::list))))
        .service(resource(one, READ).route(viewer("show_resource", get().to(resources::show))))
        .service(
            resource(&format!("{one}/content"), READ).route(viewer("resource_content", get().to(resources::content))),
        )
        .service(resource(&format!("{one}/holders"), READ).route(viewer("list_holders", get().to(resources::holders))))
        .service(resource(&format!("{one}/icc"), READ).route(viewer("resource_icc", get().to(resources::icc))));
}

/// A resource that responds to all other methods with 405 and the header `Allow`.
fn resource(path: &str, allow: &'static str) -> Resource {
    let refuse = move || async move { Err::<HttpResponse, _>(Problem::MethodNotAllowed { allow }) };
    web::resource(path).default_service(web::to(refuse))
}

/// HEAD works where GET does.
fn get() -> Route {
    web::route().guard(Any(Get()).or(Head()))
}

async fn not_found() -> Result<HttpResponse, Problem> {
    Err(Problem::NotFound)
}

/// An answer that no cache keeps: it is for one operator.
pub(crate) fn json(body: &impl serde::Serialize) -> HttpResponse {
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "no-store")).json(body)
}
