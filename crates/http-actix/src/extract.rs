//! What is read from requests before a use case is called.

pub(crate) mod credentials;
pub(crate) mod json;
pub(crate) mod media;
pub(crate) mod multipart;
