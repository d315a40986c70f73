//! A database that takes no writes, or can't answer all, while more and more arrives (ADR 28, 44).

use crate::support::postgres::Cluster;
use crate::support::{config, postgres};
use adapters_db::{Database, DatabaseConfig};
use domain::access::{CredentialDigest, CredentialDirectory};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::log_entry::{LogFilter, LogRepository, NewLogEntry, Pattern};
use domain::testing::a_log_entry;
use futures_util::TryStreamExt;
use futures_util::future::join_all;
use sea_orm::sqlx::postgres::PgConnection;
use sea_orm::sqlx::{Connection, Executor};
use std::time::Duration;
use std::{collections::BTreeSet, sync::Arc};

const ACME: OrganizationId = OrganizationId(1);

const MIB: usize = 1024 * 1024;

/// Descriptions of all entries.
async fn stored(database: &Database) -> Vec<String> {
    let all = LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() };
    let listed: Vec<_> = database.logs().list(ACME, all).try_collect().await.unwrap();
    listed.into_iter().map(|entry| entry.description).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_takes_no_writes_makes_requests_wait_then_turns_them_away_and_loses_nothing() {
    let test = postgres().await;
    let impatient = DatabaseConfig { timeout: Duration::from_secs(2), ..config(&test.url) };
    let database = Arc::new(Database::connect(&impatient).await.unwrap());
    database.logs().add(ACME, a_log_entry("before")).await.unwrap();
    let mut operator = PgConnection::connect(&test.url).await.unwrap();
    operator.execute("BEGIN; LOCK TABLE log_entry IN EXCLUSIVE MODE").await.unwrap();

    // 40 MiB and 3,000 records: more than the queue holds of either.
    let entry = |number: usize| {
        let source = if number < 40 { "s".repeat(MIB) } else { String::new() };
        NewLogEntry { source, ..a_log_entry(&number.to_string()) }
    };
    let logs = database.logs();
    let outcomes = join_all((0..3000).map(|number| logs.add(ACME, entry(number)))).await;
    let overloaded = |outcome: &&Result<(), StoreError>| matches!(outcome, Err(StoreError::Overloaded));
    let unavailable = |outcome: &&Result<(), StoreError>| matches!(outcome, Err(StoreError::Unavailable(_)));
    let (away, waited) = (outcomes.iter().filter(overloaded).count(), outcomes.iter().filter(unavailable).count());
    assert_eq!(away + waited, 3000);
    assert!(away > 1900 && waited > 0, "{away} were turned away, {waited} waited");
    // It answers questions, but takes no writes: it isn't ready.
    assert!(stored(&database).await == ["before"]);
    let mut tries = 0;
    while database.check_ready().await.is_ok() {
        // Once nothing waits any more it can't be known; another request makes it known.
        let waiting = logs.add(ACME, a_log_entry("meanwhile"));
        let (_, pinged) = tokio::join!(waiting, async {
            tokio::time::sleep(Duration::from_millis(1900)).await;
            database.check_ready().await
        });
        tries += 1;
        if pinged.is_err() {
            break;
        }
        assert!(tries < 30, "it is never said");
    }

    operator.execute("COMMIT").await.unwrap();
    let mut tries = 0;
    while let Err(error) = logs.add(ACME, a_log_entry("after")).await {
        tries += 1;
        assert!(tries < 60, "still {error:?}");
    }
    database.check_ready().await.unwrap();
    let kept: BTreeSet<String> = stored(&database).await.into_iter().collect();
    for (number, outcome) in outcomes.iter().enumerate() {
        // Of those that waited it isn't known.
        assert!(!overloaded(&outcome) || !kept.contains(&number.to_string()), "{number} was turned away");
    }
    assert!(kept.contains("before") && kept.contains("after"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_writer_has_a_connection_of_its_own_and_makes_a_new_one_when_it_is_ended() {
    let test = postgres().await;
    let few = DatabaseConfig { max_connections: 1, ..config(&test.url) };
    let database = Database::connect(&few).await.unwrap();
    let logs = database.logs();
    let (name, user) = (test.url.rsplit_once('/').unwrap().1.to_owned(), a_log_entry("x").user);
    assert!(!user.is_empty());
    for number in 0..3 {
        logs.add(ACME, a_log_entry(&number.to_string())).await.unwrap();
        // As an administrator does, or a restart of the server.
        let name = name.clone();
        let end = move || {
            let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()";
            Cluster::shared().psql(&name, others)
        };
        tokio::task::spawn_blocking(end).await.unwrap();
        // One request at most gets the failure, and it isn't repeated: nothing is written twice.
        let broken = logs.add(ACME, a_log_entry("broken")).await;
        assert!(matches!(broken, Ok(()) | Err(StoreError::Unavailable(_))), "{broken:?}");
    }
    // The pool's connections were ended too.
    let mut listed = Vec::new();
    for _ in 0..10 {
        let all = LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() };
        let list: Result<Vec<_>, _> = logs.list(ACME, all).try_collect().await;
        if let Ok(list) = list {
            listed = list.into_iter().map(|entry| entry.description).collect();
            break;
        }
    }
    let numbered: Vec<_> = listed.iter().filter(|text| *text != "broken").collect();
    assert_eq!(numbered, ["2", "1", "0"]);
    assert!(listed.len() <= 6, "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_answers_fewer_than_ask_turns_the_others_away_and_stays_ready() {
    const ASKING: usize = 100_000;
    let test = postgres().await;
    // One connection: many times as many ask as it answers in the time.
    let config = DatabaseConfig { max_connections: 1, ..config(&test.url) };
    let database = Database::connect(&config).await.unwrap();
    database.ping().await.unwrap();
    let credentials = database.credentials();
    let ask = |number: usize| credentials.find_key_holder(CredentialDigest::of(&number.to_string()));
    // A lookup first waits for the version of the fleet, if that isn't known.
    assert!(ask(ASKING).await.is_ok());
    let asked = join_all((0..ASKING).map(ask));
    let (outcomes, pinged) = tokio::join!(asked, database.ping());
    pinged.unwrap();
    let answered = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    let away = outcomes.iter().filter(|outcome| matches!(outcome, Err(StoreError::Overloaded))).count();
    // The line alone sends most of these away.
    assert!(answered > 0 && away > ASKING / 2, "{answered} were answered, {away} turned away");
    assert!(ask(ASKING + 1).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_does_not_answer_is_a_failure_and_no_overload() {
    let test = postgres().await;
    let config = DatabaseConfig { max_connections: 2, timeout: Duration::from_secs(2), ..config(&test.url) };
    let database = Database::connect(&config).await.unwrap();
    let mut operator = PgConnection::connect(&test.url).await.unwrap();
    operator.execute("BEGIN; LOCK TABLE mis_key").await.unwrap();
    let credentials = database.credentials();
    let ask = |number: usize| credentials.find_key_holder(CredentialDigest::of(&number.to_string()));
    let outcomes = join_all((0..50).map(ask)).await;
    for outcome in outcomes {
        assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    }
    operator.execute("COMMIT").await.unwrap();
    let mut tries = 0;
    while let Err(error) = ask(0).await {
        tries += 1;
        assert!(tries < 60, "still {error:?}");
    }
}
