//! How commands find records: organizations by name, the fleet's records by name or GUID, ids by their beginning.

use anyhow::{Context, Result, bail};
use domain::caller::OrganizationId;
use domain::fleet::{FleetOrganization, FleetRecord, FleetService};
use domain::guid::parse_guid;
use domain::inspection::{InspectionRepository, RegisteredOrganization};
use domain::text::Folded;
use futures_util::{Stream, TryStreamExt};
use std::fmt::Display;
use std::pin::pin;
use uuid::Uuid;

/// The organizations whose records are shown.
pub(super) struct Organizations {
    found: Vec<RegisteredOrganization>,
    is_all: bool,
}

impl Organizations {
    /// All of them, or the one that an operator names: by its name, else by its name without case (decision R14), else by
    /// the unique beginning of its name.
    pub(super) async fn read(inspection: &dyn InspectionRepository, name: Option<&str>) -> Result<Self> {
        let mut all = inspection.organizations(None).await?;
        let Some(name) = name else {
            return Ok(Self { found: all, is_all: true });
        };
        let folded = Folded::of(name);
        let ways: [&dyn Fn(&str) -> bool; 3] =
            [&|registered| registered == name, &|registered| Folded::of(registered) == folded, &|registered| {
                !folded.as_str().is_empty() && Folded::of(registered).as_str().starts_with(folded.as_str())
            }];
        let is_match = ways.into_iter().find(|is_match| all.iter().any(|it| is_match(&it.name)));
        all.retain(|it| is_match.is_some_and(|is_match| is_match(&it.name)));
        match &all[..] {
            [] => bail!("organization \"{name}\" is not registered"),
            [_] => Ok(Self { found: all, is_all: false }),
            several => {
                let names: Vec<_> = several.iter().map(|it| format!("\"{}\"", it.name)).collect();
                bail!("organization \"{name}\" is one of {}; write more of its name", names.join(", "))
            }
        }
    }

    /// The name of the one organization that an operator names, as [`Organizations::read`] finds it.
    pub(super) async fn name_of(inspection: &dyn InspectionRepository, name: &str) -> Result<String> {
        let found = Self::read(inspection, Some(name)).await?;
        Ok(found.only().map(|only| only.name.clone()).unwrap_or_default())
    }

    /// The one that was named; `None` for all.
    pub(super) fn only(&self) -> Option<&RegisteredOrganization> {
        self.found.first().filter(|_| !self.is_all)
    }

    /// By name.
    pub(super) fn iter(&self) -> impl Iterator<Item = &RegisteredOrganization> {
        self.found.iter()
    }

    pub(super) fn ids(&self) -> Vec<OrganizationId> {
        self.found.iter().map(|organization| organization.id).collect()
    }

    pub(super) fn contains(&self, id: OrganizationId) -> bool {
        self.find(id).is_some()
    }

    /// The name of an organization; empty for others.
    pub(super) fn name(&self, id: OrganizationId) -> &str {
        self.find(id).map_or("", |organization| &organization.name)
    }

    fn find(&self, id: OrganizationId) -> Option<&RegisteredOrganization> {
        self.found.iter().find(|organization| organization.id == id)
    }
}

/// The kinds of records that are identified by a GUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Computer,
    Device,
    Queue,
    Job,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Computer => "computer",
            Self::Device => "device",
            Self::Queue => "queue",
            Self::Job => "job",
        }
    }

    /// The records of this kind that an organization has.
    fn records(self, organization: &FleetOrganization) -> Vec<NamedRecord> {
        type Registered<'a> = (FleetRecord, Uuid, Option<&'a str>, Option<&'a str>);
        let of = |(record, guid, name, serial_number): Registered<'_>| NamedRecord {
            organization: organization.name.clone(),
            guid,
            name: name.map_or_else(|| guid.to_string(), str::to_owned),
            is_removed: organization.retired.contains(&record),
            serial_number: serial_number.map(Folded::of),
            record,
        };
        let FleetOrganization { computers, devices, queues, jobs, .. } = organization;
        match self {
            Self::Computer => {
                let all = computers.iter();
                all.map(|it| {
                    (FleetRecord::Computer(it.guid), it.guid.as_uuid(), it.name.as_deref(), it.serial_number.as_deref())
                })
                .map(of)
                .collect()
            }
            Self::Device => {
                let all = devices.iter();
                all.map(|it| of((FleetRecord::Device(it.guid), it.guid.as_uuid(), it.name.as_deref(), None))).collect()
            }
            Self::Queue => {
                let all = queues.iter();
                all.map(|it| of((FleetRecord::Queue(it.guid), it.guid.as_uuid(), it.name.as_deref(), None))).collect()
            }
            Self::Job => {
                let all = jobs.iter();
                all.map(|it| of((FleetRecord::Job(it.guid), it.guid.as_uuid(), it.name.as_deref(), None))).collect()
            }
        }
    }
}

/// A record that is identified by a GUID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedRecord {
    pub(super) organization: String,
    pub(super) record: FleetRecord,
    pub(super) guid: Uuid,
    /// The GUID if it was registered without a name.
    pub(super) name: String,
    pub(super) is_removed: bool,
    serial_number: Option<Folded>,
}

/// The records of one kind of the organizations that a command shows, the removed ones too.
pub(super) struct Records {
    kind: Kind,
    records: Vec<NamedRecord>,
}

impl Records {
    pub(super) async fn read(fleet: &FleetService, organizations: &Organizations, kind: Kind) -> Result<Self> {
        let mut records = Vec::new();
        for organization in organizations.iter() {
            let registered = fleet.registered(Some(&organization.name)).await?.organizations;
            records.extend(registered.iter().flat_map(|organization| kind.records(organization)));
        }
        Ok(Self { kind, records })
    }

    #[cfg(test)]
    pub(super) fn of_test(kind: Kind, organizations: &[FleetOrganization]) -> Self {
        Self { kind, records: organizations.iter().flat_map(|organization| kind.records(organization)).collect() }
    }

    /// The record of this GUID.
    pub(super) fn of_guid(&self, guid: Uuid) -> Option<&NamedRecord> {
        self.records.iter().find(|record| record.guid == guid)
    }

    /// The computer that is registered under this serial number (decision A7), if it is the only one: a removed computer only
    /// where no other one has the number.
    pub(super) fn of_serial_number(&self, serial_number: &str) -> Option<&NamedRecord> {
        let wanted = Some(Folded::of(serial_number));
        let mut found = self.all(|computer| computer.serial_number == wanted);
        if found.len() > 1 {
            found.retain(|computer| !computer.is_removed);
        }
        if let [one] = found[..] { Some(one) } else { None }
    }

    /// The record that an operator names: by its GUID, by its name without case, or by the unique beginning of its GUID.
    pub(super) fn named(&self, text: &str) -> Result<&NamedRecord> {
        self.find(text)?.with_context(|| format!("{} \"{text}\" is not registered", self.kind.word()))
    }

    /// The same, or `None` where no record is named so.
    pub(super) fn find(&self, text: &str) -> Result<Option<&NamedRecord>> {
        if let Some(found) = parse_guid(text).and_then(|guid| self.of_guid(guid)) {
            return Ok(Some(found));
        }
        let name = Folded::of(text);
        let mut found = self.all(|record| Folded::of(&record.name) == name);
        if let Some(prefix) = IdPrefix::parse(text).filter(|_| found.is_empty()) {
            found = self.all(|record| prefix.fits(&record.guid));
        }
        if found.len() <= 1 {
            return Ok(found.pop());
        }
        let shown = |it: &NamedRecord| {
            let mark = if it.is_removed { " (removed)" } else { "" };
            format!("{} \"{}\" of \"{}\"{mark}", it.guid, it.name, it.organization)
        };
        let (kind, all) = (self.kind.word(), found.into_iter().map(shown).collect::<Vec<_>>());
        bail!("{kind} \"{text}\" is one of {}; give its GUID or --organization", all.join(", "))
    }

    fn all(&self, is_wanted: impl Fn(&NamedRecord) -> bool) -> Vec<&NamedRecord> {
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
    use domain::fleet::{Computer, Device, Fleet, FleetRegistry};
    use domain::guid::ComputerGuid;
    use domain::testing::{ACME, InMemoryStore, ZENITH, a_fleet, acme_records, at, numbered};
    use futures_util::stream;

    fn computer(guid: Uuid, name: Option<&str>, serial_number: Option<&str>) -> Computer {
        let [name, serial_number] = [name, serial_number].map(|text| text.map(str::to_owned));
        Computer { guid: ComputerGuid::from(guid), name, hardware_hash: None, serial_number, user: None }
    }

    fn computers(computers: Vec<Computer>) -> Records {
        let organization = FleetOrganization { name: ACME.to_owned(), computers, ..FleetOrganization::default() };
        Records::of_test(Kind::Computer, &[organization])
    }

    #[test]
    fn a_computer_is_found_by_name_guid_and_serial_number() {
        let named = |number, name, serial_number| computer(numbered(number), Some(name), Some(serial_number));
        let computers =
            computers(vec![named(1, "RIP-01", "SN-1"), named(2, "RIP-02", "SN-2"), named(3, "rip-02", "sn-2")]);
        assert_eq!(computers.named("rip-01").unwrap().guid, numbered(1));
        assert_eq!(computers.named(&numbered(2).to_string()).unwrap().guid, numbered(2));
        let unknown = computers.named("RIP-03").unwrap_err().to_string();
        assert_eq!(unknown, "computer \"RIP-03\" is not registered");
        for ambiguous in ["RIP-02", "0"] {
            let ambiguous = computers.named(ambiguous).unwrap_err().to_string();
            assert!(ambiguous.contains(&numbered(3).to_string()), "{ambiguous}");
            assert!(ambiguous.ends_with("give its GUID or --organization"), "{ambiguous}");
        }
        let of_serial_number = |text| computers.of_serial_number(text).map(|found| found.guid);
        assert_eq!(of_serial_number("sn-1"), Some(numbered(1)), "decision A7");
        assert_eq!(of_serial_number("SN-2"), None, "two have it");
        let removed = |numbers: &[u128]| {
            let [first, other] = [named(1, "old", "SN-1"), named(2, "new", "SN-1")];
            let retired = numbers.iter().map(|number| FleetRecord::Computer(numbered(*number).into())).collect();
            let organization =
                FleetOrganization { computers: vec![first, other], retired, ..FleetOrganization::default() };
            Records::of_test(Kind::Computer, &[organization]).of_serial_number("SN-1").map(|found| found.guid)
        };
        assert_eq!((removed(&[]), removed(&[1]), removed(&[1, 2])), (None, Some(numbered(2)), None));
    }

    #[test]
    fn a_record_is_found_by_the_unique_beginning_of_its_guid() {
        let [one, other] = ["88de5c02-cce6-411f-950f-be309caa4439", "99de5c02-cce6-411f-950f-be309caa4439"]
            .map(|it| parse_guid(it).unwrap());
        let computers = computers(vec![computer(one, None, None), computer(other, Some("88"), None)]);
        assert_eq!(computers.named("88DE").unwrap().guid, one);
        assert_eq!(computers.named("88").unwrap().guid, other, "a name comes first");
    }

    #[test]
    fn every_kind_of_record_is_found_and_a_guid_wins_over_a_name() {
        let (Fleet { mut organizations }, own) = (a_fleet(), acme_records());
        let name = Some(own.device.to_string());
        organizations[1].devices.push(Device { guid: numbered(9).into(), name });
        for (kind, name, guid, record) in [
            (Kind::Computer, "rip-01", own.computer.as_uuid(), FleetRecord::Computer(own.computer)),
            (Kind::Device, "LATEX 1", own.device.as_uuid(), FleetRecord::Device(own.device)),
            (Kind::Queue, "banner", own.queue.as_uuid(), FleetRecord::Queue(own.queue)),
            (Kind::Job, "order 17", own.job.as_uuid(), FleetRecord::Job(own.job)),
        ] {
            let records = Records::of_test(kind, &organizations);
            let found = records.named(name).unwrap();
            assert_eq!((&found.record, &*found.organization), (&record, ACME));
            assert_eq!(records.named(&guid.to_string()).unwrap(), found);
        }
    }

    #[test]
    fn a_removed_record_is_marked_where_several_have_its_name() {
        let mut organizations = a_fleet().organizations;
        let guid = organizations[1].devices[0].guid;
        organizations[1].devices[0].name = Some("latex 1".to_owned());
        organizations[1].retired.insert(FleetRecord::Device(guid));
        let devices = Records::of_test(Kind::Device, &organizations);
        let ambiguous = devices.named("Latex 1").unwrap_err().to_string();
        let expected = format!(
            "{} \"Latex 1\" of \"{ACME}\", {guid} \"latex 1\" of \"{ZENITH}\" (removed)",
            acme_records().device
        );
        assert!(ambiguous.contains(&expected), "{ambiguous}");
    }

    #[tokio::test]
    async fn an_organization_is_found_by_its_name_without_case_or_by_its_beginning() {
        // Decision R14.
        let store = InMemoryStore::new();
        for name in ["Acme", "Acme Print", "ACME PRINT", "Straße Nord", "Zenith"] {
            let organization = FleetOrganization { name: name.to_owned(), ..FleetOrganization::default() };
            store.apply(&Fleet { organizations: vec![organization] }, &[], at(0)).await.unwrap();
        }
        let found = async |text: &str| Organizations::name_of(&store, text).await.map_err(|error| error.to_string());
        for (text, name) in [
            ("Acme", "Acme"),
            ("acme", "Acme"),
            ("ACME PRINT", "ACME PRINT"),
            ("STRASSE", "Straße Nord"),
            ("z", "Zenith"),
        ] {
            assert_eq!(found(text).await.as_deref(), Ok(name), "{text}");
        }
        for (text, problem) in
            [("acme print", "is one of \"ACME PRINT\", \"Acme Print\""), ("AC", "is one of"), ("", "not registered")]
        {
            assert!(found(text).await.unwrap_err().contains(problem), "{text}");
        }
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
