//! What operators ask: is the process alive, can it work, how is it doing?

use crate::answer::{Format, Message};
use crate::api::Api;
use crate::error::ApiError;
use crate::openapi::{Responses, error_responses};
use crate::routes::{open, resource};
use actix_web::HttpResponse;
use actix_web::web::{Data, ServiceConfig};
use async_trait::async_trait;
use domain::error::StoreError;
use std::sync::Arc;
use utoipa::IntoResponses;

const LIVE: &str = "Live";

const READY: &str = "Ready";

/// Whether the stores that the server needs can be reached.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// The error says what can't be reached, for the log.
    async fn check(&self) -> Result<(), String>;
}

/// Renders all metrics in the text format of Prometheus.
type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

/// Adds health, which is at the root of both listeners, whatever the base path.
pub(crate) fn configure(config: &mut ServiceConfig, readiness: Arc<dyn Readiness>) {
    config
        .app_data(Data::from(readiness))
        .service(resource("/health/live", "GET, HEAD").route(open("health_live", live)))
        .service(resource("/health/ready", "GET, HEAD").route(open("health_ready", ready)));
}

/// Adds what the operators' listener has.
pub(crate) fn configure_ops(config: &mut ServiceConfig, api: &Api, metrics: Metrics) {
    configure(config, Arc::clone(&api.services.readiness));
    config
        .app_data(api.shared.clone())
        .app_data(Data::new(metrics))
        .service(resource("/metrics", "GET, HEAD").route(open("metrics", render_metrics)));
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
pub(crate) async fn live() -> Message<'static> {
    Message::new(LIVE)
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
pub(crate) async fn ready(readiness: Data<dyn Readiness>) -> Result<Message<'static>, ApiError> {
    match readiness.check().await {
        Ok(()) => Ok(Message::new(READY)),
        Err(cause) => {
            tracing::warn!(cause, "not ready");
            Err(ApiError::NotReady)
        }
    }
}

async fn render_metrics(metrics: Data<Metrics>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(metrics())
}

struct NotReady;

impl IntoResponses for NotReady {
    fn responses() -> Responses {
        error_responses(&[Format::Json], [ApiError::NotReady, StoreError::other("").into()])
    }
}
