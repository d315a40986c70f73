//! The body of an add or update: one part describes the resource, the other is its file, in either order (decisions T11,
//! T12). The file goes to the blob store while it arrives.

use super::command::{StoreResource, StoreResourceInput};
use crate::blob::{BlobKind, Upload, Uploaded, Uploads};
use crate::body::{PartHead, PartSource};
use crate::detail::quoted;
use crate::error::{Outcome, Reason};
use crate::limits::Limits;
use bytes::Bytes;

/// Reads the text of the JSON part. A failure is one of the body's format.
pub type ReadDescription = dyn Fn(&[u8]) -> Outcome<StoreResourceInput> + Send + Sync;

/// Bytes that are read and discarded of a body that will be refused: if it is malformed as well, that refusal comes first
/// (decision R1).
const MAX_DISCARDED: u64 = 1024 * 1024;

/// Bytes that each part counts for in addition to its content, so that a body of empty parts comes to an end as well.
const PART_OVERHEAD: u64 = 64;

/// Most parts that a detail names.
const SHOWN_PARTS: usize = 4;

/// Reads a body part by part.
pub(super) struct UploadReader<'a> {
    pub(super) uploads: &'a Uploads,
    pub(super) limits: Limits,
    pub(super) read_description: &'a ReadDescription,
    /// Whether the request is refused whatever the body says, once its format is known to be right.
    pub(super) is_refused: bool,
}

/// What a body holds, as far as it was read.
#[derive(Default)]
pub(super) struct UploadBody {
    /// What the part named JsonString says.
    named: Option<Outcome<StoreResource>>,
    /// The first part of a JSON content type and another name, in whole.
    candidate: Option<Candidate>,
    /// Parts not named JsonString, the candidate among them.
    others: usize,
    /// The file. It is the caller's to remove where the body is refused.
    pub(super) file: Option<Uploaded>,
    shown: Vec<String>,
    /// The body was read to its end.
    is_whole: bool,
}

/// The JSON part of a body without a part named JsonString, else a file (decision T11).
enum Candidate {
    Text(Vec<u8>),
    /// Longer than a JSON part may be; its content was taken as a file.
    TooLong,
}

impl UploadReader<'_> {
    /// Reads the body into `body`.
    ///
    /// # Errors
    /// 415 and 413, and failures of the blob store. What else is wrong with the body is said by [`UploadBody::judge`].
    pub(super) async fn read(&self, parts: &mut dyn PartSource, body: &mut UploadBody) -> Outcome<()> {
        let mut discardable = MAX_DISCARDED;
        while let Some(head) = parts.next_part().await? {
            body.show(&head);
            if head.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("JsonString")) {
                self.read_json_string(parts, body).await?;
                continue;
            }
            body.others += 1;
            let mut begin = Vec::new();
            if body.named.is_none() && body.candidate.is_none() && head.is_json() {
                begin = match self.read_text(parts).await? {
                    Ok(text) => {
                        body.candidate = Some(Candidate::Text(text));
                        continue;
                    }
                    Err(begin) => begin,
                };
                body.candidate = Some(Candidate::TooLong);
            }
            if !self.is_refused && !body.is_refused() {
                body.file = Some(self.upload(begin.into(), Some(parts)).await?);
            } else if !skip(parts, &mut discardable).await? {
                return Ok(());
            }
        }
        body.is_whole = true;
        Ok(())
    }

    async fn read_json_string(&self, parts: &mut dyn PartSource, body: &mut UploadBody) -> Outcome<()> {
        let limit = self.limits.max_json_size;
        let Ok(text) = self.read_text(parts).await? else {
            return Err(Reason::BodyTooLarge.because(format!("the part JsonString is over {limit} bytes")));
        };
        if body.named.is_some() {
            return Err(Reason::NotProperlyFormatted.because("there are two parts named JsonString"));
        }
        body.named = Some((self.read_description)(&text).map(StoreResource::new)?);
        if let Some(Candidate::Text(file)) = body.candidate.take()
            && !self.is_refused
            && !body.is_refused()
        {
            body.file = Some(self.upload(file.into(), None).await?);
        }
        Ok(())
    }

    /// The content of a part, or the beginning of one that is longer than a JSON part may be.
    async fn read_text(&self, parts: &mut dyn PartSource) -> Outcome<Result<Vec<u8>, Vec<u8>>> {
        let mut text = Vec::new();
        while let Some(bytes) = parts.chunk().await? {
            text.extend_from_slice(&bytes);
            if text.len() as u64 > self.limits.max_json_size {
                return Ok(Err(text));
            }
        }
        Ok(Ok(text))
    }

    /// Stores `begin` and the rest of the current part as a file.
    async fn upload(&self, begin: Bytes, rest: Option<&mut (dyn PartSource + '_)>) -> Outcome<Uploaded> {
        let mut upload = self.uploads.begin(BlobKind::Resource).await?;
        if let Err(failure) = self.fill(&mut upload, begin, rest).await {
            // The failure of the upload is returned, not that of the clean-up, which a sweep repeats.
            drop(upload.abort().await);
            return Err(failure);
        }
        Ok(self.uploads.finish(upload).await?)
    }

    async fn fill(
        &self,
        upload: &mut Upload,
        begin: Bytes,
        mut rest: Option<&mut (dyn PartSource + '_)>,
    ) -> Outcome<()> {
        let limit = self.limits.max_resource_size;
        let mut size = 0;
        let mut next = Some(begin);
        while let Some(bytes) = next {
            size += bytes.len() as u64;
            if size > limit {
                return Err(Reason::BodyTooLarge.because(format!("the file is over {limit} bytes")));
            }
            upload.write(bytes).await?;
            next = match &mut rest {
                Some(parts) => parts.chunk().await?,
                None => None,
            };
        }
        Ok(())
    }
}

/// Reads a part of a refused body; `false` if no more of the body is to be read.
async fn skip(parts: &mut dyn PartSource, discardable: &mut u64) -> Outcome<bool> {
    *discardable = discardable.saturating_sub(PART_OVERHEAD);
    while let Some(bytes) = parts.chunk().await? {
        *discardable = discardable.saturating_sub(bytes.len() as u64);
        if *discardable == 0 {
            return Ok(false);
        }
    }
    Ok(*discardable > 0)
}

impl UploadBody {
    /// Whether there is a file too many, whichever part turns out to be the JSON part.
    fn has_excess(&self) -> bool {
        let json_part = matches!(self.candidate, Some(Candidate::Text(_)));
        self.others > 1 + usize::from(json_part)
    }

    fn is_refused(&self) -> bool {
        self.has_excess() || matches!(self.named, Some(Err(_)))
    }

    /// The first refusal in the order of decision R1, else all that is to be stored. The timestamp is judged after the
    /// description and before the file.
    pub(super) fn judge<T>(
        &mut self,
        timestamp: Outcome<T>,
        read_description: &ReadDescription,
        limits: &Limits,
    ) -> Outcome<(StoreResource, T, Uploaded)> {
        let has_excess = self.has_excess();
        let shown = || format!("the parts were understood as: {}", self.shown.join("; "));
        let description = match (self.named.take(), &self.candidate) {
            (Some(named), _) => Some(named?),
            (None, Some(Candidate::TooLong)) => {
                let detail = format!("the JSON part is over {} bytes", limits.max_json_size);
                return Err(Reason::BodyTooLarge.because(detail));
            }
            // The JSON part may be in what was not read.
            (None, _) if !self.is_whole => None,
            (None, Some(Candidate::Text(text))) => Some(StoreResource::new(read_description(text)?)?),
            (None, None) => return Err(Reason::ResourceFieldsRequired.because(format!("no JSON part; {}", shown()))),
        };
        let timestamp = timestamp?;
        let Some(description) = description.filter(|_| !has_excess) else {
            return Err(Reason::FileNotSingle.because(shown()));
        };
        let file = self.file.take().ok_or_else(|| Reason::FileMissing.because(shown()))?;
        Ok((description, timestamp, file))
    }

    /// Notes how a part was understood, for the detail of a refusal (decision R11).
    fn show(&mut self, head: &PartHead) {
        match self.shown.len() {
            0..SHOWN_PARTS => {
                let name = head.name.as_deref().map_or_else(|| "no name".to_owned(), quoted);
                let content_type = head.content_type.as_deref().unwrap_or("no content type");
                self.shown.push(format!("{name}, {content_type}"));
            }
            SHOWN_PARTS => self.shown.push("...".to_owned()),
            _ => {}
        }
    }
}
