//! `GET /operators`

use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use crate::time::shown;
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::operator::{Operator, OperatorService};
use domain::text::Folded;
use serde::Serialize;
use utoipa::ToSchema;

/// A registered operator.
#[derive(Serialize, ToSchema)]
pub(crate) struct OperatorBody {
    name: String,
    role: &'static str,
    /// The one organization; null for all.
    organization: Option<String>,
    #[schema(format = DateTime)]
    created: String,
    #[schema(format = DateTime)]
    last_sign_in: Option<String>,
}

impl From<Operator> for OperatorBody {
    fn from(operator: Operator) -> Self {
        Self {
            name: operator.name,
            role: operator.role.as_str(),
            organization: operator.organization,
            created: shown(operator.created),
            last_sign_in: operator.last_sign_in.map(shown),
        }
    }
}

/// The operators whom the admin sees, by name.
#[utoipa::path(get, path = "/operators", operation_id = "list_operators", tag = "Operators", params(PageQuery), responses((status = 200, description = "A page.", body = PageBody<OperatorBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    page: Query<PageQuery>,
    operators: Data<OperatorService>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(|text| Some(Folded::from_stored(text.to_owned())))?;
    let page = operators.list(&caller.actor, asked).await?;
    Ok(json(&PageBody::of(page, OperatorBody::from, Folded::into_string)))
}
