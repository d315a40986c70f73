//! Every operation of the interface with everything that it can be called for, and the requests that they are.

use super::world::{self, Kind, Org, Resource};
use crate::support::client::Client;
use crate::support::content::sha1;
use crate::support::form::{self, Part};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, RequestBuilder};
use serde_json::{Map, Value, json};

/// One operation with what it is called for.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Status,
    /// With the caller's organization.
    Add(Resource),
    File(String),
    Head(String),
    Info(String),
    Delete(Option<String>),
    List {
        types: &'static str,
        domain: Option<bool>,
    },
    Pmm(String),
    Log {
        references: Vec<(Kind, String)>,
        text: String,
    },
    Logs(Filter),
    Crash,
    DeviceStatus(String),
}

/// What logs are listed by.
#[derive(Debug, Clone)]
pub(super) enum Filter {
    All,
    Computer(Org),
    User(Org),
    Serial(String),
}

const UNKNOWN: &str = "ffffffff-0000-4000-8000-00000000000f";

/// All calls. Those that read stand before those that change what they read.
pub(super) fn all() -> Vec<Call> {
    let mut calls = vec![Call::Status, Call::Crash, Call::Delete(None)];
    for types in ["*", "label", "Template"] {
        calls.extend([None, Some(false), Some(true)].map(|domain| Call::List { types, domain }));
    }
    for guid in world::targets() {
        calls.push(Call::Pmm(world::profile_group(&guid)));
        calls.extend([Call::File, Call::Head, Call::Info].map(|call| call(guid.clone())));
    }
    for guid in world::targets() {
        calls.push(Call::Delete(Some(guid.clone())));
        // An update that is newer than all before, and one that is older than any.
        calls.extend(
            [u32::MAX, 0]
                .map(|second| Call::Add(Resource { org: Org::Acme, guid: guid.clone(), is_public: false, second })),
        );
    }
    calls.extend(log_references().into_iter().map(|references| Call::Log { references, text: String::new() }));
    calls.extend([Filter::All, Filter::Serial("sn-acme".to_owned())].map(Call::Logs));
    for org in [Org::Acme, Org::Zenith] {
        calls.extend([Filter::Computer(org), Filter::User(org), Filter::Serial(org.serial())].map(Call::Logs));
        calls.push(Call::DeviceStatus(org.record(Kind::Device)));
    }
    calls.push(Call::DeviceStatus(UNKNOWN.to_owned()));
    calls
}

/// Each kind of record of each organization and an unknown one, with the others of Acme; and all of one organization.
fn log_references() -> Vec<Vec<(Kind, String)>> {
    let kinds = [Kind::Computer, Kind::Device, Kind::Queue, Kind::Job];
    let of = |org: Org, kinds: &[Kind]| kinds.iter().map(|kind| (*kind, org.record(*kind))).collect::<Vec<_>>();
    let mut all = Vec::new();
    for org in [Org::Acme, Org::Zenith] {
        all.extend((1..=kinds.len()).map(|count| of(org, &kinds[..count])));
        all.extend(kinds[1..].iter().map(|kind| of(org, &[Kind::Computer, *kind])));
    }
    for place in 0..kinds.len() {
        for guid in [Org::Zenith.record(kinds[place]), UNKNOWN.to_owned(), "no-guid-at-all".to_owned()] {
            let mut references = of(Org::Acme, &kinds);
            references[place].1 = guid;
            all.push(references);
        }
    }
    all
}

impl Call {
    /// The same call of one occasion: what it sends is of the caller's organization, and no two times the same.
    pub(super) fn at(&self, org: Org, occasion: u32) -> Self {
        match self {
            Self::Add(resource) => {
                let second = if resource.second == 0 { 0 } else { occasion };
                Self::Add(Resource { org, second, ..resource.clone() })
            }
            Self::Log { references, .. } => {
                Self::Log { references: references.clone(), text: format!("entry {occasion} of {org:?}") }
            }
            other => other.clone(),
        }
    }

    /// The operation as the OpenAPI document names it.
    pub(super) fn operation(&self) -> &'static str {
        match self {
            Self::Status => "server_status",
            Self::Add(_) => "add_resource",
            Self::File(_) | Self::Head(_) => "get_file",
            Self::Info(_) => "resource_info",
            Self::Delete(None) => "delete_resource_without_guid",
            Self::Delete(Some(_)) => "delete_resource",
            Self::List { .. } => "list_resources",
            Self::Pmm(_) => "find_by_pmm",
            Self::Log { .. } => "add_log",
            Self::Logs(_) => "list_logs",
            Self::Crash => "add_crash_report",
            Self::DeviceStatus(_) => "update_device_status",
        }
    }

    /// Whether it changes what is stored where it succeeds.
    pub(super) fn changes(&self) -> bool {
        matches!(self, Self::Add(_) | Self::Delete(_) | Self::Log { .. } | Self::Crash | Self::DeviceStatus(_))
    }

    /// The request, but for the authentication headers.
    pub(super) fn request(&self, client: &Client) -> RequestBuilder {
        let resource = |guid: &str| format!("/api/v2/resource/{guid}");
        match self {
            Self::Status => client.request(Method::GET, "/api/v2"),
            Self::Add(resource) => add(client, resource),
            Self::File(guid) => client.request(Method::GET, &resource(guid)),
            Self::Head(guid) => client.request(Method::HEAD, &resource(guid)),
            Self::Info(guid) => client.request(Method::GET, &format!("/api/v2/resource/info/{guid}")),
            Self::Delete(guid) => client.request(Method::DELETE, &resource(guid.as_deref().unwrap_or_default())),
            Self::List { types, domain } => {
                let domain = domain.map(|is_public| if is_public { "Public" } else { "Private" });
                post(client, "resource/list", &json!({ "ResourceTypes": [types], "Domain": domain }))
            }
            Self::Pmm(group) => {
                let body = json!({ "ProfileGroup": group, "Media": "SATIN", "Mode": "8 Pass" });
                post(client, "resource/pmminfo", &body)
            }
            Self::Log { references, text } => {
                let mut body = Map::from_iter([
                    ("Type".to_owned(), json!("log")),
                    ("Description".to_owned(), json!(if text.is_empty() { "never kept" } else { text })),
                ]);
                body.extend(references.iter().map(|(kind, guid)| (format!("{kind:?}GUID"), json!(guid))));
                post(client, "log", &Value::Object(body))
            }
            Self::Logs(filter) => post(client, "log/list", &filter.body()),
            Self::Crash => form(client, "log/crashreport", &[("CallStack", "text/plain", b"main")]),
            Self::DeviceStatus(device) => {
                let body = json!({ "DeviceGUID": device, "Status": "Idle", "QueueLength": { "Sheets": 3 } });
                post(client, "device/status", &body)
            }
        }
    }
}

impl Filter {
    fn body(&self) -> Value {
        match self {
            Self::All => json!({ "LogType": "Log" }),
            Self::Computer(org) => json!({ "Computer": org.record_name(Kind::Computer) }),
            Self::User(org) => json!({ "User": org.user(), "Source": "*" }),
            Self::Serial(serial) => json!({ "SerialNumber": serial }),
        }
    }
}

pub(super) fn add(client: &Client, resource: &Resource) -> RequestBuilder {
    let content = resource.content();
    let description = json!({
        "ResourceGUID": resource.guid, "ResourceChecksum": sha1(content.as_bytes()), "ResourceType": "Label",
        "Domain": resource.domain(), "Meta": resource.meta(),
    });
    let description = description.to_string();
    let parts: [Part<'_>; 2] = [
        ("JsonString", "application/json", description.as_bytes()),
        ("file", "application/octet-stream", content.as_bytes()),
    ];
    form(client, "resource", &parts).header("Timestamp", resource.timestamp())
}

fn post(client: &Client, path: &str, body: &Value) -> RequestBuilder {
    client.post(&format!("/api/v2/{path}")).header(CONTENT_TYPE, "application/json").body(body.to_string())
}

fn form(client: &Client, path: &str, parts: &[Part<'_>]) -> RequestBuilder {
    let request = client.post(&format!("/api/v2/{path}"));
    request.header(CONTENT_TYPE, form::CONTENT_TYPE).body(form::of(parts))
}
