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

    /// Reads 16 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_id = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| u64::from_str_radix(text, 16).ok()).flatten().map(|number| Self(number.to_be_bytes()))
    }

    /// The first and the last digest that have this id.
    #[must_use]
    pub fn digests(self) -> ([u8; 32], [u8; 32]) {
        let (mut first, mut last) = ([0; 32], [0xff; 32]);
        first[..8].copy_from_slice(&self.0);
        last[..8].copy_from_slice(&self.0);
        (first, last)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", u64::from_be_bytes(self.0))
    }
}

/// A `MisKey` as it is registered; the key itself is stored nowhere (decision A1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredKey {
    pub id: KeyId,
    pub organization: String,
    pub user: String,
    pub issued: Timestamp,
    /// To the minute or so; `None` before its first use.
    pub last_used: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
}

/// The registered `MisKey`s.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait KeyRegistry: Send + Sync + 'static {
    /// The keys of all organizations or of one, which MUST exist, revoked ones included; by organization, user, time of
    /// issue, then id.
    async fn list(&self, organization: Option<String>) -> Result<Vec<RegisteredKey>, RegistryError>;

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
        assert_eq!(KeyId::parse(&id.to_string()), Some(id));
        assert_eq!(KeyId::parse(&id.to_string().to_uppercase()), Some(id));
        let (first, last) = id.digests();
        assert!(first <= *digest.as_bytes() && *digest.as_bytes() <= last);
        assert_eq!((KeyId::from_digest(first), KeyId::from_digest(last)), (id, id));
        for text in ["", "0123456789abcde", "0123456789abcdef0", "+123456789abcdef", "0123456789abcdeg"] {
            assert_eq!(KeyId::parse(text), None, "{text}");
        }
    }
}
