//! The use case of crash reports. A dump that is too large never costs the rest of a report.

#[cfg(test)]
mod tests;

use super::blank::BlankCheck;
use super::roles::{assign, is_required, may_be_required};
use super::{AddCrashReport, CrashPart, CrashReportRepository, NewCrashReport, PartRole};
use crate::blob::{BlobKey, BlobKind, Upload, Uploaded, Uploads};
use crate::body::{BodyError, MAX_PARTS, PartHead, PartSource};
use crate::caller::Caller;
use crate::detail::Detail;
use crate::error::{Failure, Outcome, Reason};
use crate::guid::CrashReportId;
use crate::limits::Limits;
use crate::text::{cut, storable};
use std::sync::Arc;

/// Bytes of a body that are read however low the limit is, so that a call stack after a large dump is found (decision
/// C6) and an endless body still ends.
const MIN_READABLE: u64 = 4 << 30;

/// A body is read up to this many times the limit, if that is more than [`MIN_READABLE`].
const READABLE_FACTOR: u64 = 4;

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
    /// Why the rest of the part, and of the body, wasn't read.
    cut_off: Option<String>,
}

impl CrashReportService {
    #[must_use]
    pub fn new(reports: Arc<dyn CrashReportRepository>, uploads: Uploads, limits: Limits) -> Self {
        let readable = limits.max_crash_report_size.saturating_mul(READABLE_FACTOR).max(MIN_READABLE);
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
        let read = self.read_parts(source, &mut parts).await;
        let accepted = read.and_then(|cut_off| Ok((self.assign_roles(&parts, cut_off.as_deref())?, cut_off)));
        let excess = match &accepted {
            Ok((roles, _)) => self.take_excess(&mut parts, roles),
            Err(_) => parts.iter_mut().filter_map(|part| part.uploaded.take()).collect(),
        };
        let excess: Vec<BlobKey> = excess.into_iter().map(|uploaded| uploaded.key).collect();
        self.uploads.remove_after(&accepted, &excess).await;
        let (roles, cut_off) = accepted?;
        let note = self.note(&parts, &roles, cut_off);
        let report = NewCrashReport {
            id: CrashReportId::from(self.uploads.ids.guid()),
            received,
            application_name: command.application_name,
            os: command.os,
            user: (!caller.user_name().is_empty()).then(|| caller.user_name().to_owned()),
            computer: caller.computer.as_ref().map(|computer| computer.guid),
            serial_number: caller.serial_number.clone(),
            application_version: caller.application_version.clone(),
            parts: parts.into_iter().zip(roles).filter_map(|(part, role)| part.stored_as(role)).collect(),
            note: note.clone(),
        };
        let id = report.id;
        let keys: Vec<BlobKey> = report.parts.iter().map(|part| part.key.clone()).collect();
        let stored = self.reports.add(caller.organization, report).await;
        self.uploads.settle(stored, &keys).await?;
        Ok(AcceptedReport { id, note: note.as_deref().map(Detail::new) })
    }

    /// Reads the body. Returns why the rest of it wasn't read; `None` if it was read to its end.
    async fn read_parts(&self, source: &mut dyn PartSource, parts: &mut Vec<Part>) -> Outcome<Option<String>> {
        let limit = self.limits.max_crash_report_size;
        let mut uploaded: u64 = 0;
        let mut readable = self.readable;
        loop {
            let head = match source.next_part().await {
                Ok(Some(head)) => storable_head(head),
                Ok(None) => return Ok(None),
                Err(BodyError::DecodedTooLarge(detail)) => return Ok(Some(detail)),
                Err(error) => return Err(error.into()),
            };
            if parts.len() == MAX_PARTS {
                return Err(Reason::BodyTooLarge.because(format!("the body has more than {MAX_PARTS} parts")));
            }
            // A dump that came first must not take the room of the call stack (decision C6).
            let budget = if may_be_required(&head) { limit } else { limit.saturating_sub(uploaded) };
            let part = self.read_part(head, source, budget, readable).await?;
            if part.uploaded.is_some() {
                uploaded = uploaded.saturating_add(part.size);
            }
            readable = readable.saturating_sub(part.size);
            let cut_off = part.cut_off.clone();
            parts.push(part);
            if cut_off.is_some() {
                return Ok(cut_off);
            }
        }
    }

    /// Streams a part into the blob store. A part over `budget` is dropped, and read on to its end or up to `readable`.
    async fn read_part(
        &self,
        head: PartHead,
        source: &mut dyn PartSource,
        budget: u64,
        readable: u64,
    ) -> Outcome<Part> {
        let mut upload = Some(self.uploads.begin(BlobKind::CrashReport).await?);
        let mut part = Part { head, blank: BlankCheck::new(), size: 0, uploaded: None, cut_off: None };
        while part.cut_off.is_none() {
            let bytes = match source.chunk().await {
                Ok(Some(bytes)) if part.size < readable => bytes,
                Ok(Some(_)) => {
                    part.cut_off = Some(format!("the body is over {} bytes", self.readable));
                    break;
                }
                Ok(None) => break,
                Err(BodyError::DecodedTooLarge(detail)) => {
                    part.cut_off = Some(detail);
                    break;
                }
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
        if part.cut_off.is_some() {
            abort(upload.take()).await;
        }
        if let Some(upload) = upload {
            part.uploaded = Some(self.uploads.finish(upload).await?);
        }
        Ok(part)
    }

    /// Assigns a role to each part (decisions C1, C2, C6). `cut_off` says why the rest of the body wasn't read.
    fn assign_roles(&self, parts: &[Part], cut_off: Option<&str>) -> Outcome<Vec<PartRole>> {
        let limit = self.limits.max_crash_report_size;
        let roles = assign(&parts.iter().map(|part| &part.head));
        let mut size: u64 = 0;
        for (part, role) in parts.iter().zip(&roles).filter(|(_, role)| is_required(**role)) {
            size = size.saturating_add(part.size);
            if part.uploaded.is_none() || size > limit {
                let detail = format!("{} takes call stack and Xml together over {limit} bytes", role.as_str());
                return Err(Reason::BodyTooLarge.because(detail));
            }
        }
        let call_stack = parts.iter().zip(&roles).find(|(_, role)| **role == PartRole::CallStack);
        match (call_stack, cut_off) {
            (Some((part, _)), _) if !part.blank.is_blank() => Ok(roles),
            (Some(_), _) => Err(Reason::CallStackRequired.because("the call stack is blank")),
            (None, Some(cut_off)) => {
                Err(Reason::BodyTooLarge.because(format!("no call stack was read before the limit: {cut_off}")))
            }
            (None, None) => {
                let detail = format!("none of the {} parts is a call stack by name or content type", parts.len());
                Err(Reason::CallStackRequired.because(detail))
            }
        }
    }

    /// Takes out the dumps and attachments that don't fit into the limit with call stack and Xml (decision C6).
    fn take_excess(&self, parts: &mut [Part], roles: &[PartRole]) -> Vec<Uploaded> {
        let required = parts.iter().zip(roles).filter(|(_, role)| is_required(**role));
        let mut size: u64 = required.map(|(part, _)| part.size).sum();
        let mut excess = Vec::new();
        for (part, _) in parts.iter_mut().zip(roles).filter(|(_, role)| !is_required(**role)) {
            let uploaded = part.uploaded.take_if(|uploaded| size + uploaded.size > self.limits.max_crash_report_size);
            match uploaded {
                Some(uploaded) => excess.push(uploaded),
                None => size += part.uploaded.as_ref().map_or(0, |uploaded| uploaded.size),
            }
        }
        excess
    }

    /// What was dropped for its size, and why the rest wasn't read (decision C6).
    fn note(&self, parts: &[Part], roles: &[PartRole], cut_off: Option<String>) -> Option<String> {
        let limit = self.limits.max_crash_report_size;
        let dropped = parts.iter().zip(roles).filter(|(part, _)| part.uploaded.is_none());
        let dropped: Vec<String> = dropped
            .map(|(part, role)| {
                let at_least = if part.cut_off.is_some() { "at least " } else { "" };
                format!("{} of {at_least}{} bytes", role.as_str(), part.size)
            })
            .collect();
        let dropped = (!dropped.is_empty())
            .then(|| format!("dropped, the parts together are limited to {limit} bytes: {}", dropped.join(", ")));
        let rest = cut_off.map(|cut_off| format!("what follows was not read: {cut_off}"));
        let notes: Vec<String> = dropped.into_iter().chain(rest).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

impl Part {
    fn stored_as(self, role: PartRole) -> Option<CrashPart> {
        let Uploaded { key, checksum, size } = self.uploaded?;
        let PartHead { name, file_name, content_type } = self.head;
        Some(CrashPart { role, name, file_name, content_type, key, size, checksum })
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
