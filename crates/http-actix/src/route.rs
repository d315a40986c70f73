//! The one table of routes: which operation a method and a path name (decisions R1, R3, R8).

use crate::docs::Page;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    ServerStatus,
    AddResource,
    GetFile,
    DeleteResource,
    ListResources,
    ResourceInfo,
    FindByPmm,
    AddLog,
    ListLogs,
    AddCrashReport,
    UpdateDeviceStatus,
    Live,
    Ready,
    Metrics,
    /// The OpenAPI document.
    Document,
    /// The document as pages for people.
    Docs(Page),
}

impl Operation {
    /// The name in logs and metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ServerStatus => "server_status",
            Self::AddResource => "add_resource",
            Self::GetFile => "get_file",
            Self::DeleteResource => "delete_resource",
            Self::ListResources => "list_resources",
            Self::ResourceInfo => "resource_info",
            Self::FindByPmm => "find_by_pmm",
            Self::AddLog => "add_log",
            Self::ListLogs => "list_logs",
            Self::AddCrashReport => "add_crash_report",
            Self::UpdateDeviceStatus => "update_device_status",
            Self::Live => "health_live",
            Self::Ready => "health_ready",
            Self::Metrics => "metrics",
            Self::Document => "openapi",
            Self::Docs(_) => "docs",
        }
    }

    /// Whether it is answered without credentials.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Live | Self::Ready | Self::Metrics | Self::Document | Self::Docs(_))
    }
}

/// The listener at which a request arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Api,
    Ops,
}

/// Where a template hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Under `{base_path}/api/v2` of the API listener.
    Api,
    /// Under `{base_path}/api`: what describes the interface whatever its version.
    Docs,
    /// At the root of both listeners, whatever the base path.
    Health,
    /// At the root of the operator's listener.
    Ops,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Delete,
}

impl Verb {
    fn takes(self, method: &str) -> bool {
        match self {
            // HEAD works where GET does (decision R8).
            Self::Get => matches!(method, "GET" | "HEAD"),
            Self::Post => method == "POST",
            Self::Delete => method == "DELETE",
        }
    }

    fn allow(self) -> &'static str {
        match self {
            Self::Get => "GET, HEAD",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// Stands in a template for the GUID of a record.
const GUID: &str = "{guid}";

pub(crate) struct Route {
    place: Place,
    /// Fixed segments; in some routes the last is [`GUID`].
    template: &'static str,
    pub(crate) operations: &'static [(Verb, Operation)],
}

impl Route {
    /// The path after the base path.
    pub(crate) fn path(&self) -> String {
        let before = match self.place {
            Place::Api => "/api/v2/",
            Place::Docs => "/api/",
            Place::Health | Place::Ops => "/",
        };
        format!("{before}{}", self.template).trim_end_matches('/').to_owned()
    }

    pub(crate) fn has_guid(&self) -> bool {
        self.template.ends_with(GUID)
    }

    /// Whether no base path stands before it.
    pub(crate) fn is_at_root(&self) -> bool {
        matches!(self.place, Place::Health | Place::Ops)
    }
}

/// The routes of the API listener, in the order of the document.
pub(crate) fn documented() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.place != Place::Ops)
}

const fn route(place: Place, template: &'static str, operations: &'static [(Verb, Operation)]) -> Route {
    Route { place, template, operations }
}

/// The first template that fits decides: what is literal stands before what holds a GUID.
static ROUTES: [Route; 19] = [
    route(Place::Api, "", &[(Verb::Get, Operation::ServerStatus)]),
    // Deleting without a GUID has an answer of its own (decision T16).
    route(Place::Api, "resource", &[(Verb::Post, Operation::AddResource), (Verb::Delete, Operation::DeleteResource)]),
    route(Place::Api, "resource/list", &[(Verb::Post, Operation::ListResources)]),
    route(Place::Api, "resource/pmminfo", &[(Verb::Post, Operation::FindByPmm)]),
    route(Place::Api, "resource/info/{guid}", &[(Verb::Get, Operation::ResourceInfo)]),
    route(Place::Api, "resource/{guid}", &[(Verb::Get, Operation::GetFile), (Verb::Delete, Operation::DeleteResource)]),
    route(Place::Api, "log", &[(Verb::Post, Operation::AddLog)]),
    route(Place::Api, "log/list", &[(Verb::Post, Operation::ListLogs)]),
    route(Place::Api, "log/crashreport", &[(Verb::Post, Operation::AddCrashReport)]),
    route(Place::Api, "device/status", &[(Verb::Post, Operation::UpdateDeviceStatus)]),
    route(Place::Docs, "openapi.json", &[(Verb::Get, Operation::Document)]),
    route(Place::Docs, "docs", &[(Verb::Get, Operation::Docs(Page::Index))]),
    route(Place::Docs, "docs/start.js", &[(Verb::Get, Operation::Docs(Page::Start))]),
    route(Place::Docs, "docs/swagger-ui-bundle.js", &[(Verb::Get, Operation::Docs(Page::Script))]),
    route(Place::Docs, "docs/swagger-ui.css", &[(Verb::Get, Operation::Docs(Page::Style))]),
    route(Place::Docs, "docs/favicon-32x32.png", &[(Verb::Get, Operation::Docs(Page::Icon))]),
    route(Place::Health, "health/live", &[(Verb::Get, Operation::Live)]),
    route(Place::Health, "health/ready", &[(Verb::Get, Operation::Ready)]),
    route(Place::Ops, "metrics", &[(Verb::Get, Operation::Metrics)]),
];

/// What a method and a path name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Match {
    Found {
        operation: Operation,
        /// The segment in place of `{guid}`, decoded.
        guid: Option<String>,
    },
    NoPath,
    /// The path exists for these methods only.
    NoMethod {
        allow: String,
    },
}

/// The routes of one listener.
#[derive(Debug, Clone)]
pub(crate) struct Router {
    side: Side,
    /// The segments before those of a template of the documentation: the base path, `api`.
    docs: Vec<String>,
    /// The same of an API template: `v2` beside.
    api: Vec<String>,
}

impl Router {
    pub(crate) fn new(side: Side, base_path: &str) -> Self {
        let base = base_path.split('/').filter(|segment| !segment.is_empty());
        let docs: Vec<String> = base.chain(["api"]).map(str::to_owned).collect();
        let api = docs.iter().cloned().chain(["v2".to_owned()]).collect();
        Self { side, docs, api }
    }

    pub(crate) fn find(&self, method: &str, path: &str) -> Match {
        let Some(path) = path.strip_prefix('/') else {
            return Match::NoPath;
        };
        // A trailing slash is ignored (decision R8).
        let path = path.strip_suffix('/').unwrap_or(path);
        let segments: Vec<_> = path.split('/').map(|segment| percent_decode_str(segment).decode_utf8_lossy()).collect();
        for route in &ROUTES {
            if self.fits(route, &segments) {
                let guid = segments.last().filter(|_| route.has_guid()).map(ToString::to_string);
                let found = route.operations.iter().find(|(verb, _)| verb.takes(method));
                return match found {
                    Some(&(_, operation)) => Match::Found { operation, guid },
                    None => Match::NoMethod { allow: allow(route) },
                };
            }
        }
        Match::NoPath
    }

    /// Whether the segments are those of the route.
    fn fits(&self, route: &Route, segments: &[Cow<'_, str>]) -> bool {
        let own = match (route.place, self.side) {
            (Place::Api, Side::Api) => strip(segments, &self.api),
            (Place::Docs, Side::Api) => strip(segments, &self.docs),
            (Place::Health, _) | (Place::Ops, Side::Ops) => Some(segments),
            (Place::Api | Place::Docs, Side::Ops) | (Place::Ops, Side::Api) => None,
        };
        let template = route.template.split('/').filter(|segment| !segment.is_empty());
        let matches = |(fixed, segment): (&str, &Cow<'_, str>)| fixed == GUID || fixed.eq_ignore_ascii_case(segment);
        own.is_some_and(|own| template.clone().count() == own.len() && template.zip(own).all(matches))
    }
}

fn strip<'a, 'p>(segments: &'a [Cow<'p, str>], prefix: &[String]) -> Option<&'a [Cow<'p, str>]> {
    let (before, own) = segments.split_at_checked(prefix.len())?;
    before.iter().zip(prefix).all(|(segment, fixed)| segment.eq_ignore_ascii_case(fixed)).then_some(own)
}

fn allow(route: &Route) -> String {
    let allowed: Vec<&str> = route.operations.iter().map(|(verb, _)| verb.allow()).collect();
    allowed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(operation: Operation) -> Match {
        Match::Found { operation, guid: None }
    }

    fn with_guid(operation: Operation, guid: &str) -> Match {
        Match::Found { operation, guid: Some(guid.to_owned()) }
    }

    fn only(allow: &str) -> Match {
        Match::NoMethod { allow: allow.to_owned() }
    }

    #[test]
    fn each_operation_has_its_path() {
        let router = Router::new(Side::Api, "");
        let expected = [
            ("GET", "/api/v2", found(Operation::ServerStatus)),
            ("POST", "/api/v2/resource", found(Operation::AddResource)),
            ("GET", "/api/v2/resource/abc", with_guid(Operation::GetFile, "abc")),
            ("DELETE", "/api/v2/resource/abc", with_guid(Operation::DeleteResource, "abc")),
            ("POST", "/api/v2/resource/list", found(Operation::ListResources)),
            ("GET", "/api/v2/resource/info/abc", with_guid(Operation::ResourceInfo, "abc")),
            ("POST", "/api/v2/resource/pmminfo", found(Operation::FindByPmm)),
            ("POST", "/api/v2/log", found(Operation::AddLog)),
            ("POST", "/api/v2/log/crashreport", found(Operation::AddCrashReport)),
            ("POST", "/api/v2/log/list", found(Operation::ListLogs)),
            ("POST", "/api/v2/device/status", found(Operation::UpdateDeviceStatus)),
            ("GET", "/health/live", found(Operation::Live)),
            ("GET", "/health/ready", found(Operation::Ready)),
        ];
        for (method, path, operation) in expected {
            assert_eq!(router.find(method, path), operation, "{method} {path}");
        }
    }

    #[test]
    fn literal_paths_win_over_guids() {
        // Decisions R1, T16.
        let router = Router::new(Side::Api, "");
        assert_eq!(router.find("GET", "/api/v2/resource"), only("POST, DELETE"));
        assert_eq!(router.find("GET", "/api/v2/resource/list"), only("POST"));
        assert_eq!(router.find("DELETE", "/api/v2/resource/pmminfo"), only("POST"));
        assert_eq!(router.find("GET", "/api/v2/resource/info"), with_guid(Operation::GetFile, "info"));
        assert_eq!(router.find("DELETE", "/api/v2/resource/"), found(Operation::DeleteResource));
        assert_eq!(router.find("POST", "/api/v2/resource/abc"), only("GET, HEAD, DELETE"));
    }

    #[test]
    fn a_base_path_stands_before_the_api_only() {
        let router = Router::new(Side::Api, "/Print/cloud/");
        assert_eq!(router.find("POST", "/print/Cloud/api/v2/log"), found(Operation::AddLog));
        assert_eq!(router.find("POST", "/api/v2/log"), Match::NoPath);
        assert_eq!(router.find("GET", "/health/live"), found(Operation::Live));
    }

    #[test]
    fn the_operators_listener_has_health_and_metrics_only() {
        let router = Router::new(Side::Ops, "");
        assert_eq!(router.find("GET", "/metrics"), found(Operation::Metrics));
        assert_eq!(router.find("HEAD", "/health/ready"), found(Operation::Ready));
        assert_eq!(router.find("GET", "/api/v2"), Match::NoPath);
        assert_eq!(Router::new(Side::Api, "").find("GET", "/metrics"), Match::NoPath);
    }

    #[test]
    fn segments_are_decoded_after_splitting() {
        // Decision R7: braces around a GUID may arrive encoded.
        let router = Router::new(Side::Api, "");
        assert_eq!(router.find("GET", "/api/v2/resource/%7Ba%2Fb%7D"), with_guid(Operation::GetFile, "{a/b}"));
        assert_eq!(router.find("POST", "/api/v2/%6Cog"), found(Operation::AddLog));
    }

    proptest! {
        #[test]
        fn case_and_a_trailing_slash_change_nothing(upper in any::<[bool; 40]>(), slash in any::<bool>()) {
            // Decision R8.
            let router = Router::new(Side::Api, "base");
            for path in ["/base/api/v2/resource/list", "/base/api/v2/log/crashreport", "/base/api/v2/device/status"] {
                let flip = |(letter, upper): (char, &bool)| if *upper { letter.to_ascii_uppercase() } else { letter };
                let mut written: String = path.chars().zip(&upper).map(flip).collect();
                if slash {
                    written.push('/');
                }
                prop_assert_eq!(router.find("POST", &written), router.find("POST", path));
            }
        }

        #[test]
        fn no_path_panics(method in "[A-Z]{0,7}", path in any::<String>()) {
            let _ = Router::new(Side::Api, "").find(&method, &path);
        }
    }
}
