//! How commands find records: organizations by name, computers and devices by name or GUID, ids by their beginning.

use anyhow::{Context, Result, bail};
use domain::caller::OrganizationId;
use domain::fleet::{FleetOrganization, FleetService};
use domain::guid::{ComputerGuid, DeviceGuid, parse_guid};
use domain::inspection::{InspectionRepository, RegisteredOrganization};
use domain::text::Folded;
use futures_util::{Stream, TryStreamExt};
use std::fmt::Display;
use std::pin::pin;
use uuid::Uuid;

/// The organizations whose records are shown.
pub(super) struct Organizations(Vec<RegisteredOrganization>);

impl Organizations {
    /// All of them, or the one of this name, which must be registered.
    pub(super) async fn read(inspection: &dyn InspectionRepository, name: Option<&str>) -> Result<Self> {
        let found = inspection.organizations(name.map(str::to_owned)).await?;
        match name {
            Some(name) if found.is_empty() => bail!("organization \"{name}\" is not registered"),
            _ => Ok(Self(found)),
        }
    }

    /// By name.
    pub(super) fn iter(&self) -> impl Iterator<Item = &RegisteredOrganization> {
        self.0.iter()
    }

    pub(super) fn ids(&self) -> Vec<OrganizationId> {
        self.0.iter().map(|organization| organization.id).collect()
    }

    pub(super) fn contains(&self, id: OrganizationId) -> bool {
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

/// A computer or device of the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FleetRecord<G> {
    pub(super) organization: String,
    pub(super) guid: G,
    /// The GUID if it was registered without a name.
    pub(super) name: String,
    serial_number: Option<Folded>,
}

impl<G: Display> FleetRecord<G> {
    pub(super) fn new(organization: &str, guid: G, name: Option<&str>, serial_number: Option<&str>) -> Self {
        Self {
            organization: organization.to_owned(),
            name: name.map_or_else(|| guid.to_string(), str::to_owned),
            guid,
            serial_number: serial_number.map(Folded::of),
        }
    }
}

/// The computers or devices of the organizations that a command shows.
pub(super) struct FleetRecords<G> {
    kind: &'static str,
    records: Vec<FleetRecord<G>>,
}

pub(super) type Computers = FleetRecords<ComputerGuid>;
pub(super) type Devices = FleetRecords<DeviceGuid>;

impl Computers {
    pub(super) async fn read(fleet: &FleetService, organizations: &Organizations) -> Result<Self> {
        Self::read_all(fleet, organizations, "computer", |organization| {
            let record = |computer: &domain::fleet::Computer| {
                let (name, serial_number) = (computer.name.as_deref(), computer.serial_number.as_deref());
                FleetRecord::new(&organization.name, computer.guid, name, serial_number)
            };
            organization.computers.iter().map(record).collect()
        })
        .await
    }

    /// The computer that is registered under this serial number (decision A7), if it is the only one.
    pub(super) fn of_serial_number(&self, serial_number: &str) -> Option<&FleetRecord<ComputerGuid>> {
        let wanted = Some(Folded::of(serial_number));
        let mut found = self.records.iter().filter(|computer| computer.serial_number == wanted);
        found.next().filter(|_| found.next().is_none())
    }
}

impl Devices {
    pub(super) async fn read(fleet: &FleetService, organizations: &Organizations) -> Result<Self> {
        Self::read_all(fleet, organizations, "device", |organization| {
            let devices = organization.devices.iter();
            devices.map(|it| FleetRecord::new(&organization.name, it.guid, it.name.as_deref(), None)).collect()
        })
        .await
    }
}

impl<G: Copy + PartialEq + Display> FleetRecords<G> {
    async fn read_all(
        fleet: &FleetService,
        organizations: &Organizations,
        kind: &'static str,
        of: impl Fn(&FleetOrganization) -> Vec<FleetRecord<G>>,
    ) -> Result<Self> {
        let mut records = Vec::new();
        for organization in organizations.iter() {
            records.extend(fleet.registered(Some(&organization.name)).await?.organizations.iter().flat_map(&of));
        }
        Ok(Self { kind, records })
    }

    #[cfg(test)]
    pub(super) fn of_test(records: Vec<FleetRecord<G>>) -> Self {
        Self { kind: "computer", records }
    }

    /// The record of this GUID.
    pub(super) fn of_guid(&self, guid: G) -> Option<&FleetRecord<G>> {
        self.records.iter().find(|record| record.guid == guid)
    }

    /// The record that an operator names: by its GUID, by its name without case, or by the unique beginning of its GUID.
    pub(super) fn named(&self, text: &str) -> Result<&FleetRecord<G>> {
        let (guid, name) = (parse_guid(text).map(|guid| guid.to_string()), Folded::of(text));
        let is_named =
            |record: &FleetRecord<G>| Some(record.guid.to_string()) == guid || Folded::of(&record.name) == name;
        let mut found = self.all(is_named);
        if let Some(prefix) = IdPrefix::parse(text).filter(|_| found.is_empty()) {
            found = self.all(|record| prefix.fits(&record.guid));
        }
        let kind = self.kind;
        match found[..] {
            [] => bail!("{kind} \"{text}\" is not registered"),
            [one] => Ok(one),
            _ => {
                let all: Vec<_> = found.iter().map(|one| format!("{} of {}", one.guid, one.organization)).collect();
                bail!("{kind} \"{text}\" is one of {}; give its GUID or --organization", all.join(", "))
            }
        }
    }

    fn all(&self, is_wanted: impl Fn(&FleetRecord<G>) -> bool) -> Vec<&FleetRecord<G>> {
        self.records.iter().filter(|record| is_wanted(record)).collect()
    }
}

/// Reads the id of a record, or the beginning of one.
pub(super) fn id(text: &str) -> Result<String, String> {
    let is_id = IdPrefix::parse(text).is_some() || parse_guid(text).is_some();
    if is_id { Ok(text.to_owned()) } else { Err("it is not a GUID or the beginning of one".to_owned()) }
}

/// The id that an operator gives whole, or the only one of `ids` that begins so.
pub(super) async fn whole_id<I: Display, E>(
    text: &str,
    what: &str,
    ids: impl Stream<Item = Result<I, E>>,
) -> Result<Uuid>
where
    anyhow::Error: From<E>,
{
    if let Some(guid) = parse_guid(text) {
        return Ok(guid);
    }
    let prefix = IdPrefix::parse(text).with_context(|| format!("there is no {what} {text}"))?;
    let mut found: Vec<String> = Vec::new();
    let mut ids = pin!(ids);
    while let Some(id) = ids.try_next().await? {
        let id = id.to_string();
        if found.len() < MAX_NAMED && prefix.fits(&id) && !found.contains(&id) {
            found.push(id);
        }
    }
    match &found[..] {
        [] => bail!("there is no {what} {text}"),
        [one] => parse_guid(one).with_context(|| format!("the id of the {what} is damaged")),
        several => bail!("several begin with {text}: {}; write more of the {what}", several.join(", ")),
    }
}

/// Ids that an error names where a beginning isn't unique.
const MAX_NAMED: usize = 3;

/// The beginning of an id, as hexadecimal digits.
struct IdPrefix(String);

impl IdPrefix {
    /// `None` where it can't be the beginning of a GUID.
    fn parse(text: &str) -> Option<Self> {
        let digits: String = text.trim().chars().filter(|character| *character != '-').collect();
        let is_prefix = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_hexdigit());
        is_prefix.then(|| Self(digits.to_ascii_lowercase()))
    }

    fn fits(&self, id: &impl Display) -> bool {
        id.to_string().replace('-', "").starts_with(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::error::StoreError;
    use domain::testing::numbered;
    use futures_util::stream;

    fn computer(number: u128, name: &str, serial_number: &str) -> FleetRecord<ComputerGuid> {
        FleetRecord::new("Acme Print", ComputerGuid::from(numbered(number)), Some(name), Some(serial_number))
    }

    #[test]
    fn a_computer_is_found_by_name_guid_and_serial_number() {
        let [one, other, third] =
            [computer(1, "RIP-01", "SN-1"), computer(2, "RIP-02", "SN-2"), computer(3, "rip-02", "sn-2")];
        let computers = Computers::of_test(vec![one.clone(), other.clone(), third]);
        assert_eq!(computers.named("rip-01").unwrap(), &one);
        assert_eq!(computers.named(&other.guid.to_string()).unwrap(), &other);
        assert!(computers.named("RIP-03").unwrap_err().to_string().contains("is not registered"));
        for ambiguous in ["RIP-02", "0"] {
            let ambiguous = computers.named(ambiguous).unwrap_err().to_string();
            assert!(ambiguous.contains("give its GUID or --organization"), "{ambiguous}");
        }
        assert_eq!(computers.of_serial_number("sn-1"), Some(&one), "decision A7");
        assert_eq!(computers.of_serial_number("SN-2"), None, "two have it");
        assert_eq!(computers.of_guid(one.guid), Some(&one));
    }

    #[test]
    fn a_record_is_found_by_the_unique_beginning_of_its_guid() {
        let guid = |text| ComputerGuid::from(parse_guid(text).unwrap());
        let record = |text, name| FleetRecord::new("Acme Print", guid(text), name, None);
        let [one, other] = [
            record("88de5c02-cce6-411f-950f-be309caa4439", None),
            record("99de5c02-cce6-411f-950f-be309caa4439", Some("88")),
        ];
        let computers = Computers::of_test(vec![one.clone(), other.clone()]);
        assert_eq!(computers.named("88DE").unwrap(), &one);
        assert_eq!(computers.named("88").unwrap(), &other, "a name comes first");
    }

    #[tokio::test]
    async fn an_id_is_found_by_its_unique_beginning() {
        let ids = ["88de5c02-cce6-411f-950f-be309caa4439", "88de5c03-cce6-411f-950f-be309caa4439"];
        let only = async |text: &str| {
            let all = stream::iter(ids.map(Ok::<_, StoreError>));
            whole_id(text, "resource", all).await.map(|id| id.to_string()).map_err(|error| error.to_string())
        };
        assert_eq!(only("88DE5C02-C").await, Ok(ids[0].to_owned()));
        assert_eq!(only(ids[1]).await, Ok(ids[1].to_owned()));
        assert!(only("88de").await.unwrap_err().contains("several begin with 88de"));
        assert_eq!(only("99").await, Err("there is no resource 99".to_owned()));
        assert!(only("RIP-01").await.is_err() && only("").await.is_err());
        assert!(id("6f9619ff-8b86-d011-b42d-00c04fc964ff").is_ok() && id("6F96").is_ok() && id("RIP-01").is_err());
    }
}
