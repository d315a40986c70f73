//! Reads a fleet file, strictly: what is misspelt must not be silently ignored (ADR 18).

#[cfg(test)]
mod tests;

use super::fields::Object;
use super::model::{Fleet, FleetOrganization};
use std::collections::BTreeSet;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What is wrong with a fleet file, and where; never shows a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct FleetFileError {
    /// For example `organizations[0].computers[2].guid`.
    pub path: String,
    pub problem: String,
}

impl FleetFileError {
    fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }
}

/// Reads the contents of a fleet file.
///
/// # Errors
/// The first member that is missing, unknown, malformed or there twice, with its path, line and column.
pub fn read_fleet(file: &[u8]) -> Result<Fleet, FleetFileError> {
    let file = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
    let mut json = serde_json::Deserializer::from_slice(file);
    let Object(fleet): Object<Fleet> = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        FleetFileError::new(if path == "." { "the file".to_owned() } else { path }, error.inner().to_string())
    })?;
    json.end().map_err(|error| FleetFileError::new("the file", error.to_string()))?;
    for (place, organization) in fleet.organizations.iter().enumerate() {
        check(organization, &format!("organizations[{place}]"))?;
    }
    distinct(fleet.organizations.iter().map(|organization| &organization.name), "organizations", "name")?;
    Ok(fleet)
}

fn check(organization: &FleetOrganization, path: &str) -> Result<(), FleetFileError> {
    let FleetOrganization { name: _, publisher: _, users, computers, devices, queues, jobs, retired: _ } = organization;
    distinct(users.iter().map(|user| &user.name), &format!("{path}.users"), "name")?;
    distinct(computers.iter().map(|computer| computer.guid), &format!("{path}.computers"), "guid")?;
    distinct(devices.iter().map(|device| device.guid), &format!("{path}.devices"), "guid")?;
    distinct(queues.iter().map(|queue| queue.guid), &format!("{path}.queues"), "guid")?;
    distinct(jobs.iter().map(|job| job.guid), &format!("{path}.jobs"), "guid")?;
    // Together they identify a computer (decision A1).
    let lacks_serial = computers.iter().position(|it| it.hardware_hash.is_some() && it.serial_number.is_none());
    match lacks_serial {
        None => Ok(()),
        Some(place) => {
            let path = format!("{path}.computers[{place}].serial_number");
            Err(FleetFileError::new(path, "is required with a hardware_hash"))
        }
    }
}

fn distinct<T: Ord + ToString>(ids: impl Iterator<Item = T>, path: &str, member: &str) -> Result<(), FleetFileError> {
    let mut seen = BTreeSet::new();
    for id in ids {
        let shown = id.to_string();
        if !seen.insert(id) {
            return Err(FleetFileError::new(path, format!("{member} {shown} occurs twice")));
        }
    }
    Ok(())
}
