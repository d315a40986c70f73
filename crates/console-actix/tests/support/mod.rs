//! The console over an in-memory store.

use actix_web::App;
use actix_web::http::Method;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, SET_COOKIE};
use actix_web::test::{TestRequest, call_service, init_service, read_body};
use actix_web::web::Data;
use console_actix::{Services, Settings};
use domain::access::Throttle;
use domain::audit::AuditService;
use domain::limits::Limits;
use domain::operator::{NewPassword, OperatorName, OperatorService, OrganizationList, SetupService};
use domain::session::SessionService;
use domain::testing::{CountingIds, FixedClock, InMemoryStore, PlainHasher};
use domain::token::TokenService;
use http_actix::{UploadBounds, UploadLimit};
use std::sync::Arc;
use std::time::Duration;

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
    console: Services,
    operators: operator_actix::Services,
    clock: FixedClock,
}

impl World {
    /// Without any operator.
    pub(crate) fn new() -> Self {
        let (store, clock, ids) = (InMemoryStore::new(), FixedClock::default(), Arc::new(CountingIds::default()));
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
        let operators = operator_actix::Services {
            sessions: Arc::clone(&sessions),
            tokens: Arc::new(TokenService::new(shared.clone(), shared.clone(), ticks.clone(), ids.clone())),
            operators: Arc::new(OperatorService::new(shared.clone(), hasher, ticks, ids)),
            organizations: Arc::new(OrganizationList::new(shared.clone())),
            audit: Arc::new(AuditService::new(shared)),
        };
        Self { store, console: Services { sessions, setup }, operators, clock }
    }

    /// With Ann, an admin of all organizations.
    pub(crate) async fn with_ann() -> Self {
        let world = Self::new();
        let code = world.offer().await;
        let (name, password) = (OperatorName::parse("Ann").unwrap(), NewPassword::parse(PASSWORD).unwrap());
        world.console.setup.complete(&code, name, &password, None).await.unwrap();
        world
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
        let html = String::from_utf8_lossy(&read_body(response).await).into_owned();
        Shown { status, headers, html }
    }
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
