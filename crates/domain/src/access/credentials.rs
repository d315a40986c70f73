//! The authentication headers as they were sent, and how repeated ones are read (decision A8).

#[cfg(test)]
mod tests;

use crate::text::Folded;
use sha2::{Digest, Sha256};
use std::fmt;

/// The SHA-256 of a credential: all that is ever stored of one (decision A1).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CredentialDigest([u8; 32]);

impl CredentialDigest {
    /// Digests a credential.
    #[must_use]
    pub fn of(credential: &str) -> Self {
        Self(Sha256::digest(credential.as_bytes()).into())
    }

    /// The 32 bytes, as they are stored.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for CredentialDigest {
    /// The first eight hexadecimal digits, which is what logs may show (decision A9).
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// The values of the four authentication headers, each in the order in which they were sent.
#[derive(Clone, Default)]
pub struct SentCredentials {
    pub mis_key: Vec<String>,
    pub hardware_hash: Vec<String>,
    pub serial_number: Vec<String>,
    pub application_version: Vec<String>,
}

impl SentCredentials {
    /// Digests of the credentials that were sent, for logs (decision A9).
    #[must_use]
    pub fn digests(&self) -> [Option<CredentialDigest>; 2] {
        let digest = |values: &[String]| match Sent::read(values) {
            Sent::Missing => None,
            Sent::One(value) | Sent::Differing { first: value } => Some(CredentialDigest::of(value)),
        };
        [digest(&self.mis_key), digest(&self.hardware_hash)]
    }

    /// The `SerialNumber` as it was sent: different values one after the other, empty where there is none.
    pub(crate) fn serial_number(&self) -> String {
        match Sent::read(&self.serial_number) {
            Sent::Missing => String::new(),
            Sent::One(value) => value.to_owned(),
            Sent::Differing { .. } => self.serial_number.join(", "),
        }
    }

    /// The `ApplicationVersion`, unless none was sent; of several the first (decision A7).
    pub(crate) fn application_version(&self) -> Option<&str> {
        self.application_version.iter().map(|version| version.trim()).find(|version| !version.is_empty())
    }

    /// Whether a `MisKey` was sent, and a `HardwareHash`, valid or not.
    pub(super) fn are_sent(&self) -> [bool; 2] {
        [&self.mis_key, &self.hardware_hash].map(|values| Sent::read(values) != Sent::Missing)
    }

    /// A digest of the values that must be valid together: both credentials, and the `SerialNumber` with a
    /// `HardwareHash` (decision A1). `None` if no credential was sent.
    pub(super) fn fingerprint(&self) -> Option<CredentialDigest> {
        let [_, hardware_hash] = self.are_sent();
        if self.are_sent() == [false; 2] {
            return None;
        }
        let serial_number = if hardware_hash { &self.serial_number[..] } else { &[] };
        let serial_number = match Sent::read(serial_number) {
            Sent::One(value) => Folded::of(value).into_string(),
            Sent::Missing | Sent::Differing { .. } => String::new(),
        };
        let mut digest = Sha256::new();
        for value in [Sent::read(&self.mis_key), Sent::read(&self.hardware_hash), Sent::One(&serial_number)] {
            // Differing values are never valid, whichever they are.
            let (kind, text) = match value {
                Sent::Missing => (0, ""),
                Sent::One(value) => (1, value),
                Sent::Differing { first } => (2, first),
            };
            digest.update([kind]);
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        Some(CredentialDigest(digest.finalize().into()))
    }
}

impl fmt::Debug for SentCredentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [mis_key, hardware_hash] = self.digests();
        out.debug_struct("SentCredentials")
            .field("mis_key", &mis_key)
            .field("hardware_hash", &hardware_hash)
            .field("serial_number", &self.serial_number)
            .field("application_version", &self.application_version)
            .finish()
    }
}

/// Whether a header with this value is read as this value. `a, a` is read as `a`, so it could never match
/// (decision A8).
pub(crate) fn reads_as_itself(value: &str) -> bool {
    Sent::read(&[value.to_owned()]) == Sent::One(value)
}

/// One header after decision A8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent<'a> {
    /// Not sent, or empty.
    Missing,
    /// Sent with one value, however often.
    One(&'a str),
    /// Sent with different values.
    Differing { first: &'a str },
}

impl<'a> Sent<'a> {
    /// Reads the values of one header: equal values count once, also when joined by commas.
    pub(super) fn read(values: &'a [String]) -> Self {
        let parts = values.iter().flat_map(|value| value.split(',')).map(str::trim);
        let mut parts = parts.filter(|part| !part.is_empty());
        let Some(first) = parts.next() else {
            return Sent::Missing;
        };
        if parts.all(|part| part == first) {
            return Sent::One(first);
        }
        // A value may hold a comma itself: where all lines are the same one, it is tried as it stands.
        let mut lines = values.iter().map(|value| value.trim()).filter(|value| !value.is_empty());
        match lines.next() {
            Some(line) if lines.all(|other| other == line) => Sent::One(line),
            _ => Sent::Differing { first },
        }
    }

    /// The value, or the first of several.
    pub(super) fn first(self) -> Option<&'a str> {
        match self {
            Sent::Missing => None,
            Sent::One(value) | Sent::Differing { first: value } => Some(value),
        }
    }
}
