//! The operation of devices (interface 4.10).

pub(crate) mod status;
