//! `GET /overview`

use crate::authenticate::Caller;
use crate::devices::body::DeviceBody;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::query::Query;
use crate::routes::json;
use crate::time::shown;
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::crash_group::CrashGroup;
use domain::operator::OrganizationList;
use domain::overview::{DeviceFigures, HourFigure, Overview, OverviewService, ReasonFigure};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The figures of the console's first page.
#[derive(Serialize, ToSchema)]
#[schema(as = Overview)]
pub(crate) struct OverviewBody {
    #[schema(format = DateTime)]
    at: String,
    devices: DeviceFiguresBody,
    /// The first devices that need somebody, the most urgent first.
    needing: Vec<DeviceBody>,
    crash_groups: UnsettledBody,
    /// Of the last 24 hours, the most frequent first. Of each organization the newest refusals are kept only.
    refusals: Vec<ReasonBody>,
    /// Log entries of the present hour and the 23 before, oldest first.
    log_entries: Vec<HourBody>,
    /// Resources of which at least one computer has an outdated content.
    outdated_resources: u64,
}

/// How many devices are in which state. A silent device counts as silent only.
#[derive(Serialize, ToSchema)]
#[schema(as = DeviceFigures)]
pub(crate) struct DeviceFiguresBody {
    all: u64,
    printing: u64,
    idle: u64,
    error: u64,
    offline: u64,
    /// Aborting, sleeping or calibrating.
    other: u64,
    silent: u64,
    never_seen: u64,
    /// Devices that need somebody because of an ink only.
    low_ink: u64,
}

/// The groups of crash reports that are new or regressed.
#[derive(Serialize, ToSchema)]
#[schema(as = UnsettledGroups)]
pub(crate) struct UnsettledBody {
    new: u64,
    regressed: u64,
    /// Some of them, the last seen first.
    first: Vec<UnsettledGroupBody>,
}

/// A group of crash reports that is new or regressed.
#[derive(Serialize, ToSchema)]
#[schema(as = UnsettledGroup)]
pub(crate) struct UnsettledGroupBody {
    id: String,
    application: Option<String>,
    signature: String,
    state: &'static str,
    reports: u64,
    #[schema(format = DateTime)]
    last_seen: String,
}

/// How many requests were refused for one reason.
#[derive(Serialize, ToSchema)]
#[schema(as = RefusalFigure)]
pub(crate) struct ReasonBody {
    reason: String,
    refusals: u64,
}

/// How many log entries were received in one hour.
#[derive(Serialize, ToSchema)]
#[schema(as = HourFigure)]
pub(crate) struct HourBody {
    /// Its beginning.
    #[schema(format = DateTime)]
    from: String,
    entries: u64,
}

impl From<Overview> for OverviewBody {
    fn from(overview: Overview) -> Self {
        let moment = overview.moment;
        let groups = overview.crash_groups;
        let reason = |ReasonFigure { reason, refusals }| ReasonBody { reason, refusals };
        let hour = |HourFigure { from, entries }| HourBody { from: shown(from), entries };
        Self {
            at: shown(moment.now),
            devices: overview.devices.into(),
            needing: overview.needing.iter().map(|device| DeviceBody::of(device, moment)).collect(),
            crash_groups: UnsettledBody {
                new: groups.new,
                regressed: groups.regressed,
                first: groups.first.into_iter().map(UnsettledGroupBody::from).collect(),
            },
            refusals: overview.refusals.into_iter().map(reason).collect(),
            log_entries: overview.log_hours.into_iter().map(hour).collect(),
            outdated_resources: overview.outdated_resources,
        }
    }
}

impl From<DeviceFigures> for DeviceFiguresBody {
    fn from(figures: DeviceFigures) -> Self {
        let DeviceFigures { all, printing, idle, error, offline, other, silent, never_seen, low_ink } = figures;
        Self { all, printing, idle, error, offline, other, silent, never_seen, low_ink }
    }
}

impl From<CrashGroup> for UnsettledGroupBody {
    fn from(group: CrashGroup) -> Self {
        Self {
            id: group.id.to_string(),
            application: group.application_name,
            signature: group.signature,
            state: group.state.as_str(),
            reports: group.reports,
            last_seen: shown(group.last_seen),
        }
    }
}

/// Which organization.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OverviewQuery {
    /// Only figures of this organization.
    organization: Option<String>,
}

/// How the printers, computers and programs do now.
#[utoipa::path(get, path = "/overview", operation_id = "get_overview", tag = "Overview", params(OverviewQuery), responses((status = 200, description = "The figures.", body = OverviewBody), Problems))]
pub(crate) async fn overview(
    caller: Caller,
    query: Query<OverviewQuery>,
    overview: Data<OverviewService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let named = query.0.organization.as_deref().filter(|name| !name.is_empty());
    let organization = organizations.narrow(&caller.actor, named).await?;
    Ok(json(&OverviewBody::from(overview.overview(&caller.actor, organization).await?)))
}
