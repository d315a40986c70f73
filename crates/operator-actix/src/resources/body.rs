//! Resources as answers show them.

use crate::time::shown;
use domain::resource_catalog::{FoundResource, ListedResource, ResourceHolder, ResourceUse};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A resource in a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct ResourceBody {
    organization: String,
    #[schema(format = "uuid")]
    guid: String,
    /// Such as `NormalProfile`.
    #[serde(rename = "type")]
    resource_type: String,
    name: String,
    /// `Private` or `Public`.
    domain: &'static str,
    /// Bytes of the content.
    size: u64,
    /// SHA1 of the content.
    checksum: String,
    /// The Timestamp that the client sent, or the time of receipt.
    #[schema(format = DateTime)]
    modified: String,
}

impl From<ListedResource> for ResourceBody {
    fn from(listed: ListedResource) -> Self {
        let ListedResource { organization, entry } = listed;
        Self {
            organization,
            guid: entry.guid.to_string(),
            resource_type: entry.resource_type.as_str().to_owned(),
            name: entry.name,
            domain: entry.domain.as_str(),
            size: entry.size,
            checksum: entry.checksum.to_string(),
            modified: shown(entry.modified),
        }
    }
}

/// A resource with its metadata and what uses it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ResourceDetailsBody {
    #[serde(flatten)]
    resource: ResourceBody,
    /// The metadata as the client sent it.
    #[schema(value_type = Object)]
    meta: Box<RawValue>,
    /// The queues, then the jobs, that use it: the first 100.
    used_by: Vec<UseBody>,
}

impl ResourceDetailsBody {
    pub(super) fn of(found: FoundResource, uses: Vec<ResourceUse>) -> Self {
        let FoundResource { organization, resource } = found;
        let meta = RawValue::from_string(resource.meta.json);
        Self {
            resource: ResourceBody {
                organization,
                guid: resource.guid.to_string(),
                resource_type: resource.resource_type.as_str().to_owned(),
                name: resource.meta.name,
                domain: resource.domain.as_str(),
                size: resource.content.size,
                checksum: resource.checksum.to_string(),
                modified: shown(resource.modified),
            },
            // It was JSON when it was stored.
            meta: meta.unwrap_or_else(|_| RawValue::NULL.to_owned()),
            used_by: uses.into_iter().map(UseBody::from).collect(),
        }
    }
}

/// A queue or a job.
#[derive(Serialize, ToSchema)]
pub(crate) struct UseBody {
    /// `queue` or `job`.
    kind: &'static str,
    #[schema(format = "uuid")]
    guid: String,
    name: String,
}

impl From<ResourceUse> for UseBody {
    fn from(used: ResourceUse) -> Self {
        Self { kind: used.kind.as_str(), guid: used.guid.to_string(), name: used.name }
    }
}

/// A computer, or a user at a computer that isn't registered, and the content that it has.
#[derive(Serialize, ToSchema)]
pub(crate) struct HolderBody {
    /// The GUID of the computer; null for a user.
    #[schema(format = "uuid")]
    computer: Option<String>,
    /// Of the computer or the user.
    name: String,
    /// That the user sent; null for a computer.
    serial_number: Option<String>,
    /// `current`, `outdated` or `never_fetched`.
    state: &'static str,
    /// When it last fetched the whole content, or got 304 for it.
    #[schema(format = DateTime)]
    fetched: Option<String>,
    /// SHA1 of the content that it has.
    checksum: Option<String>,
}

impl From<ResourceHolder> for HolderBody {
    fn from(holder: ResourceHolder) -> Self {
        Self {
            computer: holder.computer.map(|guid| guid.to_string()),
            name: holder.name,
            serial_number: holder.serial_number,
            state: holder.state.as_str(),
            fetched: holder.fetch.map(|fetch| shown(fetch.at)),
            checksum: holder.fetch.map(|fetch| fetch.checksum.to_string()),
        }
    }
}
