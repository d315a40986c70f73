//! The port to the keys of users.

use super::RegistryError;
use crate::access::CredentialDigest;
use crate::error::StoreError;
use crate::timestamp::Timestamp;
use async_trait::async_trait;
use std::fmt;

/// Names a key: the first 16 hexadecimal digits of its digest, of which the log shows eight (decision A9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 8]);

impl KeyId {
    #[must_use]
    pub fn of(digest: &CredentialDigest) -> Self {
        Self::from_digest(*digest.as_bytes())
    }

    /// The id of the key whose stored digest is given.
    #[must_use]
    pub fn from_digest(digest: [u8; 32]) -> Self {
        let mut id = [0; 8];
        id.copy_from_slice(&digest[..8]);
        Self(id)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", u64::from_be_bytes(self.0))
    }
}

/// The beginning of a [`KeyId`]: 1 to 16 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyIdPrefix(String);

impl KeyIdPrefix {
    /// `None` where no id can begin so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_prefix = (1..=16).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_prefix.then(|| Self(text.to_ascii_lowercase()))
    }

    /// The first and the last digest whose id begins so.
    #[must_use]
    pub fn digests(&self) -> [[u8; 32]; 2] {
        [0, 0xf].map(|last| {
            let digits = self.0.chars().filter_map(|digit| u8::try_from(digit.to_digit(16)?).ok());
            let mut digits = digits.chain(std::iter::repeat(last));
            let mut digit = || digits.next().unwrap_or(last);
            std::array::from_fn(|_| digit() << 4 | digit())
        })
    }

    /// Whether `id` begins so.
    #[must_use]
    pub fn fits(&self, id: KeyId) -> bool {
        id.to_string().starts_with(&self.0)
    }
}

impl From<KeyId> for KeyIdPrefix {
    fn from(id: KeyId) -> Self {
        Self(id.to_string())
    }
}

/// Which keys to list: those that fit every condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyFilter {
    /// The name of an organization, which has to exist.
    pub organization: Option<String>,
    /// The name of users.
    pub user: Option<String>,
    pub id: Option<KeyIdPrefix>,
}

/// A `MisKey` as it is registered; the key itself is stored nowhere (decision A1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredKey {
    pub id: KeyId,
    pub organization: String,
    pub user: String,
    /// Whether the user is retired: then the key is refused.
    pub is_user_retired: bool,
    pub issued: Timestamp,
    /// To the minute or so; `None` before its first use.
    pub last_used: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
}

/// The registered `MisKey`s.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait KeyRegistry: Send + Sync + 'static {
    /// The keys that fit, revoked ones included; by organization, user, time of issue, then id. The organization of the
    /// filter MUST exist.
    async fn list(&self, filter: KeyFilter) -> Result<Vec<RegisteredKey>, RegistryError>;

    /// Revokes one key, for ever (decision A6), and leaves the others of its user valid; `false` if it was revoked before.
    async fn revoke(&self, id: KeyId, now: Timestamp) -> Result<bool, RegistryError>;

    /// Notes when keys were used. An earlier time MUST NOT replace a later one; keys that aren't registered are left out.
    /// What is cached of the fleet stays valid.
    async fn note_uses(&self, uses: &[(CredentialDigest, Timestamp)]) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_beginning_of_the_digest() {
        let digest = CredentialDigest::of("a key");
        let id = KeyId::of(&digest);
        assert_eq!(id.to_string()[..8], format!("{digest:?}"));
        assert_eq!(KeyId::from_digest(*digest.as_bytes()), id);
    }

    #[test]
    fn the_beginning_of_an_id_bounds_its_digests() {
        let digest = CredentialDigest::of("a key");
        let id = KeyId::of(&digest);
        for length in 1..=16 {
            let prefix = KeyIdPrefix::parse(&id.to_string().to_uppercase()[..length]).unwrap();
            let [first, last] = prefix.digests();
            assert!(first <= *digest.as_bytes() && *digest.as_bytes() <= last, "{prefix:?}");
            for bound in [first, last] {
                assert!(prefix.fits(KeyId::from_digest(bound)) && prefix.fits(id), "{prefix:?}");
            }
        }
        let [first, last] = KeyIdPrefix::from(id).digests();
        assert_eq!((KeyId::from_digest(first), KeyId::from_digest(last)), (id, id));
        for text in ["", "0123456789abcdef0", "+1", "g", " 0"] {
            assert_eq!(KeyIdPrefix::parse(text), None, "{text}");
        }
    }
}
