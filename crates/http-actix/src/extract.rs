//! What handlers are given: who calls, and the body.

pub(crate) mod body;
pub(crate) mod caller;
pub(crate) mod coding;
pub(crate) mod content_type;
pub(crate) mod credentials;
pub(crate) mod headers;
pub(crate) mod json;
pub(crate) mod lenient_json;
pub(crate) mod multipart;
pub(crate) mod part_heads;
