//! The use cases of resources.

#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod tests;

use super::upload::{ReadDescription, UploadBody, UploadReader};
use super::{
    DeleteOutcome, ListFilter, NewResource, PmmKey, Preconditions, ResourceListItem, ResourceRepository, StoreOutcome,
    StoreResource, StoredContent, StoredResource,
};
use crate::blob::{BlobKey, ByteStream, Uploaded, Uploads};
use crate::body::PartSource;
use crate::caller::Caller;
use crate::detail::quoted;
use crate::error::{Failure, Outcome, Reason, StoreError};
use crate::guid::ResourceGuid;
use crate::limits::Limits;
use crate::text::is_blank;
use crate::timestamp::Timestamp;
use futures_util::stream::BoxStream;
use std::ops::Range;
use std::sync::Arc;

/// The use cases of interface 4.1–4.6.
pub struct ResourceService {
    resources: Arc<dyn ResourceRepository>,
    uploads: Uploads,
    limits: Limits,
}

impl ResourceService {
    #[must_use]
    pub fn new(resources: Arc<dyn ResourceRepository>, uploads: Uploads, limits: Limits) -> Self {
        Self { resources, uploads, limits }
    }

    /// Adds or updates a resource of the caller's organization (interface 4.1). `timestamp` is the header as it was sent.
    /// Whatever fails leaves the stored resource as it was (decision T13).
    pub async fn store(
        &self,
        caller: &Caller,
        timestamp: Option<&str>,
        parts: &mut dyn PartSource,
        read_description: &ReadDescription,
    ) -> Outcome<()> {
        let modified = self.modification_time(timestamp);
        let is_refused = modified.is_err();
        let reader = UploadReader { uploads: &self.uploads, limits: self.limits, read_description, is_refused };
        let mut body = UploadBody::default();
        let read = reader.read(parts, &mut body).await;
        let received = read.and_then(|()| body.judge(modified, read_description, &self.limits));
        let left: Vec<BlobKey> = body.file.into_iter().map(|file| file.key).collect();
        self.uploads.remove_after(&received, &left).await;
        let (description, modified, file) = received?;
        self.make_current(caller, description, modified, file).await
    }

    /// The resource whose file is asked for (interface 4.2, decision T15).
    pub async fn find(&self, caller: &Caller, guid: &str) -> Outcome<StoredResource> {
        let guid = parse_guid(guid, Reason::ResourceNotFound)?;
        let found = self.find_readable(caller, guid).await?;
        found.ok_or_else(|| Reason::ResourceNotFound.because(format!("no resource {guid}")))
    }

    /// The content of a resource, or the bytes `range` of it, which lie within. A stream that has
    /// begun is served whole (decision T18).
    pub async fn content(
        &self,
        resource: &StoredResource,
        range: Option<Range<u64>>,
    ) -> Result<ByteStream, StoreError> {
        let key = &resource.content.key;
        let content = self.uploads.blobs.read(key, range).await?;
        content.ok_or_else(|| StoreError::Corrupt { what: "the content of a resource", id: key.to_string() })
    }

    /// The resource whose info is asked for (interface 4.5, decision T15).
    pub async fn info(&self, caller: &Caller, guid: &str) -> Outcome<StoredResource> {
        let guid = parse_guid(guid, Reason::ResourceNotFound)?;
        if let Some(found) = self.find_readable(caller, guid).await? {
            return Ok(found);
        }
        let elsewhere = self.resources.exists_anywhere(guid).await?;
        let reason = if elsewhere { Reason::ResourceNoAccess } else { Reason::ResourceNotFound };
        Err(reason.because(format!("no resource {guid} that this caller may read")))
    }

    /// Deletes a resource of the caller's own organization (interface 4.3, decisions O3, T15–T17).
    pub async fn delete(&self, caller: &Caller, guid: Option<&str>, preconditions: Preconditions) -> Outcome<()> {
        let Some(guid) = guid.filter(|guid| !is_blank(guid)) else {
            return Err(Reason::ResourceGuidMissing.because("the path names no ResourceGUID"));
        };
        let guid = parse_guid(guid, Reason::ResourceToDeleteNotFound)?;
        match self.resources.delete(caller.organization, guid, preconditions, self.uploads.clock.now()).await? {
            DeleteOutcome::Deleted => Ok(()),
            DeleteOutcome::OtherState(other) => Err(other.into()),
            DeleteOutcome::InUse { by } => Err(Reason::ResourceInUse.because(format!("in use by {by}"))),
            DeleteOutcome::NotFound => Err(Reason::ResourceToDeleteNotFound.because(format!("no resource {guid}"))),
        }
    }

    /// Lists the caller's own resources (interface 4.4, decision T19).
    pub fn list(
        &self,
        caller: &Caller,
        filter: ListFilter,
    ) -> BoxStream<'static, Result<ResourceListItem, StoreError>> {
        self.resources.list(caller.organization, filter)
    }

    /// Looks one of the caller's own resources up by ProfileGroup, Media and Mode (interface 4.6,
    /// decision T20).
    pub async fn find_by_pmm(&self, caller: &Caller, key: &PmmKey) -> Outcome<StoredResource> {
        let found = self.resources.find_by_pmm(caller.organization, key).await?;
        found.ok_or_else(|| Reason::PmmNotFound.because("no resource with these ProfileGroup, Media and Mode"))
    }

    /// Decisions T2–T4.
    fn modification_time(&self, header: Option<&str>) -> Outcome<Timestamp> {
        let now = self.uploads.clock.now();
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

    async fn make_current(
        &self,
        caller: &Caller,
        description: StoreResource,
        modified: Timestamp,
        file: Uploaded,
    ) -> Outcome<()> {
        if description.checksum != file.checksum {
            self.uploads.remove(&[file.key]).await;
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
        let stored = self.resources.store(caller.organization, resource.clone(), self.uploads.clock.now()).await;
        match self.uploads.settle(stored, std::slice::from_ref(&file.key)).await? {
            StoreOutcome::Stored => Ok(()),
            // The repository may have retried after the response to its commit was lost, and found its own row.
            StoreOutcome::NotNewer(stored) if stored.content.key == file.key => Ok(()),
            StoreOutcome::NotNewer(stored) => {
                self.uploads.remove(&[file.key]).await;
                if is_repeat(&resource, &stored) {
                    return Ok(());
                }
                let (sent, stored) = (modified.precise(), stored.modified.precise());
                Err(Reason::TimestampInvalid.because(format!("Timestamp {sent} is not newer than the stored {stored}")))
            }
        }
    }

    /// The caller's own resource, else that of a publisher.
    async fn find_readable(&self, caller: &Caller, guid: ResourceGuid) -> Result<Option<StoredResource>, StoreError> {
        match self.resources.find(caller.organization, guid).await? {
            Some(own) => Ok(Some(own)),
            None => self.resources.find_published(guid).await,
        }
    }
}

/// A malformed GUID in a path is simply not found (decision R7).
fn parse_guid(text: &str, not_found: Reason) -> Result<ResourceGuid, Failure> {
    ResourceGuid::parse(text).ok_or_else(|| not_found.because(format!("ResourceGUID {} is not a GUID", quoted(text))))
}

/// Whether this is the repeat of a request whose first answer may have been lost (decision T2).
fn is_repeat(sent: &NewResource, stored: &StoredResource) -> bool {
    sent.modified == stored.modified
        && sent.checksum == stored.checksum
        && sent.resource_type == stored.resource_type
        && sent.domain.is_none_or(|domain| domain == stored.domain)
        && sent.meta.is_same_value(&stored.meta)
}
