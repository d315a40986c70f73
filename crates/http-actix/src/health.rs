//! What operators ask: is the process alive, can it work, how is it doing?

use crate::answer::Message;
use crate::api::Api;
use crate::error::ApiError;
use crate::openapi::description::Description;
use crate::routes::{open, resource};
use actix_web::HttpResponse;
use actix_web::web::{Data, ServiceConfig};
use async_trait::async_trait;
use std::sync::Arc;

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

async fn live() -> Message<'static> {
    Message::new(LIVE)
}

async fn ready(readiness: Data<dyn Readiness>) -> Result<Message<'static>, ApiError> {
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

pub(crate) fn description_of_live() -> Description {
    Description::new("Is the process alive?", "Asks for no credentials.").answers_message(LIVE)
}

pub(crate) fn description_of_ready() -> Description {
    let text = "Whether the database and the blob store can be reached. Asks for no credentials.";
    Description::new("Can the server work?", text).answers_message(READY).fails(ApiError::NotReady)
}
