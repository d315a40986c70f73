//! `platen crashes groups`

use crate::cli::listing::{Listing, Record};
use crate::cli::lookup::Organizations;
use crate::cli::output::Out;
use crate::cli::query::{Limit, QueryOptions};
use crate::cli::table::{Cell, Column};
use anyhow::Result;
use clap::Args;
use domain::crash_group::{CrashGroupDetails, CrashGroupRepository, GroupCursor, GroupFilter, GroupSort, GroupState};
use domain::timestamp::Timestamp;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

/// Groups in one page.
const PAGE: u64 = 200;

#[derive(Debug, Args)]
pub(in crate::cli) struct GroupsArguments {
    #[command(flatten)]
    pub(super) options: QueryOptions,
    #[command(flatten)]
    limit: Limit,
    /// Only groups in this state: new, acknowledged, resolved or regressed
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<GroupState>,
    /// Only groups of this application
    #[arg(long, value_name = "NAME")]
    application: Option<String>,
    /// Only groups whose signature contains this text
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
}

fn state(text: &str) -> Result<GroupState, String> {
    let allowed = || format!("allowed is {}", GroupState::ALL.map(GroupState::as_str).join(", "));
    GroupState::parse(text).ok_or_else(allowed)
}

/// Writes the groups, the last seen first.
pub(super) async fn write(
    groups: &dyn CrashGroupRepository,
    organizations: &Organizations,
    asked: &GroupsArguments,
    out: &mut Out<'_>,
) -> Result<()> {
    let filter = GroupFilter {
        state: asked.state,
        application_name: asked.application.clone(),
        search: asked.search.clone(),
        computer: None,
    };
    let (only, filter, sort) = (organizations.only().map(|only| only.id), &filter, GroupSort::LastSeen);
    let pages = stream::try_unfold(Some(None), move |after: Option<Option<GroupCursor>>| async move {
        let Some(after) = after else { return Ok(None) };
        let page = groups.page(only, filter, sort, after, PAGE).await?;
        let last = page.last().map(|last| sort.cursor(&last.group));
        Ok::<_, anyhow::Error>(Some((stream::iter(page.into_iter().map(Ok)), last.map(Some))))
    });
    let records = pages.try_flatten().take(asked.limit.get()).map_ok(|details| GroupRecord {
        organization: organizations.name(details.group.organization).to_owned(),
        details,
    });
    Listing::new(COLUMNS, out, asked.options.json).write(records, "no crash groups found", out).await
}

/// A group with the name of its organization.
struct GroupRecord {
    organization: String,
    details: CrashGroupDetails,
}

const COLUMNS: [Column; 10] = [
    Column::whole("LAST SEEN"),
    Column::optional("FIRST SEEN"),
    Column::optional("ID"),
    Column::optional("ORGANIZATION"),
    Column::optional("APPLICATION"),
    Column::text("STATE"),
    Column::text("REPORTS"),
    Column::optional("VERSIONS"),
    Column::optional("COMPUTERS"),
    Column::text("SIGNATURE"),
];

impl Record for GroupRecord {
    fn cells(&self) -> Vec<Cell> {
        let CrashGroupDetails { group, versions, computers, .. } = &self.details;
        vec![
            Cell::new(group.last_seen.to_string()),
            Cell::new(group.first_seen.to_string()),
            Cell::new(group.id.to_string()),
            Cell::new(&self.organization),
            Cell::new(group.application_name.as_deref().unwrap_or("unknown")),
            Cell::new(group.state.as_str()),
            Cell::new(group.reports.to_string()),
            Cell::new(versions.to_string()),
            Cell::new(computers.to_string()),
            Cell::new(&group.signature),
        ]
    }

    fn json(&self) -> Value {
        let CrashGroupDetails { group, versions, computers, operating_systems } = &self.details;
        json!({
            "id": group.id.to_string(),
            "organization": self.organization,
            "application_name": group.application_name,
            "signature": group.signature,
            "algorithm": group.algorithm,
            "state": group.state.as_str(),
            "resolved_in": group.resolved_in,
            "resolved_at": group.resolved_at.map(Timestamp::precise),
            "first_seen": group.first_seen.precise(),
            "last_seen": group.last_seen.precise(),
            "reports": group.reports,
            "versions": versions,
            "computers": computers,
            "operating_systems": operating_systems,
        })
    }
}
