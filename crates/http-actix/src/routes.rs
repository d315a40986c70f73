//! All routes.

use crate::api::Api;
use crate::error::ApiError;
use crate::middleware::authenticate::authenticate;
use crate::middleware::context::{RefusalRecorder, RequestContext};
use crate::{device, docs, health, log, resource, server_status};
use actix_web::dev::ServiceRequest;
use actix_web::guard::{Any, Get, Head};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{FromRequest, Handler, HttpResponse, Resource, Responder, Route, Scope};
use domain::access::CredentialMessages;
use std::sync::Arc;

/// Adds the routes of the API and of health.
///
/// Paths are matched as they are written here: [`serve`](crate::serve) normalises them before (decision R8).
pub fn configure(config: &mut ServiceConfig, api: &Api) {
    let services = api.services.clone();
    let base_path = base_path(&api.shared.settings.base_path);
    config
        .app_data(api.shared.clone())
        .app_data(Data::from(services.access))
        .app_data(Data::from(services.resources))
        .app_data(Data::from(services.logs))
        .app_data(Data::from(services.crash_reports))
        .app_data(Data::from(services.device_statuses))
        .configure(|config| health::configure(config, services.readiness))
        .configure(|config| {
            if let Some(refusals) = &api.shared.settings.refusals {
                config.app_data(RefusalRecorder(Arc::clone(refusals)));
            }
        })
        .service(docs::redirect(&base_path))
        .service(web::scope(&base_path).service(api_v2()).configure(docs::configure))
        .default_service(web::to(not_found));
}

fn api_v2() -> Scope {
    web::scope("/api/v2")
        .service(resource("", "GET, HEAD").route(get("server_status", server_status::server_status)))
        .service(
            resource("/resource", "POST, DELETE")
                .route(post("add_resource", resource::add::add_resource))
                .route(delete("delete_resource", resource::delete::delete_without_guid)),
        )
        .service(resource("/resource/list", "POST").route(post("list_resources", resource::list::list_resources)))
        .service(resource("/resource/pmminfo", "POST").route(post("find_by_pmm", resource::pmm::find_by_pmm)))
        .service(
            resource("/resource/info/{ResourceGUID}", "GET, HEAD")
                .route(get("resource_info", resource::info::resource_info)),
        )
        .service(
            resource("/resource/{ResourceGUID}", "GET, HEAD, DELETE")
                .route(get("get_file", resource::get_file::get_file))
                .route(delete("delete_resource", resource::delete::delete_resource)),
        )
        .service(resource("/log", "POST").route(post("add_log", log::add::add_log)))
        .service(resource("/log/list", "POST").route(post("list_logs", log::list::list_logs)))
        .service(resource("/log/crashreport", "POST").route(log::crash_report::route()))
        .service(
            resource("/device/status", "POST")
                .route(post("update_device_status", device::status::update_device_status)),
        )
}

/// A path whose other methods are answered 405 with `allow` (decision R3).
pub(crate) fn resource(path: &str, allow: &'static str) -> Resource {
    let refuse = move || async move { Err::<HttpResponse, _>(ApiError::MethodNotAllowed { allow }) };
    web::resource(path).default_service(web::to(refuse))
}

/// A GET of an authenticated caller; HEAD works too (decision R8).
fn get<F, Args>(operation: &'static str, handler: F) -> Route
where
    F: Handler<Args, Output: Responder + 'static>,
    Args: FromRequest + 'static,
{
    authenticated(operation, CredentialMessages::Common, get_or_head().to(handler))
}

fn post<F, Args>(operation: &'static str, handler: F) -> Route
where
    F: Handler<Args, Output: Responder + 'static>,
    Args: FromRequest + 'static,
{
    authenticated(operation, CredentialMessages::Common, web::post().to(handler))
}

fn delete<F, Args>(operation: &'static str, handler: F) -> Route
where
    F: Handler<Args, Output: Responder + 'static>,
    Args: FromRequest + 'static,
{
    authenticated(operation, CredentialMessages::Common, web::delete().to(handler))
}

/// A route that asks for credentials before it reads any body. Logs and metrics call it `operation`.
pub(crate) fn authenticated(operation: &'static str, messages: CredentialMessages, route: Route) -> Route {
    route.wrap(from_fn(move |request: ServiceRequest, next: Next<_>| authenticate(operation, messages, request, next)))
}

/// A GET without credentials.
pub(crate) fn open<F, Args>(operation: &'static str, handler: F) -> Route
where
    F: Handler<Args, Output: Responder + 'static>,
    Args: FromRequest + 'static,
{
    get_or_head().to(handler).wrap(from_fn(move |request: ServiceRequest, next: Next<_>| {
        RequestContext::of(request.request()).set_operation(operation);
        next.call(request)
    }))
}

fn get_or_head() -> Route {
    web::route().guard(Any(Get()).or(Head()))
}

/// The answer to paths that no route has (decision R3).
pub(crate) async fn not_found() -> Result<HttpResponse, ApiError> {
    Err(ApiError::NotFound)
}

/// `/print/cloud` of `Print/cloud/`; empty for none. In lower case, as paths are matched.
fn base_path(text: &str) -> String {
    let segments = text.split('/').filter(|segment| !segment.is_empty());
    segments.flat_map(|segment| ["/".to_owned(), segment.to_ascii_lowercase()]).collect()
}
