//! Information on requests for the other applications on this listener: the operator API and the console.

use crate::middleware::client;
use crate::middleware::context::RequestContext;
use crate::services::Settings;
use actix_web::dev::ServiceRequest;
use actix_web::middleware::{Next, from_fn};
use actix_web::{HttpRequest, Route};
use std::net::IpAddr;

/// Information on a request that any handler may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestInfo {
    /// The request id in the log and in `X-Request-Id` (decision R4).
    pub id: String,
    /// The client's address: the peer's, or the one that a trusted proxy names.
    pub client: Option<IpAddr>,
    /// Whether the client uses TLS, to this server or to a trusted proxy that says so by `X-Forwarded-Proto`.
    pub is_secure: bool,
}

impl RequestInfo {
    /// Reads the information on a request.
    #[must_use]
    pub fn of(request: &HttpRequest) -> Self {
        let context = RequestContext::of(request);
        let peer = request.peer_addr().map(|peer| peer.ip());
        let trusted = &Settings::of(request).trusted_proxies;
        let is_forwarded = peer.is_some_and(|peer| client::is_forwarded_tls(peer, request.headers(), trusted));
        let is_secure = request.app_config().secure() || is_forwarded;
        Self { id: context.request_id.clone(), client: context.client, is_secure }
    }
}

/// Sets the name of a route in logs and metrics.
pub fn operation(name: &'static str, route: Route) -> Route {
    route.wrap(from_fn(move |request: ServiceRequest, next: Next<_>| {
        RequestContext::of(request.request()).set_operation(name);
        next.call(request)
    }))
}
