//! What the tests of hostile clients share: a bound on the memory of the process, and that the next client is served.

use super::raw::{Raw, head};
use super::{COMPUTER, Server};
use serde_json::json;

pub(crate) const GUID: &str = "11111111-2222-3333-4444-555555555555";

pub(crate) const NOT_JSON: &str = "Request body is not valid JSON";
pub(crate) const MALFORMED: &str = "This request is not properly formatted";

/// What hundreds of hostile clients may add to the process, in KiB: buffers that the allocator keeps, and no more
/// of what they send.
const MAY_GROW: u64 = 64 * 1024;

/// The memory of a server before something is done to it.
pub(crate) struct Before {
    resident: u64,
}

impl Before {
    pub(crate) fn of(server: &Server) -> Self {
        // What the first request sets up is no matter of those that follow.
        assert_lives(server);
        server.forget_peak_memory();
        Self { resident: server.memory("VmRSS") }
    }

    /// The server answers, and never held more than a bounded amount.
    #[track_caller]
    #[allow(clippy::print_stderr, reason = "figures that were measured are shown")]
    pub(crate) fn assert_flat(&self, server: &Server, what: &str) {
        assert_lives(server);
        let peak = server.memory("VmHWM");
        eprintln!("{what}: {} KiB before, {peak} KiB at most", self.resident);
        assert!(peak < self.resident + MAY_GROW, "{what}: from {} to {peak} KiB", self.resident);
    }
}

#[track_caller]
pub(crate) fn assert_lives(server: &Server) {
    let answer = Raw::ask(server, head("GET", "/api/v2", ""));
    assert_eq!((answer.status, answer.text().as_str()), (200, "\"Server is running\""));
}

pub(crate) fn message(text: &str) -> String {
    json!({ "Message": text }).to_string()
}

pub(crate) fn entry(text: &str) -> String {
    json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": text }).to_string()
}
