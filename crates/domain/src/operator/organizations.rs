//! The organizations that an operator sees (decision P8).

use super::actor::Actor;
use super::error::OperatorError;
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::inspection::{InspectionRepository, RegisteredOrganization};
use crate::page::{Page, PageRequest};
use crate::text::storable;
use std::collections::HashMap;
use std::sync::Arc;

/// The list of organizations.
pub struct OrganizationList {
    inspection: Arc<dyn InspectionRepository>,
}

impl OrganizationList {
    #[must_use]
    pub fn new(inspection: Arc<dyn InspectionRepository>) -> Self {
        Self { inspection }
    }

    /// The organizations that the actor sees, by name. There are hundreds at most, so they are read at once.
    ///
    /// # Errors
    /// A store failure.
    pub async fn list(
        &self,
        actor: &Actor,
        asked: PageRequest<String>,
    ) -> Result<Page<RegisteredOrganization, String>, OperatorError> {
        let mut all = self.inspection.organizations(None).await?;
        all.retain(|one| actor.scope.organization().is_none_or(|own| own == one.id));
        all.retain(|one| asked.after.as_ref().is_none_or(|after| one.name > *after));
        Ok(asked.page(all, |one| one.name.clone()))
    }

    /// The names of all organizations by id.
    pub(crate) async fn names(&self) -> Result<HashMap<OrganizationId, String>, StoreError> {
        let all = self.inspection.organizations(None).await?;
        Ok(all.into_iter().map(|one| (one.id, one.name)).collect())
    }

    /// The organizations to list: the named one, else the actor's own, else all (`None`).
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] for an organization that the actor doesn't see.
    pub async fn narrow(&self, actor: &Actor, name: Option<&str>) -> Result<Option<OrganizationId>, OperatorError> {
        let own = actor.scope.organization();
        let Some(name) = name else {
            return Ok(own);
        };
        // A path may hold U+0000, which no database takes (decision R9).
        let found = self.inspection.organizations(Some(storable(name))).await?;
        let seen = found.into_iter().find(|found| own.is_none_or(|own| own == found.id));
        seen.map(|found| Some(found.id)).ok_or_else(|| OperatorError::NotFound(format!("organization \"{name}\"")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::FleetRegistry;
    use crate::operator::Scope;
    use crate::testing::{ACME, InMemoryStore, ZENITH, a_fleet, at};

    /// Decision P8.
    #[tokio::test]
    async fn an_operator_of_one_organization_sees_no_other() {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let list = OrganizationList::new(Arc::new(store));
        let names = async |actor: &Actor, after: Option<String>, limit| {
            let page = list.list(actor, PageRequest { after, limit }).await.unwrap();
            (page.items.iter().map(|one| one.name.clone()).collect::<Vec<_>>(), page.next)
        };
        let everything = Actor::command("root");
        assert_eq!(names(&everything, None, 1).await, (vec![ACME.to_owned()], Some(ACME.to_owned())));
        assert_eq!(names(&everything, Some(ACME.to_owned()), 1).await, (vec![ZENITH.to_owned()], None));
        let all = list.list(&everything, PageRequest { after: None, limit: 9 }).await.unwrap().items;
        let own = Actor { scope: Scope::Organization(all[1].id), ..everything.clone() };
        assert_eq!(names(&own, None, 9).await.0, [ZENITH]);
        assert_eq!(list.narrow(&own, None).await.unwrap(), Some(all[1].id));
        assert_eq!(list.narrow(&everything, None).await.unwrap(), None);
        assert_eq!(list.narrow(&everything, Some(ACME)).await.unwrap(), Some(all[0].id));
        let other = list.narrow(&own, Some(ACME)).await;
        assert!(matches!(other, Err(OperatorError::NotFound(_))), "{other:?}");
    }
}
