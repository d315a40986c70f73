//! The first schema.
//!
//! Times are microseconds since 1970, GUIDs are `uuid`. A column `*_folded` holds text that is compared without case
//! (decision R14). An index entry of PostgreSQL is limited to some 2,700 bytes, so indexes hold the first characters of
//! texts (ADR 10).
//!
//! Organizations of resources, log entries, crash reports and statuses are not foreign keys: checking one would lock
//! the row of the organization with every write.

use async_trait::async_trait;
use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, big_integer_null, big_pk_auto, blob, boolean, double_null, integer, text, text_null, text_uniq, uuid,
    uuid_null,
};
use sea_orm_migration::sea_orm::DbBackend;

pub(super) struct Initial;

impl MigrationName for Initial {
    fn name(&self) -> &'static str {
        "0001_initial"
    }
}

#[async_trait]
impl MigrationTrait for Initial {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let text = Texts { backend: manager.get_database_backend() };
        let tables = [access_tables(text), fleet_tables(text), record_tables(text), service_tables()];
        for table in tables.into_iter().flatten() {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        for sql in EXPRESSION_INDEXES {
            manager.get_connection().execute_unprepared(sql).await?;
        }
        let first = Query::insert()
            .into_table("fleet_version")
            .columns(["id", "number"])
            .values_panic([1.into(), 0.into()])
            .take();
        manager.execute(first).await
    }
}

/// Columns of text that is compared and sorted by the numbers of its characters.
#[derive(Clone, Copy)]
pub(super) struct Texts {
    pub(super) backend: DbBackend,
}

impl Texts {
    pub(super) fn sorted(self, column: &'static str) -> ColumnDef {
        self.by_characters(text(column))
    }

    pub(super) fn sorted_null(self, column: &'static str) -> ColumnDef {
        self.by_characters(text_null(column))
    }

    /// `SQLite` compares all text so; `PostgreSQL` by the language of the database, unless a column says otherwise.
    fn by_characters(self, mut column: ColumnDef) -> ColumnDef {
        if self.backend == DbBackend::Postgres {
            column.extra("COLLATE \"C\"");
        }
        column
    }
}

/// Organizations, their users and their credentials.
fn access_tables(texts: Texts) -> Vec<TableCreateStatement> {
    vec![
        table("organization").col(big_pk_auto("id")).col(text_uniq("name")).col(boolean("publisher")).take(),
        table("user_account")
            .col(big_pk_auto("id"))
            .col(big_integer("organization_id"))
            .col(text("name"))
            .col(big_integer_null("retired_at"))
            .foreign_key(&mut reference("organization_id", "organization", "id"))
            .index(Index::create().col("organization_id").col("name").unique())
            .take(),
        table("mis_key")
            .col(primary(blob("digest")))
            .col(big_integer("user_id"))
            .col(big_integer("issued_at"))
            .col(big_integer_null("last_used_at"))
            .col(big_integer_null("revoked_at"))
            .foreign_key(&mut reference("user_id", "user_account", "id"))
            .take(),
        table("computer")
            .col(primary(uuid("guid")))
            .col(big_integer("organization_id"))
            .col(text("name"))
            .col(text_null("serial_number"))
            .col(texts.sorted_null("serial_folded"))
            .col(big_integer_null("user_id"))
            .col(big_integer_null("retired_at"))
            .foreign_key(&mut reference("organization_id", "organization", "id"))
            .foreign_key(&mut reference("user_id", "user_account", "id"))
            .take(),
        table("hardware_hash")
            .col(primary(blob("digest")))
            .col(uuid("computer_guid").unique_key().take())
            .foreign_key(&mut reference("computer_guid", "computer", "guid"))
            .take(),
    ]
}

/// The other records of the fleet, and its version.
fn fleet_tables(texts: Texts) -> Vec<TableCreateStatement> {
    vec![
        table("device")
            .col(primary(uuid("guid")))
            .col(big_integer("organization_id"))
            .col(texts.sorted("name"))
            .col(big_integer_null("retired_at"))
            .foreign_key(&mut reference("organization_id", "organization", "id"))
            .take(),
        table("queue")
            .col(primary(uuid("guid")))
            .col(big_integer("organization_id"))
            .col(text("name"))
            .col(uuid_null("device_guid"))
            .col(big_integer_null("retired_at"))
            .foreign_key(&mut reference("organization_id", "organization", "id"))
            .foreign_key(&mut reference("device_guid", "device", "guid"))
            .take(),
        table("job")
            .col(primary(uuid("guid")))
            .col(big_integer("organization_id"))
            .col(text("name"))
            .col(uuid_null("queue_guid"))
            .col(big_integer_null("retired_at"))
            .foreign_key(&mut reference("organization_id", "organization", "id"))
            .foreign_key(&mut reference("queue_guid", "queue", "guid"))
            .take(),
        table("resource_use")
            .col(text("kind"))
            .col(uuid("record_guid"))
            .col(uuid("resource_guid"))
            .col(big_integer("organization_id"))
            .primary_key(Index::create().col("kind").col("record_guid").col("resource_guid"))
            .foreign_key(&mut reference("organization_id", "organization", "id"))
            .take(),
        table("fleet_version").col(primary(integer("id"))).col(big_integer("number")).take(),
    ]
}

/// What clients store.
fn record_tables(texts: Texts) -> Vec<TableCreateStatement> {
    vec![
        table("resource")
            .col(big_integer("organization_id"))
            .col(uuid("guid"))
            .col(text("resource_type"))
            .col(texts.sorted("type_folded"))
            .col(text("checksum"))
            .col(big_integer("modified_at"))
            .col(text("domain"))
            .col(text("name"))
            .col(texts.sorted("name_sort"))
            .col(text("meta"))
            .col(texts.sorted_null("profile_group_folded"))
            .col(texts.sorted_null("media_folded"))
            .col(texts.sorted_null("mode_folded"))
            .col(text("blob_key"))
            .col(big_integer("content_size"))
            .col(text_null("previous_blob_key"))
            .primary_key(Index::create().col("organization_id").col("guid"))
            .take(),
        table("discarded_blob").col(primary(text("blob_key"))).col(big_integer("discarded_at")).take(),
        table("log_entry")
            .col(big_pk_auto("id"))
            .col(big_integer("organization_id"))
            .col(big_integer("received_at"))
            .col(text("log_type"))
            .col(text("description"))
            .col(text("user_name"))
            .col(texts.sorted("user_folded"))
            .col(text("source"))
            .col(texts.sorted("source_folded"))
            .col(text("version"))
            .col(texts.sorted("version_folded"))
            .col(text("computer"))
            .col(texts.sorted("computer_folded"))
            .col(text("serial_number"))
            .col(texts.sorted("serial_folded"))
            .col(uuid("computer_guid"))
            .col(uuid_null("device_guid"))
            .col(uuid_null("queue_guid"))
            .col(uuid_null("job_guid"))
            .col(text_null("job_name"))
            .col(text("application_version"))
            .take(),
        table("crash_report")
            .col(primary(uuid("id")))
            .col(big_integer("organization_id"))
            .col(big_integer("received_at"))
            .col(text_null("application_name"))
            .col(text_null("os"))
            .col(text_null("user_name"))
            .col(uuid_null("computer_guid"))
            .col(text("serial_number"))
            .col(text("application_version"))
            .col(text_null("note"))
            .take(),
        table("crash_part")
            .col(uuid("report_id"))
            .col(integer("position"))
            .col(text("place"))
            .col(text_null("name"))
            .col(text_null("file_name"))
            .col(text_null("content_type"))
            .col(text("blob_key"))
            .col(big_integer("content_size"))
            .col(text("checksum"))
            .primary_key(Index::create().col("report_id").col("position"))
            .foreign_key(&mut reference("report_id", "crash_report", "id"))
            .take(),
        table("device_status")
            .col(big_integer("organization_id"))
            .col(uuid("device_guid"))
            .col(big_integer("received_at"))
            .col(text("status"))
            .col(text_null("message"))
            .col(double_null("temperature"))
            .col(text_null("connection_state"))
            .col(text_null("connection_message"))
            .col(text("remaining_inks"))
            .col(text("queue_measure"))
            .col(text("queue_amount"))
            .primary_key(Index::create().col("organization_id").col("device_guid"))
            .take(),
    ]
}

/// What the service itself keeps: refused requests, and rows that readiness writes.
fn service_tables() -> Vec<TableCreateStatement> {
    vec![
        table("refusal")
            .col(big_pk_auto("id"))
            .col(big_integer("received_at"))
            .col(big_integer_null("organization_id"))
            .col(text_null("address"))
            .col(text("operation"))
            .col(text("credential"))
            .col(text_null("user_name"))
            .col(uuid_null("computer_guid"))
            .col(integer("status"))
            .col(text("reason"))
            .col(text("detail"))
            .col(text("request_id"))
            .col(text("serial_number"))
            .col(text("application_version"))
            .col(big_integer_null("named_organization_id"))
            .take(),
        table("write_probe").col(big_pk_auto("id")).col(blob("filler")).take(),
    ]
}

/// Indexes of the first characters of a text, which the schema builder can't write for `SQLite`.
const EXPRESSION_INDEXES: [&str; 4] = [
    // Lists of one type.
    "CREATE INDEX resource_by_type ON resource
        (organization_id, domain, substr(type_folded, 1, 128), name_sort, guid)",
    // The PMM lookup, the winner first (decision T20).
    "CREATE INDEX resource_by_pmm ON resource
        (organization_id, substr(profile_group_folded, 1, 128), substr(media_folded, 1, 128),
         substr(mode_folded, 1, 128), modified_at DESC, guid)
        WHERE mode_folded IS NOT NULL",
    // The filters Source and Computer, in the order of the answer.
    "CREATE INDEX log_entry_by_source ON log_entry (organization_id, substr(source_folded, 1, 128), received_at, id)",
    "CREATE INDEX log_entry_by_computer ON log_entry (organization_id, substr(computer_folded, 1, 128), received_at, id)",
];

/// The indexes in addition to those of primary keys and unique columns, each with the query that uses it.
fn indexes() -> Vec<IndexCreateStatement> {
    let descending = || IndexOrder::Desc;
    vec![
        // The keys of a user: `fleet apply`, `key revoke`.
        index("mis_key", "mis_key_of_user").col("user_id").take(),
        // The records of one organization: `fleet export`, and the devices for the operator.
        index("computer", "computer_of_organization").col("organization_id").take(),
        index("device", "device_of_organization").col("organization_id").take(),
        index("queue", "queue_of_organization").col("organization_id").take(),
        index("job", "job_of_organization").col("organization_id").take(),
        // Whether a resource is in use (decision O3).
        index("resource_use", "resource_use_of_resource")
            .col("organization_id")
            .col("resource_guid")
            .col(("kind", descending()))
            .col("record_guid")
            .take(),
        // Lists of all types, in the order of the answer (decision T19).
        index("resource", "resource_by_name").col("organization_id").col("domain").col("name_sort").col("guid").take(),
        // Resources of other organizations (decision T15), the newest first.
        index("resource", "resource_anywhere")
            .col("guid")
            .col("domain")
            .col(("modified_at", descending()))
            .col("organization_id")
            .take(),
        // Whether a blob is used: the sweep, `blobs check`.
        index("resource", "resource_blob").col("blob_key").take(),
        index("crash_part", "crash_part_blob").col("blob_key").take(),
        // The blobs that the sweep removes next.
        index("discarded_blob", "discarded_blob_by_age").col("discarded_at").col("blob_key").take(),
        // Lists and retention, in the order of the answer (decision L8).
        index("log_entry", "log_entry_by_time").col("organization_id").col("received_at").col("id").take(),
        // Lists and retention of crash reports.
        index("crash_report", "crash_report_by_time").col("organization_id").col("received_at").col("id").take(),
        // Lists of refusals, and which are too old.
        index("refusal", "refusal_by_time").col("received_at").col("id").take(),
        // How many refusals are kept of each owner (ADR 40).
        index("refusal", "refusal_of_organization")
            .col("organization_id")
            .col("id")
            .and_where(Expr::col("organization_id").is_not_null())
            .take(),
        index("refusal", "refusal_of_address")
            .col("address")
            .col("id")
            .and_where(Expr::col("organization_id").is_null())
            .take(),
        index("refusal", "refusal_of_unknown").col("id").and_where(Expr::col("organization_id").is_null()).take(),
    ]
}

pub(super) fn table(name: &'static str) -> TableCreateStatement {
    Table::create().table(name).take()
}

pub(super) fn index(table: &'static str, name: &'static str) -> IndexCreateStatement {
    Index::create().table(table).name(name).take()
}

pub(super) fn primary(mut column: ColumnDef) -> ColumnDef {
    column.primary_key().take()
}

/// A foreign key of the table that is created.
pub(super) fn reference(column: &'static str, table: &'static str, key: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create().from_col(column).to(table, key).take()
}
