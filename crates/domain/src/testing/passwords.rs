//! A hasher of passwords that takes no time.

use crate::error::StoreError;
use crate::operator::{NewPassword, Password, PasswordHash, PasswordHasher};
use async_trait::async_trait;

/// Keeps passwords as they are, for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainHasher;

#[async_trait]
impl PasswordHasher for PlainHasher {
    async fn hash(&self, password: &NewPassword, _: [u8; 16]) -> Result<PasswordHash, StoreError> {
        Ok(PasswordHash::new(password.as_password().reveal().to_owned()))
    }

    async fn verify(&self, password: &Password, hash: Option<PasswordHash>) -> Result<bool, StoreError> {
        Ok(hash.is_some_and(|hash| hash.as_str() == password.reveal()))
    }
}
