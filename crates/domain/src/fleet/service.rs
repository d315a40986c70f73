//! The operator's use cases on the fleet.

#[cfg(test)]
mod tests;

use super::{Applied, Fleet, FleetOrganization, FleetRegistry, KeyRevocation, NewKey, Preview, RegistryError, Secret};
use crate::clock::{Clock, IdSource};
use std::sync::Arc;

/// The use cases of `platen fleet` and `platen key`.
pub struct FleetService {
    registry: Arc<dyn FleetRegistry>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl FleetService {
    /// Puts the use cases over their ports.
    #[must_use]
    pub fn new(registry: Arc<dyn FleetRegistry>, clock: Arc<dyn Clock>, ids: Arc<dyn IdSource>) -> Self {
        Self { registry, clock, ids }
    }

    /// Registers all that `fleet` names, in one step (decision O2). Users without a key of their own in
    /// the file and without any registered one get a new one, which is in the answer and nowhere else
    /// (decisions A1, A6).
    ///
    /// # Errors
    /// A conflict, after which nothing of it is applied, or a store failure.
    pub async fn apply(&self, fleet: &Fleet) -> Result<Applied, RegistryError> {
        self.registry.apply(fleet, &self.new_keys(fleet), self.clock.now()).await
    }

    /// What [`FleetService::apply`] would do; nothing of it is done, and no key of it is valid.
    ///
    /// # Errors
    /// The same.
    pub async fn preview(&self, fleet: &Fleet) -> Result<Preview, RegistryError> {
        self.registry.preview(fleet, &self.new_keys(fleet), self.clock.now()).await
    }

    /// The registered fleet without credentials, all of it or one organization's, as a fleet file: without what is
    /// retired.
    ///
    /// # Errors
    /// An organization that isn't registered, or a store failure.
    pub async fn export(&self, organization: Option<&str>) -> Result<Fleet, RegistryError> {
        let Fleet { organizations } = self.registered(organization).await?;
        Ok(Fleet { organizations: organizations.into_iter().map(FleetOrganization::without_retired).collect() })
    }

    /// The same with what is retired.
    ///
    /// # Errors
    /// The same.
    pub async fn registered(&self, organization: Option<&str>) -> Result<Fleet, RegistryError> {
        self.registry.export(organization.map(str::to_owned)).await
    }

    /// Issues one more key to a user, which is in the answer and nowhere else.
    ///
    /// # Errors
    /// A user that isn't registered, or a store failure.
    pub async fn issue_key(&self, organization: &str, user: &str) -> Result<NewKey, RegistryError> {
        let key = self.new_key(organization, user);
        self.registry.add_key(&key, self.clock.now()).await?;
        Ok(key)
    }

    /// Revokes all keys of a user, for ever (decision A6).
    ///
    /// # Errors
    /// A user that isn't registered, or a store failure.
    pub async fn revoke_keys(&self, organization: &str, user: &str) -> Result<KeyRevocation, RegistryError> {
        self.registry.revoke_keys(organization, user, self.clock.now()).await
    }

    /// A key for each user who brings none.
    fn new_keys(&self, fleet: &Fleet) -> Vec<NewKey> {
        fleet.organizations.iter().flat_map(|organization| self.keys_of(organization)).collect()
    }

    fn keys_of(&self, organization: &FleetOrganization) -> Vec<NewKey> {
        let keyless = organization.users.iter().filter(|user| user.mis_key.is_none());
        keyless.map(|user| self.new_key(&organization.name, &user.name)).collect()
    }

    fn new_key(&self, organization: &str, user: &str) -> NewKey {
        let mis_key = Secret::generate(self.ids.secret());
        NewKey { organization: organization.to_owned(), user: user.to_owned(), mis_key }
    }
}
