//! The tests of every message of the interface. They know nothing of the server's stores: the crate
//! root that includes this gives them in `open`. So the same tests run over memory here, and over the adapters
//! in the end-to-end tests of `crates/server`.

mod abuse;
mod authentication;
mod bodies;
mod connections;
mod crash_reports;
mod device_status;
mod log_lines;
mod logs;
mod openapi;
mod refusals;
mod requests;
mod resource_add;
mod resource_find;
mod resource_get;
mod robustness;
mod support;
