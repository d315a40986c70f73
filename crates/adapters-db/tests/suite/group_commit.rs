//! Many waiting requests, one commit.

use crate::support::postgres::Cluster;
use crate::support::{postgres, sqlite};
use domain::caller::OrganizationId;
use domain::crash_report::CrashReportRepository;
use domain::device_status::{DeviceStatus, DeviceStatusRepository};
use domain::error::StoreError;
use domain::guid::{CrashReportId, DeviceGuid};
use domain::log_entry::{LogFilter, LogRepository, NewLogEntry, Pattern};
use domain::testing::{a_crash_report, a_log_entry, a_status, at, numbered};
use futures_util::future::{BoxFuture, join_all};
use futures_util::{FutureExt, TryStreamExt};

const ACME: OrganizationId = OrganizationId(1);

fn everything() -> LogFilter {
    LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_row_never_fails_its_neighbours() {
    for test in [sqlite().await, postgres().await] {
        let reports = test.database.crash_reports();
        let (logs, statuses) = (test.database.logs(), test.database.device_statuses());
        // No two reports have one id: this one can't be stored again.
        reports.add(ACME, a_crash_report(7)).await.unwrap();
        let mut writes: Vec<BoxFuture<Result<(), StoreError>>> = Vec::new();
        for number in 0..20_u128 {
            writes.push(logs.add(ACME, a_log_entry(&number.to_string())));
            writes.push(statuses.put(ACME, a_status(DeviceGuid::from(numbered(number)))));
            writes.push(reports.add(ACME, a_crash_report(number)).map(|added| Ok(added?)).boxed());
        }
        let outcomes = join_all(writes).await;
        for (place, outcome) in outcomes.iter().enumerate() {
            assert_eq!(outcome.is_err(), place == 3 * 7 + 2, "{place}: {outcome:?}");
        }
        assert!(matches!(outcomes[3 * 7 + 2], Err(StoreError::Other(_))));
        let listed: Vec<_> = logs.list(ACME, everything()).try_collect().await.unwrap();
        assert_eq!(listed.len(), 20);
        for number in 0..20 {
            assert!(statuses.find(ACME, DeviceGuid::from(numbered(number))).await.unwrap().is_some());
            assert!(reports.find(ACME, CrashReportId::from(numbered(number))).await.unwrap().is_some());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_the_database_refuses_fails_alone() {
    // PostgreSQL takes no U+0000; the domain lets none through.
    let logs = postgres().await.database.logs();
    let texts = (0..40).map(|number| if number == 11 { "\0".to_owned() } else { number.to_string() });
    let outcomes = join_all(texts.map(|text| logs.add(ACME, a_log_entry(&text)).into_future())).await;
    for (place, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.is_err(), place == 11, "{place}: {outcome:?}");
    }
    let listed: Vec<_> = logs.list(ACME, everything()).try_collect().await.unwrap();
    assert_eq!(listed.len(), 39);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_origin_that_the_database_refuses_fails_its_own_entries_only() {
    let logs = postgres().await.database.logs();
    let user = |number| if number % 8 == 3 { "\0".to_owned() } else { format!("User {}", number % 8) };
    let entry = |number: usize| NewLogEntry { user: user(number), ..a_log_entry(&number.to_string()) };
    let outcomes = join_all((0..40).map(|number| logs.add(ACME, entry(number)))).await;
    for (place, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.is_err(), place % 8 == 3, "{place}: {outcome:?}");
    }
    let listed: Vec<_> = logs.list(ACME, everything()).try_collect().await.unwrap();
    assert_eq!(listed.len(), 35);
    assert!(listed.iter().all(|entry| entry.user == user(entry.description.parse().unwrap())));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_wait_together_are_committed_together() {
    let test = postgres().await;
    let logs = test.database.logs();
    let name = test.url.rsplit_once('/').unwrap().1.to_owned();
    // Each transaction that writes takes the next number.
    let next = || async {
        let name = name.clone();
        let ask = move || Cluster::shared().psql(&name, "SELECT txid_current()").trim().parse::<u64>().unwrap();
        tokio::task::spawn_blocking(ask).await.unwrap()
    };
    let before = next().await;
    let outcomes = join_all((0..1000).map(|number| logs.add(ACME, a_log_entry(&number.to_string())))).await;
    let transactions = next().await - before;
    assert!(outcomes.iter().all(Result::is_ok));
    // Other tests write in the same cluster: the number is no more than an upper bound.
    assert!(transactions < 500, "1000 requests took {transactions} transactions");
    let listed: Vec<_> = logs.list(ACME, everything()).try_collect().await.unwrap();
    let listed: Vec<_> = listed.into_iter().map(|entry| entry.description).collect();
    assert!(listed.iter().eq((0..1000).rev().map(|number| number.to_string()).collect::<Vec<_>>().iter()), "order");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_any_length_is_written_whole_and_in_order() {
    for test in [sqlite().await, postgres().await] {
        let (logs, statuses) = (test.database.logs(), test.database.device_statuses());
        let mut expected = Vec::new();
        for length in [1, 3, 37, 257, 300_u128] {
            let numbers = expected.len()..expected.len() + usize::try_from(length).unwrap();
            let texts: Vec<String> = numbers.map(|number| number.to_string()).collect();
            let logged = join_all(texts.iter().map(|text| logs.add(ACME, a_log_entry(text)))).await;
            let devices = || (0..length).map(|number| DeviceGuid::from(numbered(number)));
            let put = join_all(devices().map(|device| statuses.put(ACME, a_status(device)))).await;
            assert!(logged.iter().chain(&put).all(Result::is_ok), "{length}");
            for device in devices() {
                assert_eq!(statuses.find(ACME, device).await.unwrap(), Some(a_status(device)), "{length}");
            }
            expected.extend(texts);
        }
        let listed: Vec<_> = logs.list(ACME, everything()).try_collect().await.unwrap();
        assert!(listed.iter().rev().map(|entry| &entry.description).eq(&expected));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_statuses_in_one_commit_the_last_stays() {
    let device = DeviceGuid::from(numbered(1));
    for test in [sqlite().await, postgres().await] {
        let statuses = test.database.device_statuses();
        let status = |number: u32| DeviceStatus { message: Some(number.to_string()), ..a_status(device) };
        let outcomes = join_all((1..=300).map(|number| statuses.put(ACME, status(number)))).await;
        assert!(outcomes.iter().all(Result::is_ok));
        assert_eq!(statuses.find(ACME, device).await.unwrap(), Some(status(300)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_waits_together_is_one_transaction_whole_or_not_at_all() {
    let test = postgres().await;
    let (logs, reports, statuses) =
        (test.database.logs(), test.database.crash_reports(), test.database.device_statuses());
    let mut writes: Vec<BoxFuture<Result<(), StoreError>>> = Vec::new();
    for number in 0..50_u128 {
        writes.push(logs.add(ACME, a_log_entry(&number.to_string())));
        writes.push(statuses.put(ACME, a_status(DeviceGuid::from(numbered(number)))));
        writes.push(reports.add(ACME, a_crash_report(number)).map(|added| Ok(added?)).boxed());
    }
    assert!(join_all(writes).await.iter().all(Result::is_ok));
    let name = test.url.rsplit_once('/').unwrap().1.to_owned();
    let ask = move || {
        let rows = "SELECT xmin FROM log_entry UNION ALL SELECT xmin FROM crash_report
            UNION ALL SELECT xmin FROM crash_part UNION ALL SELECT xmin FROM device_status";
        let rows = format!("SELECT count(DISTINCT xmin::text), count(*) FROM ({rows}) AS rows");
        Cluster::shared().psql(&name, &rows)
    };
    let output = tokio::task::spawn_blocking(ask).await.unwrap();
    let (transactions, rows) = output.trim().split_once('|').unwrap();
    let (transactions, rows): (u32, u32) = (transactions.parse().unwrap(), rows.parse().unwrap());
    assert!(rows >= 200 && transactions <= 20, "{rows} rows in {transactions} transactions");
}

#[tokio::test]
async fn a_clock_that_was_set_back_does_not_hold_a_device_at_its_old_status() {
    let device = DeviceGuid::from(numbered(1));
    for test in [sqlite().await, postgres().await] {
        let statuses = test.database.device_statuses();
        let status = |received| DeviceStatus { received: at(received), ..a_status(device) };
        statuses.put(ACME, status(3600)).await.unwrap();
        statuses.put(ACME, status(5)).await.unwrap();
        assert_eq!(statuses.find(ACME, device).await.unwrap(), Some(status(5)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_of_all_lengths_share_a_commit() {
    for test in [sqlite().await, postgres().await] {
        let logs = test.database.logs();
        let entry = |number: usize| NewLogEntry { source: "s".repeat(number * 4000), ..a_log_entry("x") };
        let outcomes = join_all((0..60).map(|number| logs.add(ACME, entry(number)))).await;
        assert!(outcomes.iter().all(Result::is_ok));
        let listed: Vec<_> = logs.list(ACME, everything()).try_collect().await.unwrap();
        let lengths: Vec<_> = listed.iter().map(|entry| entry.source.len()).collect();
        assert_eq!(lengths, (0..60).rev().map(|number| number * 4000).collect::<Vec<_>>());
    }
}
