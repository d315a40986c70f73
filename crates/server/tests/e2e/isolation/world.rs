//! The organizations of the test, what is registered and stored of each, and every way to call.

use serde_json::{Value, json};

/// An organization; each text of it holds its name, so that whatever escapes is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Org {
    Acme,
    /// Another customer, whose Public resources other customers can't see.
    Zenith,
    /// Two publishers (decision T15).
    Vendor,
    Maker,
}

pub(super) const ORGS: [Org; 4] = [Org::Acme, Org::Zenith, Org::Vendor, Org::Maker];

/// A record of the fleet, by the place of its GUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Computer = 1,
    Device,
    Queue,
    Job,
}

impl Org {
    pub(super) fn name(self) -> String {
        format!("{self:?}")
    }

    pub(super) fn is_publisher(self) -> bool {
        matches!(self, Self::Vendor | Self::Maker)
    }

    pub(super) fn record(self, kind: Kind) -> String {
        format!("{:08x}-0000-4000-8000-{:012x}", self as u32 + 1, kind as u32)
    }

    pub(super) fn record_name(self, kind: Kind) -> String {
        format!("{kind:?} of {self:?}")
    }

    pub(super) fn user(self) -> String {
        format!("User of {self:?}")
    }

    pub(super) fn key(self) -> String {
        format!("the-key-of-{self:?}-0001")
    }

    pub(super) fn revoked_key(self) -> String {
        format!("the-revoked-key-of-{self:?}")
    }

    pub(super) fn hash(self) -> String {
        format!("HH-{self:?}")
    }

    /// The hash that the computer had before.
    pub(super) fn revoked_hash(self) -> String {
        format!("FORMER-HH-{self:?}")
    }

    pub(super) fn serial(self) -> String {
        format!("SN-{self:?}")
    }
}

/// The fleet with the former hashes of the computers, or the present ones.
pub(super) fn fleet(hash: fn(Org) -> String) -> String {
    let organizations = ORGS.map(|org| {
        json!({
            "name": org.name(),
            "publisher": org.is_publisher(),
            "users": [
                { "name": org.user(), "mis_key": org.key() },
                { "name": "Gone", "mis_key": org.revoked_key() },
            ],
            "computers": [ {
                "guid": org.record(Kind::Computer), "name": org.record_name(Kind::Computer),
                "hardware_hash": hash(org), "serial_number": org.serial(), "user": org.user(),
            } ],
            "devices": [ { "guid": org.record(Kind::Device), "name": org.record_name(Kind::Device) } ],
            "queues": [ {
                "guid": org.record(Kind::Queue), "name": org.record_name(Kind::Queue), "uses": uses(org),
            } ],
            "jobs": [ { "guid": org.record(Kind::Job), "name": org.record_name(Kind::Job) } ],
        })
    });
    json!({ "organizations": organizations }).to_string()
}

/// What the queue of an organization uses; Acme's also lists a resource that only Zenith has.
fn uses(org: Org) -> Vec<String> {
    if org == Org::Acme { vec![guid(OWN_USED), guid(OTHERS_PRIVATE)] } else { Vec::new() }
}

pub(super) fn is_used(org: Org, of: &str) -> bool {
    uses(org).iter().any(|used| used == of)
}

pub(super) const OWN_PRIVATE: u32 = 1;
const OWN_PUBLIC: u32 = 2;
const OWN_USED: u32 = 3;
pub(super) const OTHERS_PRIVATE: u32 = 4;
const OTHERS_PUBLIC: u32 = 5;
const PUBLISHED: u32 = 6;
const PUBLISHERS_PRIVATE: u32 = 7;
const EVERYBODYS: u32 = 8;
const PUBLISHED_BESIDE_ANOTHERS: u32 = 9;
const UNKNOWN: u32 = 10;

/// What all GUIDs of resources begin with.
const GUIDS: &str = "aaaaaaaa-bbbb-4ccc-8ddd-";

/// The GUIDs that operations are called with, and a text that is none.
pub(super) fn targets() -> Vec<String> {
    (OWN_PRIVATE..=UNKNOWN).map(guid).chain(["no-guid-at-all".to_owned()]).collect()
}

pub(super) fn guid(number: u32) -> String {
    format!("{GUIDS}{number:012}")
}

/// A resource as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resource {
    pub(super) org: Org,
    pub(super) guid: String,
    pub(super) is_public: bool,
    /// Seconds of an hour in 2026: its Timestamp.
    pub(super) second: u32,
}

impl Resource {
    pub(super) fn name(&self) -> String {
        format!("Resource {} of {:?}", self.guid.trim_start_matches(GUIDS), self.org)
    }

    pub(super) fn content(&self) -> String {
        format!("{} as of {}", self.name(), self.second)
    }

    pub(super) fn timestamp(&self) -> String {
        format!("2026-05-04T{:02}:{:02}:{:02}Z", self.second / 3600, self.second / 60 % 60, self.second % 60)
    }

    pub(super) fn domain(&self) -> &'static str {
        if self.is_public { "Public" } else { "Private" }
    }

    /// What the PMM look-up compares; that of resource 1 and of resource 4 is one, whoever has it.
    pub(super) fn profile_group(&self) -> String {
        profile_group(&self.guid)
    }

    pub(super) fn meta(&self) -> Value {
        json!({ "Name": self.name(), "ProfileGroup": self.profile_group(), "Media": "Satin", "Mode": "8 pass" })
    }
}

pub(super) fn profile_group(of: &str) -> String {
    let shared = [OWN_PRIVATE, OTHERS_PRIVATE].map(guid);
    if shared.iter().any(|guid| guid == of) { "shared".to_owned() } else { format!("group of {of}") }
}

/// What is stored before the first call.
pub(super) fn resources() -> Vec<Resource> {
    let (private, public) = (false, true);
    let all = [
        (OWN_PRIVATE, Org::Acme, private, 1),
        (OWN_PUBLIC, Org::Acme, public, 1),
        (OWN_USED, Org::Acme, private, 1),
        (OTHERS_PRIVATE, Org::Zenith, private, 9),
        (OTHERS_PUBLIC, Org::Zenith, public, 9),
        // Of several publishers the newest Public one counts.
        (PUBLISHED, Org::Vendor, public, 3),
        (PUBLISHED, Org::Maker, public, 5),
        (PUBLISHERS_PRIVATE, Org::Vendor, private, 9),
        (EVERYBODYS, Org::Acme, private, 1),
        (EVERYBODYS, Org::Zenith, public, 7),
        (EVERYBODYS, Org::Vendor, public, 8),
        (EVERYBODYS, Org::Maker, private, 9),
        (PUBLISHED_BESIDE_ANOTHERS, Org::Zenith, public, 9),
        (PUBLISHED_BESIDE_ANOTHERS, Org::Maker, public, 2),
    ];
    let resource = |(number, org, is_public, second)| Resource { org, guid: guid(number), is_public, second };
    all.into_iter().map(resource).collect()
}

/// A credential that is sent, as what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    Of(Org),
    Revoked(Org),
    Unknown,
    Empty,
}

/// The authentication headers of a request; each may be there several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Headers {
    pub(super) mis_key: Vec<Sent>,
    pub(super) hardware_hash: Vec<Sent>,
    pub(super) serial: Option<String>,
    pub(super) version: Option<&'static str>,
}

impl Headers {
    pub(super) fn key_of(org: Org) -> Self {
        Self { mis_key: vec![Sent::Of(org)], hardware_hash: vec![], serial: Some(org.serial()), version: Some("1.2.3") }
    }

    /// Whether a MisKey and a HardwareHash are sent.
    pub(super) fn kinds(&self) -> (bool, bool) {
        let is_sent = |values: &[Sent]| values.iter().any(|value| *value != Sent::Empty);
        (is_sent(&self.mis_key), is_sent(&self.hardware_hash))
    }

    /// Names and values as they go over the connection.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let key = |sent: &Sent| match sent {
            Sent::Of(org) => org.key(),
            Sent::Revoked(org) => org.revoked_key(),
            Sent::Unknown => "a-key-that-nobody-has".to_owned(),
            Sent::Empty => String::new(),
        };
        let hash = |sent: &Sent| match sent {
            Sent::Of(org) => org.hash(),
            Sent::Revoked(org) => org.revoked_hash(),
            Sent::Unknown => "a-hash-that-nobody-has".to_owned(),
            Sent::Empty => String::new(),
        };
        let keys = self.mis_key.iter().map(|sent| ("MisKey", key(sent)));
        let hashes = self.hardware_hash.iter().map(|sent| ("HardwareHash", hash(sent)));
        let serial = self.serial.iter().map(|serial| ("SerialNumber", serial.clone()));
        let version = self.version.iter().map(|version| ("ApplicationVersion", (*version).to_owned()));
        keys.chain(hashes).chain(serial).chain(version).collect()
    }
}

/// Every way to call: own, another's, revoked, unknown, missing, empty, repeated and mixed credentials of each kind
/// with each other; serial numbers and versions that are wrong or missing with some of them.
pub(super) fn all_headers() -> Vec<Headers> {
    let (own, other) = (Sent::Of(Org::Acme), Sent::Of(Org::Zenith));
    let single: [&[Sent]; 6] = [&[], &[own], &[other], &[Sent::Revoked(Org::Acme)], &[Sent::Unknown], &[Sent::Empty]];
    let repeated: [&[Sent]; 2] = [&[own, own], &[own, other]];
    let mut pairs: Vec<_> = single.into_iter().flat_map(|key| single.map(|hash| (key, hash))).collect();
    for repeated in repeated {
        pairs.extend(single[..2].iter().flat_map(|other| [(repeated, *other), (*other, repeated)]));
    }
    let mut all = Vec::new();
    for (mis_key, hardware_hash) in pairs {
        // The serial number of the named computer; with a key alone, any.
        let org = if hardware_hash.first() == Some(&other) { Org::Zenith } else { Org::Acme };
        let sent = |serial: Option<String>, version| Headers {
            mis_key: mis_key.to_vec(),
            hardware_hash: hardware_hash.to_vec(),
            serial,
            version,
        };
        all.push(sent(Some(org.serial()), Some("1.2.3")));
        if [mis_key, hardware_hash].iter().all(|values| values.is_empty() || *values == [own]) {
            let serials = [None, Some(String::new()), Some("sn-ACME".to_owned()), Some(Org::Zenith.serial())];
            all.extend(serials.map(|serial| sent(serial, Some("1.2.3"))));
            all.extend([None, Some("")].map(|version| sent(Some(org.serial()), version)));
        }
    }
    all.extend([Org::Vendor, Org::Maker].map(Headers::key_of));
    all
}
