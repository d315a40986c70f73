//! Reports over the limit: the call stack is never lost over its dump (decision C6).

use super::*;
use crate::body::PartHead;
use crate::crash_report::roles::assign;
use crate::sample::{Endless, of_size};
use proptest::prelude::*;

fn part(name: &str, content_type: &str, size: usize) -> InMemoryPart {
    InMemoryPart::named(name).content_type(content_type).chunk(of_size(size))
}

fn large_dump(size: usize) -> InMemoryPart {
    part("dump", "application/octet-stream", size)
}

fn roles(report: &NewCrashReport) -> Vec<PartRole> {
    report.parts.iter().map(|part| part.role).collect()
}

#[tokio::test]
async fn parts_up_to_the_limit_are_kept() {
    let (received, report, _) = stored(vec![call_stack(b"main"), large_dump(96)]).await;
    assert_eq!((received.note, roles(&report)), (None, vec![PartRole::CallStack, PartRole::Dump]));
}

#[tokio::test]
async fn a_dump_over_the_limit_is_dropped_before_and_after_the_call_stack() {
    for size in [97, 100, 101, 700] {
        for dump_first in [true, false] {
            let mut parts = vec![call_stack(b"main"), large_dump(size)];
            if dump_first {
                parts.reverse();
            }
            let (received, report, _) = stored(parts).await;
            assert_eq!(roles(&report), [PartRole::CallStack], "{size}, dump first: {dump_first}");
            let note = received.note.expect("a note for X-Error-Detail").to_string();
            assert_eq!(report.note.as_deref(), Some(note.as_str()));
            assert!(note.contains("limited to 100 bytes") && note.contains(&format!("dump of {size} bytes")), "{note}");
        }
    }
}

#[tokio::test]
async fn what_still_fits_is_kept_beside_what_is_dropped() {
    let parts = || vec![part("a", "image/png", 60), large_dump(60), call_stack(b"main"), part("b", "image/png", 30)];
    let (received, report, _) = stored(parts()).await;
    assert_eq!(roles(&report), [PartRole::Attachment, PartRole::CallStack, PartRole::Attachment]);
    assert!(received.note.unwrap().as_str().ends_with(": dump of 60 bytes"));

    // Many texts that may each have been the call stack make room for the one that is.
    let texts = vec![part("a", "text/plain", 60), part("b", "text/plain", 60), part("CallStack", "text/plain", 60)];
    let (received, report, _) = stored(texts).await;
    assert_eq!(roles(&report), [PartRole::CallStack]);
    assert!(received.note.unwrap().as_str().ends_with(": attachment of 60 bytes, attachment of 60 bytes"));
}

#[tokio::test]
async fn call_stack_and_xml_over_the_limit_are_too_large() {
    let large_stack = || part("CallStack", "text/plain", 101);
    let large_xml = || part("Xml", "text/xml", 101);
    for parts in [
        vec![large_stack()],
        vec![large_dump(50), large_stack(), xml(b"<a/>")],
        vec![call_stack(b"main"), large_xml()],
        vec![large_xml(), call_stack(b"main"), large_dump(5)],
        vec![part("CallStack", "text/plain", 60), part("Xml", "text/xml", 41)],
    ] {
        assert_eq!(refused(parts).await, Reason::BodyTooLarge);
    }
    let both = vec![part("CallStack", "text/plain", 60), large_dump(90), part("Xml", "text/xml", 40)];
    assert_eq!(roles(&stored(both).await.1), [PartRole::CallStack, PartRole::Xml]);
}

#[tokio::test]
async fn a_call_stack_is_found_behind_a_dump_of_many_times_the_limit() {
    for begin in [vec![], vec![large_dump(900)]] {
        let mut parts = begin;
        parts.extend([large_dump(1_000_000), call_stack(b"main")]);
        let (received, report, _) = stored(parts).await;
        assert_eq!(roles(&report), [PartRole::CallStack]);
        let note = received.note.unwrap();
        assert!(note.as_str().ends_with(" of 1000000 bytes"), "the whole size: {note}");
    }
}

#[tokio::test]
async fn a_dump_without_end_is_cut_off_and_its_call_stack_kept() {
    let (reports, asked) = storing();
    let service = impatient(reports, Arc::new(InMemoryBlobs::default()), Arc::new(MockBlobLedger::new()));
    let body = &mut Endless::after(vec![call_stack(b"main")], true);
    let received = service.add(&a_caller(ACME), AddCrashReport::default(), body).await.unwrap();
    assert_eq!(roles(&asked.lock().unwrap().take().unwrap()), [PartRole::CallStack]);
    let note = received.note.unwrap();
    assert!(note.as_str().contains(": attachment of at least ") && note.as_str().contains("not read"), "{note}");
}

/// A body that isn't decoded any further after these parts, or within the last of them.
fn decoded_too_large(parts: Vec<InMemoryPart>, last: InMemoryPart) -> [InMemoryParts; 2] {
    let failure = || BodyError::DecodedTooLarge("it decodes to too much".to_owned());
    let within = [parts.clone(), vec![last.clone().failing(failure())]].concat();
    [InMemoryParts::new([parts, vec![last]].concat()).failing(failure()), InMemoryParts::new(within)]
}

#[tokio::test]
async fn a_call_stack_before_a_dump_that_decodes_to_too_much_is_kept() {
    for mut body in decoded_too_large(vec![call_stack(b"main")], large_dump(700)) {
        let (reports, asked) = storing();
        let blobs = InMemoryBlobs::default();
        let service = service(reports, Arc::new(blobs.clone()), Arc::new(MockBlobLedger::new()));
        let received = service.add(&a_caller(ACME), AddCrashReport::default(), &mut body).await.unwrap();
        assert_eq!(roles(&asked.lock().unwrap().take().unwrap()), [PartRole::CallStack]);
        assert_eq!(blobs.keys().len(), 1);
        let note = received.note.unwrap().to_string();
        assert!(note.contains("dump of ") && note.ends_with("not read: it decodes to too much"), "{note}");
    }
    for mut body in decoded_too_large(vec![], large_dump(700)) {
        let refused = refused_body(&mut body).await;
        assert_eq!(reason(refused), Reason::BodyTooLarge);
    }
    for mut body in decoded_too_large(vec![], call_stack(b"main")).into_iter().skip(1) {
        assert_eq!(reason(refused_body(&mut body).await), Reason::BodyTooLarge);
    }
}

#[tokio::test]
async fn a_body_without_end_is_not_read_for_ever() {
    // Decisions R3, R12: an endless call stack, an endless part before it, or parts without number.
    let mut before = Endless::after(vec![], true);
    assert_eq!(reason(refused_body(&mut before).await), Reason::BodyTooLarge);
    for begin in [vec![], vec![call_stack(b"main")]] {
        let mut parts = Endless::after(begin, false);
        assert_eq!(reason(refused_body(&mut parts).await), Reason::BodyTooLarge);
    }
    let chunks = (0..20).fold(InMemoryPart::named("CallStack"), |part, _| part.chunk(of_size(90)));
    assert_eq!(refused(vec![chunks]).await, Reason::BodyTooLarge);
}

/// A part by name, content type and size.
type Sent = (&'static str, &'static str, usize);

fn sent() -> impl Strategy<Value = Vec<Sent>> {
    let names = prop::sample::select(vec!["CallStack", "Xml", "dump", "log"]);
    let kinds = prop::sample::select(vec!["text/plain", "text/xml", "application/octet-stream", "image/png"]);
    prop::collection::vec((names, kinds, 0..130_usize), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Decisions C1, C2, C6.
    #[test]
    fn a_report_is_kept_as_far_as_it_fits(sent in sent()) {
        let heads: Vec<PartHead> = sent.iter().map(|(name, kind, _)| PartHead {
            name: Some((*name).to_owned()), file_name: None, content_type: Some((*kind).to_owned()),
        }).collect();
        let roles = assign(&heads.iter());
        let size_of = |role: PartRole| {
            roles.iter().zip(&sent).filter(|(taken, _)| **taken == role).map(|(_, (.., size))| *size).sum::<usize>()
        };
        let required = size_of(PartRole::CallStack) + size_of(PartRole::Xml);
        let all: usize = sent.iter().map(|(.., size)| *size).sum();
        let parts: Vec<InMemoryPart> = sent.iter().map(|(name, kind, size)| part(name, kind, *size)).collect();

        if required > 100 {
            prop_assert_eq!(futures_executor::block_on(refused(parts)), Reason::BodyTooLarge);
        } else if size_of(PartRole::CallStack) == 0 {
            prop_assert_eq!(futures_executor::block_on(refused(parts)), Reason::CallStackRequired);
        } else {
            let (received, report, _) = futures_executor::block_on(stored(parts));
            let kept: u64 = report.parts.iter().map(|part| part.size).sum();
            prop_assert!(kept <= LIMIT);
            for role in [PartRole::CallStack, PartRole::Xml] {
                let stored: u64 = report.parts.iter().filter(|part| part.role == role).map(|part| part.size).sum();
                prop_assert_eq!(stored, size_of(role) as u64);
            }
            prop_assert_eq!(report.parts.len() == sent.len(), all <= 100, "only what doesn't fit is dropped");
            prop_assert_eq!(received.note.is_some(), report.parts.len() < sent.len());
        }
    }
}
