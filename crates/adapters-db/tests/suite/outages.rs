//! A database that goes away while it is used, and comes back.

use crate::support::postgres::Cluster;
use crate::support::{config, sqlite};
use adapters_db::{Database, DatabaseConfig};
use domain::caller::OrganizationId;
use domain::error::{StoreError, WriteError};
use domain::log_entry::{LogFilter, LogRepository, Pattern};
use domain::resource::{ResourceRepository, StoreOutcome};
use domain::testing::{a_log_entry, a_resource, at, resource_guid};
use futures_util::TryStreamExt;
use futures_util::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

const ACME: OrganizationId = OrganizationId(1);

fn impatient(url: &str) -> DatabaseConfig {
    DatabaseConfig { timeout: Duration::from_secs(1), ..config(url) }
}

fn is_unavailable<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Unavailable(_)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_is_unavailable_until_it_is_back_and_nothing_is_lost() {
    let cluster = Arc::new(tokio::task::spawn_blocking(Cluster::start).await.unwrap());
    let url = cluster.database();
    let database = Database::connect(&impatient(&url)).await.unwrap();
    database.migrate().await.unwrap();
    let (resources, logs) = (database.resources(), database.logs());
    assert_eq!(resources.store(ACME, a_resource(1), at(0)).await.unwrap(), StoreOutcome::Stored);
    logs.add(ACME, a_log_entry("before")).await.unwrap();

    let server = cluster.clone();
    tokio::task::spawn_blocking(move || server.crash()).await.unwrap();
    let found = resources.find(ACME, resource_guid(1)).await;
    assert!(is_unavailable(&found), "{found:?}");
    let stored = resources.store(ACME, a_resource(2), at(0)).await;
    assert!(matches!(stored, Err(WriteError::NotStored(StoreError::Unavailable(_)))), "{stored:?}");
    let added = logs.add(ACME, a_log_entry("meanwhile")).await;
    assert!(is_unavailable(&added), "{added:?}");
    assert!(is_unavailable(&database.ping().await));

    let server = cluster.clone();
    tokio::task::spawn_blocking(move || server.restart()).await.unwrap();
    database.ping().await.unwrap();
    assert!(resources.find(ACME, resource_guid(1)).await.unwrap().is_some());
    logs.add(ACME, a_log_entry("after")).await.unwrap();
    let all = LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() };
    let listed: Vec<_> = logs.list(ACME, all).try_collect().await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|entry| entry.description).collect();
    assert_eq!(listed, ["after", "before"]);
    database.close().await;
    tokio::task::spawn_blocking(move || drop(cluster)).await.unwrap();
}

/// As after a failover with one address: sessions that are open turn read-only, new ones take writes.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_turn_read_only_are_replaced_and_no_write_fails() {
    let cluster = Arc::new(tokio::task::spawn_blocking(Cluster::start).await.unwrap());
    let url = cluster.database();
    let database = Database::connect(&config(&url)).await.unwrap();
    database.migrate().await.unwrap();
    let (resources, logs) = (database.resources(), database.logs());
    let store = |number: u32| resources.store(ACME, a_resource(number.into()), at(0));
    for stored in join_all((1..=40).map(store)).await {
        assert_eq!(stored.unwrap(), StoreOutcome::Stored);
    }
    logs.add(ACME, a_log_entry("before")).await.unwrap();

    let (server, name) = (cluster.clone(), url.rsplit_once('/').unwrap().1.to_owned());
    let demote = move || {
        server.psql("postgres", &format!("ALTER DATABASE {name} SET default_transaction_read_only = off"));
        server.psql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on");
        server.psql("postgres", "SELECT pg_reload_conf()");
    };
    tokio::task::spawn_blocking(demote).await.unwrap();
    // The sessions have been reloaded once they say so; each does when it is used the next time.
    tokio::time::sleep(Duration::from_millis(300)).await;
    for stored in join_all((41..=80).map(store)).await {
        assert_eq!(stored.unwrap(), StoreOutcome::Stored);
    }
    for number in 0..10 {
        logs.add(ACME, a_log_entry(&number.to_string())).await.unwrap();
    }
    database.check_ready().await.unwrap();
    database.close().await;
    tokio::task::spawn_blocking(move || drop(cluster)).await.unwrap();
}

/// A standby answers but takes no writes, whatever session is new.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_read_only_for_all_sessions_is_not_ready() {
    let cluster = Arc::new(tokio::task::spawn_blocking(Cluster::start).await.unwrap());
    let url = cluster.database();
    let database = Database::connect(&impatient(&url)).await.unwrap();
    database.migrate().await.unwrap();
    database.check_ready().await.unwrap();
    let set = async |value: &'static str| {
        let server = cluster.clone();
        let set = move || {
            server.psql("postgres", &format!("ALTER SYSTEM SET default_transaction_read_only = {value}"));
            server.psql("postgres", "SELECT pg_reload_conf()");
        };
        tokio::task::spawn_blocking(set).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
    };
    set("on").await;
    let ready = database.check_ready().await;
    assert!(is_unavailable(&ready), "{ready:?}");
    set("off").await;
    database.check_ready().await.unwrap();
    database.logs().add(ACME, a_log_entry("after")).await.unwrap();
    database.close().await;
    tokio::task::spawn_blocking(move || drop(cluster)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_another_program_locks_is_unavailable_for_writing_until_it_is_free() {
    use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
    use sea_orm::sqlx::{Connection, Executor};
    let test = sqlite().await;
    let path = test.folder.as_ref().unwrap().path().join("platen.db");
    let database = Database::connect(&impatient(&test.url)).await.unwrap();
    let options = SqliteConnectOptions::new().filename(path);
    let mut program = SqliteConnection::connect_with(&options).await.unwrap();
    program.execute("BEGIN IMMEDIATE").await.unwrap();
    let stored = database.resources().store(ACME, a_resource(1), at(0)).await;
    assert!(matches!(stored, Err(WriteError::NotStored(StoreError::Unavailable(_)))), "{stored:?}");
    let added = database.logs().add(ACME, a_log_entry("meanwhile")).await;
    assert!(is_unavailable(&added), "{added:?}");
    // Readers are not kept waiting.
    assert_eq!(database.resources().find(ACME, resource_guid(1)).await.unwrap(), None);
    program.execute("ROLLBACK").await.unwrap();
    assert_eq!(database.resources().store(ACME, a_resource(2), at(0)).await.unwrap(), StoreOutcome::Stored);
}

/// A way to a server on which all connections so far can fall silent, as with a firewall that forgot
/// them: neither side gets an error, nothing arrives, and new ones work. The last number counts those that talk.
async fn way_to(server: String) -> (String, watch::Sender<u32>, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (silence, heard) = watch::channel(0);
    let talking = Arc::new(AtomicU32::new(0));
    let count = talking.clone();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let (server, mut heard, count) = (server.clone(), heard.clone(), count.clone());
            heard.mark_unchanged();
            tokio::spawn(async move {
                let Ok(mut server) = TcpStream::connect(server).await else { return };
                count.fetch_add(1, Ordering::SeqCst);
                let silent = tokio::select! {
                    biased;
                    _ = heard.changed() => true,
                    _ = copy_bidirectional(&mut client, &mut server) => false,
                };
                count.fetch_sub(1, Ordering::SeqCst);
                if silent {
                    // Both ends stay open for as long as the test runs.
                    std::future::pending::<()>().await;
                }
            });
        }
    });
    (address, silence, talking)
}

#[tokio::test(flavor = "multi_thread")]
async fn writing_goes_on_after_connections_have_silently_died() {
    let url = tokio::task::spawn_blocking(|| Cluster::shared().database()).await.unwrap();
    let server = url.split_once('@').unwrap().1.split_once('/').unwrap().0.to_owned();
    let (way, silence, talking) = way_to(server.clone()).await;
    let database = Database::connect(&impatient(&url.replace(&server, &way))).await.unwrap();
    database.migrate().await.unwrap();
    let logs = database.logs();
    logs.add(ACME, a_log_entry("before")).await.unwrap();

    silence.send_modify(|times| *times += 1);
    while talking.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    let added = logs.add(ACME, a_log_entry("into silence")).await;
    // A connection that was just going back to the pool is not found there, and a new one takes its place.
    assert!(is_unavailable(&added) || added.is_ok(), "{added:?}");
    // The writer gives the dead connections up by itself, without a restart.
    let mut tries = 0;
    while let Err(error) = logs.add(ACME, a_log_entry("after")).await {
        tries += 1;
        assert!(tries < 60, "still {error:?}");
    }
    // Those who read find the dead ones out likewise.
    let list = || {
        let all = LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() };
        logs.list(ACME, all).try_collect::<Vec<_>>()
    };
    let mut listed = list().await;
    for _ in 0..60 {
        if listed.is_err() {
            listed = list().await;
        }
    }
    let listed: Vec<_> = listed.unwrap().into_iter().map(|entry| entry.description).collect();
    assert_eq!((listed.first().unwrap().as_str(), listed.last().unwrap().as_str()), ("after", "before"));
}
