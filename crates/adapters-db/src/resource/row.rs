//! Resources as rows and back.

use crate::convert::{Owner, size_column};
use crate::entity::resource::{ActiveModel, Model};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ResourceGuid;
use domain::resource::{Domain, Meta, NewResource, PmmKey, ResourceType, StoredContent, StoredResource};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use sea_orm::ActiveValue::Set;

/// The row of a resource that the organization doesn't have yet.
pub(super) fn new_row(organization: OrganizationId, resource: &NewResource) -> ActiveModel {
    let folded = |part: fn(&PmmKey) -> &Folded| resource.meta.pmm.as_ref().map(|key| part(key).as_str().to_owned());
    ActiveModel {
        organization_id: Set(organization.0),
        guid: Set(resource.guid.as_uuid()),
        resource_type: Set(resource.resource_type.as_str().to_owned()),
        type_folded: Set(resource.resource_type.folded().into_string()),
        checksum: Set(resource.checksum.to_string()),
        modified_at: Set(resource.modified.as_micros()),
        domain: Set(resource.domain.unwrap_or(Domain::Private).as_str().to_owned()),
        name: Set(resource.meta.name.clone()),
        name_sort: Set(resource.meta.sort_key()),
        meta: Set(resource.meta.json.clone()),
        profile_group_folded: Set(folded(|key| &key.profile_group)),
        media_folded: Set(folded(|key| &key.media)),
        mode_folded: Set(folded(|key| &key.mode)),
        blob_key: Set(resource.content.key.as_str().to_owned()),
        content_size: Set(size_column(resource.content.size)),
        previous_blob_key: Set(None),
    }
}

/// The resource of a row.
pub(crate) fn stored(row: Model) -> Result<StoredResource, StoreError> {
    let guid = ResourceGuid::from(row.guid);
    let owner = Owner { what: "resource", id: &guid };
    let pmm = match (row.profile_group_folded, row.media_folded, row.mode_folded) {
        (Some(profile_group), Some(media), Some(mode)) => Some(PmmKey {
            profile_group: Folded::from_stored(profile_group),
            media: Folded::from_stored(media),
            mode: Folded::from_stored(mode),
        }),
        _ => None,
    };
    Ok(StoredResource {
        organization: OrganizationId(row.organization_id),
        guid,
        resource_type: owner.need(ResourceType::new(&row.resource_type))?,
        checksum: owner.checksum(&row.checksum)?,
        modified: Timestamp::from_micros(row.modified_at),
        domain: owner.need(Domain::parse(&row.domain))?,
        meta: Meta { name: row.name, pmm, json: row.meta },
        content: StoredContent { key: owner.blob_key(&row.blob_key)?, size: owner.size(row.content_size)? },
    })
}
