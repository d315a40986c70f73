//! The filters of a log list (interface 4.9, decisions L5–L7).

use crate::error::{Failure, Outcome, Reason};
use crate::log_entry::{LogFilter, LogFilterInput, LogType, Pattern};
use crate::sample::reason;
use crate::timestamp::Timestamp;
use proptest::prelude::*;

type Input = fn(&mut LogFilterInput) -> &mut Option<String>;
type Output = fn(&LogFilter) -> &Option<Pattern>;

const TEXTS: [(Input, Output); 5] = [
    (|input| &mut input.serial_number, |filter| &filter.serial_number),
    (|input| &mut input.user, |filter| &filter.user),
    (|input| &mut input.source, |filter| &filter.source),
    (|input| &mut input.version, |filter| &filter.version),
    (|input| &mut input.computer, |filter| &filter.computer),
];

/// A filter of one member.
fn only(member: Input, text: &str) -> Outcome<LogFilter> {
    let mut input = LogFilterInput::default();
    *member(&mut input) = Some(text.to_owned());
    LogFilter::new(input)
}

fn all_members() -> impl Iterator<Item = Input> {
    let others: [Input; 3] = [|input| &mut input.from, |input| &mut input.to, |input| &mut input.log_type];
    TEXTS.into_iter().map(|(input, _)| input).chain(others)
}

#[test]
fn each_text_filter_is_a_pattern_of_its_own() {
    // Decision L5.
    for (place, (member, _)) in TEXTS.into_iter().enumerate() {
        let filter = only(member, "Rip*").unwrap();
        for (other, (_, pattern)) in TEXTS.into_iter().enumerate() {
            let expected = (other == place).then(|| Pattern::new("rip*"));
            assert_eq!(*pattern(&filter), expected);
        }
        assert_eq!((filter.from, filter.to, filter.log_type), (None, None, None));
        let blank = only(member, " ").unwrap();
        assert_eq!(*TEXTS[place].1(&blank), Some(Pattern::new(" ")), "a blank is no empty text");
        let zero = only(member, "a\0").unwrap();
        assert_eq!(*TEXTS[place].1(&zero), Some(Pattern::new("a\u{FFFD}")), "decision R9");
    }
}

#[test]
fn without_any_filter_a_list_is_refused() {
    // Decision L7.
    assert_eq!(reason(LogFilter::new(LogFilterInput::default())), Reason::LogFieldsRequired);
    for member in all_members() {
        assert_eq!(reason(only(member, "")), Reason::LogFieldsRequired);
        let mut input = LogFilterInput { computer: Some("RIP-01".to_owned()), ..LogFilterInput::default() };
        let given = LogFilter::new(input.clone()).unwrap();
        if member(&mut input).is_none() {
            *member(&mut input) = Some(String::new());
            assert_eq!(LogFilter::new(input).unwrap(), given, "what is not given disturbs no other filter");
        }
    }
}

#[test]
fn the_log_type_is_one_of_two_words_without_case() {
    // Decisions L5, L6.
    let log_type = |text: &str| only(|input| &mut input.log_type, text);
    assert_eq!(log_type("LOG").unwrap().log_type, Some(LogType::Log));
    assert_eq!(log_type("configuration").unwrap().log_type, Some(LogType::Configuration));
    for wrong in [" ", "*", "logs", "1", "true", "[\"Log\"]"] {
        assert_eq!(reason(log_type(wrong)), Reason::LogTypeInvalid, "{wrong}");
    }
}

#[test]
fn either_end_of_date_time_may_be_absent() {
    // Decision L6; the forms are those of T2.
    let ends = |from: Option<&str>, to: Option<&str>| {
        let [from, to] = [from, to].map(|end| end.map(str::to_owned));
        let filter = LogFilter::new(LogFilterInput { from, to, ..LogFilterInput::default() }).unwrap();
        (filter.from, filter.to)
    };
    let from = Timestamp::parse("2026-01-01T00:00:00Z");
    let to = Timestamp::parse("2026-01-02T00:00:00.5Z");
    assert_eq!(ends(Some("2026-01-01T00:00:00"), Some("2026-01-02 02:00:00,5+02")), (from, to));
    assert_eq!(ends(Some("2026-01-01T00:00Z"), Some("")), (from, None));
    assert_eq!(ends(None, Some("2026-01-02T00:00:00.5Z")), (None, to));
    let turned = ends(Some("2026-01-02T00:00:00.5Z"), Some("2026-01-01T00:00:00Z"));
    assert_eq!(turned, (to, from), "it matches nothing, which is no mistake");
}

#[test]
fn a_malformed_date_time_is_refused() {
    // Decision L6.
    for wrong in ["yesterday", " ", "20260101", "2026-02-30T00:00:00Z", "false"] {
        assert_eq!(reason(only(|input| &mut input.from, wrong)), Reason::DateTimeInvalid, "{wrong}");
        assert_eq!(reason(only(|input| &mut input.to, wrong)), Reason::DateTimeInvalid, "{wrong}");
    }
}

proptest! {
    #[test]
    fn any_texts_are_taken_or_refused(texts in prop::collection::vec(prop::option::of("\\PC{0,9}|log|2026-01-01"), 8)) {
        let mut input = LogFilterInput::default();
        for (member, text) in all_members().zip(texts) {
            *member(&mut input) = text;
        }
        match LogFilter::new(input) {
            Ok(filter) => prop_assert_ne!(filter, LogFilter::default(), "decision L7"),
            Err(failure) => prop_assert!(matches!(failure, Failure::Refused(_))),
        }
    }

    #[test]
    fn what_is_valid_is_taken_as_it_was_meant(
        texts in prop::collection::vec(prop::option::of("[^\\x00]{1,8}"), 5),
        from in prop::option::of(0_i64..4_000_000_000),
        log_type in prop::option::of(prop::sample::select(&[LogType::Log, LogType::Configuration][..])),
    ) {
        let from = from.map(|second| Timestamp::from_micros(second * 1_000_000));
        let mut input = LogFilterInput {
            from: from.map(|from| from.to_string()),
            log_type: log_type.map(|log_type| log_type.as_str().to_owned()),
            ..LogFilterInput::default()
        };
        for ((member, _), text) in TEXTS.into_iter().zip(&texts) {
            *member(&mut input) = text.clone();
        }
        let pattern = |place: usize| texts[place].as_deref().map(Pattern::new);
        let meant = LogFilter {
            serial_number: pattern(0),
            user: pattern(1),
            source: pattern(2),
            version: pattern(3),
            computer: pattern(4),
            computer_guid: None,
            from,
            to: None,
            log_type,
            search: None,
        };
        let filter = LogFilter::new(input);
        if meant == LogFilter::default() {
            prop_assert_eq!(reason(filter), Reason::LogFieldsRequired);
        } else {
            prop_assert_eq!(filter.unwrap(), meant);
        }
    }
}
