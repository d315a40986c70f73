//! `GET /refusals`

use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use crate::time::{parse, shown};
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::guid::ComputerGuid;
use domain::operator::{OperatorError, OrganizationList};
use domain::refusal::{
    Explanation, OperatorRefusal, Owner, RefusalCursor, RefusalFilter, RefusalService, RefusedComputer, explanation,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A refused request of a client.
#[derive(Serialize, ToSchema)]
pub(crate) struct RefusalBody {
    id: i64,
    #[schema(format = DateTime)]
    time: String,
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// Such as `add_log`.
    operation: String,
    /// Such as `hardware_hash_invalid`.
    reason: String,
    /// What the reason means.
    meaning: &'static str,
    /// What to do about it.
    advice: &'static str,
    /// The particulars that the client got.
    detail: String,
    /// The caller's organization, or that of the computer that was named; null where it can't be known.
    organization: Option<String>,
    user: Option<String>,
    /// The computer that called or was named.
    computer: Option<RefusedComputerBody>,
    /// The one computer with the SerialNumber of a caller that is known by nothing else.
    probable_computer: Option<RefusedComputerBody>,
    /// `none`, `mis_key`, `hardware_hash` or `both`.
    credential: &'static str,
    /// Whether the caller authenticated.
    admitted: bool,
    serial_number: String,
    application_version: String,
    address: Option<String>,
    request_id: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct RefusedComputerBody {
    guid: String,
    /// Null where it is no longer registered.
    name: Option<String>,
}

impl RefusedComputerBody {
    fn of(computer: RefusedComputer) -> Self {
        Self { guid: computer.guid.to_string(), name: Some(computer.name) }
    }
}

impl From<OperatorRefusal> for RefusalBody {
    fn from(one: OperatorRefusal) -> Self {
        let OperatorRefusal { refused, computer, probable_computer } = one;
        let refusal = refused.refusal;
        let Explanation { meaning, advice } = explanation(&refusal.reason);
        let unregistered = |guid: ComputerGuid| RefusedComputerBody { guid: guid.to_string(), name: None };
        Self {
            id: refused.number,
            time: shown(refusal.at),
            status: refusal.status,
            operation: refusal.operation,
            reason: refusal.reason,
            meaning,
            advice,
            detail: refusal.detail,
            organization: refused.organization,
            user: refusal.user,
            computer: computer.map(RefusedComputerBody::of).or_else(|| refusal.computer.map(unregistered)),
            probable_computer: probable_computer.map(RefusedComputerBody::of),
            credential: refusal.credential.as_str(),
            admitted: matches!(refusal.owner, Owner::Organization(_)),
            serial_number: refusal.serial_number,
            application_version: refusal.application_version,
            address: refusal.address,
            request_id: refusal.request_id,
        }
    }
}

/// Which refusals: all that fit every condition. A condition that is empty is none.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RefusalsQuery {
    /// Only refusals of callers of this organization, or that named a computer of it.
    pub organization: Option<String>,
    /// Only refusals for this reason, such as `hardware_hash_invalid`.
    pub reason: Option<String>,
    /// Only refusals of this computer.
    pub computer: Option<String>,
    /// The first time, inclusive.
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<String>,
}

impl RefusalsQuery {
    /// The filter of an operator.
    ///
    /// # Errors
    /// [`OperatorError`]: a value that can't be used, an organization that the operator doesn't see.
    pub async fn read(
        &self,
        caller: &Caller,
        organizations: &OrganizationList,
    ) -> Result<RefusalFilter, OperatorError> {
        let given = |text: &'_ Option<String>| text.clone().filter(|text| !text.is_empty());
        let malformed = || OperatorError::invalid("computer", "must be a GUID");
        let computer = given(&self.computer).map(|text| ComputerGuid::parse(&text).ok_or_else(malformed));
        Ok(RefusalFilter {
            computer: computer.transpose()?,
            reason: given(&self.reason),
            since: given(&self.since).map(|text| parse("since", &text)).transpose()?,
            organization: organizations.narrow(&caller.actor, given(&self.organization).as_deref()).await?,
        })
    }
}

/// The refused requests of clients, the newest first. They are kept for 7 days: the newest 200 of each organization, and of
/// all callers without one the newest 5,000.
#[utoipa::path(get, path = "/refusals", operation_id = "list_refusals", tag = "Log", params(RefusalsQuery, PageQuery), responses((status = 200, description = "A page.", body = PageBody<RefusalBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    filter: Query<RefusalsQuery>,
    page: Query<PageQuery>,
    refusals: Data<RefusalService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(RefusalCursor::parse)?;
    let filter = filter.0.read(&caller, &organizations).await?;
    let page = refusals.list(&caller.actor, filter, asked).await?;
    Ok(json(&PageBody::of(page, RefusalBody::from, |cursor: RefusalCursor| cursor.to_string())))
}
