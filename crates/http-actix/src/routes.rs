//! All routes.

use crate::error::ApiError;
use crate::health::Metrics;
use crate::log::crash_report::format_errors;
use crate::middleware::authenticate::authenticate;
use crate::services::{Readiness, Services, Settings};
use crate::{device, docs, health, log, openapi, request, resource};
use actix_web::dev::ServiceRequest;
use actix_web::guard::{Any, Get, Head};
use actix_web::http::header::LOCATION;
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Bytes, Data, ServiceConfig};
use actix_web::{HttpResponse, Resource, Route, Scope};
use domain::access::CredentialMessages;
use std::future::ready;
use std::sync::Arc;

/// The methods of a read-only path, for the header `Allow`.
const READ: &str = "GET, HEAD";

/// Adds the routes of the API and of health.
///
/// Paths are matched exactly. [`serve`](crate::serve) adds the middleware that normalises them (decision R8).
pub fn configure(config: &mut ServiceConfig, services: &Services, settings: &Arc<Settings>) {
    let services = services.clone();
    let base_path = base_path(&settings.base_path);
    config
        .app_data(Data::from(Arc::clone(settings)))
        .app_data(Data::from(services.access))
        .app_data(Data::from(services.resources))
        .app_data(Data::from(services.logs))
        .app_data(Data::from(services.crash_reports))
        .app_data(Data::from(services.device_statuses))
        .configure(|config| configure_health(config, services.readiness))
        .service(redirect_to_docs(&base_path))
        .service(web::scope(&base_path).service(api_v2()).configure(|config| configure_docs(config, &base_path)))
        .default_service(web::to(not_found));
    if let Some(refusals) = &settings.refusals {
        config.app_data(Data::from(Arc::clone(refusals)));
    }
}

/// Adds the routes of the operators' listener.
pub(crate) fn configure_ops(
    config: &mut ServiceConfig,
    readiness: Arc<dyn Readiness>,
    settings: &Arc<Settings>,
    metrics: Metrics,
) {
    config
        .app_data(Data::from(Arc::clone(settings)))
        .app_data(Data::new(metrics))
        .configure(|config| configure_health(config, readiness))
        .service(path("/metrics", READ).route(unauthenticated("metrics", get().to(health::metrics))))
        .default_service(web::to(not_found));
}

/// Health is at the root of both listeners, whatever the base path.
fn configure_health(config: &mut ServiceConfig, readiness: Arc<dyn Readiness>) {
    config
        .app_data(Data::from(readiness))
        .service(path("/health/live", READ).route(unauthenticated("health_live", get().to(health::live))))
        .service(path("/health/ready", READ).route(unauthenticated("health_ready", get().to(health::ready))));
}

fn api_v2() -> Scope {
    web::scope("/api/v2")
        .service(path("", READ).route(authenticated("server_status", get().to(health::server_status))))
        .service(
            path("/resource", "POST, DELETE")
                .route(authenticated("add_resource", web::post().to(resource::add::add_resource)))
                .route(authenticated("delete_resource", web::delete().to(resource::delete::delete_without_guid))),
        )
        .service(
            path("/resource/list", "POST")
                .route(authenticated("list_resources", web::post().to(resource::list::list_resources))),
        )
        .service(
            path("/resource/pmminfo", "POST")
                .route(authenticated("find_by_pmm", web::post().to(resource::pmm::find_by_pmm))),
        )
        .service(
            path("/resource/info/{ResourceGUID}", READ)
                .route(authenticated("resource_info", get().to(resource::info::resource_info))),
        )
        .service(
            path("/resource/{ResourceGUID}", "GET, HEAD, DELETE")
                .route(authenticated("get_file", get().to(resource::get_file::get_file)))
                .route(authenticated("delete_resource", web::delete().to(resource::delete::delete_resource))),
        )
        .service(path("/log", "POST").route(authenticated("add_log", web::post().to(log::add::add_log))))
        .service(path("/log/list", "POST").route(authenticated("list_logs", web::post().to(log::list::list_logs))))
        .service(path("/log/crashreport", "POST").route(add_crash_report()))
        .service(
            path("/device/status", "POST")
                .route(authenticated("update_device_status", web::post().to(device::status::update_device_status))),
        )
}

/// This route has its own messages for credentials, and writes errors in the format that the client accepts.
fn add_crash_report() -> Route {
    let route = web::post().to(log::crash_report::add_crash_report);
    with_credentials("add_crash_report", CredentialMessages::CrashReport, route).wrap(from_fn(format_errors))
}

/// Adds the OpenAPI document and the pages that show it.
fn configure_docs(config: &mut ServiceConfig, base_path: &str) {
    let document = Bytes::from(openapi::document(base_path));
    let document = get().to(move || ready(docs::document(document.clone())));
    config
        .service(path("/api/openapi.json", READ).route(unauthenticated("openapi", document)))
        .service(path("/api/docs", READ).route(unauthenticated("docs", get().to(docs::index))))
        .service(path("/api/docs/start.js", READ).route(unauthenticated("docs", get().to(docs::start))))
        .service(
            path(r"/api/docs/{name:swagger-ui-bundle\.js|swagger-ui\.css|favicon-32x32\.png}", READ)
                .route(unauthenticated("docs", get().to(docs::asset))),
        );
}

/// Redirects `/` to the documentation pages.
fn redirect_to_docs(base_path: &str) -> Resource {
    // Relative, so that it works with a proxy that adds a path prefix.
    let location = format!("{base_path}/api/docs").trim_start_matches('/').to_owned();
    let redirect =
        move || ready(HttpResponse::TemporaryRedirect().insert_header((LOCATION, location.as_str())).finish());
    path("/", READ).route(unauthenticated("docs", get().to(redirect)))
}

/// A path that responds to all other methods with 405 and the header `Allow` (decision R3).
fn path(path: &str, allow: &'static str) -> Resource {
    let refuse = move || async move { Err::<HttpResponse, _>(ApiError::MethodNotAllowed { allow }) };
    web::resource(path).default_service(web::to(refuse))
}

/// HEAD works where GET does (decision R8).
fn get() -> Route {
    web::route().guard(Any(Get()).or(Head()))
}

/// A route that checks the credentials before the body is read. `operation` is its name in logs and metrics.
fn authenticated(operation: &'static str, route: Route) -> Route {
    with_credentials(operation, CredentialMessages::Common, route)
}

fn with_credentials(operation: &'static str, messages: CredentialMessages, route: Route) -> Route {
    route.wrap(from_fn(move |request: ServiceRequest, next: Next<_>| authenticate(operation, messages, request, next)))
}

/// A route that asks for no credentials.
fn unauthenticated(operation: &'static str, route: Route) -> Route {
    request::operation(operation, route)
}

/// Responds to a path without a route (decision R3).
async fn not_found() -> Result<HttpResponse, ApiError> {
    Err(ApiError::NotFound)
}

/// Normalises a base path: `Print/cloud/` becomes `/print/cloud`, and `/` becomes empty.
fn base_path(text: &str) -> String {
    let segments = text.split('/').filter(|segment| !segment.is_empty());
    segments.flat_map(|segment| ["/".to_owned(), segment.to_ascii_lowercase()]).collect()
}
