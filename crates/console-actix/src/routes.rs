//! All routes of the console.

use crate::errors::error_page;
use crate::headers::secure;
use crate::services::{Services, Settings};
use crate::sign_in::to_sign_in;
use crate::{
    account, assets, computers, crashes, device, devices, logs, overview, refusals, resources, search, setup, sign_in,
};
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::guard::{Any, Get, Head};
use actix_web::http::header::LOCATION;
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{Error, HttpMessage, HttpRequest, HttpResponse, Resource, Route};
use operator_actix::authenticate::{Access, Caller, find_caller};
use operator_actix::error::Problem;
use std::future::ready;

const READ: &str = "GET, HEAD";
const FORM: &str = "GET, HEAD, POST";

/// Adds the pages of the console, and leads `/` to them.
pub fn configure(config: &mut ServiceConfig, services: &Services, settings: &Settings) {
    services.register(config);
    let root = settings.root();
    // Relative, so that it works with a proxy that adds a path prefix.
    let start = root.trim_start_matches('/').to_owned();
    let redirect = move || ready(HttpResponse::TemporaryRedirect().insert_header((LOCATION, start.as_str())).finish());
    config
        .app_data(Data::new(settings.clone()))
        .service(web::resource("/").route(open("console", get().to(redirect))))
        .service(
            web::scope(&root)
                .service(resource("", READ).route(page("console_overview", get().to(overview::show))))
                .service(resource("/devices", READ).route(page("console_devices", get().to(devices::show))))
                .service(resource("/devices/{guid}", READ).route(page("console_device", get().to(device::show))))
                .service(resource("/account", READ).route(page("console_account", get().to(account::show))))
                .service(
                    resource("/password", FORM)
                        .route(page("console_password", get().to(account::show_password)))
                        .route(page("console_change_password", web::post().to(account::change_password))),
                )
                .service(resource("/logs", READ).route(page("console_logs", get().to(logs::show))))
                .service(resource("/logs/stream", READ).route(page("console_log_stream", get().to(logs::events))))
                .service(
                    resource("/logs/download/{format}", READ)
                        .route(page("console_log_download", get().to(logs::download))),
                )
                .service(resource("/refusals", READ).route(page("console_refusals", get().to(refusals::show))))
                .service(
                    resource("/sign-in", FORM)
                        .route(open("console_sign_in", get().to(sign_in::show)))
                        .route(open("console_sign_in", web::post().to(sign_in::sign_in))),
                )
                .service(
                    resource("/sign-out", "POST").route(page("console_sign_out", web::post().to(sign_in::sign_out))),
                )
                .service(
                    resource("/setup", FORM)
                        .route(open("console_setup", get().to(setup::show)))
                        .route(open("console_setup", web::post().to(setup::create))),
                )
                .service(
                    resource("/assets/{digest}/{name}", READ).route(open("console_asset", get().to(assets::asset))),
                )
                .configure(add_resources)
                .configure(add_crashes)
                .configure(add_look_up)
                .default_service(web::to(not_found))
                .wrap(from_fn(as_page))
                .wrap(from_fn(secure)),
        );
}

fn add_resources(config: &mut ServiceConfig) {
    let one = "/resources/{organization}/{guid}";
    config
        .service(resource("/resources", READ).route(page("console_resources", get().to(resources::list))))
        .service(resource(one, READ).route(page("console_resource", get().to(resources::show))))
        .service(
            resource(&format!("{one}/content"), READ)
                .route(page("console_resource_content", get().to(resources::content))),
        )
        .service(
            resource(&format!("{one}/preview"), READ)
                .route(page("console_resource_preview", get().to(resources::preview))),
        );
}

fn add_crashes(config: &mut ServiceConfig) {
    let change = web::post().to(crashes::change);
    config
        .service(resource("/crashes", READ).route(page("console_crashes", get().to(crashes::list))))
        .service(
            resource("/crashes/{id}", FORM)
                .route(page("console_crash", get().to(crashes::show_group)))
                .route(page_for(Access::Admin, "console_change_crash", change)),
        )
        .service(
            resource("/crash-reports/{id}", READ).route(page("console_crash_report", get().to(crashes::show_report))),
        )
        .service(
            resource("/crash-reports/{id}/parts/{number}", READ)
                .route(page("console_crash_part", get().to(crashes::part))),
        );
}

fn add_look_up(config: &mut ServiceConfig) {
    config
        .service(resource("/computers", READ).route(page("console_computers", get().to(computers::list))))
        .service(resource("/computers/{guid}", READ).route(page("console_computer", get().to(computers::show))))
        .service(resource("/search", READ).route(page("console_search", get().to(search::find))));
}

/// A page for every operator who is signed in; others get to the sign-in.
fn page(operation: &'static str, route: Route) -> Route {
    page_for(Access::Viewer, operation, route)
}

/// A page for operators of this access.
fn page_for(access: Access, operation: &'static str, route: Route) -> Route {
    let route = route.wrap(from_fn(move |request: ServiceRequest, next: Next<_>| authenticate(access, request, next)));
    open(operation, route)
}

/// A page without a session. `operation` is its name in logs and metrics.
fn open(operation: &'static str, route: Route) -> Route {
    http_actix::operation(operation, route)
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

async fn authenticate(
    access: Access,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let caller: Option<Caller> = match find_caller(request.request()).await {
        Ok(caller) => caller,
        Err(problem) => return Ok(request.error_response(problem)),
    };
    let Some(caller) = caller else {
        let response = to_sign_in(request.request());
        return Ok(request.into_response(response));
    };
    let allowed = access.check(&caller.actor);
    request.extensions_mut().insert(caller);
    match allowed {
        Ok(()) => Ok(next.call(request).await?.map_into_boxed_body()),
        Err(error) => Ok(request.error_response(Problem::from(error))),
    }
}

/// Shows a problem, and a path that leads nowhere, as a page.
async fn as_page(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let response = next.call(request).await?.map_into_boxed_body();
    let is_missing =
        response.status() == actix_web::http::StatusCode::NOT_FOUND && response.response().error().is_none();
    let shown = match response.response().error().and_then(|error| error.as_error::<Problem>()) {
        Some(problem) => Some(problem_page(response.request(), problem)),
        None if is_missing => Some(problem_page(response.request(), &Problem::NotFound)),
        None => None,
    };
    Ok(match shown {
        Some(shown) => response.into_response(shown),
        None => response,
    })
}

fn problem_page(request: &HttpRequest, problem: &Problem) -> HttpResponse {
    let caller = request.extensions().get::<Caller>().cloned();
    let mut response = error_page(request, problem, caller.as_ref().map(|caller| &caller.signed_in));
    if let Problem::MethodNotAllowed { allow } = problem {
        let value = actix_web::http::header::HeaderValue::from_static(allow);
        response.headers_mut().insert(actix_web::http::header::ALLOW, value);
    }
    response
}
