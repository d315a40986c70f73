//! The body of "get logs" (interface 4.9, decisions L5–L7).

use crate::error::{Failure, Outcome, Reason};
use crate::json::Json;
use crate::log_entry::{LogFilter, LogType, Pattern};
use crate::sample::{any_json, any_leaf, detail, json, object, reason, text, with};
use crate::timestamp::Timestamp;
use proptest::prelude::*;

const TEXTS: [&str; 5] = ["SerialNumber", "User", "Source", "Version", "Computer"];

fn read(body: &str) -> Outcome<LogFilter> {
    LogFilter::read(&json(body))
}

fn of_text(filter: &LogFilter, name: &str) -> Option<Pattern> {
    let pattern = match name {
        "SerialNumber" => &filter.serial_number,
        "User" => &filter.user,
        "Source" => &filter.source,
        "Version" => &filter.version,
        _ => &filter.computer,
    };
    pattern.clone()
}

#[test]
fn each_text_filter_is_a_pattern_of_its_own() {
    // Decision L5.
    for name in TEXTS {
        let filter = LogFilter::read(&object(&[(name, text("Rip*"))])).unwrap();
        assert_eq!(of_text(&filter, name), Some(Pattern::new("rip*")), "{name}");
        assert!(TEXTS.iter().all(|other| other == &name || of_text(&filter, other).is_none()));
        assert_eq!((filter.from, filter.to, filter.log_type), (None, None, None));
    }
    assert_eq!(read(r#"{"Version":7.10}"#).unwrap().version, Some(Pattern::new("7.10")), "decision R5");
    assert_eq!(read(r#"[{"USER":" "}]"#).unwrap().user, Some(Pattern::new(" ")), "a blank is no empty text");
    assert_eq!(read(r#"{"User":"a\u0000"}"#).unwrap().user, Some(Pattern::new("a\u{FFFD}")), "decision R9");
}

#[test]
fn without_any_filter_a_list_is_refused() {
    // Decision L7.
    for body in ["{}", "null", "5", "\"*\"", "[]", "[{},{}]", "{\"Other\":\"*\"}", "{\"DateTime\":{\"At\":\"now\"}}"] {
        assert_eq!(reason(read(body)), Reason::LogFieldsRequired, "{body}");
    }
    for name in TEXTS.into_iter().chain(["LogType", "DateTime"]) {
        for nothing in ["null", "\"\"", "{}"] {
            let body = object(&[(name, json(nothing))]);
            assert_eq!(reason(LogFilter::read(&body)), Reason::LogFieldsRequired, "{body}");
            let beside = with(&body, "Computer", Some(text("RIP-01")));
            assert!(LogFilter::read(&beside).is_ok(), "what is not given disturbs no other filter: {beside}");
        }
    }
    assert_eq!(reason(read(r#"{"DateTime":{"From":null,"To":""}}"#)), Reason::LogFieldsRequired);
}

#[test]
fn a_text_filter_of_another_type_is_refused() {
    for name in TEXTS {
        for wrong in ["true", "[]", "[\"a\"]", "{\"a\":1}"] {
            let body = object(&[(name, json(wrong)), ("LogType", text("log"))]);
            assert_eq!(reason(LogFilter::read(&body)), Reason::LogFieldsRequired, "{body}");
            assert!(detail(LogFilter::read(&body)).contains(name), "decision R11");
        }
    }
}

#[test]
fn the_log_type_is_one_of_two_words_without_case() {
    // Decisions L5, L6.
    assert_eq!(read(r#"{"LogType":"LOG"}"#).unwrap().log_type, Some(LogType::Log));
    assert_eq!(read(r#"{"logtype":"configuration"}"#).unwrap().log_type, Some(LogType::Configuration));
    for wrong in ["\" \"", "\"*\"", "\"logs\"", "1", "true", "[]", "[\"Log\"]", "{\"a\":1}"] {
        let body = format!("{{\"LogType\":{wrong},\"User\":\"*\"}}");
        assert_eq!(reason(read(&body)), Reason::LogTypeInvalid, "{body}");
    }
}

#[test]
fn either_end_of_date_time_may_be_absent() {
    // Decision L6; the forms are those of T2.
    let point = |text: &str| Timestamp::parse(text);
    let ends = |body: &str| {
        let filter = read(body).unwrap();
        (filter.from, filter.to)
    };
    let from = point("2026-01-01T00:00:00Z");
    let to = point("2026-01-02T00:00:00.5Z");
    let both = r#"{"DateTime":{"From":"2026-01-01T00:00:00","To":"2026-01-02 02:00:00,5+02"}}"#;
    assert_eq!(ends(both), (from, to));
    assert_eq!(ends(r#"{"datetime":{"from":"2026-01-01T00:00Z","to":""}}"#), (from, None));
    assert_eq!(ends(r#"{"DateTime":{"From":null,"To":"2026-01-02T00:00:00.5Z"}}"#), (None, to));
    let turned = r#"{"DateTime":{"From":"2026-01-02T00:00:00.5Z","To":"2026-01-01T00:00:00Z"}}"#;
    assert_eq!(ends(turned), (to, from), "it matches nothing, which is no mistake");
}

#[test]
fn a_malformed_date_time_is_refused() {
    // Decision L6.
    let wrong = [
        "\"2026-01-01T00:00:00Z\"",
        "5",
        "[]",
        "true",
        "[{\"From\":\"2026-01-01T00:00:00Z\"}]",
        "{\"From\":\"yesterday\"}",
        "{\"From\":\" \"}",
        "{\"To\":20260101}",
        "{\"To\":[\"2026-01-01T00:00:00Z\"]}",
        "{\"From\":\"2026-01-01T00:00:00Z\",\"To\":\"2026-02-30T00:00:00Z\"}",
        "{\"From\":false}",
    ];
    for date_time in wrong {
        let body = format!("{{\"DateTime\":{date_time},\"User\":\"*\"}}");
        assert_eq!(reason(read(&body)), Reason::DateTimeInvalid, "{body}");
    }
}

const MEMBERS: &[&str] =
    &["SerialNumber", "User", "Source", "Version", "Computer", "DateTime", "From", "To", "LogType"];

proptest! {
    #[test]
    fn any_json_is_read_or_refused(body in any_json(MEMBERS)) {
        match LogFilter::read(&body) {
            Ok(filter) => prop_assert_ne!(filter, LogFilter::default(), "decision L7"),
            Err(failure) => prop_assert!(matches!(failure, Failure::Refused(_))),
        }
    }

    #[test]
    fn any_value_beside_a_filter_is_read_or_refused(
        name in prop::sample::select(MEMBERS),
        value in prop_oneof![any_leaf(), any_json(MEMBERS)],
    ) {
        let outcome = LogFilter::read(&object(&[("Computer", text("*")), (name, value)]));
        prop_assert!(outcome.is_ok() || matches!(outcome, Err(Failure::Refused(_))));
    }

    #[test]
    fn what_is_valid_is_read_as_it_was_meant(
        texts in prop::collection::vec(prop::option::of("[^\\x00]{1,8}"), 5),
        from in prop::option::of(0_i64..4_000_000_000),
        log_type in prop::option::of(prop::sample::select(&[LogType::Log, LogType::Configuration][..])),
    ) {
        let from = from.map(|second| Timestamp::from_micros(second * 1_000_000));
        let date_time = Json::Object(from.iter().map(|from| ("From".to_owned(), text(&from.to_string()))).collect());
        let mut members: Vec<_> = TEXTS
            .into_iter()
            .zip(&texts)
            .filter_map(|(name, sent)| Some((name, text(sent.as_deref()?))))
            .collect();
        members.push(("DateTime", date_time));
        members.extend(log_type.map(|log_type| ("LogType", text(log_type.as_str()))));
        let pattern = |place: usize| texts[place].as_deref().map(Pattern::new);
        let meant = LogFilter {
            serial_number: pattern(0),
            user: pattern(1),
            source: pattern(2),
            version: pattern(3),
            computer: pattern(4),
            from,
            to: None,
            log_type,
        };
        let read = LogFilter::read(&object(&members));
        if meant == LogFilter::default() {
            prop_assert_eq!(reason(read), Reason::LogFieldsRequired);
        } else {
            prop_assert_eq!(read.unwrap(), meant);
        }
    }
}
