//! The computers as callers.

use super::fleet::{Company, Registered};
use domain::caller::{Caller, CallingComputer, OrganizationId};
use domain::fleet::FleetOrganization;

/// Versions of the client program, the oldest first.
pub(super) const VERSIONS: [&str; 3] = ["9.2.4", "9.3.0", "9.3.1"];

/// A computer that calls.
pub(super) struct Station {
    pub(super) caller: Caller,
    pub(super) address: String,
    /// The place of its version in [`VERSIONS`] at the end.
    pub(super) version: usize,
}

impl Station {
    /// The caller with the version that the computer had at this part of the story, from 0 to 1.
    pub(super) fn at(&self, progress: f64) -> Caller {
        let earlier = usize::from(progress < 0.35) + usize::from(progress < 0.7);
        let version = VERSIONS[self.version.saturating_sub(earlier)];
        Caller { application_version: version.to_owned(), ..self.caller.clone() }
    }
}

/// The computers of a company.
pub(super) fn stations(
    company: &Company,
    organization: OrganizationId,
    named: &FleetOrganization,
    registered: &Registered,
) -> Vec<Station> {
    let station = |(place, (guid, name, serial_number)): (usize, &(_, String, String))| {
        let user = named.computers[place].user.clone();
        let computer = CallingComputer { guid: *guid, name: name.clone(), user };
        Station {
            caller: Caller {
                organization,
                organization_name: company.name.to_owned(),
                user: None,
                computer: Some(computer),
                serial_number: serial_number.clone(),
                application_version: VERSIONS[0].to_owned(),
            },
            address: format!("{}.{}", company.network, place + 10),
            // A few are never updated.
            version: if place % 7 == 6 { 0 } else { VERSIONS.len() - 1 - usize::from(place % 5 == 4) },
        }
    };
    registered.computers.iter().enumerate().map(station).collect()
}
