//! Columns and indexes for lists of devices, forecasts (decision I2), and an index for outdated contents (decision I9).

use super::initial::{index, table};
use async_trait::async_trait;
use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, big_integer_null, double_null, text, uuid};

pub(super) struct DeviceBoard;

impl MigrationName for DeviceBoard {
    fn name(&self) -> &'static str {
        "0007_device_board"
    }
}

#[async_trait]
impl MigrationTrait for DeviceBoard {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Both are NULL until the next status and the next forecast.
        for column in [double_null("lowest_ink"), big_integer_null("empties_at")] {
            // SQLite adds one column at a time.
            manager.alter_table(Table::alter().table("device_status").add_column(column).take()).await?;
        }
        let forecasts = table("device_forecast")
            .col(big_integer("organization_id"))
            .col(uuid("device_guid"))
            .col(big_integer("made_at"))
            .col(text("inks"))
            .primary_key(Index::create().col("organization_id").col("device_guid"))
            .take();
        manager.create_table(forecasts).await?;
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }
}

fn indexes() -> Vec<IndexCreateStatement> {
    let live = || Expr::col("retired_at").is_null();
    vec![
        // Devices by name, of one organization and of all. A name has at most 500 characters.
        index("device", "device_by_name").col("organization_id").col("name").col("guid").and_where(live()).take(),
        index("device", "device_by_name_anywhere").col("name").col("guid").and_where(live()).take(),
        // The different contents of each resource that computers have.
        index("computer_fetch", "computer_fetch_of_content")
            .col("organization_id")
            .col("resource_guid")
            .col("checksum")
            .col("computer_guid")
            .take(),
    ]
}
