//! Takes the body of an add or update in: finds the JSON part and sends the file to the blob store,
//! in whatever order they arrive (decisions T11, T12). What the body asks for is done elsewhere.

use crate::blob::{BlobKind, Upload, Uploaded};
use crate::body::{PartHead, PartSource};
use crate::detail::quoted;
use crate::error::{Failure, Outcome, Reason};
use crate::json::Json;
use crate::resource::ResourceService;
use crate::resource::command::Description;
use crate::timestamp::Timestamp;
use bytes::Bytes;

/// Bytes that are read on after a body is known to be refused, so that a body that is malformed as
/// well gets the answer that comes first (decision R1).
const READ_ON: u64 = 1024 * 1024;

/// What each part counts of these bytes, so that parts without content come to an end as well.
const HEAD: u64 = 64;

/// Parts that a detail names at most.
const SHOWN_PARTS: usize = 4;

/// A body that was taken in whole.
pub(super) struct Received {
    pub(super) description: Description,
    pub(super) modified: Timestamp,
    pub(super) file: Uploaded,
}

/// A body while it is taken in.
pub(super) struct Reception<'a> {
    service: &'a ResourceService,
    modified: Outcome<Timestamp>,
    /// What the part named JsonString says.
    description: Option<Outcome<Description>>,
    /// The first part of a JSON content type and another name.
    candidate: Option<Candidate>,
    /// Parts not named JsonString, the candidate included.
    others: usize,
    /// These parts in the blob store: all of them in order, until the body is refused.
    uploads: &'a mut Vec<Uploaded>,
    shown: Vec<String>,
    /// The body was read to its end.
    whole: bool,
}

/// The JSON part of a body without a part named JsonString, else a file (decision T11).
struct Candidate {
    /// Its place among the parts not named JsonString.
    place: usize,
    /// `None` if it is too long to be the JSON part.
    text: Option<Vec<u8>>,
}

impl<'a> Reception<'a> {
    /// `uploads` gets what is sent to the blob store. What is left there at the end nobody needs.
    pub(super) fn new(
        service: &'a ResourceService,
        modified: Outcome<Timestamp>,
        uploads: &'a mut Vec<Uploaded>,
    ) -> Self {
        let (description, candidate, shown) = (None, None, Vec::new());
        Self { service, modified, description, candidate, others: 0, uploads, shown, whole: false }
    }

    /// Reads the body; answers what it holds, the file taken out of `uploads`, or the refusal that
    /// comes first in the order of decision R1.
    pub(super) async fn receive(mut self, parts: &mut dyn PartSource) -> Outcome<Received> {
        self.take_in(parts).await?;
        self.conclude()
    }

    async fn take_in(&mut self, parts: &mut dyn PartSource) -> Outcome<()> {
        let mut spare = READ_ON;
        while let Some(head) = parts.next_part().await? {
            self.show(&head);
            if head.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("JsonString")) {
                self.take_json(parts).await?;
                continue;
            }
            let is_candidate = self.description.is_none() && self.candidate.is_none() && is_json(&head);
            if is_candidate {
                self.candidate = Some(Candidate { place: self.others, text: Some(Vec::new()) });
            }
            self.others += 1;
            if !self.is_refused() {
                self.take_file(is_candidate, parts).await?;
            } else if !self.skip(is_candidate, &mut spare, parts).await? {
                return Ok(());
            }
        }
        self.whole = true;
        Ok(())
    }

    /// Whether there is a file too many, whichever part turns out to be the JSON part.
    fn excess(&self) -> bool {
        let json_part = self.description.is_none() && self.candidate.is_some();
        self.others > 1 + usize::from(json_part)
    }

    fn is_refused(&self) -> bool {
        self.excess() || self.modified.is_err() || matches!(self.description, Some(Err(_)))
    }

    async fn take_json(&mut self, parts: &mut dyn PartSource) -> Outcome<()> {
        let limit = self.service.limits.max_json_size;
        let mut text = Vec::new();
        while let Some(bytes) = parts.chunk().await? {
            if (text.len() + bytes.len()) as u64 > limit {
                return Err(Reason::BodyTooLarge.because(format!("the part JsonString is over {limit} bytes")));
            }
            text.extend_from_slice(&bytes);
        }
        if self.description.is_some() {
            return Err(Reason::NotProperlyFormatted.because("there are two parts named JsonString"));
        }
        self.description = Some(describe(self.service, &text)?);
        Ok(())
    }

    async fn take_file(&mut self, is_candidate: bool, parts: &mut dyn PartSource) -> Outcome<()> {
        let mut upload = self.service.uploads.begin(BlobKind::Resource).await?;
        if let Err(failure) = self.fill(&mut upload, is_candidate, parts).await {
            // What the failure was counts, not whether cleaning up worked: a sweep repeats that.
            drop(upload.abort().await);
            return Err(failure);
        }
        self.uploads.push(self.service.uploads.finish(upload).await?);
        Ok(())
    }

    /// Streams a part into the blob store.
    async fn fill(&mut self, upload: &mut Upload, is_candidate: bool, parts: &mut dyn PartSource) -> Outcome<()> {
        let limit = self.service.limits.max_resource_size;
        let mut size = 0;
        while let Some(bytes) = parts.chunk().await? {
            size += bytes.len() as u64;
            if size > limit {
                return Err(Reason::BodyTooLarge.because(format!("the file is over {limit} bytes")));
            }
            if is_candidate {
                self.copy(&bytes);
            }
            upload.write(bytes).await?;
        }
        Ok(())
    }

    /// Reads a part of a refused body; `false` where reading on ends.
    async fn skip(&mut self, is_candidate: bool, spare: &mut u64, parts: &mut dyn PartSource) -> Outcome<bool> {
        *spare = spare.saturating_sub(HEAD);
        while let Some(bytes) = parts.chunk().await? {
            if is_candidate {
                self.copy(&bytes);
            }
            *spare = spare.saturating_sub(bytes.len() as u64);
            if *spare == 0 {
                return Ok(false);
            }
        }
        Ok(*spare > 0)
    }

    /// Keeps the text of the part that may be the JSON part.
    fn copy(&mut self, bytes: &Bytes) {
        let limit = self.service.limits.max_json_size;
        if let Some(candidate) = &mut self.candidate {
            candidate.text = candidate.text.take().filter(|text| (text.len() + bytes.len()) as u64 <= limit);
            if let Some(text) = &mut candidate.text {
                text.extend_from_slice(bytes);
            }
        }
    }

    /// The first refusal in the order of decision R1, or what was received.
    fn conclude(self) -> Outcome<Received> {
        let excess = self.excess();
        let shown = format!("the parts were understood as: {}", self.shown.join("; "));
        let mut file = 0;
        let description = match (self.description, self.candidate) {
            (Some(named), _) => Some(named?),
            // The JSON part may be in what was not read.
            (None, _) if !self.whole => None,
            (None, Some(candidate)) => {
                file = usize::from(candidate.place == 0);
                Some(describe_candidate(self.service, candidate)?)
            }
            (None, None) => return Err(Reason::ResourceFieldsRequired.because(format!("no JSON part; {shown}"))),
        };
        let modified = self.modified?;
        let Some(description) = description.filter(|_| !excess) else {
            return Err(Reason::FileNotSingle.because(shown));
        };
        if file >= self.uploads.len() {
            return Err(Reason::FileMissing.because(shown));
        }
        Ok(Received { description, modified, file: self.uploads.remove(file) })
    }

    /// Notes how a part was understood, for the particulars of a refusal (decision R11).
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

/// Without a part named JsonString the first one of a JSON content type is it (decision T11).
fn describe_candidate(service: &ResourceService, candidate: Candidate) -> Outcome<Description> {
    let Some(text) = candidate.text else {
        let limit = service.limits.max_json_size;
        return Err(Reason::BodyTooLarge.because(format!("the JSON part is over {limit} bytes")));
    };
    describe(service, &text)?
}

/// Reads the JSON part. The outer error is one of the body's format, the inner one of its values.
fn describe(service: &ResourceService, text: &[u8]) -> Outcome<Outcome<Description>> {
    let not_formatted = |detail: String| -> Failure { Reason::NotProperlyFormatted.because(detail) };
    let json = (service.parse_json)(text).map_err(|error| not_formatted(format!("JsonString is not JSON: {error}")))?;
    match json.unwrapped() {
        Json::Object(_) => Ok(Description::read(&json)),
        _ => Err(not_formatted("JsonString is not a JSON object".to_owned())),
    }
}

/// The content types that say JSON (decision R6).
fn is_json(head: &PartHead) -> bool {
    head.content_type.as_deref().is_some_and(|content_type| {
        let subtype = content_type.strip_prefix("application/");
        content_type == "text/json" || subtype.is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
    })
}
