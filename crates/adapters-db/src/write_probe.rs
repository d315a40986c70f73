//! The write by which readiness learns whether the database takes writes.

use crate::entity::write_probe::{ActiveModel, Column, Entity};
use crate::error::FailedTransaction;
use crate::group_commit::BatchWriter;
use async_trait::async_trait;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::{ColumnTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter, TransactionTrait};

/// Bytes of the row: more than fit into a page that has room for a small row, so that a full disk is noticed.
const BYTES: usize = 16 * 1024;

/// Writes a row that needs room on the disk and removes the former one.
pub(crate) struct ProbeWriter(pub(crate) DatabaseConnection);

#[async_trait]
impl BatchWriter for ProbeWriter {
    type Row = ();

    async fn write(&self, _: &[()]) -> Result<(), FailedTransaction<DbErr>> {
        let transaction = self.0.begin().await?;
        let row = ActiveModel { id: NotSet, filler: Set(vec![0; BYTES]) };
        let id = Entity::insert(row).exec(&transaction).await?.last_insert_id;
        Entity::delete_many().filter(Column::Id.lt(id)).exec(&transaction).await?;
        transaction.commit().await.map_err(FailedTransaction::in_commit)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::engines;
    use domain::caller::OrganizationId;
    use domain::error::StoreError;
    use domain::log_entry::{LogRepository, NewLogEntry};
    use domain::testing::a_log_entry;
    use sea_orm::ConnectionTrait;

    #[tokio::test]
    async fn a_database_is_ready_and_one_row_remains_however_often_it_is_asked() {
        for engine in engines().await {
            for _ in 0..3 {
                engine.database.check_ready().await.unwrap();
            }
            assert_eq!(engine.number("SELECT count(*) FROM write_probe").await, 1, "{}", engine.name);
        }
    }

    #[tokio::test]
    async fn a_database_without_room_is_not_ready_until_there_is_room_again() {
        let engine = engines().await.remove(0);
        let limit = async |pages: u32| {
            let pragma = format!("PRAGMA max_page_count = {pages}");
            engine.db().writes.execute_unprepared(&pragma).await.unwrap();
        };
        engine.database.check_ready().await.unwrap();
        // The limit can't be lower than what is stored already: nothing more fits.
        limit(1).await;
        let logs = engine.database.logs();
        let entry = || NewLogEntry { description: "d".repeat(2000), ..a_log_entry("") };
        let mut outcome = Ok(());
        for _ in 0..1000 {
            outcome = logs.add(OrganizationId(1), entry()).await;
            if outcome.is_err() {
                break;
            }
        }
        assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
        for _ in 0..3 {
            limit(1).await;
            let ready = engine.database.check_ready().await;
            assert!(matches!(ready, Err(StoreError::Unavailable(_))), "{ready:?}");
        }
        limit(1_000_000).await;
        engine.database.check_ready().await.unwrap();
        logs.add(OrganizationId(1), entry()).await.unwrap();
    }
}
