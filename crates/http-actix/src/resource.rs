//! The operations of resources (interface 4.1–4.6).

pub(crate) mod add;
pub(crate) mod conditional;
pub(crate) mod delete;
pub(crate) mod get_file;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod pmm;
