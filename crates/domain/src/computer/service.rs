//! The use cases of operators on computers.

#[cfg(test)]
mod tests;

use super::model::{ComputerCursor, ComputerFilter, ComputerRecord, FoundComputer, ListedComputer};
use super::repository::ComputerRepository;
use crate::activity::ActivityRepository;
use crate::crash_group::{CrashGroupRepository, GroupFilter, GroupSort};
use crate::guid::ComputerGuid;
use crate::operator::{Actor, OperatorError, OrganizationList};
use crate::page::{Page, PageRequest};
use crate::refusal::{RefusalFilter, RefusalRepository};
use crate::timeline::{Subject, TimelineCursor, TimelineEvent, TimelineRepository};
use futures_util::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// Limits for the lists in a [`FoundComputer`].
pub const MAX_REFUSALS: u64 = 20;
pub const MAX_OUTDATED: usize = 200;
pub const MAX_GROUPS: u64 = 50;

/// The ports that [`ComputerService`] reads.
#[derive(Clone)]
pub struct ComputerSources {
    pub computers: Arc<dyn ComputerRepository>,
    pub refusals: Arc<dyn RefusalRepository>,
    pub activity: Arc<dyn ActivityRepository>,
    pub groups: Arc<dyn CrashGroupRepository>,
    pub timeline: Arc<dyn TimelineRepository>,
}

/// The computers as an operator sees them (decisions I8, I9, I12, P8).
pub struct ComputerService {
    sources: ComputerSources,
    organizations: Arc<OrganizationList>,
}

impl ComputerService {
    #[must_use]
    pub fn new(sources: ComputerSources, organizations: Arc<OrganizationList>) -> Self {
        Self { sources, organizations }
    }

    /// Lists the computers that match, by name, of the named organization or of all that the actor sees.
    ///
    /// # Errors
    /// An organization that the actor doesn't see, or a store failure.
    pub async fn list(
        &self,
        actor: &Actor,
        organization: Option<&str>,
        filter: &ComputerFilter,
        asked: PageRequest<ComputerCursor>,
    ) -> Result<Page<ListedComputer, ComputerCursor>, OperatorError> {
        let organization = self.organizations.narrow(actor, organization).await?;
        let rows = self.sources.computers.page(organization, filter, asked.after.clone(), asked.rows()).await?;
        let names = self.organizations.names().await?;
        let page = asked.page(rows, ComputerRecord::cursor);
        let listed = |computer: ComputerRecord| ListedComputer {
            organization: names.get(&computer.organization).cloned().unwrap_or_default(),
            computer,
        };
        Ok(Page { items: page.items.into_iter().map(listed).collect(), next: page.next })
    }

    /// Finds a computer with its refusals, outdated resources and crash groups.
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] also for a computer of an organization that the actor doesn't see, or a store failure.
    pub async fn find(&self, actor: &Actor, guid: ComputerGuid) -> Result<FoundComputer, OperatorError> {
        let computer = self.require(actor, guid).await?;
        let owner = computer.organization;
        let organization = self.organizations.names().await?.remove(&owner).unwrap_or_default();
        let of_computer = RefusalFilter { organization: Some(owner), computer: Some(guid), ..RefusalFilter::default() };
        let refusals = self.sources.refusals.page(&of_computer, None, MAX_REFUSALS).await?;
        let outdated = self.sources.activity.outdated_resources(owner, guid);
        let outdated = outdated.take(MAX_OUTDATED).try_collect().await?;
        let of_computer = GroupFilter { computer: Some(guid), ..GroupFilter::default() };
        let groups = &self.sources.groups;
        let groups = groups.page(Some(owner), &of_computer, GroupSort::LastSeen, None, MAX_GROUPS).await?;
        Ok(FoundComputer { listed: ListedComputer { organization, computer }, refusals, outdated, groups })
    }

    /// A page of the timeline of a computer, the newest event first (decision I12).
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] also for a computer of an organization that the actor doesn't see, or a store failure.
    pub async fn timeline(
        &self,
        actor: &Actor,
        guid: ComputerGuid,
        asked: PageRequest<TimelineCursor>,
    ) -> Result<Page<TimelineEvent, TimelineCursor>, OperatorError> {
        let owner = self.require(actor, guid).await?.organization;
        let rows = u32::try_from(asked.rows()).unwrap_or(u32::MAX);
        let events = self.sources.timeline.page(owner, Subject::Computer(guid), asked.after, rows).await?;
        Ok(asked.page(events, |event| event.cursor))
    }

    async fn require(&self, actor: &Actor, guid: ComputerGuid) -> Result<ComputerRecord, OperatorError> {
        let found = self.sources.computers.find(actor.scope.organization(), guid).await?;
        found.ok_or_else(|| OperatorError::NotFound(format!("computer {guid}")))
    }
}
