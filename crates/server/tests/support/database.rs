//! The database file itself, for what no operation of the interface shows or could make in time.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use std::path::Path;

async fn open(file: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(file).connect().await.unwrap()
}

/// The status of each device.
pub(crate) async fn device_statuses(file: &Path) -> Vec<String> {
    sqlx::query_scalar("SELECT status FROM device_status").fetch_all(&mut open(file).await).await.unwrap()
}

/// Makes copies of the one resource that is there, until there are `count`, each with its own GUID.
/// They share the one's content.
pub(crate) async fn multiply_resources(file: &Path, count: u32) {
    let sql = "
        WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        INSERT INTO resource
            (guid, name, name_folded, organization_id, resource_type, type_folded, checksum, modified_at, domain, meta,
             meta_digest, profile_group_folded, media_folded, mode_folded, blob_key, content_size)
        SELECT randomblob(16), name || ' ' || i, name_folded || ' ' || i, organization_id, resource_type, type_folded,
             checksum, modified_at, domain, meta, meta_digest, profile_group_folded, media_folded, mode_folded,
             blob_key, content_size
        FROM resource, n";
    let done = sqlx::query(sql).bind(count).execute(&mut open(file).await).await.unwrap();
    assert_eq!(done.rows_affected(), u64::from(count) - 1);
}

/// Lets the database look as if a later version of the program had migrated it.
pub(crate) async fn pretend_newer(file: &Path) {
    let sql = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('9999_from_the_future', 0)";
    sqlx::query(sql).execute(&mut open(file).await).await.unwrap();
}
