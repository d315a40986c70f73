//! The header Timestamp and the newer-only rule (decisions T2–T4).

use super::*;
use crate::sample::detail;
use proptest::prelude::*;
use std::time::Duration;

const SENT: &str = "2026-05-06T07:08:09.25Z";

fn body(input: &StoreResourceInput) -> Vec<InMemoryPart> {
    vec![json_string(input), file(b"content")]
}

/// Sends what the repository holds already, but for `change`.
async fn repeated(sent: &StoreResourceInput, change: impl Fn(&mut StoredResource) + Send + 'static) -> Outcome<()> {
    let bench = Bench::new();
    let outcome = bench.add(holding(change), Some(SENT), body(sent)).await;
    assert!(bench.is_clean(), "the content of an upload that changed nothing is removed (decision T13)");
    outcome
}

#[tokio::test]
async fn without_a_timestamp_now_is_assumed_to_the_microsecond() {
    // Decision T2.
    let bench = Bench::new();
    bench.clock.advance(Duration::from_micros(7));
    let (resources, asked) = storing();
    bench.add(resources, None, body(&described(b"content"))).await.unwrap();
    assert_eq!(the(&asked).modified.as_micros(), at(0).as_micros() + 7);
}

#[tokio::test]
async fn a_timestamp_that_is_no_date_time_is_never_read_as_now() {
    // Decision T2.
    for sent in ["", " ", "now", "2026-05-06", "20260506T070809Z", "2026-13-06T07:08:09Z", "2026-05-06T07:08:09Z\0"] {
        let answer = refused(Some(sent), body(&described(b"content"))).await;
        assert_eq!(answer, Reason::TimestampInvalid, "{sent:?}");
    }
}

#[tokio::test]
async fn the_format_of_the_body_is_judged_before_the_timestamp() {
    // Decision R1: 415 before 400.
    let no_json = || InMemoryPart::named("JsonString").chunk("{");
    let wanted = Reason::NotProperlyFormatted;
    assert_eq!(refused(Some("now"), vec![no_json(), file(b"content")]).await, wanted);
    assert_eq!(refused(Some("now"), vec![file(b"content"), no_json()]).await, wanted);
    let by_content_type = || InMemoryPart::named("meta").content_type("application/json").chunk("{");
    assert_eq!(refused(Some("now"), vec![by_content_type(), file(b"content")]).await, wanted);
    assert_eq!(refused(Some("now"), vec![file(b"content"), by_content_type()]).await, wanted);
    assert_eq!(refused(Some("now"), vec![file(b"content").failing(broken())]).await, wanted);
}

#[tokio::test]
async fn a_resource_that_is_not_newer_is_refused_and_says_by_how_much() {
    // Decisions T2, R11.
    let newer = |former: &mut StoredResource| former.modified = former.modified.plus(Duration::from_micros(1));
    let outcome = repeated(&described(b"content"), newer).await;
    let output = detail(outcome);
    assert!(output.contains("07:08:09.250000Z") && output.contains("07:08:09.250001Z"), "{output}");
    assert_eq!(reason(repeated(&described(b"content"), newer).await), Reason::TimestampInvalid);
}

#[tokio::test]
async fn an_exact_repeat_is_answered_like_the_first_request() {
    // Decision T2: the first answer may have been lost.
    assert!(repeated(&described(b"content"), |_| {}).await.is_ok());
}

#[tokio::test]
async fn a_repeat_without_a_domain_fits_any_stored_one() {
    // Decision T2: "Domain unless absent".
    let sent = described(b"content");
    assert!(repeated(&sent, |former| former.domain = Domain::Public).await.is_ok());
    let named = StoreResourceInput { domain: Some("Private".to_owned()), ..sent };
    assert!(repeated(&named, |former| former.domain = Domain::Private).await.is_ok());
    let outcome = repeated(&named, |former| former.domain = Domain::Public).await;
    assert_eq!(reason(outcome), Reason::TimestampInvalid);
}

#[tokio::test]
async fn a_repeat_compares_meta_as_a_json_value() {
    // Decision T2: neither the order of members nor the spelling of numbers makes a difference.
    let meta = |name: &str, members: &[(&str, &str)]| {
        let name = MetaMember::Text(MetaText::Name, name.to_owned());
        let members = members.iter().map(|(name, json)| further(name, json));
        let meta = Some([name].into_iter().chain(members).collect());
        StoreResourceInput { meta, ..described(b"content") }
    };
    let former = meta("Gloss", &[("Ink", r#"{"a":1.50,"b":[1,null]}"#), ("z", "[]")]);
    let former = crate::resource::StoreResource::new(former).unwrap().meta;
    let unchanged = [
        meta("Gloss", &[("z", "[]"), ("Ink", r#"{"b":[1,null],"a":1.5}"#)]),
        meta("Gloss", &[("Ink", r#"{"a":15e-1,"b":[1.0,null]}"#), ("z", " [ ] ")]),
    ];
    for sent in unchanged {
        let former = former.clone();
        let outcome = repeated(&sent, move |stored| stored.meta = former.clone()).await;
        assert!(outcome.is_ok(), "{sent:?}: {outcome:?}");
    }
    let changed = [
        meta("gloss", &[("Ink", r#"{"a":1.5,"b":[1,null]}"#), ("z", "[]")]),
        meta("Gloss", &[("Ink", r#"{"a":1.5,"b":[null,1]}"#), ("z", "[]")]),
        meta("Gloss", &[("Ink", r#"{"a":"1.5","b":[1,null]}"#), ("z", "[]")]),
        meta("Gloss", &[("Ink", r#"{"a":1.5,"b":[1]}"#), ("z", "[]")]),
        meta("Gloss", &[("z", "[]")]),
    ];
    for sent in changed {
        let former = former.clone();
        let outcome = repeated(&sent, move |stored| stored.meta = former.clone()).await;
        assert_eq!(reason(outcome), Reason::TimestampInvalid, "{sent:?}");
    }
}

#[tokio::test]
async fn a_type_that_is_absent_repeats_generic() {
    // Decisions T2, T7.
    let unnamed = StoreResourceInput { resource_type: None, ..described(b"content") };
    assert!(repeated(&unnamed, |former| former.resource_type = ResourceType::generic()).await.is_ok());
    let outcome = repeated(&unnamed, |former| former.resource_type = ResourceType::new("Label").unwrap()).await;
    assert_eq!(reason(outcome), Reason::TimestampInvalid);
}

#[tokio::test]
async fn what_differs_in_anything_is_no_repeat() {
    // Decision T2.
    let changes: [fn(&mut StoredResource); 3] = [
        |former| former.checksum = Sha1Checksum::of(b"other"),
        |former| former.resource_type = ResourceType::new("Template").unwrap(),
        |former| former.modified = former.modified.plus(Duration::from_secs(1)),
    ];
    for change in changes {
        assert_eq!(reason(repeated(&described(b"content"), change).await), Reason::TimestampInvalid);
    }
}

#[tokio::test]
async fn a_repeat_with_another_content_is_a_mismatch() {
    // Decisions R1, T6: values are judged before what is stored, which is not even asked.
    let parts = vec![json_string(&described(b"content")), file(b"damaged")];
    assert_eq!(refused(Some(SENT), parts).await, Reason::ChecksumMismatch);
}

#[tokio::test]
async fn a_future_timestamp_is_accepted_unless_it_is_bounded() {
    // Decision T4.
    let hour = Some(Duration::from_hours(1));
    let cases = [
        (None, "2999-01-01T00:00:00Z", true),
        (hour, "2026-01-01T01:00:00Z", true),
        (hour, "2026-01-01T01:00:00.000001Z", false),
        (hour, "2999-01-01T00:00:00Z", false),
        (hour, "1999-01-01T00:00:00Z", true),
    ];
    for (max_timestamp_ahead, sent, accepted) in cases {
        let bench = Bench { limits: Limits { max_timestamp_ahead, ..Bench::new().limits }, ..Bench::new() };
        let resources = if accepted { storing().0 } else { MockResourceRepository::new() };
        let outcome = bench.add(resources, Some(sent), body(&described(b"content"))).await;
        assert_eq!(outcome.is_ok(), accepted, "{sent}");
        if !accepted {
            assert_eq!(reason(outcome), Reason::TimestampInvalid);
        }
    }
}

proptest! {
    /// Decision T2: any header is a date-time that is stored, or refused.
    #[test]
    fn any_timestamp_header_is_taken_or_refused(header in "\\PC{0,30}|[0-9TtZz:.,+ -]{0,30}") {
        let bench = Bench::new();
        let parsed = crate::timestamp::Timestamp::parse(&header);
        let resources = if parsed.is_some() { storing().0 } else { MockResourceRepository::new() };
        let outcome = futures_executor::block_on(bench.add(resources, Some(&header), body(&described(b"content"))));
        if parsed.is_some() {
            prop_assert!(outcome.is_ok());
        } else {
            prop_assert_eq!(reason(outcome), Reason::TimestampInvalid);
        }
    }
}
