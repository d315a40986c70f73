//! Analyzes the crash reports in the queue.

#[cfg(test)]
mod tests;

use super::{CrashAnalysis, CrashAnalysisRepository, DumpAnalysis, PendingReport, Recorded, Requeue};
use crate::blob::{BlobStore, ByteStream};
use crate::call_stack::{MAX_TEXT, decode};
use crate::clock::Clock;
use crate::crash_report::{CrashPart, PartRole, StoredCrashReport};
use crate::crash_signature::{ALGORITHM, Signature, SignedFrame, sign_text};
use crate::error::{StoreError, error_chain};
use crate::minidump::{self, DumpFacts, DumpReader, DumpSource, UnreadDump};
use futures_util::TryStreamExt;
use std::sync::Arc;
use std::time::Duration;

/// Reports of one round. The minidump of each may take 10 seconds.
const BATCH: u64 = 4;

/// After this time another process takes the report, since the first one has probably ended.
const LEASE: Duration = Duration::from_mins(10);

/// After so many attempts a report counts as failed: its analysis may be what ends the process each time.
const MAX_ATTEMPTS: u32 = 5;

/// Reports that one call of [`CrashAnalysisRepository::requeue`] looks at.
const REQUEUE_BATCH: u64 = 500;

/// Analyzes reports in the background (decision I7). It holds one call stack in memory at a time, and no database
/// connection while it reads from the blob store.
pub struct CrashAnalysisService {
    analyses: Arc<dyn CrashAnalysisRepository>,
    blobs: Arc<dyn BlobStore>,
    dumps: Arc<dyn DumpReader>,
    clock: Arc<dyn Clock>,
}

/// Counts of one round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Reports that got a signature.
    pub analyzed: u64,
    /// Reports that can't be analyzed; the reason is stored.
    pub failed: u64,
    /// Reports that are retried later, since a store or the reader of minidumps was unavailable.
    pub postponed: u64,
    /// Whether the queue may hold more reports.
    pub has_more: bool,
}

/// The reason why the content of a part can't be read.
enum Unread {
    /// The content doesn't exist.
    Gone(String),
    /// The store failed; a retry may succeed.
    Unavailable(String),
}

impl CrashAnalysisService {
    #[must_use]
    pub fn new(
        analyses: Arc<dyn CrashAnalysisRepository>,
        blobs: Arc<dyn BlobStore>,
        dumps: Arc<dyn DumpReader>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { analyses, blobs, dumps, clock }
    }

    /// Takes a batch of reports from the queue and analyzes them one after the other.
    pub async fn round(&self) -> Result<Progress, StoreError> {
        let now = self.clock.now();
        let taken = self.analyses.take(now, now.plus(LEASE), BATCH).await?;
        let mut progress = Progress { has_more: taken.len() as u64 == BATCH, ..Progress::default() };
        for pending in taken {
            let Ok(analysis) = self.analyze(&pending).await else {
                progress.postponed += 1;
                continue;
            };
            let is_signed = analysis.signature.is_ok();
            match self.analyses.record(analysis).await? {
                Recorded::Stored if is_signed => progress.analyzed += 1,
                Recorded::Stored => progress.failed += 1,
                Recorded::Obsolete => {}
            }
        }
        Ok(progress)
    }

    /// Puts the selected reports into the queue again and returns their number (decision I5).
    pub async fn requeue(&self, which: Requeue) -> Result<u64, StoreError> {
        let (mut after, mut all) = (None, 0);
        loop {
            let (last, count) = self.analyses.requeue(which, after, REQUEUE_BATCH, self.clock.now()).await?;
            all += count;
            if last.is_none() {
                return Ok(all);
            }
            after = last;
        }
    }

    /// Fails if a store or the reader of minidumps is unavailable; the report stays in the queue.
    async fn analyze(&self, pending: &PendingReport) -> Result<CrashAnalysis, String> {
        let report = &pending.report;
        let done = |signature, dump| CrashAnalysis {
            report: report.id,
            algorithm: ALGORITHM,
            signature,
            dump,
            analyzed: self.clock.now(),
        };
        let is_last = pending.attempts >= MAX_ATTEMPTS;
        if pending.attempts > MAX_ATTEMPTS {
            let reason = format!("the analysis did not end in {MAX_ATTEMPTS} tries");
            return Ok(done(Err(reason), None));
        }
        let dump = match self.dump(report).await {
            Err(reason) if !is_last => return Err(reason),
            Err(reason) => Some(DumpAnalysis { reader: self.dumps.version(), facts: Err(reason) }),
            Ok(dump) => dump,
        };
        let frame = dump.as_ref().and_then(|dump| dump.facts.as_ref().ok()).map(DumpFacts::signed_frame);
        let signature = match self.signature(report, frame.as_ref()).await {
            Ok(signature) => Ok(signature.text),
            Err(Unread::Unavailable(reason)) if !is_last => return Err(reason),
            Err(Unread::Gone(reason) | Unread::Unavailable(reason)) => Err(reason),
        };
        Ok(done(signature, dump))
    }

    async fn signature(&self, report: &StoredCrashReport, dump: Option<&SignedFrame>) -> Result<Signature, Unread> {
        let part = report.parts.iter().find(|part| part.role == PartRole::CallStack);
        let part = part.ok_or_else(|| Unread::Gone("there is no call stack".to_owned()))?;
        let content = self.content(part).await?;
        read_signature(content, dump).await.map_err(|error| Unread::Unavailable(error_chain(&error)))
    }

    /// Reads the minidump of a report; `None` if it has none.
    async fn dump(&self, report: &StoredCrashReport) -> Result<Option<DumpAnalysis>, String> {
        let Some(part) = report.parts.iter().find(|part| part.role == PartRole::Dump) else {
            return Ok(None);
        };
        let of = |facts| Some(DumpAnalysis { reader: self.dumps.version(), facts });
        let content = match self.minidump(part).await {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(None),
            Err(Unread::Gone(reason)) => return Ok(of(Err(reason))),
            Err(Unread::Unavailable(reason)) => return Err(reason),
        };
        match self.dumps.read(DumpSource { content, size: part.size }).await {
            Ok(facts) => Ok(of(Ok(facts))),
            Err(UnreadDump::Unreadable(reason)) => Ok(of(Err(reason))),
            Err(UnreadDump::Unavailable(reason)) => Err(reason),
        }
    }

    /// Opens a dump; `None` if it doesn't begin with [`minidump::MAGIC`].
    async fn minidump(&self, part: &CrashPart) -> Result<Option<ByteStream>, Unread> {
        let length = minidump::MAGIC.len() as u64;
        if part.size < length {
            return Ok(None);
        }
        let head = self.read(part, Some(0..length)).await?;
        let head: Vec<u8> = head
            .try_fold(Vec::new(), |mut head, chunk| async move {
                head.extend_from_slice(&chunk);
                Ok(head)
            })
            .await
            .map_err(|error| Unread::Unavailable(error_chain(&error)))?;
        if head == minidump::MAGIC { self.content(part).await.map(Some) } else { Ok(None) }
    }

    async fn content(&self, part: &CrashPart) -> Result<ByteStream, Unread> {
        self.read(part, None).await
    }

    async fn read(&self, part: &CrashPart, range: Option<std::ops::Range<u64>>) -> Result<ByteStream, Unread> {
        match self.blobs.read(&part.key, range).await {
            Ok(Some(content)) => Ok(content),
            Ok(None) => Err(Unread::Gone(format!("the content of the part {} is missing", part.role.as_str()))),
            Err(error) => Err(Unread::Unavailable(error_chain(&error))),
        }
    }
}

/// Computes the signature of a call stack from its first [`MAX_TEXT`] bytes.
pub async fn read_signature(mut content: ByteStream, dump: Option<&SignedFrame>) -> Result<Signature, StoreError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = content.try_next().await? {
        bytes.extend_from_slice(&chunk[..chunk.len().min(MAX_TEXT - bytes.len())]);
        if bytes.len() == MAX_TEXT {
            break;
        }
    }
    Ok(sign_text(decode(&bytes), dump.cloned()).await?.1)
}
