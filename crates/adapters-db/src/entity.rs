//! The tables as entities of sea-orm.
//!
//! Times (`*_at`) are microseconds since 1970. A column `*_folded` holds the text before it, folded for comparison
//! without case (decision R14). Organizations are numbers of the table `organization`.

#![expect(unreachable_pub, reason = "sea-orm derives public items, which need public types")]

pub(crate) mod audit_record;
pub(crate) mod computer;
pub(crate) mod computer_fetch;
pub(crate) mod computer_seen;
pub(crate) mod crash_analysis;
pub(crate) mod crash_group;
pub(crate) mod crash_group_tally;
pub(crate) mod crash_part;
pub(crate) mod crash_pending;
pub(crate) mod crash_report;
pub(crate) mod device;
pub(crate) mod device_forecast;
pub(crate) mod device_history;
pub(crate) mod device_status;
pub(crate) mod discarded_blob;
pub(crate) mod fleet_version;
pub(crate) mod former_name;
pub(crate) mod hardware_hash;
pub(crate) mod job;
pub(crate) mod log_entry;
pub(crate) mod mis_key;
pub(crate) mod operator_account;
pub(crate) mod operator_session;
pub(crate) mod operator_token;
pub(crate) mod organization;
pub(crate) mod queue;
pub(crate) mod refusal;
pub(crate) mod resource;
pub(crate) mod resource_use;
pub(crate) mod setup_code;
pub(crate) mod user_account;
pub(crate) mod user_fetch;
pub(crate) mod user_seen;
pub(crate) mod write_probe;
