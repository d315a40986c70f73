//! Passwords, and the port that hashes them (decision P1).

use crate::error::StoreError;
use async_trait::async_trait;
use std::fmt;

/// Fewest characters of a password.
pub const MIN_PASSWORD_LENGTH: usize = 12;

/// Most characters of a password.
const MAX_PASSWORD_LENGTH: usize = 1_000;

/// Letters and digits of a generated password, without those that look alike.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz123456789";

/// A password as it was typed. `Debug` doesn't show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The password itself, to hash it or to show it once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Password")
    }
}

/// A password that may be set: 12 to 1,000 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPassword(Password);

impl NewPassword {
    /// Reads a password.
    ///
    /// # Errors
    /// What is wrong with it; never the password.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.chars().count() {
            ..MIN_PASSWORD_LENGTH => Err(format!("must have at least {MIN_PASSWORD_LENGTH} characters")),
            MIN_PASSWORD_LENGTH..=MAX_PASSWORD_LENGTH => Ok(Self(Password::new(text))),
            _ => Err(format!("must have at most {MAX_PASSWORD_LENGTH} characters")),
        }
    }

    /// A password of 100 random bits: four groups of five letters and digits.
    #[must_use]
    pub fn generate(random: [u8; 32]) -> Self {
        let mut text = String::new();
        for (place, byte) in random.into_iter().take(20).enumerate() {
            if place > 0 && place % 5 == 0 {
                text.push('-');
            }
            text.push(char::from(ALPHABET[usize::from(byte & 31)]));
        }
        Self(Password::new(text))
    }

    #[must_use]
    pub fn as_password(&self) -> &Password {
        &self.0
    }
}

/// The stored form of a password, as a PHC string. `Debug` doesn't show it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    #[must_use]
    pub fn new(phc: String) -> Self {
        Self(phc)
    }

    /// The PHC string, to store or to check it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PasswordHash")
    }
}

/// Hashes passwords. It takes tens of milliseconds and must not block the caller's thread.
#[cfg_attr(any(test, feature = "test-support"), mockall::automock)]
#[async_trait]
pub trait PasswordHasher: Send + Sync + 'static {
    /// The hash to store.
    async fn hash(&self, password: &NewPassword, salt: [u8; 16]) -> Result<PasswordHash, StoreError>;

    /// Whether a hash is the password's. `None` MUST take as long as a hash, and is no password's (decision P4).
    async fn verify(&self, password: &Password, hash: Option<PasswordHash>) -> Result<bool, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision P1.
    #[test]
    fn a_password_has_at_least_twelve_characters() {
        assert!(NewPassword::parse("üüüüüüüüüüü").unwrap_err().contains("at least 12"));
        assert!(NewPassword::parse("üüüüüüüüüüüü").is_ok());
        assert!(NewPassword::parse(&"x".repeat(1_001)).unwrap_err().contains("at most"));
    }

    #[test]
    fn a_generated_password_may_be_set_and_is_never_shown() {
        let random = std::array::from_fn(|place| u8::try_from(place * 7).unwrap());
        let password = NewPassword::generate(random);
        let text = password.as_password().reveal();
        assert_eq!(text.len(), 23);
        assert!(NewPassword::parse(text).is_ok());
        assert_ne!(NewPassword::generate([1; 32]), NewPassword::generate([2; 32]));
        let hash = PasswordHash::new("$argon2id$secret".to_owned());
        let shown = format!("{password:?} {:?} {hash:?}", password.as_password());
        assert!(!shown.contains(text) && !shown.contains("secret"), "{shown}");
    }
}
