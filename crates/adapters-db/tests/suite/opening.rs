//! Opening and migrating a database, and saying why it can't be done.

use crate::support::postgres::Cluster;
use crate::support::{config, postgres, sqlite, sqlite_memory};
use adapters_db::{Database, Migrated, OpenError};
use domain::error::StoreError;
use domain::resource::ResourceRepository;
use domain::testing::{a_resource, at, resource_guid};
use domain::{caller::OrganizationId, resource::StoreOutcome};
use futures_util::future::join_all;
use std::net::TcpListener;
use std::time::Duration;
use tempfile::TempDir;

const ACME: OrganizationId = OrganizationId(1);

async fn refusal(url: &str) -> OpenError {
    let mut config = config(url);
    config.timeout = Duration::from_secs(2);
    match Database::connect(&config).await {
        Ok(_) => panic!("{url} was opened"),
        Err(error) => error,
    }
}

async fn cluster() -> &'static Cluster {
    tokio::task::spawn_blocking(Cluster::shared).await.unwrap()
}

#[tokio::test]
async fn missing_folders_are_made_and_a_path_stands_as_it_is() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("new folder/100%/a%20b#1.db");
    let database = Database::connect(&config(format!("sqlite://{}", path.display()))).await.unwrap();
    database.migrate().await.unwrap();
    assert!(path.is_file());
    database.close().await;
}

#[tokio::test]
async fn what_was_stored_is_there_after_closing_and_opening_again() {
    for test in [sqlite().await, postgres().await] {
        let resource = a_resource(1);
        assert_eq!(test.database.resources().store(ACME, resource, at(0)).await.unwrap(), StoreOutcome::Stored);
        test.database.clone().close().await;
        let again = Database::connect(&config(&test.url)).await.unwrap();
        again.require_current().await.unwrap();
        assert!(again.resources().find(ACME, resource_guid(1)).await.unwrap().is_some());
        again.close().await;
    }
}

#[tokio::test]
async fn a_memory_database_is_one_for_all_who_ask_and_gone_with_its_process() {
    let test = sqlite_memory().await;
    let resources = test.database.resources();
    let calls = (1..=50).map(|number| resources.store(ACME, a_resource(number), at(0)));
    assert!(join_all(calls).await.into_iter().all(|stored| stored.unwrap() == StoreOutcome::Stored));
    let finds = (1..=50).map(|number| resources.find(ACME, resource_guid(number)));
    assert!(join_all(finds).await.into_iter().all(|found| found.unwrap().is_some()));
    let other = sqlite_memory().await;
    assert_eq!(other.database.resources().find(ACME, resource_guid(1)).await.unwrap(), None);
}

#[tokio::test]
async fn a_schema_is_outdated_until_it_is_migrated() {
    let folder = TempDir::new().unwrap();
    let file = format!("sqlite://{}/platen.db", folder.path().display());
    for url in [file, cluster().await.database()] {
        let database = Database::connect(&config(&url)).await.unwrap();
        database.ping().await.unwrap();
        assert_eq!(database.schema_version().await.unwrap(), 0);
        let outdated = database.require_current().await.unwrap_err();
        assert!(matches!(outdated, OpenError::Outdated { found: 0, .. }), "{outdated}");
        let Migrated { from, to } = database.migrate().await.unwrap();
        assert_eq!(from, 0);
        assert!(to > 0);
        database.require_current().await.unwrap();
        assert_eq!(database.schema_version().await.unwrap(), to);
        assert_eq!(database.migrate().await.unwrap(), Migrated { from: to, to });
        database.close().await;
    }
}

#[tokio::test]
async fn processes_that_start_at_once_migrate_once() {
    let folder = TempDir::new().unwrap();
    let file = format!("sqlite://{}/platen.db", folder.path().display());
    for url in [file, cluster().await.database()] {
        let starts = (0..6).map(|_| async {
            let database = Database::connect(&config(&url)).await.unwrap();
            let migrated = database.migrate().await.unwrap();
            database.require_current().await.unwrap();
            migrated
        });
        let migrated = join_all(starts).await;
        assert_eq!(migrated.iter().filter(|migrated| migrated.from == 0).count(), 1, "{migrated:?}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("letter.txt");
    std::fs::write(&path, "Dear Sir or Madam, ".repeat(100)).unwrap();
    let message = refusal(&format!("sqlite://{}", path.display())).await.to_string();
    assert!(message.contains("letter.txt") && message.contains("not a database"), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[tokio::test]
async fn a_folder_that_can_not_be_made_is_named() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let url = format!("sqlite://{}/file/platen.db", folder.path().display());
    assert!(matches!(refusal(&url).await, OpenError::Folder { .. }));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_a_few_times_and_named() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = refusal(&format!("postgres://me:topsecret@127.0.0.1:{port}/platen")).await;
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains(&format!("127.0.0.1:{port}")) && message.contains("platen"), "{message}");
    assert!(!format!("{error:?} {message}").contains("topsecret"), "{message}");
}

#[tokio::test]
async fn a_wrong_password_is_refused_at_once_and_not_shown() {
    let right = cluster().await.maintenance_url();
    let (scheme_and_user, rest) = right.split_once('@').unwrap();
    let (user, _) = scheme_and_user.rsplit_once(':').unwrap();
    let error = refusal(&format!("{user}:topsecret@{rest}")).await;
    assert!(matches!(error, OpenError::Refused { .. }), "{error:?}");
    assert!(!format!("{error:?} {error}").contains("topsecret"), "{error}");
}

#[tokio::test]
async fn a_missing_database_of_a_server_is_named() {
    let url = cluster().await.maintenance_url();
    let (base, _) = url.rsplit_once('/').unwrap();
    let message = refusal(&format!("{base}/nowhere")).await.to_string();
    assert!(message.contains("nowhere") && message.contains("does not exist"), "{message}");
}

#[tokio::test]
async fn a_database_of_another_encoding_is_refused() {
    let cluster = cluster().await;
    let url = cluster.database();
    let name = format!("{}_latin", url.rsplit_once('/').unwrap().1);
    cluster.psql(
        "postgres",
        &format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING LATIN1 LOCALE 'C' LOCALE_PROVIDER libc"),
    );
    let (base, _) = url.rsplit_once('/').unwrap();
    let message = refusal(&format!("{base}/{name}")).await.to_string();
    assert!(message.contains("UTF8") && message.contains("LATIN1"), "{message}");
}

#[tokio::test]
async fn a_configuration_does_not_show_the_password() {
    let shown = format!("{:?}", config("postgres://me:topsecret@db.example/platen"));
    assert!(shown.contains("db.example") && !shown.contains("topsecret"), "{shown}");
    assert!(!format!("{:?}", config("mysql://me:topsecret@db.example/platen")).contains("topsecret"));
}

#[tokio::test]
async fn a_closed_database_is_unavailable() {
    for test in [sqlite().await, postgres().await] {
        let resources = test.database.resources();
        test.database.clone().close().await;
        let found = resources.find(ACME, resource_guid(1)).await;
        assert!(matches!(found, Err(StoreError::Unavailable(_))), "{found:?}");
        assert!(matches!(test.database.ping().await, Err(StoreError::Unavailable(_))));
    }
}
