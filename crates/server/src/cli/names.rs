//! How commands find records: organizations by name, computers by name or GUID, ids by their beginning.

use anyhow::{Result, bail};
use domain::caller::OrganizationId;
use domain::fleet::{Computer, FleetOrganization, FleetService};
use domain::guid::{ComputerGuid, ResourceGuid};
use domain::inspection::{InspectionRepository, RegisteredOrganization};
use domain::text::Folded;
use std::fmt::Display;

/// The organizations whose records are shown.
pub(super) struct Register(Vec<RegisteredOrganization>);

impl Register {
    /// All of them, or the one that is named, which must be registered.
    pub(super) async fn read(inspection: &dyn InspectionRepository, name: Option<&str>) -> Result<Self> {
        let found = inspection.organizations(name.map(str::to_owned)).await?;
        match name {
            Some(name) if found.is_empty() => bail!("organization \"{name}\" is not registered"),
            _ => Ok(Self(found)),
        }
    }

    /// By name.
    pub(super) fn organizations(&self) -> &[RegisteredOrganization] {
        &self.0
    }

    pub(super) fn ids(&self) -> Vec<OrganizationId> {
        self.0.iter().map(|organization| organization.id).collect()
    }

    pub(super) fn knows(&self, id: OrganizationId) -> bool {
        self.find(id).is_some()
    }

    /// The name of an organization; empty for others.
    pub(super) fn name(&self, id: OrganizationId) -> &str {
        self.find(id).map_or("", |organization| &organization.name)
    }

    fn find(&self, id: OrganizationId) -> Option<&RegisteredOrganization> {
        self.0.iter().find(|organization| organization.id == id)
    }
}

/// The registered computers of the organizations that a command looks at.
#[derive(Default)]
pub(super) struct Computers(Vec<KnownComputer>);

/// A registered computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownComputer {
    pub(super) organization: String,
    pub(super) guid: ComputerGuid,
    /// The GUID if it was registered without a name.
    pub(super) name: String,
    serial_number: Option<Folded>,
}

impl Computers {
    pub(super) async fn read(fleet: &FleetService, register: &Register) -> Result<Self> {
        let mut computers = Vec::new();
        for organization in register.organizations() {
            for found in fleet.export(Some(&organization.name)).await?.organizations {
                computers.extend(found.computers.iter().map(|computer| KnownComputer::of(&found, computer)));
            }
        }
        Ok(Self(computers))
    }

    /// The computer of this GUID.
    pub(super) fn of_guid(&self, guid: ComputerGuid) -> Option<&KnownComputer> {
        self.0.iter().find(|computer| computer.guid == guid)
    }

    /// The computer that is registered under this serial number (decision A7), if it is the only one.
    pub(super) fn of_serial_number(&self, serial_number: &str) -> Option<&KnownComputer> {
        let wanted = Some(Folded::of(serial_number));
        let mut found = self.0.iter().filter(|computer| computer.serial_number == wanted);
        found.next().filter(|_| found.next().is_none())
    }

    /// The computer that an operator names, by its GUID or by its name without case.
    pub(super) fn named(&self, text: &str) -> Result<&KnownComputer> {
        let (guid, name) = (ComputerGuid::parse(text), Folded::of(text));
        let is_named = |computer: &&KnownComputer| Some(computer.guid) == guid || Folded::of(&computer.name) == name;
        let found: Vec<&KnownComputer> = self.0.iter().filter(is_named).collect();
        match found[..] {
            [] => bail!("computer \"{text}\" is not registered"),
            [one] => Ok(one),
            _ => {
                let all: Vec<_> = found.iter().map(|one| format!("{} of {}", one.guid, one.organization)).collect();
                bail!("computer \"{text}\" is one of {}; give its GUID or --organization", all.join(", "))
            }
        }
    }
}

#[cfg(test)]
impl Computers {
    pub(super) fn of_test(computers: Vec<KnownComputer>) -> Self {
        Self(computers)
    }
}

impl KnownComputer {
    #[cfg(test)]
    pub(super) fn named_for_test(organization: &str, name: &str, serial_number: &str) -> Self {
        Self {
            organization: organization.to_owned(),
            guid: ComputerGuid::from(domain::testing::numbered(2)),
            name: name.to_owned(),
            serial_number: Some(Folded::of(serial_number)),
        }
    }

    fn of(organization: &FleetOrganization, computer: &Computer) -> Self {
        let guid = computer.guid;
        Self {
            organization: organization.name.clone(),
            guid,
            name: computer.name.clone().unwrap_or_else(|| guid.to_string()),
            serial_number: computer.serial_number.as_deref().map(Folded::of),
        }
    }
}

/// Reads the id of a record, or the beginning of one.
pub(super) fn id(text: &str) -> Result<String, String> {
    let is_id = Beginning::parse(text).is_some() || ResourceGuid::parse(text).is_some();
    if is_id { Ok(text.to_owned()) } else { Err("it is not a GUID or the beginning of one".to_owned()) }
}

/// Collects the ids that begin as an operator wrote. Only the first few are kept.
pub(super) struct Beginning {
    digits: String,
    found: Vec<String>,
}

/// Ids that are named where a beginning isn't unique.
const MAX_NAMED: usize = 3;

impl Beginning {
    /// `None` where it can't be the beginning of a GUID.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits: String = text.trim().chars().filter(|character| *character != '-').collect();
        let is_beginning = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_hexdigit());
        is_beginning.then(|| Self { digits: digits.to_ascii_lowercase(), found: Vec::new() })
    }

    /// Whether the id begins so.
    pub(super) fn fits(&self, id: &impl Display) -> bool {
        id.to_string().replace('-', "").starts_with(&self.digits)
    }

    pub(super) fn add(&mut self, id: &impl Display) {
        let id = id.to_string();
        if self.found.len() < MAX_NAMED && self.fits(&id) && !self.found.contains(&id) {
            self.found.push(id);
        }
    }

    /// The one id that begins so.
    pub(super) fn only(self, what: &str) -> Result<String> {
        match &self.found[..] {
            [] => bail!("there is no {what} {}", self.digits),
            [one] => Ok(one.clone()),
            several => bail!("several begin with {}: {}; write more of the {what}", self.digits, several.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computer(number: u128, name: &str, serial_number: &str) -> KnownComputer {
        KnownComputer {
            organization: "Acme Print".to_owned(),
            guid: ComputerGuid::from(domain::testing::numbered(number)),
            name: name.to_owned(),
            serial_number: Some(Folded::of(serial_number)),
        }
    }

    #[test]
    fn a_computer_is_found_by_name_guid_and_serial_number() {
        let [one, other, third] =
            [computer(1, "RIP-01", "SN-1"), computer(2, "RIP-02", "SN-2"), computer(3, "rip-02", "sn-2")];
        let computers = Computers(vec![one.clone(), other.clone(), third]);
        assert_eq!(computers.named("rip-01").unwrap(), &one);
        assert_eq!(computers.named(&other.guid.to_string()).unwrap(), &other);
        assert!(computers.named("RIP-03").unwrap_err().to_string().contains("is not registered"));
        let ambiguous = computers.named("RIP-02").unwrap_err().to_string();
        assert!(ambiguous.contains("give its GUID or --organization"), "{ambiguous}");
        assert_eq!(computers.of_serial_number("sn-1"), Some(&one), "decision A7");
        assert_eq!(computers.of_serial_number("SN-2"), None, "two have it");
        assert_eq!(computers.of_guid(one.guid), Some(&one));
    }

    #[test]
    fn an_id_is_found_by_its_unique_beginning() {
        let ids = ["88de5c02-cce6-411f-950f-be309caa4439", "88de5c03-cce6-411f-950f-be309caa4439"];
        let only = |text: &str| {
            let mut beginning = Beginning::parse(text).unwrap();
            for id in ids {
                beginning.add(&id);
            }
            beginning.only("resource").map_err(|error| error.to_string())
        };
        assert_eq!(only("88DE5C02-C"), Ok(ids[0].to_owned()));
        assert!(only("88de").unwrap_err().contains("several begin with 88de"));
        assert_eq!(only("99"), Err("there is no resource 99".to_owned()));
        assert!(Beginning::parse("RIP-01").is_none() && Beginning::parse("").is_none());
        assert!(id("6f9619ff-8b86-d011-b42d-00c04fc964ff").is_ok() && id("6F96").is_ok() && id("RIP-01").is_err());
    }
}
