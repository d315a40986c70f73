//! The HTTP interface: routes, authentication, bodies in, answers out. No rule of the business lives
//! here; what a request asks for is handed to a use case of `domain`, and what that says is put into
//! the words of the interface.
//!
//! The way of a request: [`socket`] (TLS, where there is any) → [`wire`] (bytes of one request at a time) → [`server`] (actix) → [`exchange`]
//! (identity, log, metrics) → [`route`] → [`admission`] (credentials, format, announced size) →
//! [`call`] (the handlers) → [`intake`] and [`extract`] (the body) → a use case → [`reply`] or
//! [`error`].

mod admission;
mod call;
mod client;
mod conditional;
mod device;
mod docs;
mod error;
mod exchange;
mod extract;
mod format;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod health;
mod http_date;
mod intake;
pub mod json;
mod log;
mod meters;
mod observe;
pub mod openapi;
mod reply;
mod resource;
mod route;
mod server;
mod server_status;
mod socket;
mod trace;
mod uploads;
mod wire;

pub use client::Network;
pub use health::Readiness;
pub use observe::{Observers, RefusalSink, RequestSpan, TraceSink};
pub use server::{HttpConfig, Services, Serving, ServingHandle, serve};
pub use trace::{Trace, TraceId};
pub use uploads::UploadBounds;
