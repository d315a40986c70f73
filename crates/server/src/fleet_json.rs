//! The fleet file: read from disk, and written as `platen fleet export` prints it.

use anyhow::{Context, Result};
use domain::fleet::{Fleet, FleetOrganization, NewKey, read_fleet};
use serde_json::{Value, json};
use std::path::Path;

/// Reads a fleet file; what is wrong with it is named by its path in the JSON.
pub(crate) fn read(path: &Path) -> Result<Fleet> {
    let shown = path.display();
    let file = std::fs::read(path).with_context(|| format!("cannot read the fleet file {shown}"))?;
    read_fleet(&file).with_context(|| format!("fleet file {shown}"))
}

/// An issued key as one line.
pub(crate) fn key_line(key: &NewKey) -> String {
    json!({ "organization": key.organization, "user": key.user, "mis_key": key.mis_key.reveal() }).to_string()
}

/// The fleet in the form of a file, for people to read. What isn't known is left out.
pub(crate) fn pretty(fleet: &Fleet) -> String {
    format!("{:#}", json!(fleet))
}

/// An organization in the form of a file, with the records that were removed.
pub(crate) fn organization(organization: &FleetOrganization) -> Value {
    let mut json = json!(organization);
    if !organization.retired.is_empty() {
        json["removed"] = organization.retired.iter().map(ToString::to_string).collect();
    }
    json
}
