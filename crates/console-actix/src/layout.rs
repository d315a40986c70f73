//! What all pages have in common: the frame around them.

use crate::assets;
use crate::services::Settings;
use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use askama::Template;
use domain::operator::SignedIn;
use http_actix::RequestInfo;

/// A link of the navigation.
pub(crate) struct Link {
    /// Below the path of the console; empty for the start page.
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
}

/// The pages of the navigation, in its order. A page joins by its line here.
pub(crate) const NAVIGATION: &[Link] = &[
    Link { path: "", name: "Overview" },
    Link { path: "devices", name: "Devices" },
    Link { path: "logs", name: "Logs" },
    Link { path: "crashes", name: "Crashes" },
    Link { path: "resources", name: "Resources" },
    Link { path: "computers", name: "Computers" },
    Link { path: "refusals", name: "Refusals" },
];

/// The frame of a page.
pub(crate) struct Layout {
    pub(crate) title: String,
    /// The path of the console.
    pub(crate) root: String,
    /// The path of the files that it loads.
    pub(crate) assets: String,
    /// Who is signed in.
    pub(crate) operator: Option<Head>,
    /// The path of this page's link.
    pub(crate) current: &'static str,
    /// The id of the request, under which the log has it.
    pub(crate) request_id: String,
    pub(crate) navigation: &'static [Link],
}

/// An operator in the head of a page.
pub(crate) struct Head {
    pub(crate) name: String,
    /// What the operator may see and do, in words.
    pub(crate) rights: String,
}

impl Layout {
    /// The frame of a page without a signed-in operator.
    pub(crate) fn open(request: &HttpRequest, title: &str) -> Self {
        let root = root(request);
        Self {
            title: title.to_owned(),
            assets: format!("{root}/{}", assets::folder()),
            root,
            operator: None,
            current: "-",
            request_id: RequestInfo::of(request).id,
            navigation: NAVIGATION,
        }
    }

    /// The frame of a page for an operator.
    pub(crate) fn signed_in(request: &HttpRequest, title: &str, current: &'static str, signed_in: &SignedIn) -> Self {
        let operator = &signed_in.operator;
        let scope = operator.organization.as_deref().unwrap_or("all organizations");
        let head = Head { name: operator.name.clone(), rights: format!("{} of {scope}", signed_in.role.as_str()) };
        Self { operator: Some(head), current, ..Self::open(request, title) }
    }
}

/// The path of the console.
pub(crate) fn root(request: &HttpRequest) -> String {
    let settings: &Data<Settings> = request.app_data().expect("`configure` adds it");
    settings.root()
}

/// Answers a rendered page.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> HttpResponse {
    page_of(HttpResponse::build(status), template)
}

/// The same, with further headers.
pub(crate) fn page_of(mut response: HttpResponseBuilder, template: &impl Template) -> HttpResponse {
    match template.render() {
        Ok(html) => response.content_type(ContentType::html()).body(html),
        // Templates write to a text, which can't fail.
        Err(_) => HttpResponse::InternalServerError().finish(),
    }
}
