//! The first schema.
//!
//! The statements are the same for both engines but for the names of some types. Times are
//! microseconds since 1970 (UTC). Columns `*_folded` hold text prepared for comparison without case
//! (decision R14); it compares by bytes everywhere, hence `COLLATE "C"` on PostgreSQL. An index entry
//! is limited to some 2,700 bytes there while texts may be of any length, so texts are indexed by
//! their first 128 characters; `text_head.rs` asks for them in the same words.
//!
//! Organizations of resources, log entries, reports and statuses are not foreign keys: checking one
//! would lock the organization's row with every write.

pub(super) const STATEMENTS: &[&str] = &[
    "CREATE TABLE organization (
        id {id},
        name text NOT NULL UNIQUE,
        publisher boolean NOT NULL
    )",
    "CREATE TABLE user_account (
        id {id},
        organization_id bigint NOT NULL REFERENCES organization (id),
        name text NOT NULL,
        UNIQUE (organization_id, name)
    )",
    "CREATE TABLE mis_key (
        digest {bytes} NOT NULL PRIMARY KEY,
        user_id bigint NOT NULL REFERENCES user_account (id),
        issued_at bigint NOT NULL,
        revoked_at bigint
    )",
    "CREATE INDEX mis_key_of_user ON mis_key (user_id)",
    "CREATE TABLE computer (
        guid {guid} NOT NULL PRIMARY KEY,
        organization_id bigint NOT NULL REFERENCES organization (id),
        name text NOT NULL,
        serial_number text,
        serial_folded {folded},
        user_id bigint REFERENCES user_account (id)
    )",
    "CREATE INDEX computer_of_organization ON computer (organization_id)",
    "CREATE TABLE hardware_hash (
        digest {bytes} NOT NULL PRIMARY KEY,
        computer_guid {guid} NOT NULL UNIQUE REFERENCES computer (guid)
    )",
    "CREATE TABLE device (
        guid {guid} NOT NULL PRIMARY KEY,
        organization_id bigint NOT NULL REFERENCES organization (id),
        name text NOT NULL
    )",
    "CREATE INDEX device_of_organization ON device (organization_id)",
    "CREATE TABLE queue (
        guid {guid} NOT NULL PRIMARY KEY,
        organization_id bigint NOT NULL REFERENCES organization (id),
        name text NOT NULL,
        device_guid {guid} REFERENCES device (guid)
    )",
    "CREATE INDEX queue_of_organization ON queue (organization_id)",
    "CREATE TABLE job (
        guid {guid} NOT NULL PRIMARY KEY,
        organization_id bigint NOT NULL REFERENCES organization (id),
        name text NOT NULL,
        queue_guid {guid} REFERENCES queue (guid)
    )",
    "CREATE INDEX job_of_organization ON job (organization_id)",
    "CREATE TABLE resource_use (
        kind text NOT NULL,
        record_guid {guid} NOT NULL,
        resource_guid {guid} NOT NULL,
        organization_id bigint NOT NULL REFERENCES organization (id),
        PRIMARY KEY (kind, record_guid, resource_guid)
    )",
    "CREATE INDEX resource_use_of_resource ON resource_use (organization_id, resource_guid)",
    "CREATE TABLE resource (
        organization_id bigint NOT NULL,
        guid {guid} NOT NULL,
        resource_type text NOT NULL,
        type_folded {folded} NOT NULL,
        checksum text NOT NULL,
        modified_at bigint NOT NULL,
        domain text NOT NULL,
        name text NOT NULL,
        name_folded {folded} NOT NULL,
        meta text NOT NULL,
        meta_digest {bytes} NOT NULL,
        profile_group_folded {folded},
        media_folded {folded},
        mode_folded {folded},
        blob_key text NOT NULL,
        content_size bigint NOT NULL,
        previous_blob_key text,
        PRIMARY KEY (organization_id, guid)
    )",
    // Lists of all types, in the order of the answer (decision T19).
    "CREATE INDEX resource_by_name ON resource (organization_id, domain, substr(name_folded, 1, 128), guid)",
    // Lists of one type.
    "CREATE INDEX resource_by_type ON resource
        (organization_id, domain, substr(type_folded, 1, 128), substr(name_folded, 1, 128), guid)",
    // The PMM lookup, the winner first (decision T20).
    "CREATE INDEX resource_by_pmm ON resource
        (organization_id, substr(profile_group_folded, 1, 128), substr(media_folded, 1, 128),
         substr(mode_folded, 1, 128), modified_at DESC, guid)
        WHERE mode_folded IS NOT NULL",
    // Resources of other organizations (decision T15), the newest first.
    "CREATE INDEX resource_anywhere ON resource (guid, domain, modified_at DESC, organization_id)",
    "CREATE INDEX resource_blob ON resource (blob_key)",
    "CREATE TABLE discarded_blob (
        blob_key text NOT NULL PRIMARY KEY,
        discarded_at bigint NOT NULL
    )",
    "CREATE INDEX discarded_blob_by_age ON discarded_blob (discarded_at, blob_key)",
    "CREATE TABLE log_entry (
        id {id},
        organization_id bigint NOT NULL,
        received_at bigint NOT NULL,
        log_type text NOT NULL,
        description text NOT NULL,
        user_name text NOT NULL,
        user_folded {folded} NOT NULL,
        source text NOT NULL,
        source_folded {folded} NOT NULL,
        version text NOT NULL,
        version_folded {folded} NOT NULL,
        computer text NOT NULL,
        computer_folded {folded} NOT NULL,
        serial_number text NOT NULL,
        serial_folded {folded} NOT NULL,
        computer_guid {guid} NOT NULL,
        device_guid {guid},
        queue_guid {guid},
        job_guid {guid},
        job_name text,
        application_version text NOT NULL
    )",
    // One index for each filter, each ending in the order of the answer (decision L8).
    "CREATE INDEX log_entry_by_time ON log_entry (organization_id, received_at, id)",
    "CREATE INDEX log_entry_by_source ON log_entry (organization_id, substr(source_folded, 1, 128), received_at, id)",
    "CREATE INDEX log_entry_by_computer ON log_entry
        (organization_id, substr(computer_folded, 1, 128), received_at, id)",
    "CREATE TABLE crash_report (
        id {guid} NOT NULL PRIMARY KEY,
        organization_id bigint NOT NULL,
        received_at bigint NOT NULL,
        application_name text,
        os text,
        user_name text,
        computer_guid {guid},
        serial_number text NOT NULL,
        application_version text NOT NULL,
        note text
    )",
    "CREATE INDEX crash_report_by_time ON crash_report (organization_id, received_at, id)",
    "CREATE TABLE crash_part (
        report_id {guid} NOT NULL REFERENCES crash_report (id),
        position integer NOT NULL,
        place text NOT NULL,
        name text,
        file_name text,
        content_type text,
        blob_key text NOT NULL,
        content_size bigint NOT NULL,
        checksum text NOT NULL,
        PRIMARY KEY (report_id, position)
    )",
    "CREATE INDEX crash_part_blob ON crash_part (blob_key)",
    "CREATE TABLE device_status (
        organization_id bigint NOT NULL,
        device_guid {guid} NOT NULL,
        received_at bigint NOT NULL,
        status text NOT NULL,
        message text,
        temperature double precision,
        connection_state text,
        connection_message text,
        remaining_inks text NOT NULL,
        queue_measure text NOT NULL,
        queue_amount text NOT NULL,
        PRIMARY KEY (organization_id, device_guid)
    )",
];
