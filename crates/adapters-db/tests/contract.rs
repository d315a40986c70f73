//! The contract of every database port, kept by `SQLite` in a file and in memory and by `PostgreSQL`.

mod support;

use domain::contract::Stores;
use support::TestDatabase;

domain::store_contract!(sqlite, stores_of(support::sqlite()));
domain::store_contract!(sqlite_memory, stores_of(support::sqlite_memory()));
domain::store_contract!(postgres, stores_of(support::postgres()));

async fn stores_of(database: impl Future<Output = TestDatabase>) -> (Stores, TestDatabase) {
    let database = database.await;
    (database.stores(), database)
}
