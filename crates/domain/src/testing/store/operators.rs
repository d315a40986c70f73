//! Operators, their sessions and tokens, and the audit records in memory.

mod audit;
mod sessions;
mod tokens;

use super::{InMemoryStore, State};
use crate::access::CredentialDigest;
use crate::audit::{AuditRecord, AuditedScope, NewAuditRecord};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::operator::{
    AddOutcome, FoundOperator, NewOperator, Operator, OperatorId, OperatorRepository, PasswordHash, Scope,
    SetupRepository,
};
use crate::session::Session;
use crate::text::Folded;
use crate::timestamp::Timestamp;
use crate::token::NewToken;
use async_trait::async_trait;
use std::collections::{BTreeMap, HashMap};

/// All that belongs to operators.
#[derive(Default)]
pub(super) struct Operators {
    next: i64,
    registered: BTreeMap<OperatorId, FoundOperator>,
    setup_codes: HashMap<CredentialDigest, Timestamp>,
    sessions: HashMap<CredentialDigest, (OperatorId, Session)>,
    /// In the order of their numbers.
    tokens: Vec<StoredToken>,
    /// In the order of their numbers, with the organization of each.
    records: Vec<(Option<OrganizationId>, AuditRecord)>,
}

struct StoredToken {
    number: i64,
    new: NewToken,
    last_used: Option<Timestamp>,
    revoked: Option<Timestamp>,
}

impl Operators {
    fn number(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    fn named(&self, name: &Folded) -> Option<&FoundOperator> {
        self.registered.values().find(|found| Folded::of(&found.operator.name) == *name)
    }
}

impl State {
    /// Stores an audit record.
    pub(super) fn record(&mut self, record: NewAuditRecord) {
        let id = self.operators.number();
        let organization = match &record.scope {
            AuditedScope::All => None,
            AuditedScope::Organization(id) => Some(*id),
            AuditedScope::Named(name) => self.fleet.find_organization(name).ok(),
        };
        let record = AuditRecord { id, organization: None, record };
        self.operators.records.push((organization, record));
    }

    /// The operator as it is shown: an organization may have been renamed.
    fn shown(&self, operator: &Operator) -> Operator {
        let organization = operator.scope.organization().map(|id| self.fleet.organization_name(id));
        Operator { organization, ..operator.clone() }
    }

    fn register(&mut self, new: &NewOperator) -> AddOutcome {
        if self.operators.named(&new.name.folded()).is_some() {
            return AddOutcome::NameTaken;
        }
        let organization = new.organization.as_ref().map(|name| self.fleet.find_organization(name)).transpose();
        let Ok(organization) = organization else {
            return AddOutcome::UnknownOrganization;
        };
        let operator = Operator {
            id: OperatorId(self.operators.number()),
            name: new.name.to_string(),
            role: new.role,
            scope: Scope::from(organization),
            organization: new.organization.clone(),
            created: new.created,
            last_sign_in: None,
        };
        let found = FoundOperator { operator: operator.clone(), password: new.password.clone() };
        self.operators.registered.insert(operator.id, found);
        AddOutcome::Added(operator)
    }
}

#[async_trait]
impl OperatorRepository for InMemoryStore {
    async fn page(&self, scope: Scope, after: Option<Folded>, limit: u64) -> Result<Vec<Operator>, StoreError> {
        let state = self.working()?;
        let seen = state.operators.registered.values().filter(|found| scope.covers(found.operator.scope));
        let mut rows: Vec<(Folded, Operator)> =
            seen.map(|found| (Folded::of(&found.operator.name), state.shown(&found.operator))).collect();
        rows.retain(|(name, _)| after.as_ref().is_none_or(|after| name > after));
        rows.sort_by(|(one, _), (other, _)| one.cmp(other));
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(rows.into_iter().map(|(_, operator)| operator).collect())
    }

    async fn find(&self, name: &Folded) -> Result<Option<FoundOperator>, StoreError> {
        let state = self.working()?;
        let found = state.operators.named(name);
        let shown = |found: &FoundOperator| FoundOperator { operator: state.shown(&found.operator), ..found.clone() };
        Ok(found.map(shown))
    }

    async fn add(&self, new: &NewOperator, record: &NewAuditRecord) -> Result<AddOutcome, StoreError> {
        let mut state = self.working()?;
        let outcome = state.register(new);
        if matches!(outcome, AddOutcome::Added(_)) {
            state.record(record.clone());
        }
        Ok(outcome)
    }

    async fn set_password(
        &self,
        id: OperatorId,
        password: &PasswordHash,
        record: &NewAuditRecord,
    ) -> Result<bool, StoreError> {
        let mut state = self.working()?;
        let Some(found) = state.operators.registered.get_mut(&id) else {
            return Ok(false);
        };
        found.password = password.clone();
        state.operators.sessions.retain(|_, (operator, _)| *operator != id);
        state.record(record.clone());
        Ok(true)
    }

    async fn remove(&self, id: OperatorId, record: &NewAuditRecord) -> Result<bool, StoreError> {
        let mut state = self.working()?;
        if state.operators.registered.remove(&id).is_none() {
            return Ok(false);
        }
        state.operators.sessions.retain(|_, (operator, _)| *operator != id);
        state.operators.tokens.retain(|token| token.new.operator != id);
        state.record(record.clone());
        Ok(true)
    }
}

#[async_trait]
impl SetupRepository for InMemoryStore {
    async fn offer(&self, code: CredentialDigest, expires: Timestamp, now: Timestamp) -> Result<bool, StoreError> {
        let operators = &mut self.working()?.operators;
        operators.setup_codes.retain(|_, expires| *expires > now);
        let is_first = operators.registered.is_empty();
        if is_first {
            operators.setup_codes.insert(code, expires);
        }
        Ok(is_first)
    }

    async fn is_offered(&self, code: CredentialDigest, now: Timestamp) -> Result<bool, StoreError> {
        Ok(self.working()?.operators.setup_codes.get(&code).is_some_and(|expires| *expires > now))
    }

    async fn complete(
        &self,
        code: CredentialDigest,
        now: Timestamp,
        new: &NewOperator,
        record: &NewAuditRecord,
    ) -> Result<Option<Operator>, StoreError> {
        let mut state = self.working()?;
        let is_valid = state.operators.setup_codes.get(&code).is_some_and(|expires| *expires > now);
        if !is_valid || !state.operators.registered.is_empty() {
            return Ok(None);
        }
        let AddOutcome::Added(operator) = state.register(new) else {
            return Ok(None);
        };
        state.operators.setup_codes.clear();
        state.record(record.clone());
        Ok(Some(operator))
    }
}
