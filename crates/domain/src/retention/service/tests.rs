//! Which records are removed, batch by batch, over a mocked store.

use super::*;
use crate::caller::OrganizationId;
use crate::crash_report::{CrashReportRepository, NewCrashReport};
use crate::log_entry::{LogRepository, NewLogEntry};
use crate::retention::MockRetentionRepository;
use crate::testing::{FixedClock, InMemoryStore, a_crash_report, a_log_entry, at};
use mockall::Sequence;
use mockall::predicate::eq;
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);
const LOGS: RetentionPolicy = RetentionPolicy { logs: Some(DAY), crash_reports: None, device_history: None };
const BOTH: RetentionPolicy =
    RetentionPolicy { logs: Some(DAY), crash_reports: Some(Duration::from_hours(48)), device_history: None };

/// Times of [`DAY`] and of two days before the fixed clock's.
const A_DAY_AGO: i64 = -86_400;
const TWO_DAYS_AGO: i64 = -2 * 86_400;

fn service(repository: impl RetentionRepository, policy: RetentionPolicy) -> RetentionService {
    RetentionService::new(Arc::new(repository), Arc::new(FixedClock::default()), policy)
}

fn place(organization: i64, seconds: i64) -> RemovalCursor {
    RemovalCursor { organization: OrganizationId(organization), received: at(seconds) }
}

#[tokio::test]
async fn without_a_policy_nothing_is_asked_of_the_store() {
    let service = service(MockRetentionRepository::new(), RetentionPolicy::default());
    assert_eq!(service.begin().step(10).await.unwrap(), None);
}

#[tokio::test]
async fn batches_follow_one_another_from_where_the_last_one_ended() {
    let (mut store, mut order) = (MockRetentionRepository::new(), Sequence::new());
    let (first, second) = (Some(place(1, -90_000)), Some(place(4, -88_000)));
    let logs = [(None, 10, first), (first, 10, second), (second, 3, None)];
    for (from, removed, rest) in logs {
        store
            .expect_remove_logs()
            .with(eq(at(A_DAY_AGO)), eq(from), eq(10))
            .once()
            .in_sequence(&mut order)
            .returning(move |_, _, _| Ok(RemovalOutcome::Done { removed, rest }));
    }
    store
        .expect_remove_crash_reports()
        .with(eq(at(TWO_DAYS_AGO)), eq(None), eq(10), eq(at(0)))
        .once()
        .in_sequence(&mut order)
        .returning(|_, _, _, _| Ok(RemovalOutcome::Done { removed: 2, rest: None }));
    let service = service(store, BOTH);
    let mut round = service.begin();
    let mut steps = Vec::new();
    while let Some(step) = round.step(10).await.unwrap() {
        steps.push(step);
    }
    assert_eq!(
        steps,
        [
            (RetainedRecords::Logs, 10),
            (RetainedRecords::Logs, 10),
            (RetainedRecords::Logs, 3),
            (RetainedRecords::CrashReports, 2)
        ]
    );
}

#[tokio::test]
async fn what_another_process_is_removing_is_left_to_it() {
    let mut store = MockRetentionRepository::new();
    store.expect_remove_logs().once().returning(|_, _, _| Ok(RemovalOutcome::Elsewhere));
    store.expect_remove_crash_reports().never();
    let service = service(store, BOTH);
    let mut round = service.begin();
    assert_eq!(round.step(10).await.unwrap(), None);
    assert_eq!(round.step(10).await.unwrap(), None);
}

#[tokio::test]
async fn after_a_failure_the_next_kind_has_its_turn_and_the_next_round_goes_on() {
    let (mut store, mut order) = (MockRetentionRepository::new(), Sequence::new());
    store
        .expect_remove_logs()
        .once()
        .in_sequence(&mut order)
        .returning(|_, _, _| Ok(RemovalOutcome::Done { removed: 10, rest: Some(place(1, -90_000)) }));
    store.expect_remove_logs().once().in_sequence(&mut order).returning(|_, _, _| Err(StoreError::unavailable("gone")));
    store
        .expect_remove_crash_reports()
        .once()
        .in_sequence(&mut order)
        .returning(|_, _, _, _| Ok(RemovalOutcome::Done { removed: 1, rest: None }));
    store
        .expect_remove_logs()
        .with(eq(at(A_DAY_AGO)), eq(None), eq(10))
        .once()
        .in_sequence(&mut order)
        .returning(|_, _, _| Ok(RemovalOutcome::Done { removed: 5, rest: None }));
    let service = service(store, BOTH);
    let mut round = service.begin();
    assert_eq!(round.step(10).await.unwrap(), Some((RetainedRecords::Logs, 10)));
    assert!(round.step(10).await.is_err());
    assert_eq!(round.step(10).await.unwrap(), Some((RetainedRecords::CrashReports, 1)));
    assert_eq!(round.step(10).await.unwrap(), None);
    assert_eq!(service.begin().step(10).await.unwrap(), Some((RetainedRecords::Logs, 5)));
}

/// What was received exactly the age ago isn't older than it.
#[tokio::test]
async fn a_record_goes_when_it_is_older_than_its_age_and_not_before() {
    let store = InMemoryStore::new();
    let acme = OrganizationId(1);
    let (kept, old) = (at(A_DAY_AGO), Timestamp::from_micros(at(A_DAY_AGO).as_micros() - 1));
    for received in [kept, old] {
        LogRepository::add(&store, acme, NewLogEntry { received, ..a_log_entry("entry") }).await.unwrap();
    }
    let report = NewCrashReport { received: old, ..a_crash_report(1) };
    CrashReportRepository::add(&store, acme, report.clone()).await.unwrap();
    let service = service(store.clone(), LOGS);
    let mut round = service.begin();
    assert_eq!(round.step(10).await.unwrap(), Some((RetainedRecords::Logs, 1)));
    assert_eq!(round.step(10).await.unwrap(), None);
    assert_eq!(service.begin().step(10).await.unwrap(), Some((RetainedRecords::Logs, 0)));
    // Of this kind nothing was said.
    assert!(CrashReportRepository::find(&store, acme, report.id).await.unwrap().is_some());
}
