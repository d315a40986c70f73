//! Adding or updating a resource (interface 4.1): the body is taken in while it arrives, its file
//! goes straight to the blob store, and one step in the database makes it the current one.

use super::command::Description;
use super::{NewResource, ResourceService, StoredContent, StoredResource, Storing};
use crate::blob::{BlobKey, BlobKind, Upload, Uploaded};
use crate::body::{PartHead, PartSource};
use crate::caller::Caller;
use crate::detail::quoted;
use crate::error::{Failure, Outcome, Reason};
use crate::json::Json;
use crate::limits::Limits;
use crate::timestamp::Timestamp;

/// Bytes that are read on after a body is known to be refused, so that a body that is malformed as
/// well gets the answer that comes first (decision R1).
const READ_ON: u64 = 1024 * 1024;

/// A body that was taken in whole.
struct Received {
    description: Description,
    modified: Timestamp,
    file: Uploaded,
}

impl ResourceService {
    /// Adds or updates a resource of the caller's organization. `timestamp` is the header Timestamp
    /// as it was sent. Whatever fails leaves the stored resource as it was (decision T13).
    pub async fn add(&self, caller: &Caller, timestamp: Option<&str>, parts: &mut dyn PartSource) -> Outcome<()> {
        let modified = self.modification_time(timestamp);
        let mut reception = Reception { service: self, modified, description: None, files: Vec::new(), excess: false };
        let received = match reception.take_in(parts).await {
            Ok(()) => reception.conclude(),
            Err(failure) => Err(failure),
        };
        let kept = received.as_ref().ok().map(|received| received.file.key.clone());
        for file in reception.files {
            if Some(&file.uploaded.key) != kept.as_ref() {
                self.remove(&file.uploaded.key).await;
            }
        }
        self.make_current(caller, received?).await
    }

    /// Decisions T2–T4.
    fn modification_time(&self, header: Option<&str>) -> Outcome<Timestamp> {
        let now = self.clock.now();
        let Some(header) = header else {
            return Ok(now);
        };
        let Some(modified) = Timestamp::parse(header) else {
            return Err(Reason::TimestampInvalid.because(format!("Timestamp {} is not a date-time", quoted(header))));
        };
        match self.limits.max_timestamp_ahead {
            Some(ahead) if modified > now.plus(ahead) => {
                let detail = format!("Timestamp {modified} lies more than {} s ahead of {now}", ahead.as_secs());
                Err(Reason::TimestampInvalid.because(detail))
            }
            _ => Ok(modified),
        }
    }

    async fn make_current(&self, caller: &Caller, received: Received) -> Outcome<()> {
        let Received { description, modified, file } = received;
        if description.checksum != file.checksum {
            self.remove(&file.key).await;
            let detail = format!(
                "ResourceChecksum sent is {}, that of the {} bytes received is {}",
                description.checksum, file.size, file.checksum
            );
            return Err(Reason::ChecksumMismatch.because(detail));
        }
        let resource = NewResource {
            guid: description.guid,
            resource_type: description.resource_type,
            checksum: description.checksum,
            modified,
            domain: description.domain,
            meta: description.meta,
            content: StoredContent { key: file.key.clone(), size: file.size },
        };
        // After a failure here nobody knows whether the step was committed: the blob must stay.
        match self.resources.store(caller.organization, resource.clone(), self.clock.now()).await? {
            Storing::Stored => Ok(()),
            Storing::NotNewer(stored) => {
                self.remove(&file.key).await;
                if is_repeat(&resource, &stored) {
                    return Ok(());
                }
                let (sent, stored) = (modified.precise(), stored.modified.precise());
                Err(Reason::TimestampInvalid.because(format!("Timestamp {sent} is not newer than the stored {stored}")))
            }
        }
    }

    /// Removes a blob that nothing refers to. Where that fails, the sweep does it later; where even
    /// that can't be noted down, it stays an orphan that `blobs check` finds.
    async fn remove(&self, key: &BlobKey) {
        if self.blobs.delete(key).await.is_err() {
            let noted = self.ledger.discard(std::slice::from_ref(key), self.clock.now()).await;
            drop(noted);
        }
    }
}

/// Whether this is the repeat of a request whose first answer may have been lost (decision T2).
fn is_repeat(sent: &NewResource, stored: &StoredResource) -> bool {
    sent.modified == stored.modified
        && sent.checksum == stored.checksum
        && sent.resource_type == stored.resource_type
        && sent.domain.is_none_or(|domain| domain == stored.domain)
        && sent.meta.digest == stored.meta.digest
}

/// A body while it is taken in.
struct Reception<'a> {
    service: &'a ResourceService,
    modified: Outcome<Timestamp>,
    description: Option<Outcome<Description>>,
    files: Vec<ReceivedFile>,
    /// There was a file too many.
    excess: bool,
}

/// A part that isn't named JsonString.
struct ReceivedFile {
    uploaded: Uploaded,
    /// Its bytes, where its content type says JSON: without a part named JsonString it is the JSON
    /// part, else the file (decision T11).
    json: Option<JsonCopy>,
}

enum JsonCopy {
    Whole(Vec<u8>),
    TooLong,
}

impl Reception<'_> {
    async fn take_in(&mut self, parts: &mut dyn PartSource) -> Outcome<()> {
        let mut spare = READ_ON;
        while let Some(head) = parts.next_part().await? {
            if head.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("JsonString")) {
                self.take_json(parts).await?;
                continue;
            }
            self.excess |= self.files.len() >= self.allowed_files(&head);
            if !self.is_refused() {
                self.take_file(&head, parts).await?;
                continue;
            }
            while let Some(bytes) = parts.chunk().await? {
                let Some(rest) = spare.checked_sub(bytes.len() as u64) else {
                    return Ok(());
                };
                spare = rest;
            }
        }
        Ok(())
    }

    /// Files that may have arrived before this one: one more where one of them can be the JSON part.
    fn allowed_files(&self, next: &PartHead) -> usize {
        let json_is_open = self.description.is_none();
        let candidate = is_json(next) || self.files.iter().any(|file| file.json.is_some());
        1 + usize::from(json_is_open && candidate)
    }

    fn is_refused(&self) -> bool {
        self.excess || self.modified.is_err() || matches!(self.description, Some(Err(_)))
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
        self.description = Some(self.service.describe(&text)?);
        self.excess |= self.files.len() > 1;
        Ok(())
    }

    async fn take_file(&mut self, head: &PartHead, parts: &mut dyn PartSource) -> Outcome<()> {
        let key = BlobKey::new(BlobKind::Resource, self.service.ids.guid());
        let mut upload = Upload::begin(&*self.service.blobs, key).await?;
        let mut json = is_json(head).then(|| JsonCopy::Whole(Vec::new()));
        match fill(&mut upload, json.as_mut(), parts, &self.service.limits).await {
            Ok(()) => {
                self.files.push(ReceivedFile { uploaded: upload.finish().await?, json });
                Ok(())
            }
            Err(failure) => {
                // What the failure was counts, not whether cleaning up worked: a sweep repeats that.
                drop(upload.abort().await);
                Err(failure)
            }
        }
    }

    /// The first refusal in the order of decision R1, or what was received.
    fn conclude(&mut self) -> Outcome<Received> {
        let description = self.description.take().transpose()?;
        let modified = std::mem::replace(&mut self.modified, Ok(Timestamp::from_micros(0)))?;
        if self.excess {
            return Err(Reason::FileNotSingle.because("there is more than one part beside JsonString"));
        }
        let description = match description {
            Some(description) => description,
            None => self.describe_by_content_type()?,
        };
        let Some(file) = self.files.first() else {
            return Err(Reason::FileMissing.because("the only part is the JSON part"));
        };
        Ok(Received { description, modified, file: file.uploaded.clone() })
    }

    /// Without a part named JsonString the first one with a JSON content type is it (decision T11).
    fn describe_by_content_type(&mut self) -> Outcome<Description> {
        let Some(place) = self.files.iter().position(|file| file.json.is_some()) else {
            let count = self.files.len();
            let detail = format!("no part is named JsonString or has a JSON content type; other parts: {count}");
            return Err(Reason::ResourceFieldsRequired.because(detail));
        };
        match &self.files[place].json {
            Some(JsonCopy::Whole(text)) => {
                let description = self.service.describe(text)?;
                // Moved to the end, where the file is not looked for.
                let json_part = self.files.remove(place);
                self.files.push(json_part);
                if self.files.len() == 1 {
                    return description.and(Err(Reason::FileMissing.because("the only part is the JSON part")));
                }
                description
            }
            _ => Err(Reason::BodyTooLarge.because("the JSON part is too long")),
        }
    }
}

impl ResourceService {
    /// Reads the JSON part. The outer error is one of the body's format, the inner one of its values.
    fn describe(&self, text: &[u8]) -> Outcome<Outcome<Description>> {
        let not_formatted = |detail: String| Reason::NotProperlyFormatted.because(detail);
        let json =
            (self.parse_json)(text).map_err(|error| not_formatted(format!("JsonString is not JSON: {error}")))?;
        match json.unwrapped() {
            Json::Object(_) => Ok(Description::read(&json)),
            _ => Err(not_formatted("JsonString is not a JSON object".to_owned())),
        }
    }
}

fn is_json(head: &PartHead) -> bool {
    head.content_type.as_deref().is_some_and(|content_type| {
        let subtype = content_type.strip_prefix("application/");
        content_type == "text/json" || subtype.is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
    })
}

/// Streams a part into the blob store, keeping a copy of one that may be the JSON part.
async fn fill(
    upload: &mut Upload,
    mut json: Option<&mut JsonCopy>,
    parts: &mut dyn PartSource,
    limits: &Limits,
) -> Outcome<()> {
    let mut size = 0;
    while let Some(bytes) = parts.chunk().await? {
        size += bytes.len() as u64;
        if size > limits.max_resource_size {
            let detail = format!("the file is over {} bytes", limits.max_resource_size);
            return Err(Reason::BodyTooLarge.because(detail));
        }
        if let Some(copy) = json.as_deref_mut() {
            match copy {
                JsonCopy::Whole(text) if size <= limits.max_json_size => text.extend_from_slice(&bytes),
                _ => *copy = JsonCopy::TooLong,
            }
        }
        upload.write(bytes).await.map_err(Failure::from)?;
    }
    Ok(())
}
