//! The use cases of the log for operators.

use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::inspection::{InspectedLogEntry, InspectionRepository, LogFollower};
use crate::log_entry::{LogCursor, LogFilter, LogNumber};
use crate::operator::{Actor, OperatorError};
use crate::page::{Page, PageRequest};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use std::collections::HashMap;
use std::sync::Arc;

/// Which entries an operator asks for: all that fit every condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogQuery {
    pub organization: Option<OrganizationId>,
    pub filter: LogFilter,
}

impl LogQuery {
    /// The same for an operator: one of an organization sees no other, whatever the query says (decision P8).
    #[must_use]
    pub fn within(self, actor: &Actor) -> Self {
        Self { organization: actor.scope.organization().or(self.organization), ..self }
    }

    /// Whether an entry fits.
    #[must_use]
    pub fn fits(&self, entry: &InspectedLogEntry) -> bool {
        self.organization.is_none_or(|asked| asked == entry.organization) && entry.matches(&self.filter)
    }
}

/// A log entry and the present name of its organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorLogEntry {
    pub organization: String,
    pub entry: InspectedLogEntry,
}

/// The names of organizations.
#[derive(Debug, Clone, Default)]
pub struct OrganizationNames(HashMap<OrganizationId, String>);

impl OrganizationNames {
    fn named(&self, entry: InspectedLogEntry) -> OperatorLogEntry {
        let organization = self.0.get(&entry.organization).cloned().unwrap_or_default();
        OperatorLogEntry { organization, entry }
    }
}

/// The use cases of the log for operators.
pub struct OperatorLogService {
    inspection: Arc<dyn InspectionRepository>,
}

impl OperatorLogService {
    #[must_use]
    pub fn new(inspection: Arc<dyn InspectionRepository>) -> Self {
        Self { inspection }
    }

    /// A page of the entries that fit, the newest first. It may hold fewer than its limit, even none, and still have a
    /// next one.
    ///
    /// # Errors
    /// A store failure.
    pub async fn page(
        &self,
        actor: &Actor,
        query: LogQuery,
        asked: PageRequest<LogCursor>,
    ) -> Result<Page<OperatorLogEntry, LogCursor>, OperatorError> {
        let LogQuery { organization, filter } = query.within(actor);
        let Page { items, next } = self.inspection.log_page(organization, filter, asked).await?;
        Ok(Page { items: self.named(items, &mut OrganizationNames::default()).await?, next })
    }

    /// All entries that fit when it begins, the newest first. They are read while they are taken.
    ///
    /// # Errors
    /// A store failure, also of an item.
    pub async fn list(
        &self,
        actor: &Actor,
        query: LogQuery,
    ) -> Result<BoxStream<'static, Result<OperatorLogEntry, StoreError>>, OperatorError> {
        let LogQuery { organization, filter } = query.within(actor);
        let names = self.names().await?;
        let organizations = organization.map_or_else(|| names.0.keys().copied().collect(), |only| vec![only]);
        let entries = self.inspection.log_entries(organizations, filter);
        Ok(entries.map_ok(move |entry| names.named(entry)).boxed())
    }

    /// Follows the entries of a query that is within the scope of its operator. Without `after` it begins now; else after
    /// that position of another follower.
    ///
    /// # Errors
    /// A store failure.
    pub async fn follow(&self, query: LogQuery, after: Option<LogNumber>) -> Result<Box<dyn LogFollower>, StoreError> {
        self.inspection.follow_log(query.organization, query.filter, after).await
    }

    /// The entries with the names of their organizations, which are read where `known` lacks one.
    ///
    /// # Errors
    /// A store failure.
    pub async fn named(
        &self,
        entries: Vec<InspectedLogEntry>,
        known: &mut OrganizationNames,
    ) -> Result<Vec<OperatorLogEntry>, StoreError> {
        if entries.iter().any(|entry| !known.0.contains_key(&entry.organization)) {
            *known = self.names().await?;
        }
        Ok(entries.into_iter().map(|entry| known.named(entry)).collect())
    }

    async fn names(&self) -> Result<OrganizationNames, StoreError> {
        let all = self.inspection.organizations(None).await?;
        Ok(OrganizationNames(all.into_iter().map(|one| (one.id, one.name)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::FleetRegistry;
    use crate::log_entry::LogRepository;
    use crate::operator::Scope;
    use crate::testing::{ACME, InMemoryStore, ZENITH, a_fleet, a_log_entry, at};

    async fn scene() -> (OperatorLogService, [OrganizationId; 2]) {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let all = store.organizations(None).await.unwrap();
        for one in &all {
            store.add(one.id, a_log_entry(&format!("of {}", one.name))).await.unwrap();
        }
        (OperatorLogService::new(Arc::new(store)), [all[0].id, all[1].id])
    }

    /// Decision P8.
    #[tokio::test]
    async fn an_operator_of_one_organization_reads_its_log_only() {
        let (logs, [acme, zenith]) = scene().await;
        let own = Actor { scope: Scope::Organization(zenith), ..Actor::command("root") };
        for organization in [None, Some(acme), Some(zenith)] {
            let query = LogQuery { organization, ..LogQuery::default() };
            let page = logs.page(&own, query.clone(), PageRequest { after: None, limit: 9 }).await.unwrap();
            assert_eq!(page.items.len(), 1);
            assert_eq!(page.items[0].organization, ZENITH);
            let all: Vec<OperatorLogEntry> = logs.list(&own, query.clone()).await.unwrap().try_collect().await.unwrap();
            assert_eq!(all, page.items);
            let within = query.within(&own);
            assert!(within.fits(&page.items[0].entry));
            let other = InspectedLogEntry { organization: acme, ..page.items[0].entry.clone() };
            assert!(!within.fits(&other));
        }
    }

    #[tokio::test]
    async fn entries_bear_the_name_of_their_organization() {
        let (logs, [acme, _]) = scene().await;
        let everything = Actor::command("root");
        let page = logs.page(&everything, LogQuery::default(), PageRequest { after: None, limit: 1 }).await.unwrap();
        assert_eq!((page.items[0].organization.as_str(), page.next.is_some()), (ZENITH, true));
        let query = LogQuery { organization: Some(acme), ..LogQuery::default() };
        let mut follower = logs.follow(query, Some(LogNumber(0))).await.unwrap();
        let mut names = OrganizationNames::default();
        let entries = logs.named(follower.next().await.unwrap(), &mut names).await.unwrap();
        assert_eq!(entries.iter().map(|one| one.organization.as_str()).collect::<Vec<_>>(), [ACME]);
    }
}
