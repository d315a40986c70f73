//! Operators, their sessions and tokens, and audit records.
//!
//! Organizations of audit records are not foreign keys: checking one would lock the row of the organization.

use super::initial::{Texts, index, primary, reference, table};
use async_trait::async_trait;
use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, big_pk_auto, blob, blob_uniq, text, text_null};
use sea_orm_migration::sea_orm::DbBackend;

pub(super) struct Operators;

impl MigrationName for Operators {
    fn name(&self) -> &'static str {
        "0002_operators"
    }
}

#[async_trait]
impl MigrationTrait for Operators {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let backend = manager.get_database_backend();
        for table in tables(Texts { backend }) {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        let triggers: &[&str] = if backend == DbBackend::Postgres { &POSTGRES_TRIGGERS } else { &SQLITE_TRIGGERS };
        for sql in triggers {
            manager.get_connection().execute_unprepared(sql).await?;
        }
        Ok(())
    }
}

fn tables(texts: Texts) -> [TableCreateStatement; 5] {
    let operator = || reference("operator_id", "operator_account", "id");
    [
        table("operator_account")
            .col(big_pk_auto("id"))
            .col(text("name"))
            .col(texts.sorted("name_folded").unique_key().take())
            .col(text("role"))
            .col(big_integer_null("organization_id"))
            .col(text("password_hash"))
            .col(big_integer("created_at"))
            .col(big_integer_null("signed_in_at"))
            .foreign_key(&mut reference("organization_id", "organization", "id"))
            .take(),
        table("operator_session")
            .col(primary(blob("digest")))
            .col(big_integer("operator_id"))
            .col(big_integer("started_at"))
            .col(big_integer("used_at"))
            .foreign_key(&mut operator())
            .take(),
        table("operator_token")
            .col(big_pk_auto("id"))
            .col(blob_uniq("digest"))
            .col(big_integer("operator_id"))
            .col(text("name"))
            .col(text("role"))
            .col(big_integer("issued_at"))
            .col(big_integer("expires_at"))
            .col(big_integer_null("used_at"))
            .col(big_integer_null("revoked_at"))
            .foreign_key(&mut operator())
            .take(),
        table("setup_code").col(primary(blob("digest"))).col(big_integer("expires_at")).take(),
        table("audit_record")
            .col(big_pk_auto("id"))
            .col(big_integer("recorded_at"))
            .col(text("author"))
            .col(texts.sorted("author_folded"))
            .col(text("credential"))
            .col(text_null("token_name"))
            .col(text_null("address"))
            .col(big_integer_null("organization_id"))
            .col(text("action"))
            .col(text("target"))
            .col(text("changed_values"))
            .take(),
    ]
}

/// Each with the query that uses it.
fn indexes() -> Vec<IndexCreateStatement> {
    vec![
        // The operators of one organization, in the order of the list.
        index("operator_account", "operator_of_organization").col("organization_id").col("name_folded").take(),
        // The sessions and tokens of one operator.
        index("operator_session", "session_of_operator").col("operator_id").take(),
        index("operator_token", "token_of_operator").col("operator_id").col("id").take(),
        // Audit records: all, of one organization, of one author, of one action, in the order of the list.
        index("audit_record", "audit_by_time").col("recorded_at").col("id").take(),
        index("audit_record", "audit_of_organization").col("organization_id").col("recorded_at").col("id").take(),
        index("audit_record", "audit_of_author").col("author_folded").col("recorded_at").col("id").take(),
        index("audit_record", "audit_of_action").col("action").col("recorded_at").col("id").take(),
    ]
}

/// An audit record never changes (decision P9). The schema builder has no triggers.
const SQLITE_TRIGGERS: [&str; 2] = [
    "CREATE TRIGGER audit_record_not_updated BEFORE UPDATE ON audit_record
        BEGIN SELECT RAISE(ABORT, 'an audit record never changes'); END",
    "CREATE TRIGGER audit_record_not_deleted BEFORE DELETE ON audit_record
        BEGIN SELECT RAISE(ABORT, 'an audit record never changes'); END",
];

const POSTGRES_TRIGGERS: [&str; 3] = [
    "CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'an audit record never changes'; END $$",
    "CREATE TRIGGER audit_record_not_changed BEFORE UPDATE OR DELETE ON audit_record
        FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()",
    "CREATE TRIGGER audit_record_not_truncated BEFORE TRUNCATE ON audit_record
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()",
];
