//! Adding or updating a resource (interface 4.1): its file goes straight to the blob store while the
//! body arrives, and one step in the database makes it the current one.

mod reception;
#[cfg(test)]
mod tests;

use super::{NewResource, ResourceService, StoreOutcome, StoredContent, StoredResource};
use crate::blob::BlobKey;
use crate::body::PartSource;
use crate::caller::Caller;
use crate::detail::quoted;
use crate::error::{Outcome, Reason, StoreError};
use crate::timestamp::Timestamp;
use reception::{Received, Reception};

impl ResourceService {
    /// Adds or updates a resource of the caller's organization. `timestamp` is the header Timestamp
    /// as it was sent. Whatever fails leaves the stored resource as it was (decision T13).
    pub async fn add(&self, caller: &Caller, timestamp: Option<&str>, parts: &mut dyn PartSource) -> Outcome<()> {
        let modified = self.modification_time(timestamp);
        let mut uploads = Vec::new();
        let received = Reception::new(self, modified, &mut uploads).receive(parts).await;
        let left: Vec<BlobKey> = uploads.into_iter().map(|left| left.key).collect();
        self.uploads.remove_after(&received, &left).await;
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
        // After a failure here nobody knows whether the step was committed: the blob must stay.
        let stored = self.resources.store(caller.organization, resource.clone(), self.clock.now()).await;
        if matches!(stored, Err(StoreError::Overloaded)) {
            // But this one says that it wasn't begun.
            self.uploads.remove(std::slice::from_ref(&file.key)).await;
        }
        match stored? {
            StoreOutcome::Stored => Ok(()),
            // A store that tried again after a lost answer finds what its first try has committed.
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
}

/// Whether this is the repeat of a request whose first answer may have been lost (decision T2).
fn is_repeat(sent: &NewResource, stored: &StoredResource) -> bool {
    sent.modified == stored.modified
        && sent.checksum == stored.checksum
        && sent.resource_type == stored.resource_type
        && sent.domain.is_none_or(|domain| domain == stored.domain)
        && sent.meta.digest == stored.meta.digest
}
