//! Credentials in clear, as a fleet file brings them and as a new key is printed once.

use crate::access::CredentialDigest;
use std::fmt;

/// Fewest characters of a `MisKey` that a fleet file brings.
pub const MIN_KEY_LENGTH: usize = 16;

/// A credential in clear. It is never shown by `Debug` and stored only as its digest (decision A1).
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a credential.
    #[must_use]
    pub fn new(credential: String) -> Self {
        Self(credential)
    }

    /// A new `MisKey` of 256 random bits, in 64 hexadecimal digits.
    #[must_use]
    pub fn generate(random: [u8; 32]) -> Self {
        let mut digits = String::with_capacity(64);
        for byte in random {
            digits.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0')));
        }
        Self(digits)
    }

    /// The credential itself, to print it once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is stored of it.
    #[must_use]
    pub fn digest(&self) -> CredentialDigest {
        CredentialDigest::of(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}
