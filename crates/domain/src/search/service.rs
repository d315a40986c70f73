//! The use case of the search.

use super::model::{Hit, SearchQuery};
use super::repository::SearchRepository;
use crate::operator::{Actor, OperatorError, OrganizationList};
use std::sync::Arc;

/// Limit for the hits of one kind.
pub const MAX_HITS: u64 = 20;

/// A hit with the name of its organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundThing {
    /// The name of the organization; `None` if it isn't known.
    pub organization: Option<String>,
    pub hit: Hit,
}

/// The search of operators.
pub struct SearchService {
    search: Arc<dyn SearchRepository>,
    organizations: Arc<OrganizationList>,
}

impl SearchService {
    #[must_use]
    pub fn new(search: Arc<dyn SearchRepository>, organizations: Arc<OrganizationList>) -> Self {
        Self { search, organizations }
    }

    /// Searches all records that the actor sees (decision P8) and returns at most [`MAX_HITS`] of each kind. A blank
    /// text finds nothing.
    ///
    /// # Errors
    /// A store failure.
    pub async fn find(&self, actor: &Actor, text: &str) -> Result<Vec<FoundThing>, OperatorError> {
        let Some(query) = SearchQuery::parse(text) else {
            return Ok(Vec::new());
        };
        let hits = self.search.find(actor.scope.organization(), &query, MAX_HITS).await?;
        if hits.is_empty() {
            return Ok(Vec::new());
        }
        let names = self.organizations.names().await?;
        let found =
            |hit: Hit| FoundThing { organization: hit.organization.and_then(|id| names.get(&id).cloned()), hit };
        Ok(hits.into_iter().map(found).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::FleetRegistry;
    use crate::operator::Scope;
    use crate::search::Thing;
    use crate::testing::{ACME, InMemoryStore, ZENITH, a_fleet, acme_records, at};

    /// Decision P8.
    #[tokio::test]
    async fn a_search_finds_what_the_operator_sees() {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let shared = Arc::new(store);
        let organizations = Arc::new(OrganizationList::new(shared.clone()));
        let root = Actor::command("root");
        let zenith = organizations.narrow(&root, Some(ZENITH)).await.unwrap().unwrap();
        let search = SearchService::new(shared, organizations);
        let guid = acme_records().computer;
        let found = search.find(&root, &guid.to_string()).await.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].organization.as_deref(), Some(ACME));
        assert!(matches!(&found[0].hit.thing, Thing::Computer { guid: found, .. } if *found == guid));
        let foreign = Actor { scope: Scope::Organization(zenith), ..root.clone() };
        assert!(search.find(&foreign, &guid.to_string()).await.unwrap().is_empty());
        assert_eq!(search.find(&foreign, "rip-0").await.unwrap().len(), 1);
        assert_eq!(search.find(&root, "rip-0").await.unwrap().len(), 2);
        assert!(search.find(&root, "  ").await.unwrap().is_empty());
    }
}
