//! The operator's own account: who is signed in, and the own password.

use crate::form::{FieldErrors, Form};
use crate::layout::{Layout, page, root};
use crate::sign_in::{begin, client};
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::operator::{NewPassword, OperatorError, Password, SignedInBy};
use domain::session::SessionService;
use domain::timestamp::Timestamp;
use operator_actix::authenticate::Caller;
use operator_actix::error::Problem;
use operator_actix::query::Query;
use serde::Deserialize;

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    layout: Layout,
    name: String,
    role: &'static str,
    scope: String,
    created: Timestamp,
    /// When the session ends, even with requests; `None` for a token.
    ends: Option<Timestamp>,
    is_changed: bool,
}

#[derive(Template)]
#[template(path = "password.html")]
struct PasswordPage {
    layout: Layout,
    name: String,
    errors: FieldErrors,
}

/// What happened before.
#[derive(Deserialize)]
pub(crate) struct Done {
    #[serde(default)]
    done: String,
}

#[derive(Deserialize)]
pub(crate) struct PasswordForm {
    current: String,
    password: String,
    repeated: String,
}

/// `GET /console/account`
pub(crate) async fn show(request: HttpRequest, caller: Caller, done: Query<Done>) -> HttpResponse {
    let layout = Layout::signed_in(&request, "Account", "account", &caller.signed_in);
    let ends = match caller.signed_in.by {
        SignedInBy::Session { ends, .. } => Some(ends),
        SignedInBy::Token { .. } => None,
    };
    let operator = caller.signed_in.operator;
    let shown = AccountPage {
        layout,
        name: operator.name,
        role: caller.signed_in.role.as_str(),
        scope: operator.organization.unwrap_or_else(|| "all organizations".to_owned()),
        created: operator.created,
        ends,
        is_changed: done.0.done == "password",
    };
    page(StatusCode::OK, &shown)
}

/// `GET /console/password`
pub(crate) async fn show_password(request: HttpRequest, caller: Caller) -> HttpResponse {
    password_page(StatusCode::OK, &request, caller, FieldErrors::default())
}

/// `POST /console/password`
pub(crate) async fn change_password(
    request: HttpRequest,
    caller: Caller,
    form: Form<PasswordForm>,
    sessions: Data<SessionService>,
) -> Result<HttpResponse, Problem> {
    let PasswordForm { current, password, repeated } = form.0;
    let mut errors = FieldErrors::default();
    let new = errors.take("password", NewPassword::parse(&password));
    if password != repeated {
        errors.add("repeated", "is not the same as the new password");
    }
    let (Some(new), false) = (new, errors.has("repeated")) else {
        return Ok(password_page(StatusCode::BAD_REQUEST, &request, caller, errors));
    };
    let current = Password::new(current);
    match sessions.change_password(&caller.signed_in, &current, &new, client(&request)).await {
        Ok(started) => Ok(begin(&request, &started, &format!("{}/account?done=password", root(&request)))),
        Err(OperatorError::Invalid { message, .. }) => {
            errors.add("current", message);
            Ok(password_page(StatusCode::BAD_REQUEST, &request, caller, errors))
        }
        Err(error) => Err(error.into()),
    }
}

fn password_page(status: StatusCode, request: &HttpRequest, caller: Caller, errors: FieldErrors) -> HttpResponse {
    let layout = Layout::signed_in(request, "Change your password", "account", &caller.signed_in);
    page(status, &PasswordPage { layout, name: caller.signed_in.operator.name, errors })
}
