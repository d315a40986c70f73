//! Which state of a resource a request means (decision T17).

use crate::checksum::Sha1Checksum;
use crate::error::{Failure, Reason};
use crate::timestamp::Timestamp;
use std::time::Duration;

/// What must hold for the stored state of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Preconditions {
    /// Any state is meant.
    #[default]
    None,
    /// Its checksum is one of these.
    Checksum(Vec<Sha1Checksum>),
    /// It was not modified after `since`, compared in whole seconds.
    ///
    /// `Last-Modified` is never later than `now`, so `since` may be the time at which a client was answered a Timestamp
    /// that is in the future. So while it is, the resource counts as modified at the earliest time at which it can
    /// have been stored: `max_ahead` before its Timestamp (decision T4).
    UnmodifiedSince { since: Timestamp, now: Timestamp, max_ahead: Option<Duration> },
}

/// The state of a resource that doesn't meet the preconditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherState {
    pub checksum: Sha1Checksum,
    pub modified: Timestamp,
}

impl Preconditions {
    /// Checks them against the stored state.
    ///
    /// # Errors
    /// The stored state is not the one that is meant.
    pub fn check(&self, checksum: Sha1Checksum, modified: Timestamp) -> Result<(), OtherState> {
        let holds = match self {
            Self::None => true,
            Self::Checksum(meant) => meant.contains(&checksum),
            Self::UnmodifiedSince { now, max_ahead: None, .. } if modified > *now => true,
            Self::UnmodifiedSince { since, now, max_ahead } => {
                let ahead = max_ahead.filter(|_| modified > *now).unwrap_or_default();
                modified.minus(ahead).whole_seconds() <= since.whole_seconds()
            }
        };
        if holds { Ok(()) } else { Err(OtherState { checksum, modified }) }
    }
}

impl From<OtherState> for Failure {
    fn from(OtherState { checksum, modified }: OtherState) -> Self {
        let detail = format!("the stored file has the ETag \"{checksum}\" and the Timestamp {}", modified.precise());
        Reason::PreconditionFailed.because(detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    fn stored() -> (Sha1Checksum, Timestamp) {
        (Sha1Checksum::of(b"stored"), Timestamp::from_micros(at(10).as_micros() + 900_000))
    }

    fn holds(preconditions: &Preconditions) -> bool {
        let (checksum, modified) = stored();
        let checked = preconditions.check(checksum, modified);
        assert!(checked.is_ok() || checked == Err(OtherState { checksum, modified }));
        checked.is_ok()
    }

    #[test]
    fn without_preconditions_any_state_is_meant() {
        assert!(holds(&Preconditions::None));
    }

    #[test]
    fn one_of_the_checksums_must_be_the_stored_one() {
        let [stored, other] = [b"stored".as_slice(), b"other"].map(Sha1Checksum::of);
        assert!(holds(&Preconditions::Checksum(vec![stored])));
        assert!(holds(&Preconditions::Checksum(vec![other, stored])));
        assert!(!holds(&Preconditions::Checksum(vec![other])));
        assert!(!holds(&Preconditions::Checksum(vec![])));
    }

    #[test]
    fn times_are_compared_in_whole_seconds() {
        for (since, expected) in [(at(10), true), (at(11), true), (at(9), false)] {
            assert_eq!(holds(&Preconditions::UnmodifiedSince { since, now: at(11), max_ahead: None }), expected);
        }
    }

    #[test]
    fn a_timestamp_in_the_future_holds_for_each_date_that_can_have_been_answered() {
        // Decision T17. The stored Timestamp is at 10 s: the resource was stored at 5 s or later.
        let holds = |since, now, max_ahead| holds(&Preconditions::UnmodifiedSince { since, now, max_ahead });
        let ahead = Some(Duration::from_secs(5));
        for (since, now, expected) in [(at(7), at(7), true), (at(5), at(7), true), (at(4), at(7), false)] {
            assert_eq!(holds(since, now, ahead), expected);
        }
        assert!(holds(at(0), at(7), None));
        assert!(!holds(at(7), at(11), ahead), "it is not in the future any more");
    }
}
