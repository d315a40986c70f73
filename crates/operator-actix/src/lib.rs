//! The operator API of Platen as an actix-web application, for programs and for the console.
//!
//! [`configure`] adds its routes to an [`App`](actix_web::App) of http-actix, whose middleware gives each request an id, a
//! client address and a line in the log. A handler reads the query, calls a use case of `domain` and writes its result;
//! [`authenticate`] decides who calls, and [`error`] is the one table from errors to answers.

mod audit;
pub mod authenticate;
mod body;
pub mod computers;
pub mod cookie;
pub mod crash_groups;
pub mod crash_reports;
pub mod devices;
pub mod download;
pub mod error;
pub mod logs;
mod me;
pub mod openapi;
mod operators;
mod organizations;
mod overview;
pub mod page;
pub mod query;
pub mod refusals;
mod resources;
mod routes;
pub mod same_origin;
mod search;
mod services;
mod time;
mod timeline;
mod tokens;

pub use routes::configure;
pub use services::{Services, Settings};
