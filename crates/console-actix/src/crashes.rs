//! Crashes: the groups, one group with its reports, one report.

mod group;
mod list;
mod report;

pub(crate) use group::{change, show as show_group};
pub(crate) use list::list;
pub(crate) use report::{part, show as show_report};

use domain::crash_group::GroupState;

/// The badge of a state: its kind, which is shape and colour, and its word.
pub(crate) fn badge(state: GroupState) -> (&'static str, &'static str) {
    let kind = match state {
        GroupState::New => "warn",
        GroupState::Acknowledged => "idle",
        GroupState::Resolved => "good",
        GroupState::Regressed => "bad",
    };
    (kind, state.as_str())
}
