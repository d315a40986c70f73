//! How the filters of a log list are spelled in JSON (decisions R5, L5–L7).

use super::*;
use crate::extract::json::parse;
use domain::log_entry::{LogType, Pattern};
use domain::timestamp::Timestamp;
use serde_json::{Value, json};

const TEXTS: [&str; 5] = ["SerialNumber", "User", "Source", "Version", "Computer"];

fn read(body: &str) -> Result<LogFilter, Failure> {
    LogFilter::try_from(parse::<LogFilterBody>(body.as_bytes()).unwrap())
}

fn of(body: &Value) -> Result<LogFilter, Failure> {
    read(&body.to_string())
}

fn refused(body: &Value) -> (Reason, String) {
    match of(body) {
        Err(Failure::Refused(refusal)) => (refusal.reason, refusal.detail.to_string()),
        other => panic!("not refused: {body} {other:?}"),
    }
}

#[test]
fn every_filter_is_handed_on() {
    // Interface 4.9.
    let body = json!({
        "SerialNumber": "s", "User": "u", "Source": "o", "Version": "v", "Computer": "c", "LogType": "LOG",
        "DateTime": { "From": "2026-01-01T00:00:00", "To": "2026-01-02T00:00:00Z" },
    });
    let filter = LogFilter {
        serial_number: Some(Pattern::new("s")),
        user: Some(Pattern::new("u")),
        source: Some(Pattern::new("o")),
        version: Some(Pattern::new("v")),
        computer: Some(Pattern::new("c")),
        computer_guid: None,
        from: Timestamp::parse("2026-01-01T00:00:00Z"),
        to: Timestamp::parse("2026-01-02T00:00:00Z"),
        log_type: Some(LogType::Log),
        search: None,
    };
    assert_eq!(of(&body).unwrap(), filter);
    assert_eq!(read(r#"{"Version":7.10}"#).unwrap().version, Some(Pattern::new("7.10")), "decision R5");
    assert_eq!(read(r#"[{"USER":" "}]"#).unwrap().user, Some(Pattern::new(" ")), "a blank is no empty text");
    assert_eq!(read(r#"{"User":"a\u0000"}"#).unwrap().user, Some(Pattern::new("a\u{FFFD}")), "decision R9");
    assert_eq!(read(r#"{"User":"a\ud83d"}"#).unwrap().user, Some(Pattern::new("a\u{FFFD}")), "decision R9");
}

#[test]
fn without_any_filter_a_list_is_refused() {
    // Decision L7.
    let nothing = [json!({}), json!(null), json!(5), json!("*"), json!([]), json!([{}, {}]), json!({ "Other": "*" })];
    let empty_range = [json!({ "DateTime": { "At": "now" } }), json!({ "DateTime": { "From": null, "To": "" } })];
    for body in nothing.into_iter().chain(empty_range) {
        assert_eq!(refused(&body).0, Reason::LogFieldsRequired, "{body}");
    }
    for name in TEXTS.into_iter().chain(["LogType", "DateTime"]) {
        for nothing in [json!(null), json!(""), json!({})] {
            assert_eq!(refused(&json!({ name: nothing })).0, Reason::LogFieldsRequired, "{name}: {nothing}");
            let mut beside = json!({ name: nothing });
            beside[if name == "Computer" { "User" } else { "Computer" }] = json!("RIP-01");
            assert!(of(&beside).is_ok(), "what is not given disturbs no other filter: {beside}");
        }
    }
    assert_eq!(read("{\"User\":\"*\",\"LogType\": { } }").unwrap().log_type, None);
}

#[test]
fn a_text_filter_of_another_type_is_refused() {
    for name in TEXTS {
        for wrong in [json!(true), json!([]), json!(["a"]), json!({ "a": 1 })] {
            let (reason, detail) = refused(&json!({ name: wrong, "LogType": "log" }));
            assert_eq!(reason, Reason::LogFieldsRequired, "{name}: {wrong}");
            assert!(detail.contains(name), "decision R11");
        }
    }
}

#[test]
fn a_log_type_of_another_type_is_refused() {
    // Decision L6.
    for wrong in [json!(1), json!(true), json!([]), json!(["Log"]), json!({ "a": 1 }), json!(" ")] {
        assert_eq!(refused(&json!({ "LogType": wrong, "User": "*" })).0, Reason::LogTypeInvalid, "{wrong}");
    }
}

#[test]
fn a_date_time_of_another_type_is_refused() {
    // Decision L6.
    let wrong = [
        json!("2026-01-01T00:00:00Z"),
        json!(5),
        json!([]),
        json!(true),
        json!([{ "From": "2026-01-01T00:00:00Z" }]),
        json!({ "From": "yesterday" }),
        json!({ "To": 20_260_101 }),
        json!({ "To": ["2026-01-01T00:00:00Z"] }),
        json!({ "From": false }),
    ];
    for date_time in wrong {
        assert_eq!(refused(&json!({ "DateTime": date_time, "User": "*" })).0, Reason::DateTimeInvalid, "{date_time}");
    }
    let from = of(&json!({ "datetime": { "from": "2026-01-01T00:00Z", "to": "" } })).unwrap();
    assert_eq!((from.from, from.to), (Timestamp::parse("2026-01-01T00:00:00Z"), None));
}

#[test]
fn an_entry_is_written_with_its_five_members() {
    // Interface 2.6.
    let text = |text: &str| text.to_owned();
    let entry = ListedLogEntry {
        user: text("Ann \"A\""),
        source: text(""),
        version: text("1.0"),
        computer: text("RIP-01"),
        description: text("a\nb\u{7f}ä"),
    };
    let mut written = String::new();
    write_entry(&entry, &mut written);
    let expected = "{\"User\":\"Ann \\\"A\\\"\",\"Source\":\"\",\"Version\":\"1.0\",\"Computer\":\"RIP-01\",\
                    \"Description\":\"a\\nb\u{7f}ä\"}";
    assert_eq!(written, expected);
}
