//! The use case of crash reports: nothing of a report is lost over a bad or oversized rest of it.

use super::places::assign;
use super::{CrashPart, CrashReportRepository, NewCrashReport, Place};
use crate::blob::{BlobKey, BlobKind, BlobLedger, BlobStore, Upload, Uploaded};
use crate::body::{PartHead, PartSource};
use crate::caller::Caller;
use crate::clock::{Clock, IdSource};
use crate::detail::Detail;
use crate::error::{Failure, Outcome, Reason};
use crate::guid::CrashReportId;
use crate::limits::Limits;
use crate::text::{cut, storable};
use std::sync::Arc;

/// How often the limit a body may hold before the rest of it is not even read.
const READ_AT_MOST: u64 = 8;

/// Longest name, file name or content type of a part that is kept, in characters.
const MAX_NAME: usize = 200;

/// The use case of interface 4.8.
pub struct CrashReportService {
    reports: Arc<dyn CrashReportRepository>,
    blobs: Arc<dyn BlobStore>,
    ledger: Arc<dyn BlobLedger>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    limits: Limits,
}

/// The headers of a crash report as they were sent (decision C3).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrashHeaders {
    pub application_name: Option<String>,
    pub os: Option<String>,
}

/// A report that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Answered in `Crash-Report-Id` (decision C7).
    pub id: CrashReportId,
    /// What was dropped, for `X-Error-Detail` (decision C6).
    pub note: Option<Detail>,
}

/// A part that was taken in.
struct Part {
    head: PartHead,
    /// Only white space: no call stack (decision C2).
    blank: bool,
    /// Bytes that were sent, as far as they were read.
    size: u64,
    /// `None` if it was dropped for its size (decision C6).
    uploaded: Option<Uploaded>,
}

impl CrashReportService {
    /// Puts the use case over its ports.
    #[must_use]
    pub fn new(
        reports: Arc<dyn CrashReportRepository>,
        blobs: Arc<dyn BlobStore>,
        ledger: Arc<dyn BlobLedger>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        limits: Limits,
    ) -> Self {
        Self { reports, blobs, ledger, clock, ids, limits }
    }

    /// Takes a crash report in.
    pub async fn add(&self, caller: &Caller, headers: &CrashHeaders, source: &mut dyn PartSource) -> Outcome<Received> {
        let received = self.clock.now();
        let mut parts = Vec::new();
        let places = match self.take_in(source, &mut parts).await {
            Ok(()) => self.place(&parts),
            Err(failure) => Err(failure),
        };
        let places = match places {
            Ok(places) => places,
            Err(failure) => {
                self.remove(&parts).await;
                return Err(failure);
            }
        };
        let note = self.note(&parts, &places);
        let text = |value: &Option<String>| value.as_deref().map(storable);
        let report = NewCrashReport {
            id: CrashReportId::from(self.ids.guid()),
            received,
            application_name: text(&headers.application_name),
            os: text(&headers.os),
            user: (!caller.user_name().is_empty()).then(|| caller.user_name().to_owned()),
            computer: caller.computer.as_ref().map(|computer| computer.guid),
            serial_number: caller.serial_number.clone(),
            application_version: caller.application_version.clone(),
            parts: parts.into_iter().zip(places).filter_map(|(part, place)| part.stored_as(place)).collect(),
            note: note.clone(),
        };
        let id = report.id;
        // After a failure here nobody knows whether the step was committed: the blobs must stay.
        self.reports.add(caller.organization, report).await?;
        Ok(Received { id, note: note.as_deref().map(Detail::new) })
    }

    async fn take_in(&self, source: &mut dyn PartSource, parts: &mut Vec<Part>) -> Outcome<()> {
        let limit = self.limits.max_crash_report_size;
        let mut budget = limit;
        let mut readable = limit.saturating_mul(READ_AT_MOST);
        while let Some(head) = source.next_part().await? {
            let part = self.take_part(storable_head(head), source, budget, readable).await?;
            if part.uploaded.is_some() {
                budget -= part.size;
            }
            readable = readable.saturating_sub(part.size);
            parts.push(part);
            if readable == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Streams a part into the blob store; one that doesn't fit into `budget` is dropped and read on
    /// to its end, or up to `readable`.
    async fn take_part(
        &self,
        head: PartHead,
        source: &mut dyn PartSource,
        budget: u64,
        readable: u64,
    ) -> Outcome<Part> {
        let key = BlobKey::new(BlobKind::CrashReport, self.ids.guid());
        let mut upload = Some(Upload::begin(&*self.blobs, key).await?);
        let mut part = Part { head, blank: true, size: 0, uploaded: None };
        loop {
            let bytes = match source.chunk().await {
                Ok(Some(bytes)) if part.size < readable => bytes,
                Ok(Some(_)) => {
                    abort(upload.take()).await;
                    break;
                }
                Ok(None) => break,
                Err(error) => return Err(give_up(upload, error.into()).await),
            };
            part.size += bytes.len() as u64;
            part.blank &= bytes.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0);
            if part.size > budget {
                abort(upload.take()).await;
            }
            if let Some(open) = &mut upload
                && let Err(error) = open.write(bytes).await
            {
                return Err(give_up(upload, error.into()).await);
            }
        }
        if let Some(upload) = upload {
            part.uploaded = Some(upload.finish().await?);
        }
        Ok(part)
    }

    /// Decisions C1, C2 and C6.
    fn place(&self, parts: &[Part]) -> Outcome<Vec<Place>> {
        let places = assign(&parts.iter().map(|part| &part.head));
        let dropped = |place: Place| {
            let mut pairs = parts.iter().zip(&places);
            pairs.any(|(part, taken)| *taken == place && part.uploaded.is_none())
        };
        for place in [Place::CallStack, Place::Xml] {
            if dropped(place) {
                let limit = self.limits.max_crash_report_size;
                let detail = format!("{} takes the parts together over {limit} bytes", place.as_str());
                return Err(Reason::BodyTooLarge.because(detail));
            }
        }
        let call_stack = parts.iter().zip(&places).find(|(_, place)| **place == Place::CallStack);
        match call_stack {
            Some((part, _)) if !part.blank => Ok(places),
            Some(_) => Err(Reason::CallStackRequired.because("the call stack is blank")),
            None => {
                let detail = format!("none of the {} parts is a call stack by name or content type", parts.len());
                Err(Reason::CallStackRequired.because(detail))
            }
        }
    }

    /// What was dropped for its size (decision C6).
    fn note(&self, parts: &[Part], places: &[Place]) -> Option<String> {
        let limit = self.limits.max_crash_report_size;
        let dropped: Vec<String> = parts
            .iter()
            .zip(places)
            .filter(|(part, _)| part.uploaded.is_none())
            .map(|(part, place)| format!("{} of {} bytes", place.as_str(), part.size))
            .collect();
        (!dropped.is_empty())
            .then(|| format!("dropped, the parts together are limited to {limit} bytes: {}", dropped.join(", ")))
    }

    /// Removes what was uploaded; what can't be removed now is left to the sweep, or stays an orphan.
    async fn remove(&self, parts: &[Part]) {
        let mut left = Vec::new();
        for uploaded in parts.iter().filter_map(|part| part.uploaded.as_ref()) {
            if self.blobs.delete(&uploaded.key).await.is_err() {
                left.push(uploaded.key.clone());
            }
        }
        if !left.is_empty() {
            drop(self.ledger.discard(&left, self.clock.now()).await);
        }
    }
}

impl Part {
    fn stored_as(self, place: Place) -> Option<CrashPart> {
        let Uploaded { key, checksum, size } = self.uploaded?;
        let PartHead { name, file_name, content_type } = self.head;
        Some(CrashPart { place, name, file_name, content_type, key, size, checksum })
    }
}

fn storable_head(head: PartHead) -> PartHead {
    let text = |value: Option<String>| value.map(|value| cut(&storable(&value), MAX_NAME));
    PartHead { name: text(head.name), file_name: text(head.file_name), content_type: text(head.content_type) }
}

async fn give_up(upload: Option<Upload>, failure: Failure) -> Failure {
    abort(upload).await;
    failure
}

/// Whether the clean-up worked does not matter: what it leaves is swept later.
async fn abort(upload: Option<Upload>) {
    if let Some(upload) = upload {
        drop(upload.abort().await);
    }
}
