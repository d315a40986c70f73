//! What the interface and its decisions say of who reaches what, written a second time by hand: nothing
//! here comes from the program, so that the two can be held against each other.

use super::calls::{Call, Filter};
use super::world::{self, Headers, Kind, ORGS, Org, Resource, Sent};
use crate::support::content::sha1;
use serde_json::{Value, json};

const HEADERS_REQUIRED: &str =
    "“MisKey” or “HardwareHash”, “SerialNumber” and “ApplicationVersion” header are required";

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) org: Org,
    serial: String,
}

/// What is answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Body,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body {
    Json(Value),
    File(String),
    /// Of a HEAD: only how long the body would be, where that is known.
    Head(Option<usize>),
}

fn refused(status: u16, message: &str) -> Answer {
    Answer { status, body: Body::Json(json!({ "Message": message })) }
}

fn answered(value: Value) -> Answer {
    Answer { status: 200, body: Body::Json(value) }
}

/// A header after decision A8.
#[derive(PartialEq, Eq)]
enum Given {
    Missing,
    One(Sent),
    Differing,
}

/// Equal values count once, and an empty one is none.
fn read(values: &[Sent]) -> Given {
    let mut values = values.iter().copied().filter(|value| *value != Sent::Empty);
    match values.next() {
        None => Given::Missing,
        Some(first) if values.all(|value| value == first) => Given::One(first),
        Some(_) => Given::Differing,
    }
}

/// The caller of these headers, or what answers them (decision R1: before all else of the call).
pub(super) fn admit(headers: &Headers, call: &Call) -> Result<Caller, Answer> {
    admit_to(headers, matches!(call, Call::Crash)).map_err(|refused| match call {
        Call::Head(_) => Answer { body: Body::Head(None), ..refused },
        _ => refused,
    })
}

/// On all operations (decisions A2–A4) or on the crash report (decision A5).
fn admit_to(headers: &Headers, is_crash: bool) -> Result<Caller, Answer> {
    let (key, hash) = (read(&headers.mis_key), read(&headers.hardware_hash));
    let is_there = |text: Option<&str>| text.is_some_and(|text| !text.trim().is_empty());
    let (has_serial, has_version) = (is_there(headers.serial.as_deref()), is_there(headers.version));
    let key_holder = match key {
        Given::One(Sent::Of(org)) => Some(org),
        _ => None,
    };
    // Decisions A3, A7.
    let computer = match hash {
        Given::One(Sent::Of(org)) => {
            headers.serial.as_ref().is_some_and(|serial| serial.eq_ignore_ascii_case(&org.serial())).then_some(org)
        }
        _ => None,
    };
    let has_hash = hash != Given::Missing;
    let invalid = if is_crash {
        if !has_hash && key_holder.is_none() {
            return Err(refused(401, "“HardwareHash” header required"));
        }
        if !has_serial {
            return Err(refused(401, "“SerialNumber” header required"));
        }
        if !has_version {
            return Err(refused(401, "“ApplicationVersion” header required"));
        }
        "“HardwareHash” header is invalid"
    } else {
        if (key == Given::Missing && !has_hash) || !has_serial || !has_version {
            return Err(refused(401, HEADERS_REQUIRED));
        }
        if key != Given::Missing && key_holder.is_none() {
            return Err(refused(401, "Invalid MisKey"));
        }
        "Invalid HardwareHash"
    };
    let org = match (key_holder, computer) {
        (Some(org), None) if !has_hash => org,
        (None, Some(org)) => org,
        (Some(org), Some(other)) if org == other => org,
        _ => return Err(refused(401, invalid)),
    };
    Ok(Caller { org, serial: headers.serial.clone().unwrap_or_default() })
}

/// A log entry as it was accepted.
#[derive(Debug, Clone)]
struct Entry {
    caller: Caller,
    source: String,
    text: String,
}

/// What is stored, as far as a client sees it.
pub(super) struct Model {
    pub(super) resources: Vec<Resource>,
    /// Oldest first.
    entries: Vec<Entry>,
}

impl Model {
    pub(super) fn new() -> Self {
        Self { resources: world::resources(), entries: Vec::new() }
    }

    /// What answers an admitted call, which has its effect here if it succeeds.
    pub(super) fn answer(&mut self, caller: &Caller, call: &Call) -> Answer {
        match call {
            Call::Status => answered(json!("Server is running")),
            Call::Add(sent) => self.add(caller, sent),
            Call::File(guid) => self.file(caller, guid),
            Call::Head(guid) => match self.file(caller, guid) {
                Answer { status, body: Body::File(content) } => {
                    Answer { status, body: Body::Head(Some(content.len())) }
                }
                Answer { status, .. } => Answer { status, body: Body::Head(None) },
            },
            Call::Info(guid) => self.info(caller, guid),
            Call::Delete(guid) => self.delete(caller, guid.as_deref()),
            Call::List { types, domain } => self.list(caller, types, *domain),
            Call::Pmm(group) => self.pmm(caller, group),
            Call::Log { references, text } => self.log(caller, references, text),
            Call::Logs(filter) => self.logs(caller, filter),
            Call::Crash => answered(json!("Crash report successfully added")),
            Call::DeviceStatus(device) if *device == caller.org.record(Kind::Device) => {
                answered(json!("Device status successfully updated"))
            }
            // Decision O1.
            Call::DeviceStatus(_) => refused(404, "DeviceGUID is not found"),
        }
    }

    fn own(&self, caller: &Caller, guid: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.org == caller.org && resource.guid == guid)
    }

    /// Decision T15: the caller's own, else the newest Public one of a publisher.
    fn readable(&self, caller: &Caller, guid: &str) -> Option<&Resource> {
        let published = self
            .resources
            .iter()
            .filter(|resource| resource.guid == guid && resource.is_public && resource.org.is_publisher());
        self.own(caller, guid).or_else(|| published.max_by_key(|resource| resource.second))
    }

    /// Decisions R7, T1, T2: other organizations' resources have no say.
    fn add(&mut self, caller: &Caller, sent: &Resource) -> Answer {
        if sent.guid == "no-guid-at-all" {
            return refused(400, "“ResourceGUID” is not a valid GUID");
        }
        if self.own(caller, &sent.guid).is_some_and(|stored| stored.second >= sent.second) {
            return refused(400, "Validation of Timestamp failed");
        }
        self.resources.retain(|resource| (resource.org, &resource.guid) != (caller.org, &sent.guid));
        self.resources.push(sent.clone());
        answered(json!("Resource successfully added"))
    }

    fn file(&self, caller: &Caller, guid: &str) -> Answer {
        match self.readable(caller, guid) {
            Some(resource) => Answer { status: 200, body: Body::File(resource.content()) },
            None => refused(404, "ResourceGUID not found"),
        }
    }

    fn info(&self, caller: &Caller, guid: &str) -> Answer {
        match self.readable(caller, guid) {
            Some(resource) => answered(info_of(resource)),
            None if self.resources.iter().any(|resource| resource.guid == guid) => {
                refused(401, "ResourceGUID no access")
            }
            None => refused(404, "ResourceGUID not found"),
        }
    }

    /// Decisions O3, T15, T16.
    fn delete(&mut self, caller: &Caller, guid: Option<&str>) -> Answer {
        let Some(guid) = guid else {
            return refused(400, "“ResourceGUID” value required");
        };
        if self.own(caller, guid).is_none() {
            return refused(404, "ResourceGUID is not found");
        }
        if world::is_used(caller.org, guid) {
            return refused(400, "Resource still in use");
        }
        self.resources.retain(|resource| (resource.org, resource.guid.as_str()) != (caller.org, guid));
        answered(json!("Resource successfully deleted"))
    }

    /// Decision T19; all resources here are Labels.
    fn list(&self, caller: &Caller, types: &str, domain: Option<bool>) -> Answer {
        let is_listed = |resource: &&Resource| {
            resource.org == caller.org
                && resource.is_public == domain.unwrap_or(false)
                && matches!(types, "*" | "label")
        };
        let mut listed: Vec<_> = self.resources.iter().filter(is_listed).collect();
        listed.sort_by_key(|resource| (resource.name(), resource.guid.clone()));
        let item =
            |resource: &Resource| json!([resource.guid, "Label", sha1(resource.content().as_bytes()), resource.name()]);
        answered(listed.into_iter().map(item).collect())
    }

    /// Decision T20.
    fn pmm(&self, caller: &Caller, group: &str) -> Answer {
        let matching = self
            .resources
            .iter()
            .filter(|resource| resource.org == caller.org && resource.profile_group().eq_ignore_ascii_case(group));
        // The newest, then the lowest GUID.
        match matching.min_by_key(|resource| (u32::MAX - resource.second, resource.guid.clone())) {
            Some(resource) => answered(info_of(resource)),
            None => refused(404, "PMM not found"),
        }
    }

    /// Decisions O1, L2, L4.
    fn log(&mut self, caller: &Caller, references: &[(Kind, String)], text: &str) -> Answer {
        for (kind, guid) in references {
            if *guid != caller.org.record(*kind) {
                return refused(404, &format!("{kind:?}GUID is not found"));
            }
        }
        let named = |kind| references.iter().any(|(sent, _)| *sent == kind).then(|| caller.org.record_name(kind));
        let source = named(Kind::Device).or(named(Kind::Queue)).or(named(Kind::Job)).unwrap_or_default();
        self.entries.push(Entry { caller: caller.clone(), source, text: text.to_owned() });
        answered(json!("Log successfully added"))
    }

    /// Decisions L4, L5, L8.
    fn logs(&self, caller: &Caller, filter: &Filter) -> Answer {
        let is_listed = |entry: &&Entry| {
            let org = entry.caller.org;
            org == caller.org
                && match filter {
                    Filter::All => true,
                    Filter::Computer(of) | Filter::User(of) => *of == org,
                    Filter::Serial(serial) => entry.caller.serial.eq_ignore_ascii_case(serial),
                }
        };
        let output = |entry: &Entry| {
            let org = entry.caller.org;
            json!({
                "User": org.user(), "Source": entry.source, "Version": "1.2.3",
                "Computer": org.record_name(Kind::Computer), "Description": entry.text,
            })
        };
        answered(self.entries.iter().rev().filter(is_listed).map(output).collect())
    }
}

fn info_of(resource: &Resource) -> Value {
    json!({
        "ResourceGUID": resource.guid, "ResourceChecksum": sha1(resource.content().as_bytes()),
        "ResourceType": "Label", "Timestamp": resource.timestamp(), "Domain": resource.domain(),
        "Meta": resource.meta(),
    })
}

/// The organizations of which an answer may tell: the caller's, and those that the rules put into it.
pub(super) fn told_of(caller: Option<&Caller>, answer: &Answer) -> Vec<Org> {
    let text = match &answer.body {
        Body::Json(value) => value.to_string(),
        Body::File(text) => text.clone(),
        Body::Head(_) => String::new(),
    };
    let is_told = |org: &Org| caller.is_some_and(|caller| caller.org == *org) || text.contains(&org.name());
    ORGS.into_iter().filter(is_told).collect()
}
