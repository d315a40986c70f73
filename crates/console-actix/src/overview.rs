//! The first page: what needs somebody, in figures that lead to their lists.

use crate::chart::{BOTTOM, LEFT, Mark, RIGHT, ValueAxis, place};
use crate::choices;
use crate::devices::Device;
use crate::format::{count, minute, short};
use crate::layout::{Layout, page, root};
use crate::link::link;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::operator::OrganizationList;
use domain::overview::{DeviceFigures, HourFigure, OverviewService, ReasonFigure};
use domain::refusal::explanation;
use domain::timestamp::Timestamp;
use operator_actix::authenticate::Caller;
use operator_actix::error::Problem;
use operator_actix::query::Query;
use serde::Deserialize;

/// Inks of one device that the page shows.
const MOST_INKS: usize = 12;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    layout: Layout,
    organization: String,
    /// Pairs of value and word; empty for an operator of one organization.
    organizations: Vec<(String, String)>,
    figures: Vec<Figure>,
    has_devices: bool,
    /// Devices that need somebody, and how many there are.
    needing: Vec<Device>,
    needing_all: u64,
    has_more: bool,
    needing_link: String,
    groups: Vec<Group>,
    group_figures: [Figure; 2],
    refusals: Vec<Reason>,
    refusals_link: String,
    hours: Hours,
    logs_link: String,
    outdated: Figure,
    again: String,
}

/// A number that leads to its list.
struct Figure {
    number: u64,
    name: &'static str,
    /// The kind of its mark: good, busy, warn, bad, idle or past.
    kind: &'static str,
    link: String,
}

/// A group of crash reports.
struct Group {
    link: String,
    signature: String,
    application: String,
    is_regressed: bool,
    reports: u64,
    last_seen: Timestamp,
}

/// Refusals for one reason.
struct Reason {
    link: String,
    code: String,
    /// What it means, in a sentence.
    meaning: &'static str,
    refusals: u64,
    /// The width of its bar, of 100.
    share: String,
}

/// The log entries of the last day.
struct Hours {
    bars: Vec<Bar>,
    marks: Vec<Mark>,
    rows: Vec<HourFigure>,
    all: u64,
}

/// The log entries of one hour.
struct Bar {
    x: String,
    y: String,
    width: String,
    height: String,
    /// `09:00`, on every third hour.
    label: String,
    middle: String,
    words: String,
}

/// Which organization.
#[derive(Deserialize)]
pub(crate) struct Scope {
    #[serde(default)]
    organization: String,
}

/// `GET /console`
pub(crate) async fn show(
    request: HttpRequest,
    caller: Caller,
    scope: Query<Scope>,
    overview: Data<OverviewService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let named = scope.0.organization;
    let organization =
        organizations.narrow(&caller.actor, Some(named.as_str()).filter(|name| !name.is_empty())).await?;
    let found = overview.overview(&caller.actor, organization).await?;
    let root = root(&request);
    let of = |path: &str, members: &[(&str, &str)]| {
        let all: Vec<(&str, &str)> = members.iter().copied().chain([("organization", named.as_str())]).collect();
        link(&format!("{root}/{path}"), &all)
    };
    let group = |group: domain::crash_group::CrashGroup| Group {
        link: format!("{root}/crashes/{}", group.id),
        signature: short(&group.signature),
        application: group.application_name.as_ref().map(short).unwrap_or_default(),
        is_regressed: group.state == domain::crash_group::GroupState::Regressed,
        reports: group.reports,
        last_seen: group.last_seen,
    };
    let groups = found.crash_groups;
    let since = found.moment.now.minus(std::time::Duration::from_hours(24)).to_string();
    let shown = OverviewPage {
        layout: Layout::signed_in(&request, "Overview", "", &caller.signed_in),
        organizations: choices::organizations(&caller, &organizations).await?,
        figures: figures(found.devices, &of),
        has_devices: found.devices.all > 0,
        has_more: found.devices.needing() > found.needing.len() as u64,
        needing: found.needing.into_iter().map(|device| Device::of(device, found.moment, MOST_INKS)).collect(),
        needing_all: found.devices.needing(),
        needing_link: of("devices", &[]),
        groups: groups.first.into_iter().map(group).collect(),
        group_figures: [
            Figure { number: groups.new, name: "new", kind: "warn", link: of("crashes", &[("state", "new")]) },
            Figure {
                number: groups.regressed,
                name: "regressed",
                kind: "bad",
                link: of("crashes", &[("state", "regressed")]),
            },
        ],
        refusals: reasons(found.refusals, |reason| of("refusals", &[("reason", reason), ("since", &since)])),
        refusals_link: of("refusals", &[]),
        hours: Hours::of(found.log_hours),
        logs_link: of("logs", &[]),
        outdated: Figure {
            number: found.outdated_resources,
            name: "outdated on computers",
            kind: "warn",
            link: of("resources", &[]),
        },
        again: link(&root, &[("organization", &named)]),
        organization: named,
    };
    Ok(page(StatusCode::OK, &shown))
}

fn figures(devices: DeviceFigures, of: &impl Fn(&str, &[(&str, &str)]) -> String) -> Vec<Figure> {
    let figure =
        |number, name, kind, members: &[(&str, &str)]| Figure { number, name, kind, link: of("devices", members) };
    vec![
        figure(devices.printing, "printing", "busy", &[("status", "Printing"), ("silent", "false")]),
        figure(devices.idle, "idle", "good", &[("status", "Idle"), ("silent", "false")]),
        figure(devices.error, "in error", "bad", &[("status", "Error"), ("silent", "false")]),
        figure(devices.offline, "offline", "warn", &[("status", "Offline"), ("silent", "false")]),
        figure(devices.silent, "silent", "past", &[("silent", "true")]),
        figure(devices.low_ink, "low on ink", "warn", &[("attention", "low_ink")]),
        figure(
            devices.other,
            "other states",
            "idle",
            &[("status", "Aborting,Sleeping,Calibrating"), ("silent", "false")],
        ),
        figure(devices.never_seen, "never seen", "past", &[("seen", "false")]),
    ]
}

fn reasons(figures: Vec<ReasonFigure>, of: impl Fn(&str) -> String) -> Vec<Reason> {
    let most = figures.first().map_or(1, |figure| figure.refusals).max(1);
    let reason = |figure: ReasonFigure| Reason {
        link: of(&figure.reason),
        share: place(ratio(figure.refusals, most) * 100.0),
        refusals: figure.refusals,
        meaning: explanation(&figure.reason).meaning,
        code: figure.reason,
    };
    figures.into_iter().map(reason).collect()
}

impl Hours {
    fn of(hours: Vec<HourFigure>) -> Self {
        let most = hours.iter().map(|hour| hour.entries).max().unwrap_or_default();
        let axis = ValueAxis::around(0.0..=ratio(most, 1).max(1.0));
        let slot = (RIGHT - LEFT) / ratio(hours.len() as u64, 1).max(1.0);
        let bar = |(number, hour): (u64, &HourFigure)| {
            let (x, y) = (LEFT + ratio(number, 1) * slot, axis.y(ratio(hour.entries, 1)));
            let shown = minute(&hour.from);
            Bar {
                x: place(x + slot * 0.12),
                y: place(y),
                width: place(slot * 0.76),
                height: place(BOTTOM - y),
                label: if number % 3 == 0 { shown.get(11..16).unwrap_or_default().to_owned() } else { String::new() },
                middle: place(x + slot / 2.0),
                words: format!("{shown}: {} entries", count(&hour.entries)),
            }
        };
        Self {
            bars: (0..).zip(&hours).map(bar).collect(),
            marks: axis.marks(""),
            all: hours.iter().map(|hour| hour.entries).sum(),
            rows: hours,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
fn ratio(number: u64, of: u64) -> f64 {
    number as f64 / of as f64
}
