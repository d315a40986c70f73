//! An `SQLite` file that another program has locked.

use crate::support::{Site, eventually};
use crate::{GUID, assert_logged, log, logged, status, update};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

#[tokio::test(flavor = "multi_thread")]
async fn a_database_file_that_another_program_locks_is_500_soon_and_nothing_is_lost() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"content").await;
    assert_eq!(log(&client, "before").await, 200);

    let mut other = SqliteConnectOptions::new().filename(site.path("data/platen.db")).connect().await.unwrap();
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut other).await.unwrap();
    assert_eq!(log(&client, "meanwhile").await, 500);
    assert_eq!(update(&client, 1, b"meanwhile").await, 500);
    assert_eq!(status(client.try_delete(&format!("/api/v2/resource/{GUID}"))).await, 500);
    assert_logged(&site, "database is locked");
    // Who reads waits for no writer.
    assert_eq!(client.download(GUID).await, b"content");
    assert_eq!(logged(&client).await, ["before"]);

    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    eventually("it writes again", async || log(&client, "after").await == 200).await;
    assert_eq!(update(&client, 2, b"after").await, 200);
    assert_eq!(client.download(GUID).await, b"after");
    assert_eq!(logged(&client).await, ["before", "after"]);
    server.stop();
    // A transaction that could not begin has stored nothing, so the content of that upload went at once.
    let output = site.run("blobs check").succeeded();
    assert!(output.ends_with("checked 1, missing 0, damaged 0, orphans 0, removed 0\n"), "{output}");
}
