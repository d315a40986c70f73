//! The analysis of reports over a store in memory.

use super::*;
use crate::blob::{BlobKey, BlobKind};
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::crash_group::{CrashGroupRepository, GroupFilter, GroupSort};
use crate::crash_report::{CrashReportRepository, NewCrashReport};
use crate::minidump::{MockDumpReader, Place};
use crate::testing::{FixedClock, InMemoryBlobs, InMemoryStore, a_crash_report, numbered};
use bytes::Bytes;

const ACME: OrganizationId = OrganizationId(1);

struct Scene {
    store: InMemoryStore,
    blobs: Arc<InMemoryBlobs>,
    clock: Arc<FixedClock>,
}

impl Scene {
    fn new() -> Self {
        let clock = FixedClock::stepping(crate::testing::at(0), Duration::from_secs(1));
        Self { store: InMemoryStore::new(), blobs: Arc::new(InMemoryBlobs::default()), clock: Arc::new(clock) }
    }

    fn service(&self, dumps: MockDumpReader) -> CrashAnalysisService {
        let store = Arc::new(self.store.clone());
        CrashAnalysisService::new(store, self.blobs.clone(), Arc::new(dumps), self.clock.clone())
    }

    /// Stores a report of these parts.
    async fn report(&self, number: u128, parts: &[(PartRole, &[u8])]) -> NewCrashReport {
        let mut stored = Vec::new();
        for (index, (place, content)) in (0..).zip(parts) {
            let key = BlobKey::new(BlobKind::CrashReport, numbered(number * 100 + index));
            let mut writer = self.blobs.create(&key).await.unwrap();
            writer.write(Bytes::copy_from_slice(content)).await.unwrap();
            let checksum: Sha1Checksum = writer.finish().await.unwrap();
            let part = a_crash_report(number).parts.remove(0);
            stored.push(CrashPart { role: *place, key, size: content.len() as u64, checksum, ..part });
        }
        let report = NewCrashReport { parts: stored, ..a_crash_report(number) };
        self.store.add(ACME, report.clone()).await.unwrap();
        report
    }

    async fn signatures(&self) -> Vec<(String, u64)> {
        let groups = CrashGroupRepository::page(
            &self.store,
            Some(ACME),
            &GroupFilter::default(),
            GroupSort::LastSeen,
            None,
            100,
        )
        .await
        .unwrap();
        groups.into_iter().map(|found| (found.group.signature, found.group.reports)).collect()
    }
}

fn reader() -> MockDumpReader {
    let mut reader = MockDumpReader::new();
    reader.expect_version().return_const("reader 1".to_owned());
    reader
}

const STACK: &[u8] = b"Signal\n#0  abort ()\n#1  0x01 in Page::draw (this=0x1) at page.cpp:1\n";

/// Decision I7.
#[tokio::test]
async fn reports_are_grouped_by_their_call_stacks() {
    let scene = Scene::new();
    scene.report(1, &[(PartRole::CallStack, STACK), (PartRole::Dump, b"no minidump")]).await;
    scene.report(2, &[(PartRole::Attachment, b"x"), (PartRole::CallStack, STACK)]).await;
    scene.report(3, &[(PartRole::CallStack, b"other words")]).await;
    let service = scene.service(reader());
    let progress = service.round().await.unwrap();
    assert_eq!((progress.analyzed, progress.failed, progress.postponed), (3, 0, 0));
    let mut signatures = scene.signatures().await;
    signatures.sort();
    assert_eq!(signatures, [("Page::draw".to_owned(), 2), ("other words".to_owned(), 1)]);
    assert_eq!(service.round().await.unwrap(), Progress::default());
}

/// Decision I7: a report that can't be analyzed is shown with the reason.
#[tokio::test]
async fn a_missing_content_is_a_reason() {
    let scene = Scene::new();
    let report = scene.report(1, &[(PartRole::CallStack, STACK)]).await;
    scene.blobs.delete(&report.parts[0].key).await.unwrap();
    assert_eq!(scene.service(reader()).round().await.unwrap().failed, 1);
    let found = CrashAnalysisRepository::find(&scene.store, &[report.id]).await.unwrap().remove(0);
    assert_eq!(found.analysis.signature, Err("the content of the part CallStack is missing".to_owned()));
    assert_eq!(found.group, None);
}

/// Decision I6: only where the text has no frame.
#[tokio::test]
async fn the_place_in_a_dump_signs_a_text_without_frames() {
    let scene = Scene::new();
    scene.report(1, &[(PartRole::CallStack, b"see the dump"), (PartRole::Dump, b"MDMPxxxx")]).await;
    let report = scene.report(2, &[(PartRole::CallStack, STACK), (PartRole::Dump, b"MDMPxxxx")]).await;
    let mut dumps = reader();
    let place = Place { module: Some("Rip.exe".to_owned()), offset: Some(0x1a2b), address: "0x1".to_owned() };
    let facts = DumpFacts { exception: Some("SIGSEGV".to_owned()), place: Some(place), ..DumpFacts::default() };
    let read = facts.clone();
    dumps.expect_read().times(2).returning(move |dump| {
        assert_eq!(dump.size, 8);
        Ok(read.clone())
    });
    scene.service(dumps).round().await.unwrap();
    let mut signatures = scene.signatures().await;
    signatures.sort();
    assert_eq!(signatures, [("Page::draw".to_owned(), 1), ("SIGSEGV | rip@0x1a2b".to_owned(), 1)]);
    let found = CrashAnalysisRepository::find(&scene.store, &[report.id]).await.unwrap().remove(0);
    assert_eq!(found.analysis.dump, Some(DumpAnalysis { reader: "reader 1".to_owned(), facts: Ok(facts) }));
}

#[tokio::test]
async fn a_dump_that_cannot_be_read_costs_no_signature() {
    let scene = Scene::new();
    let report = scene.report(1, &[(PartRole::CallStack, STACK), (PartRole::Dump, b"MDMPxxxx")]).await;
    let mut dumps = reader();
    dumps.expect_read().once().returning(|_| Err(UnreadDump::Unreadable("it is cut off".to_owned())));
    scene.service(dumps).round().await.unwrap();
    assert_eq!(scene.signatures().await, [("Page::draw".to_owned(), 1)]);
    let found = CrashAnalysisRepository::find(&scene.store, &[report.id]).await.unwrap().remove(0);
    assert_eq!(found.analysis.dump.unwrap().facts, Err("it is cut off".to_owned()));
}

/// A store that doesn't answer postpones a report, a few times only.
#[tokio::test]
async fn a_temporary_failure_is_retried_and_then_stored_as_the_reason() {
    let scene = Scene::new();
    let report = scene.report(1, &[(PartRole::CallStack, STACK), (PartRole::Dump, b"MDMPxxxx")]).await;
    let mut dumps = reader();
    dumps.expect_read().times(5).returning(|_| Err(UnreadDump::Unavailable("no process".to_owned())));
    let service = scene.service(dumps);
    for _ in 1..MAX_ATTEMPTS {
        assert_eq!(service.round().await.unwrap().postponed, 1);
        assert_eq!(service.round().await.unwrap(), Progress::default(), "it is taken for a while");
        scene.clock.advance(LEASE);
    }
    assert_eq!(service.round().await.unwrap().analyzed, 1);
    let found = CrashAnalysisRepository::find(&scene.store, &[report.id]).await.unwrap().remove(0);
    assert_eq!(found.analysis.dump.unwrap().facts, Err("no process".to_owned()));
}

/// Decision I5: reports with older rules are analyzed again on request only.
#[tokio::test]
async fn reports_with_older_rules_are_analyzed_again_on_request() {
    let scene = Scene::new();
    scene.report(1, &[(PartRole::CallStack, STACK)]).await;
    let service = scene.service(reader());
    service.round().await.unwrap();
    assert_eq!(service.requeue(Requeue::Older { than: ALGORITHM }).await.unwrap(), 0);
    assert_eq!(service.requeue(Requeue::Older { than: ALGORITHM + 1 }).await.unwrap(), 1);
    assert_eq!(service.round().await.unwrap().analyzed, 1);
    assert_eq!(service.requeue(Requeue::All).await.unwrap(), 1);
    assert_eq!(service.round().await.unwrap().analyzed, 1);
    assert_eq!(scene.signatures().await, [("Page::draw".to_owned(), 1)]);
}
