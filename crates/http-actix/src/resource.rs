//! The operations of resources (interface 4.1–4.6).

pub(crate) mod add;
pub(crate) mod conditional;
pub(crate) mod delete;
pub(crate) mod get_file;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod pmm;

use serde::Deserialize;
use utoipa::IntoParams;

/// The end of a path that names a resource.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ResourcePath {
    /// GUID of the resource, in any usual form. A malformed one is simply not found.
    #[serde(rename = "ResourceGUID")]
    #[param(format = "uuid")]
    guid: String,
}
