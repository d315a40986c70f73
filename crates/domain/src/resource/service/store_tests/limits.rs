//! Bodies that are too large, or that don't come to an end (decisions R3, T12).

use super::*;
use crate::sample::{Endless, of_size};

#[tokio::test]
async fn a_file_over_the_limit_is_too_large() {
    // Decision R3; nothing of it stays (decision T13).
    let json = || json_string(&described(&of_size(2000)));
    let fits = InMemoryPart::named("file").chunk(of_size(2000));
    let (bench, (resources, _)) = (Bench::new(), storing());
    bench.add(resources, None, vec![json(), fits.clone()]).await.unwrap();

    let over = fits.chunk("x");
    assert_eq!(refused(None, vec![json(), over.clone()]).await, Reason::BodyTooLarge);
    assert_eq!(refused(None, vec![over, json()]).await, Reason::BodyTooLarge);
}

#[tokio::test]
async fn a_json_part_over_the_limit_is_too_large() {
    // Decision R3.
    let over = format!("{}{}", written(&described(b"content")), " ".repeat(1000));
    let named = InMemoryPart::named("JsonString").chunk(over.clone());
    let typed = InMemoryPart::named("j").content_type("application/json").chunk(over);
    for json in [named, typed] {
        assert_eq!(refused(None, vec![json.clone(), file(b"content")]).await, Reason::BodyTooLarge);
        assert_eq!(refused(None, vec![file(b"content"), json]).await, Reason::BodyTooLarge);
    }
}

#[tokio::test]
async fn a_json_file_over_the_limit_of_json_parts_is_a_file() {
    // Decision T11: a part with a JSON content type is the file if another one is named JsonString.
    let (bench, (resources, asked)) = (Bench::new(), storing());
    let large = InMemoryPart::named("f").content_type("application/json").chunk(of_size(1500));
    bench.add(resources, None, vec![large, json_string(&described(&of_size(1500)))]).await.unwrap();
    assert_eq!(the(&asked).content.size, 1500);
}

#[tokio::test]
async fn a_body_that_can_not_be_read_on_is_answered_as_its_source_says() {
    // Decisions R3, T12.
    let cases = [
        (broken(), Reason::NotProperlyFormatted),
        (BodyError::TooLarge("the body is over 5 bytes".to_owned()), Reason::BodyTooLarge),
        (BodyError::TimedOut("no bytes for 30 s".to_owned()), Reason::BodyTimedOut),
    ];
    for (failure, answer) in cases {
        let json = || json_string(&described(b"content"));
        let in_file = vec![json(), file(b"cont").failing(failure.clone())];
        assert_eq!(refused(None, in_file).await, answer);
        let after_file = vec![file(b"content"), json().failing(failure.clone())];
        assert_eq!(refused(None, after_file).await, answer);
        let bench = Bench::new();
        let at_the_end = InMemoryParts::new(vec![json(), file(b"content")]).failing(failure);
        let outcome = bench.add_body(MockResourceRepository::new(), None, at_the_end).await;
        assert_eq!(reason(outcome), answer);
        assert!(bench.is_clean());
    }
}

#[tokio::test]
async fn a_refused_body_without_end_is_not_read_for_ever() {
    // Decision R12: the answer comes after a bound.
    let wrong = || json_string(&StoreResourceInput::default());
    let right = || json_string(&described(b"content"));
    for in_one_part in [true, false] {
        let cases = [
            (Some("soon"), vec![right()], Reason::TimestampInvalid),
            (None, vec![wrong()], Reason::ResourceFieldsRequired),
            (None, vec![right(), file(b"content"), file(b"more")], Reason::FileNotSingle),
            (None, vec![file(b"content"), file(b"more")], Reason::FileNotSingle),
        ];
        for (timestamp, begin, answer) in cases {
            let bench = Bench::new();
            let (blobs, ledger) = (Arc::new(bench.blobs.clone()), Arc::new(MockBlobLedger::new()));
            let service = bench.service(MockResourceRepository::new(), blobs, ledger);
            let outcome = service
                .store(&a_caller(ACME), timestamp, &mut Endless::after(begin, in_one_part), &read_description)
                .await;
            assert_eq!(reason(outcome), answer);
            assert!(bench.is_clean());
        }
    }
}
