//! Is the server running? (decision R13)

use crate::openapi::description::Description;
use crate::reply::Answer;

const RUNNING: &str = "Server is running";

pub(crate) fn handle() -> Answer {
    Answer::success(RUNNING)
}

pub(crate) fn description() -> Description {
    let text = "Clients ask this before they send anything, to see that they reach the server and are let in.";
    Description::new("Is the server running?", text).answers_message(RUNNING)
}
