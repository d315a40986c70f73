//! Which state of a resource a request means (decision T17).

use crate::checksum::Sha1Checksum;
use crate::error::{Failure, Reason};
use crate::timestamp::Timestamp;

/// What must hold for the stored state of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Preconditions {
    /// Any state is meant.
    #[default]
    None,
    /// Its checksum is one of these.
    Checksum(Vec<Sha1Checksum>),
    /// It was not modified after this time, compared in whole seconds.
    UnmodifiedSince(Timestamp),
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
            Self::UnmodifiedSince(since) => modified.whole_seconds() <= since.whole_seconds(),
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
        assert!(holds(&Preconditions::UnmodifiedSince(at(10))));
        assert!(holds(&Preconditions::UnmodifiedSince(at(11))));
        assert!(!holds(&Preconditions::UnmodifiedSince(at(9))));
    }
}
