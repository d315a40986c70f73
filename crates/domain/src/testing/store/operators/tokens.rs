//! Tokens in memory.

use super::{InMemoryStore, State, StoredToken};
use crate::access::CredentialDigest;
use crate::audit::NewAuditRecord;
use crate::error::StoreError;
use crate::operator::{Operator, TokenId};
use crate::text::Folded;
use crate::timestamp::Timestamp;
use crate::token::{NewToken, Token, TokenFilter, TokenRepository};
use async_trait::async_trait;

impl State {
    /// The token as it is shown, with its operator.
    fn shown_token(&self, stored: &StoredToken) -> Option<(Token, Operator)> {
        let operator = self.shown(&self.operators.registered.get(&stored.new.operator)?.operator);
        let token = Token {
            id: TokenId(stored.number),
            name: stored.new.name.to_string(),
            operator: operator.name.clone(),
            role: stored.new.role,
            scope: operator.scope,
            issued: stored.new.issued,
            expires: stored.new.expires,
            last_used: stored.last_used,
            revoked: stored.revoked,
        };
        Some((token, operator))
    }
}

#[async_trait]
impl TokenRepository for InMemoryStore {
    async fn add(&self, new: &NewToken, record: &NewAuditRecord) -> Result<Option<TokenId>, StoreError> {
        let mut state = self.working()?;
        if !state.operators.registered.contains_key(&new.operator) {
            return Ok(None);
        }
        let number = state.operators.number();
        state.operators.tokens.push(StoredToken { number, new: new.clone(), last_used: None, revoked: None });
        state.record(record.clone());
        Ok(Some(TokenId(number)))
    }

    async fn find(&self, digest: CredentialDigest) -> Result<Option<(Token, Operator)>, StoreError> {
        let state = self.working()?;
        let found = state.operators.tokens.iter().find(|token| token.new.digest == digest);
        Ok(found.and_then(|token| state.shown_token(token)))
    }

    async fn find_by_id(&self, id: TokenId) -> Result<Option<Token>, StoreError> {
        let state = self.working()?;
        let found = state.operators.tokens.iter().find(|token| token.number == id.0);
        Ok(found.and_then(|token| state.shown_token(token)).map(|(token, _)| token))
    }

    async fn page(&self, filter: &TokenFilter, after: Option<TokenId>, limit: u64) -> Result<Vec<Token>, StoreError> {
        let state = self.working()?;
        let tokens = state.operators.tokens.iter().rev().filter_map(|token| state.shown_token(token));
        let fitting = tokens.map(|(token, _)| token).filter(|token| {
            filter.scope.covers(token.scope)
                && filter.operator.as_ref().is_none_or(|name| Folded::of(&token.operator) == *name)
                && after.is_none_or(|after| token.id < after)
        });
        Ok(fitting.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
    }

    async fn revoke(&self, id: TokenId, now: Timestamp, record: &NewAuditRecord) -> Result<bool, StoreError> {
        let mut state = self.working()?;
        let found = state.operators.tokens.iter_mut().find(|token| token.number == id.0 && token.revoked.is_none());
        let Some(token) = found else {
            return Ok(false);
        };
        token.revoked = Some(now);
        state.record(record.clone());
        Ok(true)
    }

    async fn note_use(&self, id: TokenId, now: Timestamp) -> Result<(), StoreError> {
        let mut state = self.working()?;
        for token in state.operators.tokens.iter_mut().filter(|token| token.number == id.0) {
            token.last_used = token.last_used.max(Some(now));
        }
        Ok(())
    }
}
