//! The number of changes to the fleet, by which processes know whether what they remember of it is still so.

pub(super) const STATEMENTS: &[&str] = &[
    "CREATE TABLE fleet_version (number bigint NOT NULL)",
    // One row for ever.
    "INSERT INTO fleet_version (number) VALUES (0)",
];
