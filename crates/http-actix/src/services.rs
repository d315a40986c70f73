//! The use cases and the settings of the application, and how a handler runs a write.

use crate::middleware::client::Network;
use crate::uploads::UploadLimit;
use actix_web::HttpRequest;
use actix_web::web::Data;
use async_trait::async_trait;
use domain::access::{AccessService, Throttle};
use domain::activity::ActivityRecorder;
use domain::clock::{Clock, IdSource};
use domain::crash_report::CrashReportService;
use domain::device_status::DeviceStatusService;
use domain::error::{Outcome, StoreError};
use domain::limits::Limits;
use domain::log_entry::LogService;
use domain::refusal::NewRefusal;
use domain::resource::ResourceService;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// The use cases that the handlers call.
#[derive(Clone)]
pub struct Services {
    pub access: Arc<AccessService>,
    pub resources: Arc<ResourceService>,
    pub logs: Arc<LogService>,
    pub crash_reports: Arc<CrashReportService>,
    pub device_statuses: Arc<DeviceStatusService>,
    pub readiness: Arc<dyn Readiness>,
}

/// Whether the stores that the server needs can be reached.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// Checks the stores. The error names each one that can't be used, for the log.
    async fn check(&self) -> Result<(), String>;
}

/// Settings of the application.
pub struct Settings {
    /// Prefix before `/api/v2`, with or without slashes around.
    pub base_path: String,
    /// Timeout for the next bytes of a body.
    pub read_timeout: Duration,
    pub limits: Limits,
    /// Proxies whose `X-Forwarded-For` and `Forwarded` are believed.
    pub trusted_proxies: Vec<Network>,
    /// Limits how often a client may fail to authenticate (ADR 42).
    pub throttle: Throttle,
    /// Limits how many uploads run at once (ADR 43).
    pub uploads: UploadLimit,
    pub ids: Arc<dyn IdSource>,
    pub clock: Arc<dyn Clock>,
    /// Records refusals for the operator; `None` records none.
    pub refusals: Option<Arc<dyn RefusalSink>>,
    /// Records last requests and fetches (decisions I8 and I9).
    pub activity: Arc<ActivityRecorder>,
}

/// Records refusals for the operator.
pub trait RefusalSink: Send + Sync {
    /// Called on the worker threads; it must not block.
    fn record(&self, refusal: NewRefusal);
}

impl Settings {
    /// The settings of the application that serves `request`.
    pub(crate) fn of(request: &HttpRequest) -> &Self {
        request.app_data::<Data<Self>>().expect("`configure` adds it")
    }
}

/// Runs a write to completion, even if the client disconnects.
pub(crate) async fn run_to_completion<T: 'static>(write: impl Future<Output = Outcome<T>> + 'static) -> Outcome<T> {
    match actix_web::rt::spawn(write).await {
        Ok(outcome) => outcome,
        // The text of a `JoinError` would repeat the message of the panic (ADR 49).
        Err(_) => Err(StoreError::other("the operation panicked").into()),
    }
}
