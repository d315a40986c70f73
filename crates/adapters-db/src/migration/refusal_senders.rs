//! What a refused request said of its sender.

pub(super) const STATEMENTS: &[&str] = &[
    "ALTER TABLE refusal ADD COLUMN serial_number text NOT NULL DEFAULT ''",
    "ALTER TABLE refusal ADD COLUMN application_version text NOT NULL DEFAULT ''",
    // The organization of a computer whose hash was sent by somebody who wasn't admitted: organization_id stays empty.
    "ALTER TABLE refusal ADD COLUMN named_organization_id bigint",
];
