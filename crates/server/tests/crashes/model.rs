//! What the service has acknowledged, and what it may have done besides, since its answer was cut off.

use crate::chance::content;
use crate::support::content::sha1;
use std::collections::BTreeMap;

/// How many clients there are; each has a device and resources of its own.
pub(crate) const CLIENTS: usize = 6;

/// Resources that one client alone changes, and deletes.
pub(crate) const OWN: usize = 2;

/// Resources that all clients update at once.
pub(crate) const SHARED: usize = 2;

/// A version of a resource. Its number orders it, and makes up its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) number: u64,
    pub(crate) size: usize,
}

impl Version {
    pub(crate) fn content(self) -> Vec<u8> {
        content(self.number, self.size)
    }

    pub(crate) fn name(self) -> String {
        format!("version {}", self.number)
    }

    /// Strictly newer than that of any lower number.
    pub(crate) fn timestamp(self) -> String {
        format!("2026-01-01T{:02}:{:02}:{:02}Z", self.number / 3600, self.number / 60 % 60, self.number % 60)
    }
}

/// A resource: `None` stands for its absence.
#[derive(Debug, Default)]
pub(crate) struct Resource {
    /// The newest that was acknowledged.
    kept: Option<Version>,
    /// What was sent and isn't answered.
    pending: Vec<Option<Version>>,
}

impl Resource {
    /// A deletion (`None`) or an upload is on its way.
    pub(crate) fn send(&mut self, change: Option<Version>) {
        self.pending.push(change);
    }

    pub(crate) fn acknowledge(&mut self, change: Option<Version>) {
        self.refuse(change);
        if change.is_none() || is_newer(change, self.kept) {
            self.kept = change;
        }
    }

    /// The service said that it changed nothing.
    pub(crate) fn refuse(&mut self, change: Option<Version>) {
        let place = self.pending.iter().position(|pending| *pending == change).unwrap();
        self.pending.remove(place);
    }

    /// Takes what was found after a restart for the truth from now on, if it may be that.
    pub(crate) fn settle(&mut self, guid: &str, found: Option<(&str, &str)>) {
        let is_found = |version: &Option<Version>| match (version, found) {
            (None, None) => true,
            (Some(version), Some((name, checksum))) => version.name() == name && sha1(&version.content()) == checksum,
            _ => false,
        };
        let pending = self.pending.drain(..).filter(|change| change.is_none() || is_newer(*change, self.kept));
        let allowed: Vec<_> = [self.kept].into_iter().chain(pending).collect();
        let Some(version) = allowed.iter().find(|version| is_found(version)) else {
            panic!("resource {guid}: found {found:?}, allowed {allowed:?}");
        };
        self.kept = *version;
    }

    pub(crate) fn kept(&self) -> Option<Version> {
        self.kept
    }
}

fn is_newer(one: Option<Version>, other: Option<Version>) -> bool {
    one.map(|version| version.number) > other.map(|version| version.number)
}

/// What became of something that is there once or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    InDoubt,
    Acknowledged,
}

/// The status of a device, by the number of which all of its values are made.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Status {
    pub(crate) kept: Option<u64>,
    pub(crate) pending: Option<u64>,
}

/// Everything that the clients have asked for.
#[derive(Debug, Default)]
pub(crate) struct Model {
    next: u64,
    pub(crate) resources: BTreeMap<String, Resource>,
    pub(crate) logs: BTreeMap<String, Fate>,
    /// Crash reports by application, each with its parts as `size checksum`.
    pub(crate) reports: BTreeMap<String, (Vec<String>, Fate)>,
    pub(crate) statuses: [Status; CLIENTS],
    /// How many contents may have been written for requests without an answer.
    pub(crate) doubtful_contents: usize,
    /// How many requests were acknowledged.
    pub(crate) acknowledged: BTreeMap<&'static str, usize>,
}

impl Model {
    /// A number that is higher than all before.
    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(crate) fn resource(&mut self, guid: &str) -> &mut Resource {
        self.resources.entry(guid.to_owned()).or_default()
    }

    pub(crate) fn count(&mut self, kind: &'static str) {
        *self.acknowledged.entry(kind).or_default() += 1;
    }
}

/// The GUID of a resource that `client` owns.
pub(crate) fn own_guid(client: usize, number: usize) -> String {
    format!("00000000-0000-4000-8000-0000{client:04}{number:04}")
}

/// The GUID of a resource that all clients update.
pub(crate) fn shared_guid(number: usize) -> String {
    own_guid(CLIENTS, number)
}

/// The GUID of the device that a client tells of.
pub(crate) fn device(client: usize) -> String {
    format!("00000000-0000-4000-8000-00000000d{client:03}")
}

/// The fleet with those devices.
pub(crate) fn fleet() -> String {
    let devices: Vec<_> = (0..CLIENTS)
        .map(|client| format!(r#"{{ "guid": "{}", "name": "Device {client}" }}"#, device(client)))
        .collect();
    format!(
        r#"{{ "organizations": [ {{ "name": "Acme Print",
        "users": [ {{ "name": "Ann", "mis_key": "{}" }} ],
        "computers": [ {{ "guid": "{}", "name": "RIP-01" }} ],
        "devices": [ {} ] }} ] }}"#,
        crate::support::ANNS_KEY,
        crate::support::COMPUTER,
        devices.join(", ")
    )
}
