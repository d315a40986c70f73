//! The use case of crash reports. A dump that is too large never costs the rest of a report.

#[cfg(test)]
mod tests;

use super::blank::BlankCheck;
use super::places::{assign, is_required, may_be_required};
use super::{AddCrashReport, CrashPart, CrashReportRepository, NewCrashReport, PartRole};
use crate::blob::{BlobKey, BlobKind, Upload, Uploaded, Uploads};
use crate::body::{PartHead, PartSource};
use crate::caller::Caller;
use crate::detail::Detail;
use crate::error::{Failure, Outcome, Reason};
use crate::guid::CrashReportId;
use crate::limits::Limits;
use crate::text::{cut, storable};
use std::sync::Arc;

/// Bytes of a body that are read however low the limit is, so that a call stack after a large dump is found (decision
/// C6) and an endless body still ends.
const READ_AT_LEAST: u64 = 4 << 30;

/// A body is read up to this many times the limit, if that is more than [`READ_AT_LEAST`].
const TIMES_THE_LIMIT: u64 = 4;

/// Most parts of a report: each one takes memory and a blob, however small it is.
const MAX_PARTS: usize = 1000;

/// Longest name, file name or content type of a part that is kept, in characters.
const MAX_NAME: usize = 200;

/// The use case of interface 4.8.
pub struct CrashReportService {
    reports: Arc<dyn CrashReportRepository>,
    uploads: Uploads,
    limits: Limits,
    /// Bytes of a body that are read. The rest is ignored.
    readable: u64,
}

/// A report that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedReport {
    /// Answered in `Crash-Report-Id` (decision C7).
    pub id: CrashReportId,
    /// What was dropped, for `X-Error-Detail` (decision C6).
    pub note: Option<Detail>,
}

/// A part that was read.
struct Part {
    head: PartHead,
    /// Only white space is no call stack (decision C2).
    blank: BlankCheck,
    /// Bytes that were sent, as far as they were read.
    size: u64,
    /// `None` if it was dropped for its size (decision C6).
    uploaded: Option<Uploaded>,
}

impl CrashReportService {
    #[must_use]
    pub fn new(reports: Arc<dyn CrashReportRepository>, uploads: Uploads, limits: Limits) -> Self {
        let readable = limits.max_crash_report_size.saturating_mul(TIMES_THE_LIMIT).max(READ_AT_LEAST);
        Self { reports, uploads, limits, readable }
    }

    /// Adds a crash report (interface 4.8).
    pub async fn add(
        &self,
        caller: &Caller,
        command: AddCrashReport,
        source: &mut dyn PartSource,
    ) -> Outcome<AcceptedReport> {
        let received = self.uploads.clock.now();
        let mut parts = Vec::new();
        let arrived = match self.take_in(source, &mut parts).await {
            Ok(whole) => self.place(&parts, whole).map(|places| (places, whole)),
            Err(failure) => Err(failure),
        };
        let excess = match &arrived {
            Ok((places, _)) => self.take_excess(&mut parts, places),
            Err(_) => parts.iter_mut().filter_map(|part| part.uploaded.take()).collect(),
        };
        let excess: Vec<BlobKey> = excess.into_iter().map(|uploaded| uploaded.key).collect();
        self.uploads.remove_after(&arrived, &excess).await;
        let (places, whole) = arrived?;
        let note = self.note(&parts, &places, whole);
        let report = NewCrashReport {
            id: CrashReportId::from(self.uploads.ids.guid()),
            received,
            application_name: command.application_name,
            os: command.os,
            user: (!caller.user_name().is_empty()).then(|| caller.user_name().to_owned()),
            computer: caller.computer.as_ref().map(|computer| computer.guid),
            serial_number: caller.serial_number.clone(),
            application_version: caller.application_version.clone(),
            parts: parts.into_iter().zip(places).filter_map(|(part, place)| part.stored_as(place)).collect(),
            note: note.clone(),
        };
        let id = report.id;
        let keys: Vec<BlobKey> = report.parts.iter().map(|part| part.key.clone()).collect();
        let stored = self.reports.add(caller.organization, report).await;
        self.uploads.settle(stored, &keys).await?;
        Ok(AcceptedReport { id, note: note.as_deref().map(Detail::new) })
    }

    /// Reads the body; `false` if the rest of it was not read.
    async fn take_in(&self, source: &mut dyn PartSource, parts: &mut Vec<Part>) -> Outcome<bool> {
        let limit = self.limits.max_crash_report_size;
        let mut uploaded: u64 = 0;
        let mut readable = self.readable;
        while let Some(head) = source.next_part().await? {
            if parts.len() == MAX_PARTS {
                return Err(Reason::BodyTooLarge.because(format!("there are more than {MAX_PARTS} parts")));
            }
            let head = storable_head(head);
            // A dump that came first must not take the room of the call stack (decision C6).
            let budget = if may_be_required(&head) { limit } else { limit.saturating_sub(uploaded) };
            let part = self.take_part(head, source, budget, readable).await?;
            if part.uploaded.is_some() {
                uploaded = uploaded.saturating_add(part.size);
            }
            readable = readable.saturating_sub(part.size);
            parts.push(part);
            if readable == 0 {
                return Ok(false);
            }
        }
        Ok(true)
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
        let mut upload = Some(self.uploads.begin(BlobKind::CrashReport).await?);
        let mut part = Part { head, blank: BlankCheck::new(), size: 0, uploaded: None };
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
            part.blank.update(&bytes);
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
            part.uploaded = Some(self.uploads.finish(upload).await?);
        }
        Ok(part)
    }

    /// Decisions C1, C2 and C6.
    fn place(&self, parts: &[Part], whole: bool) -> Outcome<Vec<PartRole>> {
        let limit = self.limits.max_crash_report_size;
        let places = assign(&parts.iter().map(|part| &part.head));
        let mut size: u64 = 0;
        for (part, place) in parts.iter().zip(&places).filter(|(_, place)| is_required(**place)) {
            size = size.saturating_add(part.size);
            if part.uploaded.is_none() || size > limit {
                let detail = format!("{} takes call stack and Xml together over {limit} bytes", place.as_str());
                return Err(Reason::BodyTooLarge.because(detail));
            }
        }
        let call_stack = parts.iter().zip(&places).find(|(_, place)| **place == PartRole::CallStack);
        match call_stack {
            Some((part, _)) if !part.blank.is_blank() => Ok(places),
            Some(_) => Err(Reason::CallStackRequired.because("the call stack is blank")),
            None if whole => {
                let detail = format!("none of the {} parts is a call stack by name or content type", parts.len());
                Err(Reason::CallStackRequired.because(detail))
            }
            None => {
                let detail = format!("there is no call stack in the first {} bytes", self.readable);
                Err(Reason::BodyTooLarge.because(detail))
            }
        }
    }

    /// Takes out the dumps and attachments that don't fit into the limit with call stack and Xml (decision C6).
    fn take_excess(&self, parts: &mut [Part], places: &[PartRole]) -> Vec<Uploaded> {
        let required = parts.iter().zip(places).filter(|(_, place)| is_required(**place));
        let mut size: u64 = required.map(|(part, _)| part.size).sum();
        let mut excess = Vec::new();
        for (part, _) in parts.iter_mut().zip(places).filter(|(_, place)| !is_required(**place)) {
            let uploaded = part.uploaded.take_if(|uploaded| size + uploaded.size > self.limits.max_crash_report_size);
            match uploaded {
                Some(uploaded) => excess.push(uploaded),
                None => size += part.uploaded.as_ref().map_or(0, |uploaded| uploaded.size),
            }
        }
        excess
    }

    /// What was dropped for its size (decision C6).
    fn note(&self, parts: &[Part], places: &[PartRole], whole: bool) -> Option<String> {
        let limit = self.limits.max_crash_report_size;
        let dropped: Vec<String> = parts
            .iter()
            .zip(places)
            .enumerate()
            .filter(|(_, (part, _))| part.uploaded.is_none())
            .map(|(position, (part, place))| {
                // The size of the last part is unknown if the rest of the body wasn't read.
                let at_least = if whole || position + 1 < parts.len() { "" } else { "at least " };
                format!("{} of {at_least}{} bytes", place.as_str(), part.size)
            })
            .collect();
        let rest = if whole { "" } else { "; what follows was not read" };
        (!dropped.is_empty())
            .then(|| format!("dropped, the parts together are limited to {limit} bytes: {}{rest}", dropped.join(", ")))
    }
}

impl Part {
    fn stored_as(self, place: PartRole) -> Option<CrashPart> {
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

/// Aborts an upload. A failure is ignored: the sweep removes what is left.
async fn abort(upload: Option<Upload>) {
    if let Some(upload) = upload {
        drop(upload.abort().await);
    }
}
