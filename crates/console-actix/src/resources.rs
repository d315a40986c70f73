//! Resources: the list, one resource, its content.

mod content;
mod gamut;
mod list;
mod show;

pub(crate) use content::{content, preview};
pub(crate) use list::list;
pub(crate) use show::show;

use crate::link::encoded;
use serde::Deserialize;

/// A resource by the name of its organization and its GUID.
#[derive(Deserialize)]
pub(crate) struct ResourcePath {
    organization: String,
    guid: String,
}

/// The path of a resource below that of the console.
fn path_of(root: &str, organization: &str, guid: impl std::fmt::Display) -> String {
    format!("{root}/resources/{}/{guid}", encoded(organization))
}
