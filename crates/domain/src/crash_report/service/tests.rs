//! Taking crash reports in over fakes: what is stored, what is dropped, and that nothing else is left.

mod clean_up;
mod sizes;

use super::{AcceptedReport, CrashReportService};
use crate::blob::{BlobLedger, BlobStore, MockBlobLedger, Uploads};
use crate::body::{BodyError, PartSource};
use crate::caller::{Caller, CallingComputer, OrganizationId};
use crate::checksum::Sha1Checksum;
use crate::crash_report::{AddCrashReport, MockCrashReportRepository, NewCrashReport, PartRole};
use crate::error::{Outcome, Reason};
use crate::guid::ComputerGuid;
use crate::limits::Limits;
use crate::sample::reason;
use crate::testing::{CountingIds, FixedClock, InMemoryBlobs, InMemoryPart, InMemoryParts, a_caller, at, numbered};
use std::sync::{Arc, Mutex};

const ACME: OrganizationId = OrganizationId(1);

/// The limit of the parts together in these tests.
const LIMIT: u64 = 100;

/// What a repository was asked to store.
type Asked = Arc<Mutex<Option<NewCrashReport>>>;

fn service(
    reports: MockCrashReportRepository,
    blobs: Arc<dyn BlobStore>,
    ledger: Arc<dyn BlobLedger>,
) -> CrashReportService {
    let (clock, ids) = (Arc::new(FixedClock::new(at(5))), Arc::new(CountingIds::default()));
    let limits = Limits { max_crash_report_size: LIMIT, ..Limits::default() };
    CrashReportService::new(Arc::new(reports), Uploads::new(blobs, ledger, clock, ids), limits)
}

/// One that gives a body up early, so that a body without end can be tried.
fn impatient(
    reports: MockCrashReportRepository,
    blobs: Arc<dyn BlobStore>,
    ledger: Arc<dyn BlobLedger>,
) -> CrashReportService {
    CrashReportService { readable: 8 * LIMIT, ..service(reports, blobs, ledger) }
}

/// A repository that stores one report.
fn storing() -> (MockCrashReportRepository, Asked) {
    let (mut reports, asked) = (MockCrashReportRepository::new(), Asked::default());
    let kept = Arc::clone(&asked);
    reports.expect_add().times(1).returning(move |organization, report| {
        assert_eq!(organization, ACME);
        *kept.lock().unwrap() = Some(report);
        Ok(())
    });
    (reports, asked)
}

/// Sends a body that is stored: the answer, the stored report and the blobs.
async fn stored_from(
    caller: &Caller,
    command: AddCrashReport,
    body: &mut dyn PartSource,
) -> (AcceptedReport, NewCrashReport, InMemoryBlobs) {
    let (reports, asked) = storing();
    let blobs = InMemoryBlobs::default();
    let service = service(reports, Arc::new(blobs.clone()), Arc::new(MockBlobLedger::new()));
    let received = service.add(caller, command, body).await.unwrap();
    let report = asked.lock().unwrap().take().unwrap();
    let mut keys: Vec<_> = report.parts.iter().map(|part| part.key.clone()).collect();
    keys.sort();
    assert_eq!(blobs.keys(), keys, "each blob belongs to the report, and each part has its blob");
    (received, report, blobs)
}

async fn stored(parts: Vec<InMemoryPart>) -> (AcceptedReport, NewCrashReport, InMemoryBlobs) {
    stored_from(&a_caller(ACME), AddCrashReport::default(), &mut InMemoryParts::new(parts)).await
}

/// The answer to a body that must not be stored, and that no blob was left.
async fn refused_body(body: &mut dyn PartSource) -> Outcome<AcceptedReport> {
    let blobs = InMemoryBlobs::default();
    let service = impatient(MockCrashReportRepository::new(), Arc::new(blobs.clone()), Arc::new(MockBlobLedger::new()));
    let outcome = service.add(&a_caller(ACME), AddCrashReport::default(), body).await;
    assert!(blobs.keys().is_empty(), "a refused body left {:?}", blobs.keys());
    outcome
}

async fn refused(parts: Vec<InMemoryPart>) -> Reason {
    reason(refused_body(&mut InMemoryParts::new(parts)).await)
}

fn call_stack(content: &'static [u8]) -> InMemoryPart {
    InMemoryPart::named("CallStack").content_type("text/plain").chunk(content)
}

fn xml(content: &'static [u8]) -> InMemoryPart {
    InMemoryPart::named("Xml").content_type("application/xml").chunk(content)
}

fn dump(content: &'static [u8]) -> InMemoryPart {
    InMemoryPart::named("dump").content_type("application/octet-stream").chunk(content)
}

#[tokio::test]
async fn a_report_is_stored_byte_for_byte_with_who_sent_it() {
    // Decisions C1, C3, C4, C7.
    let computer = CallingComputer { guid: ComputerGuid::from(numbered(9)), name: "RIP-09".to_owned(), user: None };
    let caller = Caller { computer: Some(computer), ..a_caller(ACME) };
    let command = AddCrashReport::new(Some("Rip\0"), Some(" 7 "));
    let parts = vec![
        dump(b"\x00\xff\x00"),
        InMemoryPart::named("log").content_type("text/plain").file_name("rip.log").chunk("a\r").chunk("\n"),
        call_stack(b"main\x00\xfe"),
        xml(b"<a/>"),
    ];
    let (received, report, blobs) = stored_from(&caller, command, &mut InMemoryParts::new(parts)).await;
    assert_eq!((received.id, received.note), (report.id, None));
    assert_eq!((report.received, report.note.as_deref()), (at(5), None));
    assert_eq!(report.application_name.as_deref(), Some("Rip\u{FFFD}"), "decision R9");
    assert_eq!(report.os.as_deref(), Some(" 7 "), "as it was sent");
    assert_eq!((report.user.as_deref(), report.computer), (Some("Ann"), Some(numbered(9).into())));
    assert_eq!((report.serial_number.as_str(), report.application_version.as_str()), ("SN-1000", "9.0"));

    let contents: [(PartRole, &[u8]); 4] = [
        (PartRole::Dump, b"\x00\xff\x00"),
        (PartRole::Attachment, b"a\r\n"),
        (PartRole::CallStack, b"main\x00\xfe"),
        (PartRole::Xml, b"<a/>"),
    ];
    assert_eq!(report.parts.len(), contents.len());
    for (part, (role, content)) in report.parts.iter().zip(contents) {
        assert_eq!((part.role, part.size), (role, content.len() as u64));
        assert_eq!(part.checksum, Sha1Checksum::of(content));
        assert_eq!(blobs.content(&part.key).as_deref(), Some(content));
    }
    let log = &report.parts[1];
    assert_eq!((log.name.as_deref(), log.file_name.as_deref()), (Some("log"), Some("rip.log")));
    assert_eq!(log.content_type.as_deref(), Some("text/plain"));
}

#[tokio::test]
async fn no_crash_is_lost_over_its_headers_or_its_sender() {
    // Decision C3.
    let nobody = Caller { user: None, ..a_caller(ACME) };
    let body = &mut InMemoryParts::new(vec![InMemoryPart::nameless().content_type("text/plain").chunk("main")]);
    let (_, report, _) = stored_from(&nobody, AddCrashReport::default(), body).await;
    assert_eq!((report.application_name, report.os, report.user, report.computer), (None, None, None, None));
    assert_eq!(report.parts[0].name, None);
}

#[tokio::test]
async fn names_of_parts_are_kept_up_to_a_length() {
    // Decision R9: they are texts like any other.
    let named = InMemoryPart::named(&"ä".repeat(500)).file_name("a\0b").content_type("image/png").chunk("x");
    let (_, report, _) = stored(vec![call_stack(b"main"), named]).await;
    assert_eq!(report.parts[1].name, Some("ä".repeat(200)));
    assert_eq!(report.parts[1].file_name.as_deref(), Some("a\u{FFFD}b"));
}

#[tokio::test]
async fn a_report_without_a_call_stack_is_refused() {
    // Decisions C2, T12.
    assert_eq!(refused(vec![]).await, Reason::CallStackRequired);
    assert_eq!(refused(vec![dump(b"x"), xml(b"<a/>")]).await, Reason::CallStackRequired);
    assert_eq!(refused(vec![InMemoryPart::nameless().chunk("main")]).await, Reason::CallStackRequired);
}

#[tokio::test]
async fn a_blank_call_stack_counts_as_none() {
    // Decisions C2, R9.
    for blank in [&b""[..], b" \r\n\t", "\u{3000}".as_bytes(), b" \0\n\0", b"\xef\xbb\xbf"] {
        assert_eq!(refused(vec![call_stack(blank), dump(b"x")]).await, Reason::CallStackRequired, "{blank:?}");
    }
    let in_pieces = InMemoryPart::named("CallStack").chunk(" ").chunk("").chunk("\n");
    assert_eq!(refused(vec![in_pieces.clone()]).await, Reason::CallStackRequired);
    let (_, report, _) = stored(vec![in_pieces.chunk("m")]).await;
    assert_eq!(report.parts[0].size, 3);
}

#[tokio::test]
async fn a_body_that_can_not_be_read_on_is_answered_as_its_source_says() {
    // Decisions C2, R3.
    let cases = [
        (BodyError::Malformed("the body ends within a part".to_owned()), Reason::NotProperlyFormatted),
        (BodyError::TooLarge("the body is over 5 bytes".to_owned()), Reason::BodyTooLarge),
        (BodyError::TimedOut("no bytes for 30 s".to_owned()), Reason::BodyTimedOut),
    ];
    for (failure, answer) in cases {
        let within = vec![call_stack(b"main"), dump(b"x").failing(failure.clone())];
        assert_eq!(refused(within).await, answer);
        let mut at_the_end = InMemoryParts::new(vec![call_stack(b"main"), dump(b"x")]).failing(failure.clone());
        assert_eq!(reason(refused_body(&mut at_the_end).await), answer);
        let mut at_once = InMemoryParts::new(vec![]).failing(failure);
        assert_eq!(reason(refused_body(&mut at_once).await), answer);
    }
}
