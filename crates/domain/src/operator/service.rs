//! The use cases on operators (decision P1).

use super::actor::Actor;
use super::error::OperatorError;
use super::model::{NewOperator, Operator, OperatorName, Role, Scope};
use super::password::{NewPassword, PasswordHasher};
use super::repository::{AddOutcome, FoundOperator, OperatorRepository};
use crate::audit::{AuditAction, AuditedScope, AuditedValue, NewAuditRecord};
use crate::clock::{Clock, IdSource};
use crate::page::{Page, PageRequest};
use crate::text::Folded;
use std::sync::Arc;

/// An operator to add. The password is generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddOperator {
    pub name: OperatorName,
    pub role: Role,
    /// The name of the one organization; `None` for all.
    pub organization: Option<String>,
}

/// The use cases on operators.
pub struct OperatorService {
    operators: Arc<dyn OperatorRepository>,
    hasher: Arc<dyn PasswordHasher>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl OperatorService {
    /// Puts the use cases over their ports.
    #[must_use]
    pub fn new(
        operators: Arc<dyn OperatorRepository>,
        hasher: Arc<dyn PasswordHasher>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        Self { operators, hasher, clock, ids }
    }

    /// Adds an operator with a generated password, which is in the answer and nowhere else. `organization` is the scope
    /// of an actor of one organization, by its name.
    ///
    /// # Errors
    /// [`OperatorError`]: a viewer, a name that is taken, an organization that the actor doesn't see.
    pub async fn add(&self, actor: &Actor, command: AddOperator) -> Result<(Operator, NewPassword), OperatorError> {
        actor.require_admin()?;
        let (password, hash) = self.generate().await?;
        let AddOperator { name, role, organization } = command;
        let unknown = |organization: &Option<String>| {
            let name = organization.as_deref().unwrap_or_default();
            OperatorError::NotFound(format!("organization \"{name}\""))
        };
        let new = NewOperator { name, role, organization, password: hash, created: self.clock.now() };
        let scope = new.organization.clone().map_or(AuditedScope::All, AuditedScope::Named);
        let mut values = vec![AuditedValue::added("role", role.as_str())];
        values.extend(new.organization.as_ref().map(|name| AuditedValue::added("organization", name)));
        let record = NewAuditRecord {
            at: new.created,
            author: actor.author.clone(),
            scope,
            action: AuditAction::OperatorAdded,
            target: Operator::target(new.name.as_str()),
            values,
        };
        match self.operators.add(&new, &record).await? {
            AddOutcome::Added(operator) => Ok((operator, password)),
            AddOutcome::NameTaken => {
                Err(OperatorError::Conflict(format!("{} is registered already", Operator::target(new.name.as_str()))))
            }
            AddOutcome::UnknownOrganization => Err(unknown(&new.organization)),
        }
    }

    /// The operators that an admin sees, by name.
    ///
    /// # Errors
    /// [`OperatorError`]: a viewer.
    pub async fn list(
        &self,
        actor: &Actor,
        asked: PageRequest<Folded>,
    ) -> Result<Page<Operator, Folded>, OperatorError> {
        actor.require_admin()?;
        let rows = self.operators.page(actor.scope, asked.after.clone(), asked.rows()).await?;
        Ok(asked.page(rows, |operator| Folded::of(&operator.name)))
    }

    /// Gives an operator a generated password, which is in the answer and nowhere else, and ends all sessions.
    ///
    /// # Errors
    /// [`OperatorError`]: a viewer, an operator that the actor doesn't see.
    pub async fn reset_password(&self, actor: &Actor, name: &str) -> Result<(Operator, NewPassword), OperatorError> {
        actor.require_admin()?;
        let FoundOperator { operator, .. } = self.find(actor.scope, name).await?;
        let (password, hash) = self.generate().await?;
        let target = Operator::target(&operator.name);
        let record =
            actor.record(self.clock.now(), AuditAction::PasswordReset, operator.scope, target.clone(), Vec::new());
        if self.operators.set_password(operator.id, &hash, &record).await? {
            Ok((operator, password))
        } else {
            Err(OperatorError::NotFound(target))
        }
    }

    /// Removes an operator with all sessions and tokens.
    ///
    /// # Errors
    /// [`OperatorError`]: a viewer, an operator that the actor doesn't see.
    pub async fn remove(&self, actor: &Actor, name: &str) -> Result<Operator, OperatorError> {
        actor.require_admin()?;
        let FoundOperator { operator, .. } = self.find(actor.scope, name).await?;
        let target = Operator::target(&operator.name);
        let mut values = vec![AuditedValue::removed("role", operator.role.as_str())];
        values.extend(operator.organization.as_ref().map(|name| AuditedValue::removed("organization", name)));
        let record =
            actor.record(self.clock.now(), AuditAction::OperatorRemoved, operator.scope, target.clone(), values);
        if self.operators.remove(operator.id, &record).await? {
            Ok(operator)
        } else {
            Err(OperatorError::NotFound(target))
        }
    }

    async fn find(&self, scope: Scope, name: &str) -> Result<FoundOperator, OperatorError> {
        let found = self.operators.find(&Folded::of(name.trim())).await?;
        let seen = found.filter(|found| scope.covers(found.operator.scope));
        seen.ok_or_else(|| OperatorError::NotFound(Operator::target(name)))
    }

    async fn generate(&self) -> Result<(NewPassword, super::PasswordHash), OperatorError> {
        let password = NewPassword::generate(self.ids.secret());
        let mut salt = [0; 16];
        salt.copy_from_slice(&self.ids.secret()[..16]);
        let hash = self.hasher.hash(&password, salt).await?;
        Ok((password, hash))
    }
}
