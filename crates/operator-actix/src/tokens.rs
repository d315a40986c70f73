//! `GET /tokens`

use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use crate::time::shown;
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::operator::TokenId;
use domain::token::{Token, TokenService};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A token: never the token itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenBody {
    id: i64,
    operator: String,
    name: String,
    role: &'static str,
    #[schema(format = DateTime)]
    issued: String,
    #[schema(format = DateTime)]
    expires: String,
    /// To the minute; null before the first use.
    #[schema(format = DateTime)]
    last_used: Option<String>,
    #[schema(format = DateTime)]
    revoked: Option<String>,
}

impl From<Token> for TokenBody {
    fn from(token: Token) -> Self {
        Self {
            id: token.id.0,
            operator: token.operator,
            name: token.name,
            role: token.role.as_str(),
            issued: shown(token.issued),
            expires: shown(token.expires),
            last_used: token.last_used.map(shown),
            revoked: token.revoked.map(shown),
        }
    }
}

/// Which tokens.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TokenQuery {
    /// Only those of this operator, without case.
    operator: Option<String>,
}

/// The tokens that the admin sees, the newest first; those that have expired or were revoked too.
#[utoipa::path(get, path = "/tokens", operation_id = "list_tokens", tag = "Operators", params(TokenQuery, PageQuery), responses((status = 200, description = "A page.", body = PageBody<TokenBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    filter: Query<TokenQuery>,
    page: Query<PageQuery>,
    tokens: Data<TokenService>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(|text| text.parse().ok().map(TokenId))?;
    let page = tokens.list(&caller.actor, filter.0.operator.as_deref(), asked).await?;
    Ok(json(&PageBody::of(page, TokenBody::from, |id| id.0.to_string())))
}
