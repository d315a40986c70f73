//! The refusals that are kept for a while.

pub(super) const STATEMENTS: &[&str] = &[
    "CREATE TABLE refusal (
        id {id},
        received_at bigint NOT NULL,
        organization_id bigint,
        address text,
        operation text NOT NULL,
        credential text NOT NULL,
        user_name text,
        computer_guid {guid},
        status integer NOT NULL,
        reason text NOT NULL,
        detail text NOT NULL,
        request_id text NOT NULL
    )",
    // Lists, the newest first, and what is too old.
    "CREATE INDEX refusal_by_time ON refusal (received_at, id)",
    // The bounds on what is kept of each owner.
    "CREATE INDEX refusal_of_organization ON refusal (organization_id, id) WHERE organization_id IS NOT NULL",
    "CREATE INDEX refusal_of_address ON refusal (address, id) WHERE organization_id IS NULL",
    "CREATE INDEX refusal_of_unknown ON refusal (id) WHERE organization_id IS NULL",
];
