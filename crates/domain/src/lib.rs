#![doc = include_str!("../../../docs/architecture.md")]

pub mod access;
pub mod activity;
pub mod audit;
pub mod blob;
pub mod body;
pub mod call_stack;
pub mod caller;
pub mod checksum;
pub mod clock;
pub mod computer;
pub mod crash_analysis;
pub mod crash_group;
pub mod crash_report;
pub mod crash_signature;
pub mod detail;
pub mod device_board;
pub mod device_history;
pub mod device_status;
pub mod error;
pub mod fleet;
pub mod guid;
pub mod inspection;
pub mod limits;
pub mod log_entry;
pub mod minidump;
pub mod operator;
pub mod overview;
pub mod page;
pub mod refusal;
pub mod resource;
pub mod retention;
pub mod search;
pub mod session;
pub mod text;
pub mod timeline;
pub mod timestamp;
pub mod token;

#[cfg(feature = "test-support")]
pub mod contract;
#[cfg(test)]
mod sample;
#[cfg(feature = "test-support")]
pub mod testing;
