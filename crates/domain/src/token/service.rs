//! The use cases of tokens (decision P6).

use super::model::{MAX_TOKEN_LIFETIME, NewToken, TOKEN_PREFIX, Token, TokenFilter};
use super::repository::TokenRepository;
use crate::access::CredentialDigest;
use crate::audit::{AuditAction, AuditedValue};
use crate::clock::{Clock, IdSource};
use crate::error::StoreError;
use crate::fleet::Secret;
use crate::operator::{
    Actor, Operator, OperatorError, OperatorName, OperatorRepository, Role, SignedIn, SignedInBy, TokenId,
};
use crate::page::{Page, PageRequest};
use crate::text::Folded;
use std::sync::Arc;
use std::time::Duration;

/// A use is stored this long after the one before.
const USE_EVERY: Duration = Duration::from_mins(1);

/// A token to issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueToken {
    /// The name of the operator whose token it is.
    pub operator: String,
    pub name: OperatorName,
    /// `None`: the role of the operator.
    pub role: Option<Role>,
    /// At most [`MAX_TOKEN_LIFETIME`].
    pub lifetime: Duration,
}

/// The use cases of tokens.
pub struct TokenService {
    tokens: Arc<dyn TokenRepository>,
    operators: Arc<dyn OperatorRepository>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl TokenService {
    /// Puts the use cases over their ports.
    #[must_use]
    pub fn new(
        tokens: Arc<dyn TokenRepository>,
        operators: Arc<dyn OperatorRepository>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        Self { tokens, operators, clock, ids }
    }

    /// Issues a token, which is in the answer and nowhere else.
    ///
    /// # Errors
    /// [`OperatorError`]: a viewer, an operator that the actor doesn't see, a role above the operator's, a lifetime that is
    /// zero or too long.
    pub async fn issue(&self, actor: &Actor, command: IssueToken) -> Result<(Token, Secret), OperatorError> {
        actor.require_admin()?;
        let IssueToken { operator, name, role, lifetime } = command;
        if lifetime.is_zero() || lifetime > MAX_TOKEN_LIFETIME {
            return Err(OperatorError::invalid("expires", "must be above zero and at most 366 days"));
        }
        let found = self.operators.find(&Folded::of(operator.trim())).await?.map(|found| found.operator);
        let seen = found.filter(|found| actor.scope.covers(found.scope));
        let unknown = || OperatorError::NotFound(Operator::target(&operator));
        let holder = seen.ok_or_else(unknown)?;
        let role = role.unwrap_or(holder.role);
        if role > holder.role {
            return Err(OperatorError::invalid("role", "must not be above the role of the operator"));
        }
        let random = Secret::generate(self.ids.secret());
        let secret = Secret::new(format!("{TOKEN_PREFIX}{}", random.reveal()));
        let issued = self.clock.now();
        let expires = issued.plus(lifetime);
        let target = target(name.as_str(), &holder.name);
        let values =
            vec![AuditedValue::added("role", role.as_str()), AuditedValue::added("expires", expires.to_string())];
        let record = actor.record(issued, AuditAction::TokenIssued, holder.scope, target, values);
        let new = NewToken { digest: secret.digest(), operator: holder.id, name, role, issued, expires };
        let id = self.tokens.add(&new, &record).await?.ok_or_else(unknown)?;
        let token = Token {
            id,
            name: new.name.to_string(),
            operator: holder.name,
            role,
            scope: holder.scope,
            issued,
            expires,
            last_used: None,
            revoked: None,
        };
        Ok((token, secret))
    }

    /// The tokens that an admin sees, the newest first.
    ///
    /// # Errors
    /// [`OperatorError`]: a viewer.
    pub async fn list(
        &self,
        actor: &Actor,
        operator: Option<&str>,
        asked: PageRequest<TokenId>,
    ) -> Result<Page<Token, TokenId>, OperatorError> {
        actor.require_admin()?;
        let operator = operator.map(|name| Folded::of(name.trim()));
        let filter = TokenFilter { scope: actor.scope, operator };
        let rows = self.tokens.page(&filter, asked.after, asked.rows()).await?;
        Ok(asked.page(rows, |token| token.id))
    }

    /// Revokes a token for ever; whether that changed it.
    ///
    /// # Errors
    /// [`OperatorError`]: a viewer, a token that the actor doesn't see.
    pub async fn revoke(&self, actor: &Actor, id: TokenId) -> Result<(Token, bool), OperatorError> {
        actor.require_admin()?;
        let found = self.tokens.find_by_id(id).await?.filter(|token| actor.scope.covers(token.scope));
        let token = found.ok_or_else(|| OperatorError::NotFound(format!("token {}", id.0)))?;
        let now = self.clock.now();
        let target = target(&token.name, &token.operator);
        let record = actor.record(now, AuditAction::TokenRevoked, token.scope, target, Vec::new());
        let is_changed = self.tokens.revoke(id, now, &record).await?;
        Ok((Token { revoked: token.revoked.or(Some(now)), ..token }, is_changed))
    }

    /// Whether a token is valid and its operator sees what they saw. It is no use of the token.
    ///
    /// # Errors
    /// A store failure.
    pub async fn is_valid(&self, id: TokenId, operator: &Operator) -> Result<bool, StoreError> {
        let found = self.tokens.find_by_id(id).await?;
        let now = self.clock.now();
        Ok(found.is_some_and(|token| token.is_valid(now) && token.scope == operator.scope))
    }

    /// The operator of a token; `None` if it isn't valid.
    ///
    /// # Errors
    /// A store failure.
    pub async fn authenticate(&self, secret: &str) -> Result<Option<SignedIn>, StoreError> {
        if !secret.starts_with(TOKEN_PREFIX) {
            return Ok(None);
        }
        let now = self.clock.now();
        let found = self.tokens.find(CredentialDigest::of(secret)).await?;
        let Some((token, operator)) = found.filter(|(token, _)| token.is_valid(now)) else {
            return Ok(None);
        };
        if token.last_used.is_none_or(|used| used.plus(USE_EVERY) <= now) {
            self.tokens.note_use(token.id, now).await?;
        }
        let by = SignedInBy::Token { id: token.id, name: token.name, expires: token.expires };
        Ok(Some(SignedIn { role: token.role.min(operator.role), operator, by }))
    }
}

/// How records name a token.
fn target(name: &str, operator: &str) -> String {
    format!("token \"{name}\" of {}", Operator::target(operator))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{AddOperator, OperatorService, Scope};
    use crate::testing::{CountingIds, FixedClock, InMemoryStore, PlainHasher};
    use crate::token::DEFAULT_TOKEN_LIFETIME;

    async fn scene(role: Role) -> (TokenService, OperatorService, FixedClock) {
        let (clock, ids) = (FixedClock::default(), Arc::new(CountingIds::default()));
        let store = Arc::new(InMemoryStore::new());
        let tokens = TokenService::new(store.clone(), store.clone(), Arc::new(clock.clone()), ids.clone());
        let operators = OperatorService::new(store, Arc::new(PlainHasher), Arc::new(clock.clone()), ids);
        let name = OperatorName::parse("Ann").unwrap();
        let ann = AddOperator { name, role, organization: None };
        operators.add(&Actor::command("root"), ann).await.unwrap();
        (tokens, operators, clock)
    }

    fn asked(role: Option<Role>) -> IssueToken {
        let name = OperatorName::parse("ci").unwrap();
        IssueToken { operator: "ANN".to_owned(), name, role, lifetime: DEFAULT_TOKEN_LIFETIME }
    }

    /// Decision P6.
    #[tokio::test]
    async fn a_token_counts_until_it_expires() {
        let (tokens, _, clock) = scene(Role::Admin).await;
        let root = Actor::command("root");
        let (token, secret) = tokens.issue(&root, asked(Some(Role::Viewer))).await.unwrap();
        assert!(secret.reveal().starts_with("plt_"));
        let signed_in = tokens.authenticate(secret.reveal()).await.unwrap().unwrap();
        assert_eq!((signed_in.role, signed_in.operator.role), (Role::Viewer, Role::Admin));
        let listed = tokens.list(&root, Some("ann"), PageRequest { after: None, limit: 5 }).await.unwrap().items;
        assert_eq!((listed[0].id, listed[0].last_used), (token.id, Some(clock.now())));
        assert!(tokens.authenticate(&secret.reveal()[4..]).await.unwrap().is_none());
        clock.advance(DEFAULT_TOKEN_LIFETIME);
        assert!(tokens.authenticate(secret.reveal()).await.unwrap().is_none());
    }

    /// Decision P6.
    #[tokio::test]
    async fn a_revoked_token_and_one_of_a_removed_operator_count_no_longer() {
        let (tokens, operators, _) = scene(Role::Admin).await;
        let root = Actor::command("root");
        let (revoked, first) = tokens.issue(&root, asked(None)).await.unwrap();
        let (_, second) = tokens.issue(&root, asked(None)).await.unwrap();
        assert!(tokens.revoke(&root, revoked.id).await.unwrap().1);
        assert!(!tokens.revoke(&root, revoked.id).await.unwrap().1, "it was revoked before");
        assert!(tokens.authenticate(first.reveal()).await.unwrap().is_none());
        assert!(tokens.authenticate(second.reveal()).await.unwrap().is_some());
        operators.remove(&root, "Ann").await.unwrap();
        assert!(tokens.authenticate(second.reveal()).await.unwrap().is_none());
    }

    /// Decision P6.
    #[tokio::test]
    async fn a_token_has_no_more_rights_than_its_operator_and_a_bounded_life() {
        let (tokens, ..) = scene(Role::Viewer).await;
        let root = Actor::command("root");
        let above = tokens.issue(&root, asked(Some(Role::Admin))).await;
        assert!(matches!(above, Err(OperatorError::Invalid { field: "role", .. })), "{above:?}");
        for lifetime in [Duration::ZERO, MAX_TOKEN_LIFETIME + Duration::from_secs(1)] {
            let refused = tokens.issue(&root, IssueToken { lifetime, ..asked(None) }).await;
            assert!(matches!(refused, Err(OperatorError::Invalid { field: "expires", .. })), "{refused:?}");
        }
    }

    /// Decision P8.
    #[tokio::test]
    async fn tokens_of_another_scope_are_not_there() {
        let (tokens, ..) = scene(Role::Admin).await;
        let root = Actor::command("root");
        let (token, _) = tokens.issue(&root, asked(None)).await.unwrap();
        let own = Actor { scope: Scope::Organization(crate::caller::OrganizationId(7)), ..root };
        assert!(matches!(tokens.revoke(&own, token.id).await, Err(OperatorError::NotFound(_))));
        assert!(matches!(tokens.issue(&own, asked(None)).await, Err(OperatorError::NotFound(_))));
        let listed = tokens.list(&own, None, PageRequest { after: None, limit: 5 }).await.unwrap();
        assert!(listed.items.is_empty());
    }
}
