//! Hashes the passwords of operators by Argon2id (decision P1).

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Argon2, PasswordHash as Parsed};
use async_trait::async_trait;
use domain::error::StoreError;
use domain::operator::{NewPassword, Password, PasswordHash, PasswordHasher};
use std::sync::Arc;
use std::thread::available_parallelism;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// The salt of a hash that is compared with nothing.
const NO_SALT: [u8; 16] = *b"no such operator";

/// Argon2id with the parameters that its crate recommends: 19 MiB, two passes, one lane. It runs on the threads for
/// blocking work, at most as many hashes at once as there are cores, so that sign-ins take bounded memory.
pub(crate) struct Argon2Hasher {
    permits: Arc<Semaphore>,
}

impl Argon2Hasher {
    pub(crate) fn new() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self { permits: Arc::new(Semaphore::new(cores)) }
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(StoreError::other)?;
        let done = spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        done.await.map_err(StoreError::other)
    }
}

#[async_trait]
impl PasswordHasher for Argon2Hasher {
    async fn hash(&self, password: &NewPassword, salt: [u8; 16]) -> Result<PasswordHash, StoreError> {
        let password = password.as_password().clone();
        self.run(move || hash(&password, &salt)).await?
    }

    async fn verify(&self, password: &Password, expected: Option<PasswordHash>) -> Result<bool, StoreError> {
        let password = password.clone();
        self.run(move || match expected {
            Some(expected) => is_password_of(&password, &expected),
            None => hash(&password, &NO_SALT).map(|_| false),
        })
        .await?
    }
}

fn hash(password: &Password, salt: &[u8; 16]) -> Result<PasswordHash, StoreError> {
    let hashed = Argon2::default().hash_password_with_salt(password.reveal().as_bytes(), salt);
    let hashed = hashed.map_err(|error| StoreError::other(error.to_string()))?;
    Ok(PasswordHash::new(hashed.to_string()))
}

fn is_password_of(password: &Password, expected: &PasswordHash) -> Result<bool, StoreError> {
    let damaged = |_| StoreError::Corrupt { what: "password hash", id: String::new() };
    let expected = Parsed::new(expected.as_str()).map_err(damaged)?;
    Ok(Argon2::default().verify_password(password.reveal().as_bytes(), &expected).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Decision P1.
    #[tokio::test]
    async fn a_password_is_hashed_by_argon2id_and_recognised() {
        let hasher = Argon2Hasher::new();
        let password = NewPassword::parse("correct horse battery").unwrap();
        let hash = hasher.hash(&password, [7; 16]).await.unwrap();
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.as_str());
        assert!(!hash.as_str().contains("horse"));
        assert_ne!(hasher.hash(&password, [8; 16]).await.unwrap(), hash, "another salt");
        assert!(hasher.verify(password.as_password(), Some(hash.clone())).await.unwrap());
        assert!(!hasher.verify(&Password::new("correct horse batterx"), Some(hash)).await.unwrap());
        let damaged = hasher.verify(password.as_password(), Some(PasswordHash::new("$argon2id$".to_owned()))).await;
        assert!(matches!(damaged, Err(StoreError::Corrupt { .. })), "{damaged:?}");
    }

    /// Decision P4: a name without operator costs a hash.
    #[tokio::test]
    async fn no_hash_takes_as_long_as_a_wrong_one() {
        let hasher = Argon2Hasher::new();
        let password = NewPassword::parse("correct horse battery").unwrap();
        let hash = hasher.hash(&password, [7; 16]).await.unwrap();
        let wrong = Password::new("wrong");
        // The shortest of several: other work on the machine only adds time.
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            let begin = Instant::now();
            assert!(!hasher.verify(&wrong, Some(hash.clone())).await.unwrap());
            with.push(begin.elapsed());
            let begin = Instant::now();
            assert!(!hasher.verify(&wrong, None).await.unwrap());
            without.push(begin.elapsed());
        }
        let (with, without) = (with.into_iter().min().unwrap(), without.into_iter().min().unwrap());
        assert!(without * 2 > with && with * 2 > without, "{with:?} and {without:?}");
    }
}
