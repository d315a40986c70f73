//! A multipart body that adds a crash report.

use crate::bench::{ACME, Bench, LIMITS, assert_storable, cuts, receive, refusal};
use crate::split_first;
use bytes::Bytes;
use domain::checksum::Sha1Checksum;
use domain::crash_report::{AddCrashReport, CrashReportRepository, CrashReportService, PartRole, StoredCrashReport};
use domain::error::Reason;
use domain::testing::a_caller;
use futures_executor::block_on;

/// What is stored after a body, and what is answered.
type Left = (Result<Option<String>, Reason>, Option<StoredCrashReport>, Vec<Bytes>);

/// The first byte says where the body is cut. Whatever it holds, a report is stored with its contents, or nothing is.
pub fn crash_report(input: &[u8]) {
    let (size, body) = split_first(input);
    let [whole, others @ ..] = cuts(body, size);
    let left = add(whole);
    check(&left);
    for pieces in others {
        let cut = add(pieces);
        assert_eq!(cut, left, "the pieces in which a body arrives decide nothing");
    }
}

fn add(pieces: Vec<Bytes>) -> Left {
    let (bench, caller) = (Bench::new(), a_caller(ACME));
    let service = CrashReportService::new(bench.store.clone(), bench.uploads(), LIMITS);
    let command = AddCrashReport::new(Some("a\0b"), None);
    let outcome = receive(pieces, async |mut parts| service.add(&caller, command, &mut *parts).await);
    let refused = refusal(&outcome);
    let Ok(received) = outcome else {
        return (Err(refused.expect("it failed")), None, bench.contents());
    };
    let report = block_on(CrashReportRepository::find(&*bench.store, caller.organization, received.id));
    let report = report.expect("a store in memory works");
    (Ok(received.note.map(|note| note.to_string())), report, bench.contents())
}

fn check((outcome, report, contents): &Left) {
    let Ok(note) = outcome else {
        assert!(contents.is_empty(), "nothing is kept of what was refused");
        return;
    };
    let report = report.as_ref().expect("what was answered 200 is there");
    assert_eq!(note.is_some(), report.note.is_some(), "the answer names what was dropped");
    assert_eq!(contents.len(), report.parts.len(), "each part has its content, and no other is left behind");
    let (mut sizes, mut sums): (Vec<_>, Vec<_>) =
        report.parts.iter().map(|part| (part.size, part.checksum.to_string())).unzip();
    let (mut kept, mut found): (Vec<_>, Vec<_>) =
        contents.iter().map(|content| (content.len() as u64, Sha1Checksum::of(content).to_string())).unzip();
    assert!(sizes.iter().sum::<u64>() <= LIMITS.max_crash_report_size, "{sizes:?}");
    for list in [&mut sizes, &mut kept] {
        list.sort_unstable();
    }
    for list in [&mut sums, &mut found] {
        list.sort_unstable();
    }
    assert_eq!((sizes, sums), (kept, found));
    for role in [PartRole::CallStack, PartRole::Xml, PartRole::Dump] {
        let taken = report.parts.iter().filter(|part| part.role == role).count();
        assert!(taken <= 1, "there are {taken} of {role:?}");
        assert!(role != PartRole::CallStack || taken == 1, "a report has a call stack");
    }
    for part in &report.parts {
        let texts = [&part.name, &part.file_name, &part.content_type];
        let texts = texts.into_iter().flatten().map(String::as_str);
        assert_storable(texts.clone());
        assert!(texts.clone().all(|text| text.chars().count() <= 200), "a name is too long");
    }
    assert_storable(report.application_name.as_deref());
}
