//! The past of devices (decision I1).

use super::initial::{index, table};
use async_trait::async_trait;
use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, boolean, double_null, text, text_null, uuid};

pub(super) struct History;

impl MigrationName for History {
    fn name(&self) -> &'static str {
        "0004_history"
    }
}

#[async_trait]
impl MigrationTrait for History {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // When the state changed last and when the last sample was taken; unknown in statuses of earlier versions.
        for column in ["changed_at", "sampled_at"] {
            // SQLite adds one column at a time.
            manager
                .alter_table(Table::alter().table("device_status").add_column(big_integer_null(column)).take())
                .await?;
        }
        manager.create_table(device_history()).await?;
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }
}

/// A row has the state at its time. It is a change, with messages, or a sample, with measured values, or both.
fn device_history() -> TableCreateStatement {
    table("device_history")
        .col(big_integer("organization_id"))
        .col(uuid("device_guid"))
        .col(big_integer("received_at"))
        .col(text("status"))
        .col(text_null("connection_state"))
        .col(boolean("is_change"))
        .col(text_null("message"))
        .col(text_null("connection_message"))
        .col(double_null("temperature"))
        .col(text_null("remaining_inks"))
        .col(text_null("queue_measure"))
        .col(text_null("queue_amount"))
        .primary_key(Index::create().col("organization_id").col("device_guid").col("received_at"))
        .take()
}

fn indexes() -> Vec<IndexCreateStatement> {
    vec![
        // The changes of a device, which are few among its samples.
        index("device_history", "device_history_changes")
            .col("organization_id")
            .col("device_guid")
            .col("received_at")
            .and_where(Expr::col("is_change"))
            .take(),
        // Retention.
        index("device_history", "device_history_by_time")
            .col("organization_id")
            .col("received_at")
            .col("device_guid")
            .take(),
    ]
}
