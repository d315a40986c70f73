//! The page of the first start, on which the first operator is created (decision P2).

use crate::form::{FieldErrors, Form};
use crate::layout::{Layout, page, root};
use crate::sign_in::{begin, client};
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::operator::{NewPassword, OperatorError, OperatorName, SetupService};
use domain::session::{SessionService, SignIn};
use operator_actix::error::Problem;
use operator_actix::query::Query;
use serde::Deserialize;

#[derive(Template)]
#[template(path = "setup.html")]
struct SetupPage {
    layout: Layout,
    code: String,
    name: String,
    errors: FieldErrors,
}

#[derive(Template)]
#[template(path = "setup_over.html")]
struct SetupOverPage {
    layout: Layout,
}

#[derive(Deserialize)]
pub(crate) struct SetupLink {
    #[serde(default)]
    code: String,
}

#[derive(Deserialize)]
pub(crate) struct SetupForm {
    code: String,
    name: String,
    password: String,
    repeated: String,
}

/// `GET /console/setup?code=…`
pub(crate) async fn show(
    request: HttpRequest,
    link: Query<SetupLink>,
    setup: Data<SetupService>,
) -> Result<HttpResponse, Problem> {
    if !setup.is_valid(&link.0.code).await? {
        return Ok(over(&request));
    }
    let layout = Layout::open(&request, "Welcome");
    let shown = SetupPage { layout, code: link.0.code, name: String::new(), errors: FieldErrors::default() };
    Ok(page(StatusCode::OK, &shown))
}

/// `POST /console/setup`
pub(crate) async fn create(
    request: HttpRequest,
    form: Form<SetupForm>,
    setup: Data<SetupService>,
    sessions: Data<SessionService>,
) -> Result<HttpResponse, Problem> {
    let SetupForm { code, name: typed, password, repeated } = form.0;
    let mut errors = FieldErrors::default();
    let name = errors.take("name", OperatorName::parse(&typed));
    let new = errors.take("password", NewPassword::parse(&password));
    if password != repeated {
        errors.add("repeated", "is not the same as the password");
    }
    let (Some(name), Some(new), false) = (name, new, errors.has("repeated")) else {
        let layout = Layout::open(&request, "Welcome");
        return Ok(page(StatusCode::BAD_REQUEST, &SetupPage { layout, code, name: typed, errors }));
    };
    let client = client(&request);
    let address = client.map(|client| client.to_string());
    match setup.complete(&code, name, &new, address).await {
        Ok(operator) => {
            let password = new.as_password().clone();
            let started = sessions.sign_in(SignIn { name: operator.name, password, address: client }).await?;
            Ok(begin(&request, &started, &root(&request)))
        }
        Err(OperatorError::SetupCodeInvalid) => Ok(over(&request)),
        Err(error) => Err(error.into()),
    }
}

/// The page for a code that isn't valid.
fn over(request: &HttpRequest) -> HttpResponse {
    let layout = Layout::open(request, "This link is no longer valid");
    page(StatusCode::FORBIDDEN, &SetupOverPage { layout })
}
