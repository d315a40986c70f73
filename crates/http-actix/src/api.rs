//! What all requests share: use cases and settings.

use crate::health::Readiness;
use crate::middleware::client::Network;
use crate::openapi;
use crate::uploads::{UploadBounds, UploadLimit};
use actix_web::web::Data;
use bytes::Bytes;
use domain::access::{AccessService, Throttle};
use domain::clock::{Clock, IdSource};
use domain::crash_report::CrashReportService;
use domain::device_status::DeviceStatusService;
use domain::limits::Limits;
use domain::log_entry::LogService;
use domain::refusal::NewRefusal;
use domain::resource::ResourceService;
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

/// How requests are treated.
pub struct Settings {
    /// Prefix before `/api/v2`, with or without slashes around.
    pub base_path: String,
    /// Longest wait for the next bytes of a body.
    pub read_timeout: Duration,
    pub limits: Limits,
    /// Proxies whose `X-Forwarded-For` and `Forwarded` are believed.
    pub trusted_proxies: Vec<Network>,
    /// Limits how often a client may fail to authenticate (ADR 42).
    pub throttle: Throttle,
    /// How many uploads may run at once (ADR 43).
    pub uploads: UploadBounds,
    pub ids: Arc<dyn IdSource>,
    pub clock: Arc<dyn Clock>,
    /// Records refusals for the operator; `None` records none.
    pub refusals: Option<Arc<dyn RefusalSink>>,
}

/// Takes refusals to be recorded. It is called on the threads that serve and must not block.
pub trait RefusalSink: Send + Sync {
    fn refused(&self, refusal: NewRefusal);
}

/// The use cases and settings of an application. Clones share them.
#[derive(Clone)]
pub struct Api {
    pub(crate) services: Services,
    pub(crate) shared: Data<Shared>,
}

impl Api {
    /// Puts `services` behind the interface.
    #[must_use]
    pub fn new(services: Services, settings: Settings) -> Self {
        let shared = Shared {
            document: openapi::document(&settings.base_path).into(),
            uploads: UploadLimit::new(settings.uploads),
            settings,
        };
        Self { services, shared: Data::new(shared) }
    }
}

/// Settings, and what is counted over all requests.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) uploads: UploadLimit,
    /// The OpenAPI document.
    pub(crate) document: Bytes,
}
