//! A session of an operator.

use crate::access::CredentialDigest;
use crate::operator::{OperatorId, PasswordHash};
use crate::timestamp::Timestamp;
use std::time::Duration;

/// A session ends this long after its last request (decision P3).
pub const SESSION_IDLE: Duration = Duration::from_hours(12);

/// A session ends this long after its beginning in any case (decision P3).
pub const SESSION_LIFETIME: Duration = Duration::from_hours(7 * 24);

/// A session that begins. Its secret is in the cookie and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    pub digest: CredentialDigest,
    pub operator: OperatorId,
    /// The hash of the password that was checked: a session must not begin with a former password.
    pub password: PasswordHash,
    pub started: Timestamp,
}

/// A stored session, which may have ended by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    pub started: Timestamp,
    /// To the minute.
    pub last_used: Timestamp,
}

impl Session {
    /// When it ends, even with requests.
    #[must_use]
    pub fn ends(&self) -> Timestamp {
        self.started.plus(SESSION_LIFETIME)
    }

    /// Whether it counts at a time.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        now < self.ends() && now < self.last_used.plus(SESSION_IDLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    /// Decision P3.
    #[test]
    fn a_session_ends_after_twelve_idle_hours_and_after_seven_days() {
        const HOUR: i64 = 3_600;
        let session = Session { started: at(0), last_used: at(5 * HOUR) };
        assert!(session.is_valid(at(17 * HOUR - 1)) && !session.is_valid(at(17 * HOUR)));
        let busy = Session { last_used: at(7 * 24 * HOUR - 1), ..session };
        assert!(busy.is_valid(at(7 * 24 * HOUR - 1)) && !busy.is_valid(at(7 * 24 * HOUR)));
    }
}
