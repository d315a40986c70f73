//! Is the server running, is it ready, how is it doing?

use crate::error::ApiError;
use crate::openapi::responses::{Responses, error_responses, refusals};
use crate::response::{Format, Message};
use crate::services::Readiness;
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::error::StoreError;
use std::sync::Arc;
use utoipa::IntoResponses;

const RUNNING: &str = "Server is running";

const LIVE: &str = "Live";

const READY: &str = "Ready";

/// Renders all metrics in the text format of Prometheus.
pub(crate) type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

/// Is the server running?
///
/// Clients ask this before they send anything, to see that they reach the server and are let in.
#[utoipa::path(
    get,
    path = "/api/v2",
    tag = "Server",
    responses((status = 200, description = RUNNING, body = String, content_type = "application/json"), ServerStatusRefusals)
)]
pub(crate) async fn server_status() -> Message {
    Message::Success(RUNNING)
}

struct ServerStatusRefusals;

impl IntoResponses for ServerStatusRefusals {
    fn responses() -> Responses {
        refusals([])
    }
}

/// Is the process alive?
///
/// Asks for no credentials.
#[utoipa::path(
    get,
    path = "/health/live",
    operation_id = "health_live",
    tag = "Server",
    security(()),
    servers((url = "/")),
    responses((status = 200, description = LIVE, body = String, content_type = "application/json"))
)]
pub(crate) async fn live() -> Message {
    Message::Success(LIVE)
}

/// Can the server work?
///
/// Whether the database and the blob store can be reached. Asks for no credentials.
#[utoipa::path(
    get,
    path = "/health/ready",
    operation_id = "health_ready",
    tag = "Server",
    security(()),
    servers((url = "/")),
    responses((status = 200, description = READY, body = String, content_type = "application/json"), NotReady)
)]
pub(crate) async fn ready(readiness: Data<dyn Readiness>) -> Result<Message, ApiError> {
    match readiness.check().await {
        Ok(()) => Ok(Message::Success(READY)),
        Err(cause) => {
            tracing::warn!(cause, "not ready");
            Err(ApiError::NotReady)
        }
    }
}

pub(crate) async fn metrics(render: Data<Metrics>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(render())
}

struct NotReady;

impl IntoResponses for NotReady {
    fn responses() -> Responses {
        error_responses(&[Format::Json], [ApiError::NotReady, StoreError::other("").into()])
    }
}
