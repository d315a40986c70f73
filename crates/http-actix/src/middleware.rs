//! What every request passes before its handler.

pub(crate) mod authenticate;
pub(crate) mod client;
pub(crate) mod context;
pub(crate) mod path;
pub(crate) mod request_log;
pub(crate) mod unread_body;
