//! The use cases and the settings of the console.

use actix_web::web::{Data, ServiceConfig};
use domain::fleet::Secret;
use domain::operator::SetupService;
use domain::session::SessionService;
use std::sync::Arc;

/// The use cases that the pages call.
#[derive(Clone)]
pub struct Services {
    pub sessions: Arc<SessionService>,
    pub setup: Arc<SetupService>,
}

impl Services {
    /// Makes the use cases known to handlers.
    pub(crate) fn register(&self, config: &mut ServiceConfig) {
        config.app_data(Data::from(Arc::clone(&self.sessions))).app_data(Data::from(Arc::clone(&self.setup)));
    }
}

/// Where the console is.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Prefix before `/console`: empty, or `/` and segments.
    pub base_path: String,
}

impl Settings {
    /// The path of the console: `/console` below the base path.
    pub(crate) fn root(&self) -> String {
        format!("{}/console", self.base_path.to_ascii_lowercase())
    }
}

/// The link of the first start (decision P2). `origin` is `http://HOST:PORT`.
#[must_use]
pub fn setup_url(origin: &str, base_path: &str, code: &Secret) -> String {
    format!("{origin}{}/console/setup?code={}", base_path.to_ascii_lowercase(), code.reveal())
}
