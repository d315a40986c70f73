//! A JSON body, given to every operation that takes one.

use crate::bench::{ACME, Bench, LIMITS, assert_storable, refusal};
use domain::device_status::{DeviceStatus, DeviceStatusRepository, DeviceStatusService, QueueLength};
use domain::error::{Outcome, Reason};
use domain::log_entry::{ListedLogEntry, LogFilter, LogFilterInput, LogService};
use domain::resource::ResourceService;
use domain::testing::{a_caller, acme_records, at};
use domain::text::is_blank;
use futures_executor::{block_on, block_on_stream};
use http_actix::fuzzing;
use serde_json::Value;
use std::fmt::Debug;

/// A body is read as the standard says, and what of it is stored obeys the rules.
pub fn json(body: &[u8]) {
    let read = outcomes(body);
    let text = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    // Nesting has a limit; and serde_json's own type of any value takes a certain member for a number.
    if text.iter().filter(|byte| matches!(byte, b'[' | b'{')).count() > 100 || contains(text, b"$serde") {
        return;
    }
    let is_json = refusal(&fuzzing::log_filter(body)) != Some(Reason::JsonInvalid);
    let is_value = serde_json::from_slice::<Value>(text).is_ok();
    // Half a surrogate pair counts as U+FFFD (decision R9).
    let is_mended = is_json && contains(text, b"\\u");
    assert!(is_json == is_value || is_mended, "is JSON: {is_json}, serde_json: {is_value}");
    if is_json && !text.trim_ascii_start().starts_with(b"[") {
        let wrapped = [b"[", text, b"]"].concat();
        assert_eq!(outcomes(&wrapped), read, "an array of one is its item (decision R5)");
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// What every operation answers to the body, and stores of it.
fn outcomes(body: &[u8]) -> impl Debug + PartialEq + use<> {
    (log(body), logs(body), status(body), resources(body))
}

/// Adds a log entry.
fn log(body: &[u8]) -> (Option<Reason>, Vec<ListedLogEntry>) {
    let bench = Bench::registered();
    let logs = LogService::new(bench.store.clone(), bench.store.clone(), bench.clock.clone());
    let refused = refusal(&add_log(&logs, body));
    let ann = LogFilterInput { user: Some("ann".to_owned()), ..LogFilterInput::default() };
    let stored = list(&logs, ann.clone());
    assert_eq!(stored.len(), usize::from(refused.is_none()), "one entry is stored, or none");
    for entry in &stored {
        let ListedLogEntry { user, source, version, computer, description } = entry;
        assert_storable([source, version, description].map(String::as_str));
        assert!(!is_blank(description) && version.chars().count() <= 64);
        assert_eq!((user.as_str(), computer.as_str()), ("Ann", "RIP-01"));
        // An empty filter is none (decision L7).
        for filter in [
            LogFilterInput { source: Some(source.clone()), ..ann.clone() },
            LogFilterInput { version: Some(version.clone()), ..ann.clone() },
            LogFilterInput { computer: Some(computer.clone()), ..ann.clone() },
        ] {
            assert_eq!(list(&logs, filter.clone()), stored, "an entry is found by what it holds: {filter:?}");
        }
    }
    (refused, stored)
}

fn add_log(logs: &LogService, body: &[u8]) -> Outcome<()> {
    block_on(logs.add(&a_caller(ACME), fuzzing::add_log(body)?))
}

fn list(logs: &LogService, filter: LogFilterInput) -> Vec<ListedLogEntry> {
    let filter = LogFilter::new(filter).expect("a filter is given");
    let listed = logs.list(&a_caller(ACME), filter);
    block_on_stream(listed).map(|entry| entry.expect("a store in memory works")).collect()
}

/// Lists log entries by the filters of the body.
fn logs(body: &[u8]) -> Result<usize, Reason> {
    let (bench, caller) = (Bench::registered(), a_caller(ACME));
    let logs = LogService::new(bench.store.clone(), bench.store.clone(), bench.clock.clone());
    let guid = acme_records().computer.to_string();
    for kind in ["log", "configuration"] {
        let entry = serde_json::json!({
            "ComputerGUID": guid, "Type": kind, "Description": kind, "RipVersion": "1.2",
        });
        assert_eq!(refusal(&add_log(&logs, entry.to_string().as_bytes())), None);
    }
    let filter = fuzzing::log_filter(body);
    if let Some(refused) = refusal(&filter) {
        return Err(refused);
    }
    let listed: Result<Vec<_>, _> =
        filter.into_iter().flat_map(|filter| block_on_stream(logs.list(&caller, filter))).collect();
    Ok(listed.expect("a store in memory works").len())
}

/// Updates the status of a device.
fn status(body: &[u8]) -> (Option<Reason>, Option<DeviceStatus>) {
    let (bench, caller) = (Bench::registered(), a_caller(ACME));
    let service = DeviceStatusService::new(bench.store.clone(), bench.store.clone(), bench.clock.clone());
    let outcome = fuzzing::update_device_status(body).and_then(|command| block_on(service.update(&caller, command)));
    let refused = refusal(&outcome);
    let stored = block_on(DeviceStatusRepository::find(&*bench.store, ACME, acme_records().device));
    let stored = stored.expect("a store in memory works");
    assert_eq!(stored.is_some(), refused.is_none(), "what was answered 200 is stored, and nothing else");
    if let Some(status) = &stored {
        assert_eq!(status.received, at(0));
        assert_storable([&status.message, &status.connection_message].into_iter().flatten().map(String::as_str));
        assert!(status.temperature.is_none_or(f64::is_finite));
        for ink in &status.remaining_inks {
            assert!([ink.index, ink.level, ink.max_level].iter().all(|number| number.is_finite()));
            assert!(!is_blank(&ink.name));
            assert_storable([ink.name.as_str()]);
        }
        match status.queue_length {
            QueueLength::Length(number) | QueueLength::Area(number) => {
                assert!(number.is_finite() && number.is_sign_positive(), "{number}");
            }
            QueueLength::Sheets(number) => assert!(number <= 1 << 53),
        }
    }
    (refused, stored)
}

/// Lists resources and looks one up.
fn resources(body: &[u8]) -> (Result<usize, Reason>, Option<Reason>) {
    let (bench, caller) = (Bench::registered(), a_caller(ACME));
    let service = ResourceService::new(bench.store.clone(), bench.uploads(), LIMITS);
    let filter = fuzzing::list_filter(body);
    let listed = match refusal(&filter) {
        Some(refused) => Err(refused),
        None => Ok(filter.into_iter().flat_map(|filter| block_on_stream(service.list(&caller, filter))).count()),
    };
    let found = fuzzing::pmm_key(body).and_then(|key| block_on(service.find_by_pmm(&caller, &key)));
    let found = refusal(&found);
    assert!(found.is_some(), "there is no resource");
    (listed, found)
}
