//! `GET /me`

use crate::authenticate::Caller;
use crate::openapi::Problems;
use crate::routes::json;
use crate::time::shown;
use actix_web::HttpResponse;
use domain::operator::SignedInBy;
use serde::Serialize;
use utoipa::ToSchema;

/// The operator who asks.
#[derive(Serialize, ToSchema)]
pub(crate) struct Me {
    name: String,
    /// The role that counts: a token has at most the role of its operator.
    role: &'static str,
    /// The one organization; null for all.
    organization: Option<String>,
    /// The session; null for a token.
    session: Option<SessionBody>,
    /// The token; null for a session.
    token: Option<OwnTokenBody>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SessionBody {
    /// When it ends, even with requests.
    #[schema(format = DateTime)]
    ends: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct OwnTokenBody {
    id: i64,
    name: String,
    #[schema(format = DateTime)]
    expires: String,
}

/// The operator who asks, and the session or the token.
#[utoipa::path(get, path = "/me", operation_id = "me", tag = "Operators", responses((status = 200, description = "The operator.", body = Me), Problems))]
pub(crate) async fn me(caller: Caller) -> HttpResponse {
    let (session, token) = match &caller.signed_in.by {
        SignedInBy::Session { ends, .. } => (Some(SessionBody { ends: shown(*ends) }), None),
        SignedInBy::Token { id, name, expires } => {
            (None, Some(OwnTokenBody { id: id.0, name: name.clone(), expires: shown(*expires) }))
        }
    };
    let operator = caller.signed_in.operator;
    let role = caller.signed_in.role.as_str();
    json(&Me { name: operator.name, role, organization: operator.organization, session, token })
}
