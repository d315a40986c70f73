//! GET /api/v2: is the server running? (decision R13)

use crate::answer::Message;
use crate::openapi::description::Description;

const RUNNING: &str = "Server is running";

pub(crate) async fn server_status() -> Message<'static> {
    Message::new(RUNNING)
}

pub(crate) fn description() -> Description {
    let text = "Clients ask this before they send anything, to see that they reach the server and are let in.";
    Description::new("Is the server running?", text).answers_message(RUNNING)
}
