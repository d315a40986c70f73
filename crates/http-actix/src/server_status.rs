//! GET /api/v2: is the server running? (decision R13)

use crate::answer::Message;
use crate::openapi::{Responses, refusals};
use utoipa::IntoResponses;

const RUNNING: &str = "Server is running";

/// Is the server running?
///
/// Clients ask this before they send anything, to see that they reach the server and are let in.
#[utoipa::path(
    get,
    path = "/api/v2",
    tag = "Server",
    responses((status = 200, description = RUNNING, body = String, content_type = "application/json"), Refusals)
)]
pub(crate) async fn server_status() -> Message<'static> {
    Message::new(RUNNING)
}

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        refusals([])
    }
}
