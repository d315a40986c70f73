//! The operator API over an in-memory store, with operators of every kind.

use actix_web::App;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap};
use actix_web::http::{Method, StatusCode};
use actix_web::test::{TestRequest, call_service, init_service};
use actix_web::web::{Bytes, Data};
use domain::access::Throttle;
use domain::audit::AuditService;
use domain::caller::OrganizationId;
use domain::clock::Clock;
use domain::computer::{ComputerService, ComputerSources};
use domain::crash_analysis::{CrashAnalysis, CrashAnalysisRepository};
use domain::crash_group::{CrashGroupId, CrashGroupService};
use domain::crash_report::{CrashReportReader, CrashReportRepository, NewCrashReport, ReportSources};
use domain::device_board::DeviceBoardService;
use domain::device_status::{DeviceStatus, DeviceStatusRepository, RemainingInk, SILENT_AFTER, Status};
use domain::fleet::FleetRegistry;
use domain::icc::{Gamut, LabPoint, MockProfileReader, ProfileFacts};
use domain::inspection::InspectionRepository;
use domain::limits::Limits;
use domain::operator::{Actor, AddOperator, OperatorName, OperatorService, OrganizationList, Role};
use domain::operator_log::OperatorLogService;
use domain::overview::OverviewService;
use domain::refusal::RefusalService;
use domain::resource::{NewResource, ResourceRepository, StoredContent};
use domain::resource_catalog::ResourceCatalogService;
use domain::search::SearchService;
use domain::session::{SESSION_IDLE, SESSION_LIFETIME, SessionService, SignIn};
use domain::testing::{
    ACME, CountingIds, FixedClock, InMemoryBlobs, InMemoryStore, PlainHasher, ZENITH, a_blob_key, a_crash_report,
    a_fleet, a_meta, a_resource, a_status, acme_records, at, numbered, resource_guid, zenith_records,
};
use domain::token::{IssueToken, TokenService};
use futures_util::StreamExt;
use futures_util::stream::pending;
use http_actix::{UploadBounds, UploadLimit};
use operator_actix::logs::LiveLog;
use operator_actix::{Services, Settings};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The signature of the crash reports.
pub(crate) const SIGNATURE: &str = "Spooler::render";

/// Who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Nobody,
    Viewer,
    Admin,
    AdminOfAcme,
    ViewerOfAcme,
    AdminOfZenith,
    /// A token with the role viewer of an admin.
    Token,
    /// A session without requests for too long.
    Idle,
    /// A token that has expired.
    Expired,
    Revoked,
    /// A session of an operator who was removed.
    Removed,
    /// A session that never was.
    Forged,
}

impl Who {
    pub(crate) const ALL: [Self; 12] = [
        Self::Nobody,
        Self::Viewer,
        Self::Admin,
        Self::AdminOfAcme,
        Self::ViewerOfAcme,
        Self::AdminOfZenith,
        Self::Token,
        Self::Idle,
        Self::Expired,
        Self::Revoked,
        Self::Removed,
        Self::Forged,
    ];
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Null where there is none, and where it is no JSON.
    pub body: Value,
    pub bytes: Vec<u8>,
    /// The whole body, of a stream what is there at once.
    pub text: String,
}

/// A stream of events that is read as it comes. It has its own application.
pub(crate) struct Events {
    head: HeaderMap,
    body: Pin<Box<BoxBody>>,
}

impl Events {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.head
    }

    /// The next text; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<String> {
        Some(String::from_utf8(self.bytes().await?.to_vec()).unwrap())
    }

    async fn bytes(&mut self) -> Option<Bytes> {
        Some(std::future::poll_fn(|context| self.body.as_mut().poll_next(context)).await?.unwrap())
    }
}

pub(crate) struct World {
    pub store: InMemoryStore,
    pub blobs: InMemoryBlobs,
    services: Services,
    pub clock: FixedClock,
    /// The header with the credential of each.
    credentials: HashMap<Who, (&'static str, String)>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let (store, clock, ids) = (InMemoryStore::new(), FixedClock::default(), Arc::new(CountingIds::default()));
        store.by(domain::contract::fleet_author()).apply(&a_fleet(), &[], at(0)).await.unwrap();
        let blobs = InMemoryBlobs::default();
        let (shared, hasher, ticks) = (Arc::new(store.clone()), Arc::new(PlainHasher), Arc::new(clock.clone()));
        let organizations = Arc::new(OrganizationList::new(shared.clone()));
        let logs = Arc::new(OperatorLogService::new(shared.clone()));
        let services = Services {
            sessions: Arc::new(SessionService::new(
                shared.clone(),
                shared.clone(),
                shared.clone(),
                hasher.clone(),
                ticks.clone(),
                ids.clone(),
            )),
            tokens: Arc::new(TokenService::new(shared.clone(), shared.clone(), ticks.clone(), ids.clone())),
            operators: Arc::new(OperatorService::new(shared.clone(), hasher, ticks.clone(), ids)),
            crash_groups: Arc::new(CrashGroupService::new(shared.clone(), Arc::clone(&organizations), ticks.clone())),
            crash_reports: Arc::new(CrashReportReader::new(
                ReportSources {
                    archive: shared.clone(),
                    analyses: shared.clone(),
                    inspection: shared.clone(),
                    blobs: Arc::new(blobs.clone()),
                },
                Arc::clone(&organizations),
            )),
            computers: Arc::new(ComputerService::new(
                ComputerSources {
                    computers: shared.clone(),
                    refusals: shared.clone(),
                    activity: shared.clone(),
                    groups: shared.clone(),
                    timeline: shared.clone(),
                },
                Arc::clone(&organizations),
            )),
            search: Arc::new(SearchService::new(shared.clone(), Arc::clone(&organizations))),
            organizations,
            audit: Arc::new(AuditService::new(shared.clone())),
            resources: Arc::new(ResourceCatalogService {
                catalog: shared.clone(),
                resources: shared.clone(),
                activity: shared.clone(),
                inspection: shared.clone(),
                blobs: Arc::new(blobs.clone()),
                profiles: Arc::new(profiles()),
            }),
            live: LiveLog::new(Arc::clone(&logs)),
            logs,
            refusals: Arc::new(RefusalService::new(shared.clone(), Arc::new(clock.clone()))),
            overview: Arc::new(OverviewService::new(shared.clone(), shared.clone(), ticks.clone(), SILENT_AFTER)),
            devices: Arc::new(DeviceBoardService::new(
                shared.clone(),
                shared.clone(),
                shared,
                ticks.clone(),
                SILENT_AFTER,
            )),
        };
        let mut world = Self { store, blobs, services, clock, credentials: HashMap::new() };
        world.fill().await;
        world.fill_crashes().await;
        for organization in world.store.organizations(None).await.unwrap() {
            let (number, name) = if organization.name == ACME { (1, "Acme profile") } else { (2, "Zenith profile") };
            world.add_resource(organization.id, number, name, &profile()).await;
        }
        world.fill_devices().await;
        world
    }

    /// Stores a resource of this number.
    pub(crate) async fn add_resource(&self, organization: OrganizationId, number: u128, name: &str, content: &[u8]) {
        let key = a_blob_key(number);
        self.blobs.put(&key, content.to_vec());
        let content = StoredContent { key, size: content.len() as u64 };
        let resource = NewResource { content, meta: a_meta(&[("Name", name)]), ..a_resource(number) };
        self.store.store(organization, resource, at(0)).await.unwrap();
    }

    /// The body of a change that can be made to every example.
    fn change(path: &str) -> Option<Value> {
        path.contains("/crash-groups/").then(|| json!({ "state": "acknowledged" }))
    }

    /// A crash report of the computer of each organization, analyzed.
    async fn fill_crashes(&self) {
        for organization in self.store.organizations(None).await.unwrap() {
            let is_acme = organization.name == ACME;
            let (number, records) = if is_acme { (101, acme_records()) } else { (102, zenith_records()) };
            let report = NewCrashReport { computer: Some(records.computer), ..a_crash_report(number) };
            self.blobs.put(&report.parts[0].key, b"00 ntdll!RtlRaiseException\n01 rip!Spooler::render\n".to_vec());
            let analysis = CrashAnalysis {
                report: report.id,
                algorithm: 1,
                signature: Ok(SIGNATURE.to_owned()),
                dump: None,
                analyzed: at(0),
            };
            CrashReportRepository::add(&self.store, organization.id, report).await.unwrap();
            CrashAnalysisRepository::record(&self.store, analysis).await.unwrap();
        }
    }

    /// Changes a record with this body.
    pub(crate) async fn patch(&self, path: &str, who: Who, headers: &[(&'static str, &str)], body: &Value) -> Answer {
        let credential = self.credentials.get(&who).map(|(name, value)| (*name, value.as_str()));
        let headers = headers.iter().copied().chain([("sec-fetch-site", "same-origin")]).chain(credential);
        let headers: Vec<_> = headers.collect();
        self.send("PATCH", &format!("/api/operator/v1{path}"), &headers, Some(body)).await
    }

    /// A path of the OpenAPI document whose parameters name a record of this organization.
    pub(crate) fn example(path: &str, organization: &str) -> String {
        let is_acme = organization == ACME;
        let records = if is_acme { acme_records() } else { zenith_records() };
        let guid = match path.split('/').nth(1) {
            Some("resources") => resource_guid(if is_acme { 1 } else { 2 }).to_string(),
            Some("computers") => records.computer.to_string(),
            Some("crash-reports") => numbered(if is_acme { 101 } else { 102 }).to_string(),
            // It follows from organization, application and signature.
            Some("crash-groups") => {
                let owner = OrganizationId(if is_acme { 1 } else { 2 });
                CrashGroupId::of(owner, Some("Rip"), SIGNATURE).to_string()
            }
            Some("devices") => records.device.to_string(),
            _ => String::new(),
        };
        let path = path.replace("{id}", &guid).replace("{number}", "1");
        path.replace("{organization}", &organization.replace(' ', "%20")).replace("{guid}", &guid)
    }

    /// A device of each organization with a status: that of Acme in error.
    async fn fill_devices(&self) {
        for (name, records, status) in
            [(ACME, acme_records(), Status::Error), (ZENITH, zenith_records(), Status::Printing)]
        {
            let received = self.clock.now();
            let cyan = RemainingInk { index: 1.0, name: "Cyan".to_owned(), level: 410.0, max_level: 800.0 };
            let unknown = RemainingInk { name: "Black".to_owned(), level: -1.0, ..cyan.clone() };
            let message = Some(format!("Order of {name}"));
            let inks = vec![cyan, unknown];
            let sent = DeviceStatus { status, received, message, remaining_inks: inks, ..a_status(records.device) };
            self.store.put(self.store.organization_named(name), sent).await.unwrap();
        }
    }

    async fn fill(&mut self) {
        let root = Actor::command("root");
        let expiring = self.add("expired", Role::Admin, None).await;
        self.sign_in(Who::Idle, "expired", &expiring).await;
        self.issue(Who::Expired, "expired", "expired token", Duration::from_hours(1)).await;
        self.clock.advance(SESSION_IDLE);
        for (who, name, role, organization) in [
            (Who::Viewer, "viewer", Role::Viewer, None),
            (Who::Admin, "admin", Role::Admin, None),
            (Who::AdminOfAcme, "admin of acme", Role::Admin, Some(ACME)),
            (Who::ViewerOfAcme, "viewer of acme", Role::Viewer, Some(ACME)),
            (Who::AdminOfZenith, "admin of zenith", Role::Admin, Some(ZENITH)),
            (Who::Removed, "removed", Role::Admin, None),
        ] {
            let password = self.add(name, role, organization).await;
            self.sign_in(who, name, &password).await;
        }
        self.issue(Who::Token, "admin", "ci", SESSION_LIFETIME).await;
        let revoked = self.issue(Who::Revoked, "admin", "revoked", SESSION_LIFETIME).await;
        self.services.tokens.revoke(&root, revoked).await.unwrap();
        self.services.operators.remove(&root, "removed").await.unwrap();
        self.credentials.insert(Who::Forged, ("cookie", format!("platen_session={}", "0".repeat(64))));
    }

    async fn add(&self, name: &str, role: Role, organization: Option<&str>) -> String {
        let name = OperatorName::parse(name).unwrap();
        let command = AddOperator { name, role, organization: organization.map(str::to_owned) };
        let (_, password) = self.services.operators.add(&Actor::command("root"), command).await.unwrap();
        password.as_password().reveal().to_owned()
    }

    async fn sign_in(&mut self, who: Who, name: &str, password: &str) {
        let password = domain::operator::Password::new(password);
        let asked = SignIn { name: name.to_owned(), password, address: None };
        let started = self.services.sessions.sign_in(asked).await.unwrap();
        self.credentials.insert(who, ("cookie", format!("platen_session={}", started.secret.reveal())));
    }

    async fn issue(&mut self, who: Who, operator: &str, name: &str, lifetime: Duration) -> domain::operator::TokenId {
        let name = OperatorName::parse(name).unwrap();
        let command = IssueToken { operator: operator.to_owned(), name, role: Some(Role::Viewer), lifetime };
        let (token, secret) = self.services.tokens.issue(&Actor::command("root"), command).await.unwrap();
        self.credentials.insert(who, ("authorization", format!("Bearer {}", secret.reveal())));
        token.id
    }

    /// Calls a path below `/api/operator/v1` as a page of this server would.
    pub(crate) async fn call(&self, method: &str, path: &str, who: Who, headers: &[(&'static str, &str)]) -> Answer {
        let mut headers = headers.to_vec();
        headers.push(("sec-fetch-site", "same-origin"));
        self.call_as_browser(method, path, who, &headers).await
    }

    pub(crate) async fn get(&self, path: &str, who: Who) -> Answer {
        self.call("GET", path, who, &[]).await
    }

    /// Calls with these headers and the credential only.
    pub(crate) async fn call_as_browser(
        &self,
        method: &str,
        path: &str,
        who: Who,
        headers: &[(&'static str, &str)],
    ) -> Answer {
        let credential = self.credentials.get(&who).map(|(name, value)| (*name, value.as_str()));
        let headers: Vec<_> = headers.iter().copied().chain(credential).collect();
        self.raw(method, &format!("/api/operator/v1{path}"), &headers).await
    }

    /// Calls any path; a change with a body that suits it.
    pub(crate) async fn raw(&self, method: &str, path: &str, headers: &[(&'static str, &str)]) -> Answer {
        let body = if method == "PATCH" { Self::change(path) } else { None };
        self.send(method, path, headers, body.as_ref()).await
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&'static str, &str)], body: Option<&Value>) -> Answer {
        let settings = Settings { base_path: String::new() };
        let app = App::new()
            .app_data(Data::new(http_settings(&self.clock)))
            .configure(|config| operator_actix::configure(config, &self.services, &settings));
        let app = init_service(app).await;
        let mut request = TestRequest::default().method(Method::from_bytes(method.as_bytes()).unwrap()).uri(path);
        for header in headers {
            request = request.insert_header(*header);
        }
        if let Some(body) = body {
            request = request.set_json(body);
        }
        let response = call_service(&app, request.to_request()).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let is_stream = headers.get(CONTENT_TYPE).is_some_and(|value| value == "text/event-stream");
        let mut events = Events { head: headers.clone(), body: Box::pin(response.into_body().boxed()) };
        let mut bytes = Vec::new();
        // What a stream has at once comes without a pause.
        while let Ok(Some(part)) =
            timeout(Duration::from_millis(if is_stream { 1 } else { 60_000 }), events.bytes()).await
        {
            bytes.extend_from_slice(&part);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = if is_stream { Value::Array(Vec::new()) } else { serde_json::from_str(&text).unwrap_or_default() };
        Answer { status, headers, body, bytes, text }
    }

    /// Calls a path below `/api/operator/v1` that answers events. The test pauses the time, so that none of them waits.
    pub(crate) async fn stream(&self, path: &str, who: Who, headers: &[(&'static str, &str)]) -> Events {
        let app = App::new().app_data(Data::new(http_settings(&self.clock))).configure(|config| {
            operator_actix::configure(config, &self.services, &Settings { base_path: String::new() });
        });
        let app = init_service(app).await;
        let mut request = TestRequest::get().uri(&format!("/api/operator/v1{path}"));
        let credential = self.credentials.get(&who).map(|(name, value)| (*name, value.as_str()));
        for header in headers.iter().copied().chain(credential) {
            request = request.insert_header(header);
        }
        let response = call_service(&app, request.to_request()).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        Events { head: response.headers().clone(), body: Box::pin(response.into_body().boxed()) }
    }

    /// The status of a change with a body of which nothing arrives.
    pub(crate) async fn stall(&self, path: &str, who: Who) -> StatusCode {
        let app = App::new().app_data(Data::new(http_settings(&self.clock))).configure(|config| {
            operator_actix::configure(config, &self.services, &Settings { base_path: String::new() });
        });
        let app = init_service(app).await;
        let mut request = TestRequest::patch().uri(&format!("/api/operator/v1{path}"));
        let credential = self.credentials.get(&who).map(|(name, value)| (*name, value.as_str()));
        for header in
            [("content-type", "application/json"), ("sec-fetch-site", "same-origin")].into_iter().chain(credential)
        {
            request = request.insert_header(header);
        }
        let payload = Payload::Stream { payload: pending().boxed_local() };
        let (request, _) = request.to_request().replace_payload(payload);
        call_service(&app, request).await.status()
    }

    /// Removes the operators.
    pub(crate) async fn end_all(&self) {
        for name in ["viewer", "admin"] {
            self.services.operators.remove(&Actor::command("root"), name).await.unwrap();
        }
    }

    pub(crate) fn advance(&self, time: Duration) {
        self.clock.advance(time);
    }

    pub(crate) fn close_streams(&self) {
        self.services.live.close();
    }
}

/// A content that is taken for a colour profile.
pub(crate) fn profile() -> Vec<u8> {
    [&[0; 36][..], b"acsp", &[0; 200]].concat()
}

fn profiles() -> MockProfileReader {
    let mut profiles = MockProfileReader::new();
    profiles.expect_read().returning(|source| {
        let corner = LabPoint { a: 60.5, b: -20.0 };
        let gamut = Some(Gamut { profile: vec![corner], srgb: vec![corner] });
        Ok(ProfileFacts { version: "4.3".to_owned(), size: source.size, gamut, ..ProfileFacts::default() })
    });
    profiles
}

/// The settings of http-actix, which gives each request its id and its address.
fn http_settings(clock: &FixedClock) -> http_actix::Settings {
    http_actix::Settings {
        base_path: String::new(),
        read_timeout: Duration::from_secs(30),
        limits: Limits::default(),
        trusted_proxies: Vec::new(),
        throttle: Throttle::new(0, Duration::from_mins(1)),
        uploads: UploadLimit::new(UploadBounds { of_organization: 0, in_all: 0 }),
        ids: Arc::new(CountingIds::default()),
        clock: Arc::new(clock.clone()),
        refusals: None,
        activity: Arc::default(),
    }
}
