//! All routes of the operator API.

use crate::authenticate::{Access, requires};
use crate::error::{Problem, log_problem};
use crate::services::{Services, Settings};
use crate::{
    audit, computers, crash_groups, crash_reports, devices, logs, me, openapi, operators, organizations, overview,
    refusals, resources, search, tokens,
};
use actix_web::guard::{Any, Get, Head};
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, ServiceConfig};
use actix_web::{HttpResponse, Resource, Route, Scope};
use std::future::ready;

/// The methods of a read-only path, for the header `Allow`.
const READ: &str = "GET, HEAD";

/// The methods of a record that is changed.
const CHANGE: &str = "GET, HEAD, PATCH";

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
        .service(resource("/overview", READ).route(requires(Access::Viewer, "overview", get().to(overview::overview))))
        .service(resource("/devices", READ).route(requires(Access::Viewer, "list_devices", get().to(devices::list))))
        .service(resource("/devices/{guid}", READ).route(requires(
            Access::Viewer,
            "get_device",
            get().to(devices::find),
        )))
        .service(resource("/devices/{guid}/history", READ).route(requires(
            Access::Viewer,
            "get_device_history",
            get().to(devices::history),
        )))
        .service(resource("/devices/{guid}/timeline", READ).route(requires(
            Access::Viewer,
            "get_device_timeline",
            get().to(devices::timeline),
        )))
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
        .service(resource("/logs", READ).route(requires(Access::Viewer, "list_logs_of_operator", get().to(logs::list))))
        .service(resource("/logs/stream", READ).route(requires(
            Access::Viewer,
            "follow_logs",
            get().to(logs::stream::follow),
        )))
        .service(resource("/refusals", READ).route(requires(Access::Viewer, "list_refusals", get().to(refusals::list))))
        .service(resource("/audit", READ).route(requires(Access::Admin, "list_audit", get().to(audit::list))))
        .configure(add_crashes)
        .configure(add_resources)
        .configure(add_look_up)
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

fn add_crashes(config: &mut ServiceConfig) {
    let viewer = |operation, route| requires(Access::Viewer, operation, route);
    config
        .service(resource("/crash-groups", READ).route(viewer("list_crash_groups", get().to(crash_groups::list))))
        .service(
            resource("/crash-groups/{id}", CHANGE)
                .route(viewer("find_crash_group", get().to(crash_groups::find)))
                .route(requires(Access::Admin, "change_crash_group", web::patch().to(crash_groups::change))),
        )
        .service(resource("/crash-reports", READ).route(viewer("list_crash_reports", get().to(crash_reports::list))))
        .service(
            resource("/crash-reports/{id}", READ).route(viewer("find_crash_report", get().to(crash_reports::find))),
        )
        .service(
            resource("/crash-reports/{id}/parts/{number}", READ)
                .route(viewer("get_crash_report_part", get().to(crash_reports::part))),
        );
}

fn add_look_up(config: &mut ServiceConfig) {
    let viewer = |operation, route| requires(Access::Viewer, operation, route);
    config
        .service(resource("/computers", READ).route(viewer("list_computers", get().to(computers::list))))
        .service(resource("/computers/{guid}", READ).route(viewer("find_computer", get().to(computers::find))))
        .service(
            resource("/computers/{guid}/timeline", READ)
                .route(viewer("computer_timeline", get().to(computers::timeline))),
        )
        .service(resource("/search", READ).route(viewer("search", get().to(search::find))));
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
