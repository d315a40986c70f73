//! Crash reports as operators see them (decisions I4, I6, P8).

use super::*;
use crate::blob::BlobKey;
use crate::crash_analysis::CrashAnalysis;
use crate::crash_report::{CrashReportRepository, NewCrashReport};
use crate::fleet::FleetRegistry;
use crate::guid::ComputerGuid;
use crate::log_entry::{LogRepository, NewLogEntry};
use crate::operator::Scope;
use crate::testing::{ACME, InMemoryBlobs, InMemoryStore, ZENITH, a_crash_report, a_fleet, a_log_entry, at, numbered};
use bytes::Bytes;

const STACK: &str = "Exception: EAccessViolation\r\n\
    00 ntdll!RtlRaiseException\r\n01 rip!Spooler::render\r\n02 rip!main\r\n";

struct Scene {
    store: InMemoryStore,
    blobs: InMemoryBlobs,
    reader: CrashReportReader,
    acme: OrganizationId,
    zenith: OrganizationId,
}

impl Scene {
    async fn new() -> Self {
        let (store, blobs) = (InMemoryStore::new(), InMemoryBlobs::default());
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let shared = Arc::new(store.clone());
        let organizations = Arc::new(OrganizationList::new(shared.clone()));
        let id = async |name| organizations.narrow(&Actor::command("root"), Some(name)).await.unwrap().unwrap();
        let (acme, zenith) = (id(ACME).await, id(ZENITH).await);
        let sources = ReportSources {
            archive: shared.clone(),
            analyses: shared.clone(),
            inspection: shared,
            blobs: Arc::new(blobs.clone()),
        };
        Self { store, blobs, reader: CrashReportReader::new(sources, organizations), acme, zenith }
    }

    async fn add(&self, report: NewCrashReport, content: &[u8]) -> CrashReportId {
        let id = report.id;
        self.write(&report.parts[0].key, content).await;
        CrashReportRepository::add(&self.store, self.acme, report).await.unwrap();
        id
    }

    async fn write(&self, key: &BlobKey, content: &[u8]) {
        let mut blob = self.blobs.create(key).await.unwrap();
        blob.write(Bytes::copy_from_slice(content)).await.unwrap();
        blob.finish().await.unwrap();
    }
}

fn root() -> Actor {
    Actor::command("root")
}

/// Decision I4.
#[tokio::test]
async fn a_report_is_shown_with_the_frames_that_make_its_signature() {
    let scene = Scene::new().await;
    let id = scene.add(a_crash_report(1), STACK.as_bytes()).await;
    let analysis =
        CrashAnalysis { report: id, algorithm: 1, signature: Ok("a".to_owned()), dump: None, analyzed: at(1) };
    CrashAnalysisRepository::record(&scene.store, analysis.clone()).await.unwrap();
    let found = scene.reader.find(&root(), id).await.unwrap();
    assert_eq!((found.organization.as_str(), found.analyzed.as_ref().map(|it| &it.analysis)), (ACME, Some(&analysis)));
    let stack = found.call_stack.unwrap();
    assert_eq!(stack.text, PartText { text: STACK.to_owned(), is_cut: false });
    assert!(stack.signature.text.contains("Spooler::render"), "{:?}", stack.signature);
}

/// Decision P8.
#[tokio::test]
async fn a_report_and_its_parts_are_found_within_the_scope_of_the_operator() {
    let scene = Scene::new().await;
    let id = scene.add(a_crash_report(1), b"text").await;
    let foreign = Actor { scope: Scope::Organization(scene.zenith), ..root() };
    assert!(matches!(scene.reader.find(&foreign, id).await, Err(OperatorError::NotFound(_))));
    assert!(matches!(scene.reader.part(&foreign, id, 1).await, Err(OperatorError::NotFound(_))));
    let asked = || PageRequest { after: None, limit: 9 };
    let all = ReportFilter::default();
    assert!(scene.reader.list(&foreign, None, &all, asked()).await.unwrap().items.is_empty());
    assert!(matches!(scene.reader.list(&foreign, Some(ACME), &all, asked()).await, Err(OperatorError::NotFound(_))));
    let listed = scene.reader.list(&root(), Some(ACME), &all, asked()).await.unwrap().items;
    assert_eq!((listed.len(), listed[0].organization.as_str()), (1, ACME));
    let (part, content) = scene.reader.part(&root(), id, 1).await.unwrap();
    assert_eq!(part.role, PartRole::CallStack);
    assert_eq!(content.try_collect::<Vec<_>>().await.unwrap().concat(), b"text");
    for number in [0, 2, usize::MAX] {
        assert!(matches!(scene.reader.part(&root(), id, number).await, Err(OperatorError::NotFound(_))), "{number}");
    }
}

#[tokio::test]
async fn a_text_is_read_up_to_its_bound_and_may_be_gone() {
    let scene = Scene::new().await;
    let id = scene.add(a_crash_report(1), &vec![b'a'; MAX_TEXT + 1]).await;
    let found = scene.reader.find(&root(), id).await.unwrap();
    let text = found.call_stack.unwrap().text;
    assert!(text.is_cut && text.text.len() == MAX_TEXT);
    assert_eq!(scene.reader.text(&found.report, PartRole::Xml).await.unwrap(), None);
    scene.blobs.delete(&found.report.parts[0].key).await.unwrap();
    assert_eq!(scene.reader.find(&root(), id).await.unwrap().call_stack, None);
}

#[tokio::test]
async fn the_log_of_the_computer_is_that_of_the_ten_minutes_before() {
    let scene = Scene::new().await;
    let computer = ComputerGuid::from(numbered(5));
    let report = NewCrashReport { received: at(1000), computer: Some(computer), ..a_crash_report(1) };
    let id = scene.add(report, b"text").await;
    for (seconds, computer_guid, description) in [
        (399, computer, "too early"),
        (400, computer, "first"),
        (1000, computer, "last"),
        (1001, computer, "too late"),
        (500, ComputerGuid::from(numbered(6)), "other"),
    ] {
        let entry = NewLogEntry { received: at(seconds), computer_guid, ..a_log_entry(description) };
        LogRepository::add(&scene.store, scene.acme, entry).await.unwrap();
    }
    let found = scene.reader.find(&root(), id).await.unwrap();
    let log = scene.reader.log_before(&found).await.unwrap();
    let texts: Vec<_> = log.entries.iter().map(|row| row.entry.description.as_str()).collect();
    assert_eq!((texts, log.is_cut), (vec!["last", "first"], false));
    for _ in 0..MAX_LOG_ENTRIES {
        let entry = NewLogEntry { received: at(900), computer_guid: computer, ..a_log_entry(&"ä".repeat(5000)) };
        LogRepository::add(&scene.store, scene.acme, entry).await.unwrap();
    }
    let log = scene.reader.log_before(&found).await.unwrap();
    assert!(log.is_cut && log.entries.len() == MAX_LOG_ENTRIES);
    assert_eq!(log.entries[1].entry.description.chars().count(), MAX_DESCRIPTION);
}
