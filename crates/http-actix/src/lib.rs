//! The HTTP interface of Platen as an actix-web application.
//!
//! [`serve`] runs it; [`configure`] adds its routes to any [`App`](actix_web::App), so that a test can call them over
//! fakes by `actix_web::test::init_service`. No business rule is here: a handler reads the request, calls a
//! use case of `domain` and writes its result.
//!
//! A request passes [`middleware`] (path, log, authentication), [`extract`] (the body) and one handler in
//! [`log`], [`resource`] or [`device`]. Errors become responses in [`error`].

mod device;
mod docs;
mod error;
mod extract;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
#[path = "../fuzzing.rs"]
pub mod fuzzing;
mod health;
mod log;
mod middleware;
pub mod openapi;
mod request;
mod resource;
mod response;
mod routes;
mod server;
mod services;
mod uploads;

pub use extract::body::small_body;
pub use middleware::client::{Network, parse_network};
pub use request::{RequestInfo, operation};
pub use routes::configure;
pub use server::{DRAIN_TIME, Extension, HttpConfig, Serving, ServingHandle, serve};
pub use services::{Readiness, RefusalSink, Services, Settings};
pub use uploads::{UploadBounds, UploadLimit};
