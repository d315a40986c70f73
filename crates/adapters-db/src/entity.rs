//! The rows of the tables, as sea-orm knows them. What they mean is in the domain; what they are made
//! of is in `migration`.

#![expect(unreachable_pub, reason = "sea-orm derives public items, which need public types")]

pub(crate) mod computer;
pub(crate) mod crash_part;
pub(crate) mod crash_report;
pub(crate) mod device;
pub(crate) mod device_status;
pub(crate) mod discarded_blob;
pub(crate) mod hardware_hash;
pub(crate) mod job;
pub(crate) mod log_entry;
pub(crate) mod mis_key;
pub(crate) mod organization;
pub(crate) mod queue;
pub(crate) mod refusal;
pub(crate) mod resource;
pub(crate) mod resource_use;
pub(crate) mod user_account;
