//! `GET /computers`, `GET /computers/{guid}` and `…/timeline`

use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::{Query, given, searched};
use crate::routes::json;
use crate::time::{parse, shown};
use crate::timeline::TimelineBody;
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::activity::OutdatedResource;
use domain::computer::{ComputerCursor, ComputerFilter, ComputerService, ListedComputer};
use domain::crash_group::CrashGroupDetails;
use domain::guid::ComputerGuid;
use domain::operator::OperatorError;
use domain::refusal::Refused;
use domain::timeline::TimelineCursor;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A registered computer.
#[derive(Serialize, ToSchema)]
pub(crate) struct ComputerBody {
    guid: String,
    organization: String,
    /// The GUID if it was registered without a name.
    name: String,
    /// As it is registered.
    serial_number: Option<String>,
    /// The user to whom it is assigned.
    user: Option<String>,
    /// Whether it was removed from the fleet.
    is_removed: bool,
    /// Its last admitted request; null if there was none.
    last_request: Option<RequestBody>,
}

/// An admitted request.
#[derive(Serialize, ToSchema)]
pub(crate) struct RequestBody {
    #[schema(format = DateTime)]
    time: String,
    /// The client's address, where it is known.
    address: Option<String>,
    /// As sent.
    serial_number: String,
    application_version: String,
}

impl From<ListedComputer> for ComputerBody {
    fn from(ListedComputer { organization, computer }: ListedComputer) -> Self {
        Self {
            guid: computer.guid.to_string(),
            organization,
            name: computer.name,
            serial_number: computer.serial_number,
            user: computer.user,
            is_removed: computer.is_retired,
            last_request: computer.last_request.map(|request| RequestBody {
                time: shown(request.at),
                address: request.address,
                serial_number: request.serial_number,
                application_version: request.application_version,
            }),
        }
    }
}

/// A computer with what is known of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundComputerBody {
    #[serde(flatten)]
    computer: ComputerBody,
    /// The newest 20, the newest first.
    refusals: Vec<ComputerRefusalBody>,
    /// Resources of which it has another content than the stored one, at most 200.
    outdated_resources: Vec<OutdatedBody>,
    /// Groups with a crash report of it, the last seen first, at most 50.
    crash_groups: Vec<ComputerGroupBody>,
}

/// A refused request of a computer.
#[derive(Serialize, ToSchema)]
pub(crate) struct ComputerRefusalBody {
    #[schema(format = DateTime)]
    time: String,
    operation: String,
    status: u16,
    reason: String,
    /// The detail in the client's response.
    detail: String,
    request_id: String,
}

impl From<Refused> for ComputerRefusalBody {
    fn from(Refused { refusal, .. }: Refused) -> Self {
        Self {
            time: shown(refusal.at),
            operation: refusal.operation,
            status: refusal.status,
            reason: refusal.reason,
            detail: refusal.detail,
            request_id: refusal.request_id,
        }
    }
}

/// A resource of which the computer has an older content.
#[derive(Serialize, ToSchema)]
pub(crate) struct OutdatedBody {
    guid: String,
    name: String,
    /// When the computer fetched its content, and which.
    #[schema(format = DateTime)]
    fetched: String,
    fetched_checksum: String,
    /// The Timestamp of the stored content.
    #[schema(format = DateTime)]
    timestamp: String,
    checksum: String,
}

impl From<OutdatedResource> for OutdatedBody {
    fn from(outdated: OutdatedResource) -> Self {
        Self {
            guid: outdated.resource.guid.to_string(),
            name: outdated.name,
            fetched: shown(outdated.fetch.at),
            fetched_checksum: outdated.fetch.checksum.to_string(),
            timestamp: shown(outdated.modified),
            checksum: outdated.checksum.to_string(),
        }
    }
}

/// A group with a crash report of the computer.
#[derive(Serialize, ToSchema)]
pub(crate) struct ComputerGroupBody {
    id: String,
    signature: String,
    application: Option<String>,
    state: &'static str,
    #[schema(format = DateTime)]
    last_seen: String,
    /// Reports of all computers.
    reports: u64,
}

impl From<CrashGroupDetails> for ComputerGroupBody {
    fn from(CrashGroupDetails { group, .. }: CrashGroupDetails) -> Self {
        Self {
            id: group.id.to_string(),
            signature: group.signature,
            application: group.application_name,
            state: group.state.as_str(),
            last_seen: shown(group.last_seen),
            reports: group.reports,
        }
    }
}

/// Which computers: all that fit every condition.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ComputersQuery {
    /// Only where the name, the SerialNumber or the user holds this text, without case, or with this GUID.
    pub q: Option<String>,
    /// Only those with an admitted request since then.
    #[param(format = DateTime)]
    pub seen_since: Option<String>,
    /// Only computers of this organization.
    pub organization: Option<String>,
}

impl ComputersQuery {
    /// What is asked for; empty members count as missing.
    ///
    /// # Errors
    /// [`OperatorError::Invalid`]
    pub fn filter(&self) -> Result<ComputerFilter, OperatorError> {
        Ok(ComputerFilter {
            search: given(&self.q).map(searched),
            seen_since: given(&self.seen_since).map(|text| parse("seen_since", text)).transpose()?,
        })
    }
}

/// The registered computers that the operator sees, by name.
#[utoipa::path(get, path = "/computers", operation_id = "list_computers", tag = "Computers", params(ComputersQuery, PageQuery), responses((status = 200, description = "A page.", body = PageBody<ComputerBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    query: Query<ComputersQuery>,
    page: Query<PageQuery>,
    computers: Data<ComputerService>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(ComputerCursor::parse)?;
    let filter = query.0.filter()?;
    let page = computers.list(&caller.actor, given(&query.0.organization), &filter, asked).await?;
    Ok(json(&PageBody::of(page, ComputerBody::from, |cursor| cursor.to_string())))
}

/// A computer with its refusals, outdated resources and crash groups.
#[utoipa::path(get, path = "/computers/{guid}", operation_id = "find_computer", tag = "Computers", params(("guid" = String, Path)), responses((status = 200, description = "The computer.", body = FoundComputerBody), Problems))]
pub(crate) async fn find(
    caller: Caller,
    guid: Path<String>,
    computers: Data<ComputerService>,
) -> Result<HttpResponse, Problem> {
    let found = computers.find(&caller.actor, computer_guid(&guid)?).await?;
    Ok(json(&FoundComputerBody {
        computer: found.listed.into(),
        refusals: found.refusals.into_iter().map(Into::into).collect(),
        outdated_resources: found.outdated.into_iter().map(Into::into).collect(),
        crash_groups: found.groups.into_iter().map(Into::into).collect(),
    }))
}

/// What happened to a computer: log entries, crash reports, refusals and fetches, the newest first.
#[utoipa::path(get, path = "/computers/{guid}/timeline", operation_id = "computer_timeline", tag = "Computers", params(("guid" = String, Path), PageQuery), responses((status = 200, description = "A page.", body = PageBody<TimelineBody>), Problems))]
pub(crate) async fn timeline(
    caller: Caller,
    guid: Path<String>,
    page: Query<PageQuery>,
    computers: Data<ComputerService>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(TimelineCursor::parse)?;
    let page = computers.timeline(&caller.actor, computer_guid(&guid)?, asked).await?;
    Ok(json(&PageBody::of(page, TimelineBody::from, |cursor| cursor.to_string())))
}

/// The GUID of a path; a malformed one is not found (decision R7).
///
/// # Errors
/// [`OperatorError::NotFound`]
pub fn computer_guid(text: &str) -> Result<ComputerGuid, OperatorError> {
    let missing = || OperatorError::NotFound(format!("computer \"{}\"", domain::text::cut(text, 100)));
    ComputerGuid::parse(text).ok_or_else(missing)
}
