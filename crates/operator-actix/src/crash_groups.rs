//! `GET /crash-groups`, `GET` and `PATCH /crash-groups/{id}`

use crate::authenticate::Caller;
use crate::body::Json;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::{Query, given, searched};
use crate::routes::json;
use crate::time::shown;
use actix_web::http::header::{CACHE_CONTROL, ETAG, EntityTag, Header, IF_MATCH, IfMatch};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use domain::crash_group::{
    CrashGroup, CrashGroupDetails, CrashGroupId, CrashGroupService, GroupCursor, GroupFilter, GroupSort, GroupState,
    GroupVersion, ListedGroup, StateChange, Tally, TallyKind,
};
use domain::guid::{ComputerGuid, parse_guid};
use domain::operator::OperatorError;
use domain::text::storable;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Crash reports of one organization with the same application and signature.
#[derive(Serialize, ToSchema)]
pub(crate) struct GroupBody {
    id: String,
    organization: String,
    /// The ApplicationName of its reports; null if they have none.
    application: Option<String>,
    signature: String,
    /// `new`, `acknowledged`, `resolved` or `regressed`.
    state: &'static str,
    /// The version in which it is resolved, if one was given.
    resolved_in: Option<String>,
    #[schema(format = DateTime)]
    resolved_at: Option<String>,
    #[schema(format = DateTime)]
    first_seen: String,
    #[schema(format = DateTime)]
    last_seen: String,
    /// Reports that are stored.
    reports: u64,
    /// Different versions, computers and operating systems of its reports.
    versions: u64,
    computers: u64,
    operating_systems: u64,
    /// Reports of the last 30 days of UTC, the oldest day first.
    daily: Vec<u64>,
}

impl From<ListedGroup> for GroupBody {
    fn from(ListedGroup { organization, details, daily }: ListedGroup) -> Self {
        let CrashGroupDetails { group, versions, computers, operating_systems } = details;
        Self {
            id: group.id.to_string(),
            organization,
            application: group.application_name,
            signature: group.signature,
            state: group.state.as_str(),
            resolved_in: group.resolved_in,
            resolved_at: group.resolved_at.map(shown),
            first_seen: shown(group.first_seen),
            last_seen: shown(group.last_seen),
            reports: group.reports,
            versions,
            computers,
            operating_systems,
            daily,
        }
    }
}

/// A group with what is counted of its reports: of each kind the 100 most frequent values.
#[derive(Serialize, ToSchema)]
pub(crate) struct FoundGroupBody {
    #[serde(flatten)]
    group: GroupBody,
    by_version: Vec<TallyBody>,
    /// By GUID.
    by_computer: Vec<TallyBody>,
    by_operating_system: Vec<TallyBody>,
}

/// How many reports have one value.
#[derive(Serialize, ToSchema)]
pub(crate) struct TallyBody {
    value: String,
    reports: u64,
}

/// Which groups: all that fit every condition.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GroupsQuery {
    /// `new`, `acknowledged`, `resolved` or `regressed`.
    pub state: Option<String>,
    /// Exactly this ApplicationName.
    pub application: Option<String>,
    /// Only signatures that hold this text, without case.
    pub q: Option<String>,
    /// Only groups with a report of this computer, by its GUID.
    pub computer: Option<String>,
    /// `last_seen` (default), `first_seen` or `reports`; the highest first.
    pub sort: Option<String>,
    /// Only groups of this organization.
    pub organization: Option<String>,
}

impl GroupsQuery {
    /// What is asked for; empty members count as missing.
    ///
    /// # Errors
    /// [`OperatorError::Invalid`]
    pub fn filter(&self) -> Result<(GroupFilter, GroupSort), OperatorError> {
        let unknown_state = || OperatorError::invalid("state", "must be new, acknowledged, resolved or regressed");
        let unknown_sort = || OperatorError::invalid("sort", "must be last_seen, first_seen or reports");
        let malformed = || OperatorError::invalid("computer", "must be a GUID");
        let filter = GroupFilter {
            state: given(&self.state).map(|text| GroupState::parse(text).ok_or_else(unknown_state)).transpose()?,
            application_name: given(&self.application).map(storable),
            search: given(&self.q).map(searched),
            computer: given(&self.computer).map(|text| ComputerGuid::parse(text).ok_or_else(malformed)).transpose()?,
        };
        let sort = given(&self.sort).map(|text| GroupSort::parse(text).ok_or_else(unknown_sort)).transpose()?;
        Ok((filter, sort.unwrap_or_default()))
    }
}

/// A change of the state of a group.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeBody {
    /// `new`, `acknowledged` or `resolved`.
    state: String,
    /// The version in which it is resolved.
    resolved_in: Option<String>,
}

/// The groups of crash reports that the operator sees.
#[utoipa::path(get, path = "/crash-groups", operation_id = "list_crash_groups", tag = "Crashes", params(GroupsQuery, PageQuery), responses((status = 200, description = "A page.", body = PageBody<GroupBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    query: Query<GroupsQuery>,
    page: Query<PageQuery>,
    groups: Data<CrashGroupService>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(GroupCursor::parse)?;
    let (filter, sort) = query.0.filter()?;
    let page = groups.list(&caller.actor, given(&query.0.organization), &filter, sort, asked).await?;
    Ok(json(&PageBody::of(page, GroupBody::from, |cursor| cursor.to_string())))
}

/// A group of crash reports. Its `ETag` changes with its state.
#[utoipa::path(get, path = "/crash-groups/{id}", operation_id = "find_crash_group", tag = "Crashes", params(("id" = String, Path)), responses((status = 200, description = "The group.", body = FoundGroupBody, headers(("ETag" = String))), Problems))]
pub(crate) async fn find(
    caller: Caller,
    id: Path<String>,
    groups: Data<CrashGroupService>,
) -> Result<HttpResponse, Problem> {
    answer(&caller, group_id(&id)?, &groups).await
}

/// Changes the state of a group. With `If-Match` only if it is as it was read: 412 when somebody else was faster.
#[utoipa::path(patch, path = "/crash-groups/{id}", operation_id = "change_crash_group", tag = "Crashes", params(("id" = String, Path), ("If-Match" = Option<String>, Header, description = "The `ETag` of the group as it was read.")), request_body = ChangeBody, responses((status = 200, description = "The group as it is now.", body = FoundGroupBody, headers(("ETag" = String))), (status = 412, description = "It was changed meanwhile.", content_type = "application/problem+json", body = crate::error::ProblemBody), Problems))]
pub(crate) async fn change(
    request: HttpRequest,
    caller: Caller,
    id: Path<String>,
    body: Json<ChangeBody>,
    groups: Data<CrashGroupService>,
) -> Result<HttpResponse, Problem> {
    let id = group_id(&id)?;
    let change = StateChange::parse(&body.0.state, body.0.resolved_in.as_deref())?;
    groups.change(&caller.actor, id, change, expected(&request)?.as_deref()).await?;
    answer(&caller, id, &groups).await
}

async fn answer(caller: &Caller, id: CrashGroupId, groups: &CrashGroupService) -> Result<HttpResponse, Problem> {
    let found = groups.find(&caller.actor, id).await?;
    let of = |kind: TallyKind| -> Vec<TallyBody> {
        let own = found.tallies.iter().filter(|tally| tally.kind == kind);
        own.map(|Tally { value, reports, .. }| TallyBody { value: value.clone(), reports: *reports }).collect()
    };
    let (by_version, by_computer) = (of(TallyKind::Version), of(TallyKind::Computer));
    let by_operating_system = of(TallyKind::OperatingSystem);
    let tag = tag(&found.listed.details.group);
    let group = GroupBody::from(found.listed);
    let body = FoundGroupBody { group, by_version, by_computer, by_operating_system };
    let response = HttpResponse::Ok().insert_header((ETAG, tag)).insert_header((CACHE_CONTROL, "no-store")).json(&body);
    Ok(response)
}

fn tag(group: &CrashGroup) -> EntityTag {
    EntityTag::new_strong(group.version().to_string())
}

/// The versions that `If-Match` names; `None` without one, or with `*`.
fn expected(request: &HttpRequest) -> Result<Option<Vec<GroupVersion>>, OperatorError> {
    if !request.headers().contains_key(IF_MATCH) {
        return Ok(None);
    }
    let unreadable = |_| OperatorError::invalid("If-Match", "must hold entity tags");
    Ok(match IfMatch::parse(request).map_err(unreadable)? {
        IfMatch::Any => None,
        IfMatch::Items(tags) => {
            // Strong comparison: a weak tag matches nothing (RFC 9110, 13.1.1).
            let strong = tags.iter().filter(|tag| !tag.weak);
            Some(strong.map(|tag| GroupVersion::from_text(tag.tag())).collect())
        }
    })
}

/// The id of a path; a malformed one is not found (decision R7).
///
/// # Errors
/// [`OperatorError::NotFound`]
pub fn group_id(text: &str) -> Result<CrashGroupId, OperatorError> {
    let missing = || OperatorError::NotFound(format!("crash group \"{}\"", domain::text::cut(text, 100)));
    parse_guid(text).map(CrashGroupId::from).ok_or_else(missing)
}
