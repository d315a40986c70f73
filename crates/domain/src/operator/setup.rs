//! The first start: the first operator is created with a code that `serve` prints (decision P2).

use super::error::OperatorError;
use super::model::{NewOperator, Operator, OperatorName, Role};
use super::password::{NewPassword, PasswordHasher};
use super::repository::SetupRepository;
use crate::access::CredentialDigest;
use crate::audit::{AuditAction, AuditedScope, AuditedValue, Author, AuthorCredential, NewAuditRecord};
use crate::clock::{Clock, IdSource};
use crate::error::StoreError;
use crate::fleet::Secret;
use std::sync::Arc;
use std::time::Duration;

/// How long the code of a start is valid.
pub const SETUP_CODE_LIFETIME: Duration = Duration::from_hours(1);

/// The use cases of the first start.
pub struct SetupService {
    setup: Arc<dyn SetupRepository>,
    hasher: Arc<dyn PasswordHasher>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl SetupService {
    /// Puts the use cases over their ports.
    #[must_use]
    pub fn new(
        setup: Arc<dyn SetupRepository>,
        hasher: Arc<dyn PasswordHasher>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        Self { setup, hasher, clock, ids }
    }

    /// A new code, valid for an hour, while the database has no operator.
    ///
    /// # Errors
    /// A store failure.
    pub async fn offer(&self) -> Result<Option<Secret>, StoreError> {
        let (code, now) = (Secret::generate(self.ids.secret()), self.clock.now());
        let is_offered = self.setup.offer(code.digest(), now.plus(SETUP_CODE_LIFETIME), now).await?;
        Ok(is_offered.then_some(code))
    }

    /// Whether a code is valid now.
    ///
    /// # Errors
    /// A store failure.
    pub async fn is_valid(&self, code: &str) -> Result<bool, StoreError> {
        self.setup.is_offered(CredentialDigest::of(code), self.clock.now()).await
    }

    /// Creates the first operator, an admin of all organizations. The code counts once.
    ///
    /// # Errors
    /// [`OperatorError::SetupCodeInvalid`], or a store failure.
    pub async fn complete(
        &self,
        code: &str,
        name: OperatorName,
        password: &NewPassword,
        address: Option<String>,
    ) -> Result<Operator, OperatorError> {
        // A guess is refused before it costs a hash.
        if !self.is_valid(code).await? {
            return Err(OperatorError::SetupCodeInvalid);
        }
        let mut salt = [0; 16];
        salt.copy_from_slice(&self.ids.secret()[..16]);
        let (hash, now) = (self.hasher.hash(password, salt).await?, self.clock.now());
        let record = NewAuditRecord {
            at: now,
            author: Author { name: name.to_string(), credential: AuthorCredential::SetupCode, address },
            scope: AuditedScope::All,
            action: AuditAction::OperatorAdded,
            target: Operator::target(name.as_str()),
            values: vec![AuditedValue::added("role", Role::Admin.as_str())],
        };
        let new = NewOperator { name, role: Role::Admin, organization: None, password: hash, created: now };
        let created = self.setup.complete(CredentialDigest::of(code), now, &new, &record).await?;
        created.ok_or(OperatorError::SetupCodeInvalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{AuditFilter, AuditRepository};
    use crate::testing::{CountingIds, FixedClock, InMemoryStore, PlainHasher};

    fn service(store: &InMemoryStore, clock: &FixedClock) -> SetupService {
        let ids = CountingIds::default();
        SetupService::new(Arc::new(store.clone()), Arc::new(PlainHasher), Arc::new(clock.clone()), Arc::new(ids))
    }

    fn named(name: &str) -> (OperatorName, NewPassword) {
        (OperatorName::parse(name).unwrap(), NewPassword::parse("correct horse").unwrap())
    }

    /// Decisions P2, P9.
    #[tokio::test]
    async fn a_code_creates_the_first_operator_once() {
        let (store, clock) = (InMemoryStore::new(), FixedClock::default());
        let service = service(&store, &clock);
        let code = service.offer().await.unwrap().unwrap();
        assert!(service.is_valid(code.reveal()).await.unwrap() && !service.is_valid("other").await.unwrap());
        let (name, password) = named("Ann");
        let address = Some("192.0.2.1".to_owned());
        let ann = service.complete(code.reveal(), name, &password, address).await.unwrap();
        assert_eq!((ann.name.as_str(), ann.role, ann.organization), ("Ann", Role::Admin, None));
        let (name, password) = named("Eve");
        let again = service.complete(code.reveal(), name, &password, None).await;
        assert!(matches!(again, Err(OperatorError::SetupCodeInvalid)));
        assert_eq!(service.offer().await.unwrap(), None, "there is an operator");

        let records = store.page(&AuditFilter::default(), None, 10).await.unwrap();
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].record.author.credential, AuthorCredential::SetupCode);
        assert!(!format!("{records:?}").contains(code.reveal()));
    }

    /// Decision P2.
    #[tokio::test]
    async fn a_code_is_valid_for_an_hour() {
        let (store, clock) = (InMemoryStore::new(), FixedClock::default());
        let service = service(&store, &clock);
        let code = service.offer().await.unwrap().unwrap();
        clock.advance(SETUP_CODE_LIFETIME);
        assert!(!service.is_valid(code.reveal()).await.unwrap());
        let (name, password) = named("Ann");
        let late = service.complete(code.reveal(), name, &password, None).await;
        assert!(matches!(late, Err(OperatorError::SetupCodeInvalid)));
        assert_ne!(service.offer().await.unwrap().unwrap(), code, "a restart offers a new one");
    }
}
