//! The port to whatever reads colour profiles.

use super::ProfileFacts;
use crate::blob::ByteStream;
use async_trait::async_trait;

/// Bytes of the largest profile that is read.
pub const MAX_PROFILE_SIZE: u64 = 64 * 1024 * 1024;

/// A profile to read.
pub struct ProfileSource {
    pub content: ByteStream,
    /// Bytes of the content.
    pub size: u64,
}

/// Why nothing is known of a profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadProfile {
    /// It can't be read, now or later; a sentence says why.
    #[error("{0}")]
    Unreadable(String),
    /// It may be read later.
    #[error("{0}")]
    Unavailable(String),
}

/// Reads colour profiles.
///
/// A hostile profile MUST NOT end the process of the caller, nor take more memory than a few times
/// [`MAX_PROFILE_SIZE`]. Of a damaged profile what can be read is returned, with sentences about the rest.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait ProfileReader: Send + Sync + 'static {
    /// What the profile says. A content that doesn't begin as [`is_profile`] says, or is larger than
    /// [`MAX_PROFILE_SIZE`], is [`UnreadProfile::Unreadable`].
    async fn read(&self, profile: ProfileSource) -> Result<ProfileFacts, UnreadProfile>;
}

/// Whether a content that begins with these bytes is a colour profile: it has `acsp` at offset 36 (ICC.1:2022, 7.2.11).
#[must_use]
pub fn is_profile(head: &[u8]) -> bool {
    head.get(36..40) == Some(b"acsp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_known_by_the_signature_in_its_head() {
        let mut head = [0; 128];
        assert!(!is_profile(&head) && !is_profile(b"acsp"));
        head[36..40].copy_from_slice(b"acsp");
        assert!(is_profile(&head) && is_profile(&head[..40]) && !is_profile(&head[..39]));
    }
}
