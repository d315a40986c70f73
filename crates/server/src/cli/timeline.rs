//! `platen computers timeline` and `platen devices timeline`: events, newest first (decision I12).

use super::listing::{Listing, Record};
use super::lookup::{Kind, Organizations, Records};
use super::output::Out;
use super::query::{Limit, QueryOptions};
use super::table::{Cell, Column};
use crate::wiring;
use adapters_db::Database;
use anyhow::{Context, Result};
use clap::Args;
use domain::caller::OrganizationId;
use domain::device_status::ConnectionState;
use domain::inspection::InspectionRepository;
use domain::timeline::{EventId, Subject, TimelineDetails, TimelineEvent, TimelineRepository};
use futures_util::stream::{self, Stream};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};

/// Events in one page.
const PAGE: u32 = 200;

#[derive(Debug, Args)]
pub(super) struct Timeline {
    /// The computer or device, by its name or GUID, or the beginning of its GUID
    #[arg(value_name = "NAME|GUID")]
    named: String,
    #[command(flatten)]
    options: QueryOptions,
    #[command(flatten)]
    limit: Limit,
}

/// The kind of record whose timeline is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    Computer,
    Device,
}

pub(super) async fn run(database: &Database, of: Of, asked: &Timeline, out: &mut Out<'_>) -> Result<()> {
    let inspection = database.inspection();
    let organizations = Organizations::read(&inspection, asked.options.organization.as_deref()).await?;
    let fleet = wiring::fleet_service(database);
    let kind = match of {
        Of::Computer => Kind::Computer,
        Of::Device => Kind::Device,
    };
    let records = Records::read(&fleet, &organizations, kind).await?;
    let found = records.named(&asked.named)?;
    let subject = match of {
        Of::Computer => Subject::Computer(found.guid.into()),
        Of::Device => Subject::Device(found.guid.into()),
    };
    let organization = found.organization.clone();
    let organization = inspection.organizations(Some(organization)).await?.pop();
    let organization = organization.context("the organization was removed meanwhile")?;
    list(&database.timeline(), organization.id, subject, asked, out).await
}

async fn list(
    timeline: &dyn TimelineRepository,
    organization: OrganizationId,
    subject: Subject,
    asked: &Timeline,
    out: &mut Out<'_>,
) -> Result<()> {
    let events = events(timeline, organization, subject).take(asked.limit.get());
    Listing::new(COLUMNS, out, asked.options.json).write(events, "no events found", out).await
}

/// All events, page by page.
fn events(
    timeline: &dyn TimelineRepository,
    organization: OrganizationId,
    subject: Subject,
) -> impl Stream<Item = Result<TimelineEvent>> {
    let pages = stream::try_unfold(None, move |before| async move {
        let page = timeline.page(organization, subject, before, PAGE).await?;
        let last = page.last().map(|last| last.cursor);
        anyhow::Ok(last.map(|last| (stream::iter(page.into_iter().map(Ok)), Some(last))))
    });
    pages.try_flatten()
}

const COLUMNS: [Column; 3] = [Column::whole("TIME"), Column::whole("KIND"), Column::text("EVENT")];

impl Record for TimelineEvent {
    fn cells(&self) -> Vec<Cell> {
        let text = |pieces: &[&str]| {
            let pieces = pieces.iter().filter(|piece| !piece.is_empty());
            pieces.copied().collect::<Vec<_>>().join("  ")
        };
        let shown = match &self.details {
            TimelineDetails::StateChange(change) => text(&[
                change.status.as_str(),
                change.message.as_deref().unwrap_or_default(),
                change.connection_state.map_or("", ConnectionState::as_str),
                change.connection_message.as_deref().unwrap_or_default(),
            ]),
            TimelineDetails::Fetch { name, checksum } => {
                text(&[name.as_deref().unwrap_or("a deleted resource"), &checksum.to_string()])
            }
            TimelineDetails::LogEntry { description, user, source, .. } => text(&[description, user, source]),
            TimelineDetails::CrashReport { application_name, application_version } => {
                let id = crash_report(self).unwrap_or_default();
                text(&[application_name.as_deref().unwrap_or("unknown application"), application_version, &id])
            }
            TimelineDetails::Refusal { operation, reason, detail } => text(&[operation, reason, detail]),
        };
        vec![Cell::new(self.cursor.at.to_string()), Cell::new(self.details.kind()), Cell::new(shown)]
    }

    fn json(&self) -> Value {
        let mut json = match &self.details {
            TimelineDetails::StateChange(change) => change.json(),
            TimelineDetails::Fetch { name, checksum } => {
                let resource = match self.cursor.id {
                    EventId::Fetch(resource) => Some(resource.guid.to_string()),
                    _ => None,
                };
                json!({ "resource": resource, "name": name, "checksum": checksum.to_string() })
            }
            TimelineDetails::LogEntry { log_type, description, user, source, version } => json!({
                "log_type": log_type.as_str(), "description": description, "user": user, "source": source,
                "version": version,
            }),
            TimelineDetails::CrashReport { application_name, application_version } => json!({
                "crash_report": crash_report(self), "application_name": application_name,
                "application_version": application_version,
            }),
            TimelineDetails::Refusal { operation, reason, detail } => {
                json!({ "operation": operation, "reason": reason, "detail": detail })
            }
        };
        json["at"] = self.cursor.at.precise().into();
        json["kind"] = self.details.kind().into();
        json["cursor"] = self.cursor.to_string().into();
        json
    }
}

fn crash_report(event: &TimelineEvent) -> Option<String> {
    match event.cursor.id {
        EventId::CrashReport(id) => Some(id.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::testing::{at, numbered};
    use domain::timeline::{MockTimelineRepository, TimelineCursor};

    fn refusal(number: i64) -> TimelineEvent {
        let cursor = TimelineCursor { at: at(number), id: EventId::Refusal(number) };
        let [operation, reason, detail] =
            ["add_log", "device_not_found", "it isn't \u{1b}[2Jregistered"].map(str::to_owned);
        TimelineEvent { cursor, details: TimelineDetails::Refusal { operation, reason, detail } }
    }

    async fn listed(json: bool) -> Vec<String> {
        let mut timeline = MockTimelineRepository::new();
        timeline.expect_page().times(3).returning(|_, _, before, _| {
            Ok(match before.map(|before| before.id) {
                None => vec![refusal(2)],
                Some(EventId::Refusal(2)) => vec![refusal(1)],
                _ => Vec::new(),
            })
        });
        let options = QueryOptions { organization: None, json };
        let asked = Timeline { named: "RIP-01".to_owned(), options, limit: Limit::default() };
        let subject = Subject::Computer(numbered(1).into());
        let mut answer = Vec::new();
        let mut out = Out::new(&mut answer, Screen::PIPE);
        list(&timeline, OrganizationId(1), subject, &asked, &mut out).await.unwrap();
        String::from_utf8(answer).unwrap().lines().map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn pages_of_a_timeline_follow_each_other() {
        let lines = listed(false).await;
        assert_eq!(lines.len(), 3);
        assert!(
            lines[1].contains("00:00:02Z  refusal  add_log  device_not_found  it isn't \\x1b[2Jregistered"),
            "{lines:?}"
        );
        let lines = listed(true).await;
        let last: Value = serde_json::from_str(&lines[1]).unwrap();
        assert_eq!((&last["kind"], &last["at"]), (&json!("refusal"), &json!(at(1).precise())));
        assert_eq!(TimelineCursor::parse(last["cursor"].as_str().unwrap()), Some(refusal(1).cursor));
    }
}
