//! The two listeners: one for clients, one for operators.

use crate::health::Metrics;
use crate::middleware::path::normalize_path;
use crate::middleware::request_log::log_request;
use crate::middleware::unread_body::{discard_unread_body, on_connect};
use crate::routes::{configure, configure_ops};
use crate::services::{Services, Settings};
use actix_web::dev::{Server, ServerHandle};
use actix_web::middleware::from_fn;
use actix_web::web::ServiceConfig;
use actix_web::{App, HttpServer};
use futures_util::FutureExt;
use futures_util::future::{join, try_join};
use rustls::ServerConfig;
use socket2::SockRef;
use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

/// Timeout for running requests when the server stops.
pub const DRAIN_TIME: Duration = Duration::from_secs(30);

/// Connections of the operators' listener.
const MAX_OPS_CONNECTIONS: usize = 64;

/// Timeout of an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// Timeout for closing a connection.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Settings of the listeners.
pub struct HttpConfig {
    pub workers: usize,
    /// Concurrent connections to the API, over all workers; further ones wait to be accepted.
    pub max_connections: usize,
    /// TLS for the API; `None` is plain HTTP. The operators' listener is always plain.
    pub tls: Option<Arc<ServerConfig>>,
    pub settings: Settings,
    /// More routes for the API's listener. They are matched before those of the interface.
    pub extension: Option<Extension>,
}

/// Adds routes to the application of each worker.
pub type Extension = Arc<dyn Fn(&mut ServiceConfig) + Send + Sync>;

/// Serves the interface on `api`, and health and metrics on `ops`. It handles no signals: [`Serving::handle`] stops it.
///
/// Each listener has its own workers, so that operators get responses however many clients are connected.
///
/// # Errors
/// A listener can't be used.
pub fn serve(
    config: HttpConfig,
    services: Services,
    api: TcpListener,
    ops: TcpListener,
    metrics: Metrics,
) -> io::Result<Serving> {
    let HttpConfig { workers, max_connections, tls, settings, extension } = config;
    let workers = workers.max(1);
    let read_timeout = settings.read_timeout;
    let settings = Arc::new(settings);
    let (readiness, for_ops) = (Arc::clone(&services.readiness), Arc::clone(&settings));
    // Accepted connections inherit this option: a client that stops reading its response is disconnected.
    SockRef::from(&api).set_tcp_user_timeout(Some(read_timeout))?;
    let server = HttpServer::new(move || {
        App::new()
            .configure(|config| {
                if let Some(extension) = &extension {
                    extension(config);
                }
            })
            .configure(|config| configure(config, &services, &settings))
            .wrap(from_fn(normalize_path))
            .wrap(from_fn(log_request))
            .wrap(from_fn(discard_unread_body))
    });
    let server = server
        .on_connect(on_connect)
        .workers(workers)
        .max_connections((max_connections / workers).max(1))
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(read_timeout)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        .tls_handshake_timeout(read_timeout)
        .tcp_nodelay(true)
        .shutdown_timeout(DRAIN_TIME.as_secs())
        .disable_signals();
    let api = match tls {
        Some(tls) => server.listen_rustls_0_23(api, ServerConfig::clone(&tls))?,
        None => server.listen(api)?,
    };
    let ops_server = HttpServer::new(move || {
        App::new()
            .configure(|config| configure_ops(config, Arc::clone(&readiness), &for_ops, Arc::clone(&metrics)))
            .wrap(from_fn(normalize_path))
            .wrap(from_fn(log_request))
    });
    let ops = ops_server
        .workers(1)
        .max_connections(MAX_OPS_CONNECTIONS)
        .keep_alive(KEEP_ALIVE)
        .shutdown_timeout(DRAIN_TIME.as_secs())
        .disable_signals()
        .listen(ops)?;
    Ok(Serving { api: api.run(), ops: ops.run() })
}

/// Both listeners while they are served.
pub struct Serving {
    api: Server,
    ops: Server,
}

impl Serving {
    /// The handle that stops both.
    #[must_use]
    pub fn handle(&self) -> ServingHandle {
        ServingHandle([self.api.handle(), self.ops.handle()])
    }

    /// Serves until the handle stops it.
    ///
    /// # Errors
    /// A listener failed.
    pub async fn run(self) -> io::Result<()> {
        try_join(self.api, self.ops).await.map(drop)
    }
}

/// Stops a running [`Serving`].
#[derive(Clone)]
pub struct ServingHandle([ServerHandle; 2]);

impl ServingHandle {
    /// Stops both listeners and waits until they have ended. A graceful stop lets running requests finish for [`DRAIN_TIME`].
    pub fn stop(&self, is_graceful: bool) -> impl Future<Output = ()> + use<> {
        let [api, ops] = &self.0;
        join(api.stop(is_graceful), ops.stop(is_graceful)).map(drop)
    }
}
