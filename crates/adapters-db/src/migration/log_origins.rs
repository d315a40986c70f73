//! What log entries have in common stands in a table of its own (ADR 54).

use sea_orm_migration::sea_orm::DbBackend;

pub(super) fn statements(backend: DbBackend) -> Vec<&'static str> {
    let (make_room, continue_ids) = match backend {
        DbBackend::Postgres => (POSTGRES_MAKE_ROOM, POSTGRES_CONTINUE_IDS),
        _ => (SQLITE_MAKE_ROOM, SQLITE_CONTINUE_IDS),
    };
    [make_room, MAKE, continue_ids, &["DROP TABLE former_log_entry"], INDEX].concat()
}

/// The new table is to have the names of the former one, and so are its key and its sequence.
const POSTGRES_MAKE_ROOM: &[&str] = &[
    "ALTER TABLE log_entry RENAME CONSTRAINT log_entry_pkey TO former_log_entry_pkey",
    "ALTER SEQUENCE log_entry_id_seq RENAME TO former_log_entry_id_seq",
    "ALTER TABLE log_entry RENAME TO former_log_entry",
];

const SQLITE_MAKE_ROOM: &[&str] = &["ALTER TABLE log_entry RENAME TO former_log_entry"];

const MAKE: &[&str] = &[
    // Texts of any length are unique by their digest. Origins of earlier entries have none: they are not used again.
    "CREATE TABLE log_origin (
        id {id},
        digest {bytes} UNIQUE,
        organization_id bigint NOT NULL,
        user_name text NOT NULL,
        user_folded {folded} NOT NULL,
        version text NOT NULL,
        version_folded {folded} NOT NULL,
        computer text NOT NULL,
        computer_folded {folded} NOT NULL,
        serial_number text NOT NULL,
        serial_folded {folded} NOT NULL,
        computer_guid {guid} NOT NULL,
        application_version text NOT NULL,
        seen_at bigint NOT NULL
    )",
    "INSERT INTO log_origin (organization_id, user_name, user_folded, version, version_folded, computer,
        computer_folded, serial_number, serial_folded, computer_guid, application_version, seen_at)
    SELECT organization_id, user_name, min(user_folded), version, min(version_folded), computer, min(computer_folded),
        serial_number, min(serial_folded), computer_guid, application_version, max(received_at)
    FROM former_log_entry
    GROUP BY organization_id, user_name, version, computer, serial_number, computer_guid, application_version",
    "CREATE TABLE log_entry (
        id {id},
        organization_id bigint NOT NULL,
        origin_id bigint NOT NULL,
        received_at bigint NOT NULL,
        log_type text NOT NULL,
        description text NOT NULL,
        source text NOT NULL,
        source_folded {folded} NOT NULL,
        device_guid {guid},
        queue_guid {guid},
        job_guid {guid},
        job_name text
    )",
    "INSERT INTO log_entry (id, organization_id, origin_id, received_at, log_type, description, source, source_folded,
        device_guid, queue_guid, job_guid, job_name)
    SELECT former.id, former.organization_id, origin.id, received_at, log_type, description, source, source_folded,
        device_guid, queue_guid, job_guid, job_name
    FROM former_log_entry AS former JOIN log_origin AS origin
        ON origin.organization_id = former.organization_id AND origin.computer_guid = former.computer_guid
        AND origin.user_name = former.user_name AND origin.version = former.version
        AND origin.computer = former.computer AND origin.serial_number = former.serial_number
        AND origin.application_version = former.application_version
    ORDER BY former.id",
];

/// Numbers go on where they were, also behind entries that were removed.
const POSTGRES_CONTINUE_IDS: &[&str] =
    &["SELECT setval('log_entry_id_seq', last_value, is_called) FROM former_log_entry_id_seq"];

const SQLITE_CONTINUE_IDS: &[&str] = &[
    "DELETE FROM sqlite_sequence WHERE name = 'log_entry'",
    "INSERT INTO sqlite_sequence (name, seq) SELECT 'log_entry', seq FROM sqlite_sequence
        WHERE name = 'former_log_entry'",
];

/// Those of entries end in the order of the answer (decision L8). The one of origins comes late: SQLite would take it for the
/// join above, and compare each entry with all origins of its organization.
const INDEX: &[&str] = &[
    "CREATE INDEX log_origin_of_organization ON log_origin (organization_id)",
    "CREATE INDEX log_entry_by_time ON log_entry (organization_id, received_at, id)",
    "CREATE INDEX log_entry_by_origin ON log_entry (origin_id, received_at, id)",
    "CREATE INDEX log_entry_by_source ON log_entry (organization_id, substr(source_folded, 1, 128), received_at, id)",
];
