//! The use cases of resources, but for adding them (see `add.rs`).

#[cfg(test)]
mod tests;

use super::{DeleteOutcome, ListFilter, PmmKey, ResourceListItem, ResourceRepository, StoredResource};
use crate::blob::{BlobLedger, BlobStore, ByteStream, Uploads};
use crate::caller::Caller;
use crate::clock::{Clock, IdSource};
use crate::detail::quoted;
use crate::error::{Failure, Outcome, Reason, StoreError};
use crate::guid::ResourceGuid;
use crate::json::Json;
use crate::limits::Limits;
use crate::text::is_blank;
use futures_util::stream::BoxStream;
use std::ops::Range;
use std::sync::Arc;

/// The use cases of interface 4.1–4.6.
pub struct ResourceService {
    pub(super) resources: Arc<dyn ResourceRepository>,
    pub(super) uploads: Uploads,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) limits: Limits,
    pub(super) parse_json: ParseJson,
}

/// Reads JSON text; the error says where it is wrong. Parsing bytes is an adapter's work.
pub type ParseJson = fn(&[u8]) -> Result<Json, String>;

impl ResourceService {
    /// Puts the use cases over their ports.
    #[must_use]
    pub fn new(
        resources: Arc<dyn ResourceRepository>,
        blobs: Arc<dyn BlobStore>,
        ledger: Arc<dyn BlobLedger>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        limits: Limits,
        parse_json: ParseJson,
    ) -> Self {
        let uploads = Uploads { blobs, ledger, clock: Arc::clone(&clock), ids };
        Self { resources, uploads, clock, limits, parse_json }
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

    /// Deletes a resource of the caller's own organization (interface 4.3, decisions O3, T15, T16).
    pub async fn delete(&self, caller: &Caller, guid: Option<&str>) -> Outcome<()> {
        let Some(guid) = guid.filter(|guid| !is_blank(guid)) else {
            return Err(Reason::ResourceGuidMissing.because("the path names no ResourceGUID"));
        };
        let guid = parse_guid(guid, Reason::ResourceToDeleteNotFound)?;
        match self.resources.delete(caller.organization, guid, self.clock.now()).await? {
            DeleteOutcome::Deleted => Ok(()),
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
