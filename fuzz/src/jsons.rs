//! A JSON body, given to every operation that takes one.

use crate::bench::{ACME, Bench, LIMITS, assert_storable, refusal};
use domain::device_status::{DeviceStatus, DeviceStatusRepository, DeviceStatusService, QueueLength};
use domain::error::Reason;
use domain::json::Json;
use domain::log_entry::{ListedLogEntry, LogService};
use domain::resource::ResourceService;
use domain::testing::{a_caller, acme_records, at};
use domain::text::is_blank;
use futures_executor::{block_on, block_on_stream};
use http_actix::json as reader;
use serde_json::Value;
use std::sync::Arc;

/// Every body is read as the standard says, and what of it is stored obeys the rules.
pub fn json(input: &[u8]) {
    let read = reader::parse(input);
    beside_the_usual_reader(input, read.as_ref().ok());
    let Ok(body) = read else {
        return;
    };
    assert_eq!(reader::parse(body.to_string().as_bytes()).as_ref(), Ok(&body), "what is shown is read back");
    let canonical = reader::parse(body.canonical().as_bytes()).expect("the canonical form is JSON");
    assert_eq!(canonical.canonical(), body.canonical(), "the canonical form is one");
    let wrapped = Json::Array(vec![body.clone()]);
    // An array of one is its item (decision R5), but not twice.
    let is_wrapped = matches!(&body, Json::Array(items) if items.len() == 1);
    let bodies = if is_wrapped { vec![body] } else { vec![body, wrapped] };
    let mut outcomes = bodies.iter().map(|body| (log(body), logs(body), status(body), resources(body)));
    let first = outcomes.next();
    assert!(outcomes.all(|outcome| Some(outcome) == first), "an array of one is its item");
}

/// Adds a log entry.
fn log(body: &Json) -> (Option<Reason>, Vec<ListedLogEntry>) {
    let (bench, caller) = (Bench::registered(), a_caller(ACME));
    let logs = LogService::new(bench.store.clone(), bench.store.clone(), bench.clock.clone());
    let refused = refusal(&block_on(logs.add(&caller, body)));
    let stored = list(&logs, &[("User", "*")]);
    assert_eq!(stored.len(), usize::from(refused.is_none()), "one entry is stored, or none");
    for entry in &stored {
        let ListedLogEntry { user, source, version, computer, description } = entry;
        assert_storable([source, version, description].map(String::as_str));
        assert!(!is_blank(description) && version.chars().count() <= 64);
        assert_eq!((user.as_str(), computer.as_str()), ("Ann", "RIP-01"));
        for filter in [("Source", source), ("Version", version), ("Computer", computer)] {
            // An empty filter is none (decision L7).
            let by = [("User", "ann"), (filter.0, filter.1.as_str())];
            assert_eq!(list(&logs, &by), stored, "an entry is found by what it holds: {filter:?}");
        }
    }
    (refused, stored)
}

fn list(logs: &LogService, filters: &[(&str, &str)]) -> Vec<ListedLogEntry> {
    let members = filters.iter().map(|(name, text)| ((*name).to_owned(), Json::Text((*text).to_owned())));
    let listed = logs.list(&a_caller(ACME), &Json::Object(members.collect())).expect("a filter is given");
    block_on_stream(listed).map(|entry| entry.expect("a store in memory works")).collect()
}

/// Lists log entries by the filters of the body.
fn logs(body: &Json) -> Result<usize, Reason> {
    let (bench, caller) = (Bench::registered(), a_caller(ACME));
    let logs = LogService::new(bench.store.clone(), bench.store.clone(), bench.clock.clone());
    let guid = acme_records().computer.to_string();
    for kind in ["log", "configuration"] {
        let members = [("ComputerGUID", guid.as_str()), ("Type", kind), ("Description", kind), ("RipVersion", "1.2")];
        let members = members.map(|(name, text)| (name.to_owned(), Json::Text(text.to_owned())));
        let added = block_on(logs.add(&caller, &Json::Object(members.to_vec())));
        assert_eq!(refusal(&added), None);
    }
    let listed = logs.list(&caller, body);
    if let Some(refused) = refusal(&listed) {
        return Err(refused);
    }
    let listed: Result<Vec<_>, _> = listed.into_iter().flat_map(block_on_stream).collect();
    Ok(listed.expect("a store in memory works").len())
}

/// Updates the status of a device.
fn status(body: &Json) -> (Option<Reason>, Option<DeviceStatus>) {
    let (bench, caller) = (Bench::registered(), a_caller(ACME));
    let service = DeviceStatusService::new(bench.store.clone(), bench.store.clone(), bench.clock.clone());
    let refused = refusal(&block_on(service.update(&caller, body)));
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
fn resources(body: &Json) -> (Result<usize, Reason>, Option<Reason>) {
    let (bench, caller) = (Bench::registered(), a_caller(ACME));
    let (store, blobs, ids) = (Arc::clone(&bench.store), Arc::clone(&bench.blobs), Arc::clone(&bench.ids));
    let service = ResourceService::new(store.clone(), blobs, store, bench.clock.clone(), ids, LIMITS, reader::parse);
    let listed = service.list(&caller, body);
    let listed = match refusal(&listed) {
        Some(refused) => Err(refused),
        None => Ok(listed.into_iter().flat_map(block_on_stream).count()),
    };
    let found = refusal(&block_on(service.find_by_pmm(&caller, body)));
    assert!(found.is_some(), "there is no resource");
    (listed, found)
}

/// Our reader takes the texts that the usual one takes, and reads the same values.
fn beside_the_usual_reader(input: &[u8], read: Option<&Json>) {
    // The usual one skips no byte-order mark, counts levels in another way and takes a certain member for a number.
    let is_level = input.iter().filter(|byte| matches!(byte, b'[' | b'{')).count() < 100;
    if !is_level || input.starts_with(b"\xEF\xBB\xBF") || input.windows(6).any(|window| window == b"$serde") {
        return;
    }
    let usual = serde_json::from_slice::<Value>(input).ok();
    match (read, &usual) {
        (Some(read), Some(usual)) => assert!(is_same(read, usual), "{read} {usual}"),
        (None, None) => {}
        _ => panic!("one reader takes what the other doesn't: {read:?} {usual:?}"),
    }
}

fn is_same(read: &Json, usual: &Value) -> bool {
    let number = |spelling: &str| spelling.parse().ok().map(f64::to_bits);
    match (read, usual) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(own), Value::Bool(other)) => own == other,
        (Json::Number(own), Value::Number(other)) => number(own) == number(&other.to_string()),
        (Json::Text(own), Value::String(other)) => own == other,
        (Json::Array(own), Value::Array(others)) => {
            own.len() == others.len() && own.iter().zip(others).all(|(own, other)| is_same(own, other))
        }
        (Json::Object(own), Value::Object(others)) => {
            let mut pairs = own.iter().zip(others);
            own.len() == others.len() && pairs.all(|(own, other)| own.0 == *other.0 && is_same(&own.1, other.1))
        }
        _ => false,
    }
}
