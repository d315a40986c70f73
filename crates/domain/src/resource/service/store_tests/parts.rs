//! Which part is the JSON part and which the file (decisions T11, T12).

use super::*;
use crate::sample::detail;
use proptest::prelude::*;

/// A part by what its head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Named JsonString, with or without a content type.
    Named(Option<&'static str>),
    /// Of a JSON content type and another name.
    Typed(&'static str),
    /// Neither.
    Plain(Option<&'static str>),
}

fn kinds() -> impl Strategy<Value = Kind> {
    let named = vec![None, Some("application/json"), Some("text/plain"), Some("application/octet-stream")];
    let typed = vec!["application/json", "text/json", "application/vnd.press+json"];
    let plain = vec![None, Some("application/octet-stream"), Some("image/png"), Some("text/plain"), Some("json")];
    prop_oneof![
        1 => prop::sample::select(named).prop_map(Kind::Named),
        1 => prop::sample::select(typed).prop_map(Kind::Typed),
        2 => prop::sample::select(plain).prop_map(Kind::Plain),
    ]
}

/// Decision T11, read literally and over the whole body at once: the place of the JSON part.
fn json_part(kinds: &[Kind]) -> Option<usize> {
    let named = kinds.iter().position(|kind| matches!(kind, Kind::Named(_)));
    named.or_else(|| kinds.iter().position(|kind| matches!(kind, Kind::Typed(_))))
}

/// The answer to a body of these parts, or the place of the file.
fn expected(kinds: &[Kind], timestamp_is_valid: bool) -> Result<usize, Reason> {
    if kinds.iter().filter(|kind| matches!(kind, Kind::Named(_))).count() > 1 {
        return Err(Reason::NotProperlyFormatted);
    }
    let json_part = json_part(kinds).ok_or(Reason::ResourceFieldsRequired)?;
    if !timestamp_is_valid {
        return Err(Reason::TimestampInvalid);
    }
    let files: Vec<usize> = (0..kinds.len()).filter(|place| *place != json_part).collect();
    match files[..] {
        [] => Err(Reason::FileMissing),
        [file] => Ok(file),
        _ => Err(Reason::FileNotSingle),
    }
}

/// A body whose JSON part describes its first file.
fn body(kinds: &[Kind]) -> Vec<InMemoryPart> {
    let json_part = json_part(kinds);
    let content = |place: usize| format!("{{\"part\":{place}}}");
    let file = (0..kinds.len()).find(|place| Some(*place) != json_part).map(content).unwrap_or_default();
    let part = |(place, kind): (usize, &Kind)| {
        let (name, content_type) = match kind {
            Kind::Named(content_type) => ("jSONsTRING", *content_type),
            Kind::Typed(content_type) => ("meta", Some(*content_type)),
            Kind::Plain(content_type) => ("data", *content_type),
        };
        let text = if Some(place) == json_part { written(&described(file.as_bytes())) } else { content(place) };
        let part = InMemoryPart::named(name).chunk(text);
        content_type.map_or(part.clone(), |content_type| part.content_type(content_type))
    };
    kinds.iter().enumerate().map(part).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Decisions R1, T2, T11, T12, T13.
    #[test]
    fn the_parts_are_told_apart_in_any_order(
        kinds in prop::collection::vec(kinds(), 0..6),
        timestamp in prop::sample::select(&[None, Some("2026-05-06T07:08:09Z"), Some("soon")][..]),
    ) {
        let bench = Bench::new();
        let expected = expected(&kinds, timestamp != Some("soon"));
        let (resources, asked) = if expected.is_ok() { storing() } else { Default::default() };
        let outcome = futures_executor::block_on(bench.add(resources, timestamp, body(&kinds)));
        match expected {
            Ok(file) => {
                prop_assert!(outcome.is_ok(), "{:?}", outcome);
                let key = the(&asked).content.key;
                prop_assert_eq!(bench.blobs.content(&key), Some(format!("{{\"part\":{file}}}").into()));
                prop_assert_eq!(bench.blobs.keys(), [key]);
            }
            Err(expected) => {
                prop_assert_eq!(reason(outcome), expected);
                prop_assert!(bench.is_clean());
            }
        }
    }

    /// Decision T12: whatever else is wrong with it, a body that breaks off is malformed.
    #[test]
    fn a_body_that_breaks_off_after_any_parts_is_malformed(
        kinds in prop::collection::vec(kinds(), 0..6),
        timestamp in prop::sample::select(&[None, Some("soon")][..]),
        within in any::<bool>(),
    ) {
        let bench = Bench::new();
        let mut parts = body(&kinds);
        let body = match parts.pop() {
            Some(last) if within => {
                parts.push(last.failing(broken()));
                InMemoryParts::new(parts)
            }
            last => {
                parts.extend(last);
                InMemoryParts::new(parts).failing(broken())
            }
        };
        let outcome = futures_executor::block_on(bench.add_body(MockResourceRepository::new(), timestamp, body));
        prop_assert_eq!(reason(outcome), Reason::NotProperlyFormatted);
        prop_assert!(bench.is_clean());
    }
}

#[tokio::test]
async fn a_part_without_a_name_or_with_a_file_name_is_the_file() {
    // Decision T11.
    let files = [
        InMemoryPart::nameless(),
        InMemoryPart::named("").file_name("profile.icc"),
        InMemoryPart::named("upload").file_name(""),
    ];
    for part in files {
        let (bench, (resources, asked)) = (Bench::new(), storing());
        let parts = vec![part.chunk("content"), json_string(&described(b"content"))];
        bench.add(resources, None, parts).await.unwrap();
        assert_eq!(the(&asked).content.size, 7);
    }
}

#[tokio::test]
async fn a_json_file_beside_json_string_is_the_file() {
    // Decision T11: the name goes before the content type.
    let library = InMemoryPart::named("library").content_type("application/json").chunk("[1");
    for library_first in [true, false] {
        let (bench, (resources, asked)) = (Bench::new(), storing());
        let mut parts = vec![library.clone(), json_string(&described(b"[1"))];
        if !library_first {
            parts.reverse();
        }
        bench.add(resources, None, parts).await.unwrap();
        assert_eq!(the(&asked).content.size, 2);
        assert_eq!(bench.blobs.keys().len(), 1);
    }
}

#[tokio::test]
async fn a_json_string_that_can_not_be_read_is_malformed() {
    // Decision T12.
    for sent in ["", "{", "no description"] {
        let json = || InMemoryPart::named("JsonString").chunk(sent);
        let by_type = || InMemoryPart::named("j").content_type("text/json").chunk(sent);
        for parts in [
            vec![json(), file(b"c")],
            vec![file(b"c"), json()],
            vec![json()],
            vec![by_type(), file(b"c")],
            vec![file(b"c"), by_type()],
            vec![by_type()],
        ] {
            assert_eq!(refused(None, parts).await, Reason::NotProperlyFormatted, "{sent}");
        }
    }
}

#[tokio::test]
async fn the_required_values_are_asked_for_before_the_file() {
    // Decisions T7, T12: a body without any part lacks its parts.
    assert_eq!(refused(None, vec![]).await, Reason::ResourceFieldsRequired);
    assert_eq!(refused(None, vec![file(b"content")]).await, Reason::ResourceFieldsRequired);
    assert_eq!(refused(None, vec![json_string(&StoreResourceInput::default())]).await, Reason::ResourceFieldsRequired);
    assert_eq!(refused(None, vec![json_string(&described(b"content"))]).await, Reason::FileMissing);
}

#[tokio::test]
async fn a_refusal_tells_how_the_parts_were_understood() {
    // Decision R11.
    let two = vec![
        InMemoryPart::named("json").content_type("text/plain").chunk("{}"),
        InMemoryPart::nameless().chunk("content"),
    ];
    let outcome = Bench::new().add(MockResourceRepository::new(), None, two).await;
    let output = detail(outcome);
    assert!(output.contains("\"json\", text/plain; no name, no content type"), "{output}");
}

#[tokio::test]
async fn a_value_that_is_wrong_is_refused_wherever_the_json_stands() {
    // Decision R1: it is the first failure in the order, whatever follows it.
    let wrong = StoreResourceInput { domain: Some("Secret".to_owned()), ..described(b"content") };
    for parts in [
        vec![json_string(&wrong), file(b"content")],
        vec![file(b"content"), json_string(&wrong)],
        vec![json_string(&wrong), file(b"content"), file(b"more")],
        vec![file(b"content"), file(b"more"), json_string(&wrong)],
        vec![json_string(&wrong)],
    ] {
        assert_eq!(refused(None, parts).await, Reason::DomainInvalid);
    }
}
