//! Sign-in, sign-out and what a session's cookie stands for.

#[cfg(test)]
mod tests;

use super::model::{NewSession, SESSION_IDLE, SESSION_LIFETIME};
use super::repository::SessionRepository;
use super::throttle::SignInThrottle;
use crate::access::CredentialDigest;
use crate::audit::{AuditAction, AuditRepository, AuditedScope, Author, AuthorCredential, NewAuditRecord};
use crate::clock::{Clock, IdSource};
use crate::error::StoreError;
use crate::fleet::Secret;
use crate::operator::{
    FoundOperator, NewPassword, Operator, OperatorError, OperatorRepository, Password, PasswordHasher, SignedIn,
    SignedInBy,
};
use crate::text::{Folded, cut};
use crate::timestamp::Timestamp;
use core::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// A use is stored this long after the one before.
const USE_EVERY: Duration = Duration::from_mins(1);

/// Characters of a name without operator that a record holds.
const MAX_NAME: usize = 100;

/// A name and a password, as they were typed.
#[derive(Debug, Clone)]
pub struct SignIn {
    pub name: String,
    pub password: Password,
    pub address: Option<IpAddr>,
}

/// A session that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedSession {
    /// For the cookie: it is stored nowhere.
    pub secret: Secret,
    pub operator: Operator,
    /// When it ends, even with requests.
    pub ends: Timestamp,
}

/// The use cases of sessions.
pub struct SessionService {
    sessions: Arc<dyn SessionRepository>,
    operators: Arc<dyn OperatorRepository>,
    audit: Arc<dyn AuditRepository>,
    hasher: Arc<dyn PasswordHasher>,
    throttle: SignInThrottle,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl SessionService {
    /// Puts the use cases over their ports.
    #[must_use]
    pub fn new(
        sessions: Arc<dyn SessionRepository>,
        operators: Arc<dyn OperatorRepository>,
        audit: Arc<dyn AuditRepository>,
        hasher: Arc<dyn PasswordHasher>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        Self { sessions, operators, audit, hasher, throttle: SignInThrottle::new(), clock, ids }
    }

    /// Begins a session.
    ///
    /// # Errors
    /// [`OperatorError::WrongCredentials`] and [`OperatorError::TooManyFailures`], which don't tell whether the name exists
    /// (decision P4), or a store failure.
    pub async fn sign_in(&self, asked: SignIn) -> Result<StartedSession, OperatorError> {
        let author = Author {
            name: cut(asked.name.trim(), MAX_NAME),
            credential: AuthorCredential::Password,
            address: asked.address.map(|address| address.to_string()),
        };
        let found = self.check(&asked.name, &asked.password, asked.address, author.clone()).await?;
        self.begin(found, author).await
    }

    /// Sets an operator's own password, ends all sessions of the operator and begins a new one.
    ///
    /// # Errors
    /// [`OperatorError::Invalid`] for a wrong current password, [`OperatorError::TooManyFailures`], or a store failure.
    pub async fn change_password(
        &self,
        signed_in: &SignedIn,
        current: &Password,
        new: &NewPassword,
        address: Option<IpAddr>,
    ) -> Result<StartedSession, OperatorError> {
        let actor = signed_in.actor(address.map(|address| address.to_string()));
        let checked = self.check(&signed_in.operator.name, current, address, actor.author.clone()).await;
        let checked = checked.map_err(|error| match error {
            OperatorError::WrongCredentials => OperatorError::invalid("current_password", "is wrong"),
            other => other,
        })?;
        let operator = checked.operator;
        let mut salt = [0; 16];
        salt.copy_from_slice(&self.ids.secret()[..16]);
        let hash = self.hasher.hash(new, salt).await?;
        let target = Operator::target(&operator.name);
        let record =
            actor.record(self.clock.now(), AuditAction::PasswordChanged, operator.scope, target.clone(), Vec::new());
        if !self.operators.set_password(operator.id, &hash, &record).await? {
            return Err(OperatorError::NotFound(target));
        }
        self.begin(FoundOperator { operator, password: hash }, actor.author).await
    }

    /// The operator whose session has this secret; `None` if it has ended or never was.
    ///
    /// # Errors
    /// A store failure.
    pub async fn authenticate(&self, secret: &str) -> Result<Option<SignedIn>, StoreError> {
        let (digest, now) = (CredentialDigest::of(secret), self.clock.now());
        let Some((session, operator)) = self.sessions.find(digest).await? else {
            return Ok(None);
        };
        if !session.is_valid(now) {
            return Ok(None);
        }
        if session.last_used.plus(USE_EVERY) <= now {
            self.sessions.note_use(digest, now).await?;
        }
        let by = SignedInBy::Session { digest, ends: session.ends() };
        Ok(Some(SignedIn { role: operator.role, operator, by }))
    }

    /// Whether a session has not ended and its operator sees what they saw. It is no use of the session.
    ///
    /// # Errors
    /// A store failure.
    pub async fn is_valid(&self, digest: CredentialDigest, operator: &Operator) -> Result<bool, StoreError> {
        let found = self.sessions.find(digest).await?;
        let now = self.clock.now();
        Ok(found.is_some_and(|(session, present)| session.is_valid(now) && present.scope == operator.scope))
    }

    /// Ends the session by which the operator is signed in. A token is left as it is.
    ///
    /// # Errors
    /// A store failure.
    pub async fn sign_out(&self, signed_in: &SignedIn, address: Option<IpAddr>) -> Result<(), StoreError> {
        let SignedInBy::Session { digest, .. } = signed_in.by else {
            return Ok(());
        };
        let operator = &signed_in.operator;
        let actor = signed_in.actor(address.map(|address| address.to_string()));
        let target = Operator::target(&operator.name);
        let record = actor.record(self.clock.now(), AuditAction::SignedOut, operator.scope, target, Vec::new());
        self.sessions.remove(digest, &record).await.map(drop)
    }

    /// Removes sessions that have ended by time; how many.
    ///
    /// # Errors
    /// A store failure.
    pub async fn prune(&self) -> Result<u64, StoreError> {
        let now = self.clock.now();
        self.sessions.prune(now.minus(SESSION_IDLE), now.minus(SESSION_LIFETIME)).await
    }

    /// The operator whose password this is. Failures are counted and recorded.
    async fn check(
        &self,
        name: &str,
        password: &Password,
        address: Option<IpAddr>,
        author: Author,
    ) -> Result<FoundOperator, OperatorError> {
        let folded = Folded::of(name.trim());
        let begun = self.throttle.begin(&folded, address, self.clock.now());
        let attempt = begun.map_err(|retry_after| OperatorError::TooManyFailures { retry_after })?;
        let (found, is_right) = match self.look_up(&folded, password).await {
            Ok(outcome) => outcome,
            Err(error) => {
                attempt.forgive();
                return Err(error.into());
            }
        };
        match found {
            Some(found) if is_right => {
                attempt.forgive();
                Ok(found)
            }
            found => {
                let scope = found.and_then(|found| found.operator.scope.organization());
                let record = NewAuditRecord {
                    at: self.clock.now(),
                    target: Operator::target(&author.name),
                    author,
                    scope: scope.map_or(AuditedScope::All, AuditedScope::Organization),
                    action: AuditAction::SignInFailed,
                    values: Vec::new(),
                };
                self.audit.add(&record).await?;
                Err(OperatorError::WrongCredentials)
            }
        }
    }

    /// The operator of a name, and whether the password is right. It takes as long for a name without operator.
    async fn look_up(&self, name: &Folded, password: &Password) -> Result<(Option<FoundOperator>, bool), StoreError> {
        let found = self.operators.find(name).await?;
        let hash = found.as_ref().map(|found| found.password.clone());
        Ok((found, self.hasher.verify(password, hash).await?))
    }

    async fn begin(&self, checked: FoundOperator, author: Author) -> Result<StartedSession, OperatorError> {
        let FoundOperator { operator, password } = checked;
        let (secret, now) = (Secret::generate(self.ids.secret()), self.clock.now());
        let session = NewSession { digest: secret.digest(), operator: operator.id, password, started: now };
        let record = NewAuditRecord {
            at: now,
            author: Author { name: operator.name.clone(), ..author },
            scope: operator.scope.organization().map_or(AuditedScope::All, AuditedScope::Organization),
            action: AuditAction::SignedIn,
            target: Operator::target(&operator.name),
            values: Vec::new(),
        };
        if self.sessions.add(&session, &record).await? {
            Ok(StartedSession { secret, operator, ends: now.plus(SESSION_LIFETIME) })
        } else {
            Err(OperatorError::WrongCredentials)
        }
    }
}
