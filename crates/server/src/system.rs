//! The system's clock and randomness for the ports of `domain::clock`.

use domain::clock::{Clock, IdSource};
use domain::timestamp::Timestamp;
use std::time::{Duration, SystemTime};
use uuid::{Builder, Uuid};

/// The clock of the machine.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one implementation of the port Clock")]
    fn now(&self) -> Timestamp {
        // A clock before 1970 is wrong beyond repair; the epoch is as good as any other time then.
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Timestamp::from_micros(0).plus(since_epoch)
    }
}

/// Identifiers and secrets from the operating system's secure source.
pub(crate) struct RandomIds;

impl IdSource for RandomIds {
    fn guid(&self) -> Uuid {
        Builder::from_random_bytes(random()).into_uuid()
    }

    fn secret(&self) -> [u8; 32] {
        random()
    }
}

/// Bytes that can't be guessed. Without a source of them no key may be issued, so that a machine
/// which has none must not go on.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_forward() {
        let earlier = SystemClock.now();
        assert!(earlier > Timestamp::parse("2024-01-01T00:00:00Z").unwrap());
        assert!(SystemClock.now() >= earlier);
    }

    #[test]
    fn identifiers_and_secrets_differ_each_time() {
        assert_ne!(RandomIds.guid(), RandomIds.guid());
        assert_eq!(RandomIds.guid().get_version_num(), 4);
        assert_ne!(RandomIds.secret(), RandomIds.secret());
    }
}
