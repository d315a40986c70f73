//! Sessions in memory.

use super::InMemoryStore;
use crate::access::CredentialDigest;
use crate::audit::NewAuditRecord;
use crate::error::StoreError;
use crate::operator::Operator;
use crate::session::{NewSession, Session, SessionRepository};
use crate::timestamp::Timestamp;
use async_trait::async_trait;

#[async_trait]
impl SessionRepository for InMemoryStore {
    async fn add(&self, session: &NewSession, record: &NewAuditRecord) -> Result<bool, StoreError> {
        let mut state = self.working()?;
        let found = state.operators.registered.get_mut(&session.operator);
        let Some(found) = found.filter(|found| found.password == session.password) else {
            return Ok(false);
        };
        found.operator.last_sign_in = Some(session.started);
        let begun = Session { started: session.started, last_used: session.started };
        state.operators.sessions.insert(session.digest, (session.operator, begun));
        state.record(record.clone());
        Ok(true)
    }

    async fn find(&self, digest: CredentialDigest) -> Result<Option<(Session, Operator)>, StoreError> {
        let state = self.working()?;
        let found = state.operators.sessions.get(&digest);
        let operator = found.and_then(|(id, _)| state.operators.registered.get(id));
        Ok(found.zip(operator).map(|((_, session), found)| (*session, state.shown(&found.operator))))
    }

    async fn note_use(&self, digest: CredentialDigest, now: Timestamp) -> Result<(), StoreError> {
        if let Some((_, session)) = self.working()?.operators.sessions.get_mut(&digest) {
            session.last_used = session.last_used.max(now);
        }
        Ok(())
    }

    async fn remove(&self, digest: CredentialDigest, record: &NewAuditRecord) -> Result<bool, StoreError> {
        let mut state = self.working()?;
        let is_removed = state.operators.sessions.remove(&digest).is_some();
        if is_removed {
            state.record(record.clone());
        }
        Ok(is_removed)
    }

    async fn prune(&self, used_before: Timestamp, started_before: Timestamp) -> Result<u64, StoreError> {
        let sessions = &mut self.working()?.operators.sessions;
        let before = sessions.len();
        sessions.retain(|_, (_, session)| session.last_used > used_before && session.started > started_before);
        Ok((before - sessions.len()) as u64)
    }
}
