//! The console over an in-memory store.

#![allow(dead_code, reason = "each test crate uses a part of it")]

use actix_web::App;
use actix_web::body::MessageBody;
use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, SET_COOKIE};
use actix_web::test::{TestRequest, call_service, init_service};
use actix_web::web::Data;
use console_actix::{Services, Settings};
use domain::access::Throttle;
use domain::audit::AuditService;
use domain::caller::OrganizationId;
use domain::computer::{ComputerService, ComputerSources};
use domain::crash_group::CrashGroupService;
use domain::crash_report::{CrashReportReader, ReportSources};
use domain::device_board::DeviceBoardService;
use domain::device_status::SILENT_AFTER;
use domain::fleet::FleetRegistry;
use domain::icc::{Gamut, LabPoint, MockProfileReader, ProfileFacts, ProfileTag};
use domain::inspection::InspectionRepository;
use domain::limits::Limits;
use domain::operator::{
    Actor, AddOperator, NewPassword, OperatorName, OperatorService, OrganizationList, Role, SetupService,
};
use domain::operator_log::OperatorLogService;
use domain::overview::OverviewService;
use domain::refusal::RefusalService;
use domain::resource::{NewResource, ResourceRepository, StoredContent};
use domain::resource_catalog::ResourceCatalogService;
use domain::search::SearchService;
use domain::session::SessionService;
use domain::testing::{
    CountingIds, FixedClock, InMemoryBlobs, InMemoryStore, PlainHasher, a_blob_key, a_fleet, a_meta, a_resource, at,
};
use domain::token::TokenService;
use futures_util::StreamExt;
use futures_util::stream::pending;
use http_actix::{UploadBounds, UploadLimit};
use operator_actix::logs::LiveLog;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The password of Ann.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// An answer.
#[derive(Debug)]
pub(crate) struct Shown {
    pub status: u16,
    pub headers: HeaderMap,
    pub html: String,
}

impl Shown {
    pub(crate) fn header(&self, name: HeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The cookie that it sets, for the next request.
    pub(crate) fn cookie(&self) -> String {
        self.header(SET_COOKIE).split(';').next().unwrap().to_owned()
    }
}

pub(crate) struct World {
    pub store: InMemoryStore,
    pub blobs: InMemoryBlobs,
    console: Services,
    operators: operator_actix::Services,
    pub clock: FixedClock,
}

impl World {
    /// Without any operator.
    pub(crate) fn new() -> Self {
        let (store, clock, ids) = (InMemoryStore::new(), FixedClock::default(), Arc::new(CountingIds::default()));
        let blobs = InMemoryBlobs::default();
        let (shared, hasher, ticks) = (Arc::new(store.clone()), Arc::new(PlainHasher), Arc::new(clock.clone()));
        let sessions = Arc::new(SessionService::new(
            shared.clone(),
            shared.clone(),
            shared.clone(),
            hasher.clone(),
            ticks.clone(),
            ids.clone(),
        ));
        let setup = Arc::new(SetupService::new(shared.clone(), hasher.clone(), ticks.clone(), ids.clone()));
        let organizations = Arc::new(OrganizationList::new(shared.clone()));
        let logs = Arc::new(OperatorLogService::new(shared.clone()));
        let operators = operator_actix::Services {
            sessions: Arc::clone(&sessions),
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
        Self { store, blobs, console: Services { sessions, setup }, operators, clock }
    }

    /// With Ann, an admin of all organizations.
    pub(crate) async fn with_ann() -> Self {
        let world = Self::new();
        let code = world.offer().await;
        let (name, password) = (OperatorName::parse("Ann").unwrap(), NewPassword::parse(PASSWORD).unwrap());
        world.console.setup.complete(&code, name, &password, None).await.unwrap();
        world
    }

    /// With Ann and the fleet of the builders; the numbers of Acme Print and Zenith Media.
    pub(crate) async fn with_fleet() -> (Self, OrganizationId, OrganizationId) {
        let world = Self::with_ann().await;
        world.store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let all = world.store.organizations(None).await.unwrap();
        (world, all[0].id, all[1].id)
    }

    /// The cookie of a new session of Ann.
    pub(crate) async fn ann(&self) -> String {
        self.sign_in("Ann", PASSWORD).await
    }

    /// The cookie of a new session of an operator of one organization.
    pub(crate) async fn operator_of(&self, organization: &str) -> String {
        let name = OperatorName::parse(&format!("Operator of {organization}")).unwrap();
        let command = AddOperator { name, role: Role::Viewer, organization: Some(organization.to_owned()) };
        let (operator, password) = self.operators.operators.add(&Actor::command("root"), command).await.unwrap();
        self.sign_in(&operator.name, password.as_password().reveal()).await
    }

    async fn sign_in(&self, name: &str, password: &str) -> String {
        let form = format!("name={name}&password={password}&next=");
        self.post("/console/sign-in", &form, None).await.cookie()
    }

    /// Stores a resource of this number.
    pub(crate) async fn add_resource(&self, organization: OrganizationId, number: u128, name: &str, content: &[u8]) {
        let key = a_blob_key(number);
        self.blobs.put(&key, content.to_vec());
        let content = StoredContent { key, size: content.len() as u64 };
        let resource = NewResource { content, meta: a_meta(&[("Name", name)]), ..a_resource(number) };
        self.store.store(organization, resource, at(0)).await.unwrap();
    }

    /// A code of the first start.
    pub(crate) async fn offer(&self) -> String {
        self.console.setup.offer().await.unwrap().unwrap().reveal().to_owned()
    }

    pub(crate) async fn get(&self, path: &str, cookie: Option<&str>) -> Shown {
        self.send("GET", path, "", cookie, &[]).await
    }

    /// Sends a form as a page of the console does.
    pub(crate) async fn post(&self, path: &str, form: &str, cookie: Option<&str>) -> Shown {
        self.send("POST", path, form, cookie, &[("sec-fetch-site", "same-origin")]).await
    }

    /// The status of a form of which nothing arrives.
    pub(crate) async fn stall(&self, path: &str, cookie: Option<&str>) -> u16 {
        let api = operator_actix::Settings { base_path: String::new() };
        let settings = Settings { base_path: String::new() };
        let app = App::new()
            .app_data(Data::new(http_settings(&self.clock)))
            .configure(|config| operator_actix::configure(config, &self.operators, &api))
            .configure(|config| console_actix::configure(config, &self.console, &settings));
        let app = init_service(app).await;
        let request = TestRequest::post()
            .uri(path)
            .insert_header((CONTENT_TYPE, "application/x-www-form-urlencoded"))
            .insert_header(("sec-fetch-site", "same-origin"))
            .insert_header(("cookie", cookie.unwrap_or_default()));
        let payload = Payload::Stream { payload: pending().boxed_local() };
        let (request, _) = request.to_request().replace_payload(payload);
        call_service(&app, request).await.status().as_u16()
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        form: &str,
        cookie: Option<&str>,
        headers: &[(&'static str, &str)],
    ) -> Shown {
        let api = operator_actix::Settings { base_path: String::new() };
        let settings = Settings { base_path: String::new() };
        let app = App::new()
            .app_data(Data::new(http_settings(&self.clock)))
            .configure(|config| operator_actix::configure(config, &self.operators, &api))
            .configure(|config| console_actix::configure(config, &self.console, &settings));
        let app = init_service(app).await;
        let path = if path.starts_with('#') { "/console" } else { path };
        let mut request = TestRequest::default().method(Method::from_bytes(method.as_bytes()).unwrap()).uri(path);
        for header in headers {
            request = request.insert_header(*header);
        }
        if let Some(cookie) = cookie {
            request = request.insert_header(("cookie", cookie));
        }
        let request = request
            .insert_header((CONTENT_TYPE, "application/x-www-form-urlencoded"))
            .set_payload(form.replace(PASSWORD, "correct+horse+battery"));
        let response = call_service(&app, request.to_request()).await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        // A stream has no end: what is there at once is enough.
        let is_stream = headers.get(CONTENT_TYPE).is_some_and(|value| value == "text/event-stream");
        let mut body = Box::pin(response.into_body().boxed());
        let wait = Duration::from_millis(if is_stream { 1 } else { 60_000 });
        let mut bytes = Vec::new();
        while let Ok(Some(part)) = timeout(wait, poll_fn(|context| body.as_mut().poll_next(context))).await {
            bytes.extend_from_slice(&part.unwrap());
        }
        let html = String::from_utf8_lossy(&bytes).into_owned();
        Shown { status, headers, html }
    }
}

/// A content that is taken for a colour profile.
pub(crate) fn profile() -> Vec<u8> {
    [&[0; 36][..], b"acsp", &[0; 200]].concat()
}

fn profiles() -> MockProfileReader {
    let mut profiles = MockProfileReader::new();
    profiles.expect_read().returning(|source| {
        let outline = [(80.0, 70.0), (-80.0, 60.0), (20.0, -100.0)].map(|(a, b)| LabPoint { a, b }).to_vec();
        let description = Some("<script>alert('profile')</script>".to_owned());
        let tag =
            ProfileTag { signature: "<b>?".to_owned(), name: None, offset: 4_000_000, size: 1_024, is_inside: false };
        Ok(ProfileFacts {
            version: "4.3".to_owned(),
            class: "Output device".to_owned(),
            color_space: "CMYK".to_owned(),
            description,
            size: source.size,
            declared_size: 7_168,
            tags: vec![tag],
            gamut: Some(Gamut { srgb: outline.clone(), profile: outline }),
            problems: vec!["the tag cprt lies outside of the content".to_owned()],
            ..ProfileFacts::default()
        })
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
