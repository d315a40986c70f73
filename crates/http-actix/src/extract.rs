//! Extractors: the caller and the body.

pub(crate) mod body;
pub(crate) mod headers;
pub(crate) mod json;
pub(crate) mod multipart;
pub(crate) mod part_heads;

use actix_web::web::ReqData;
use std::sync::Arc;

/// The caller. Only routes with [`authenticate`](crate::middleware::authenticate) have one.
pub(crate) type Caller = ReqData<Arc<domain::caller::Caller>>;
