//! Why a pool gave no connection in time: it keeps that to itself.

use crate::error::{describe, store_error};
use crate::instance_lock::enter;
use crate::url::Place;
use domain::error::StoreError;
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, Connection};
use sea_orm::{ConnAcquireErr, DbErr};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// As long as a cause is told on: of many who wait for a connection, one looks.
const FRESH: Duration = Duration::from_secs(1);

/// No connection in time, and why.
#[derive(Debug, thiserror::Error)]
#[error("no connection to the database {place}: {cause}")]
struct NoConnection {
    place: String,
    cause: String,
}

/// Finds out what a pool doesn't tell.
pub(crate) struct Diagnosis {
    place: String,
    /// `None` where a connection that can't be opened is told by the pool as it is.
    postgres: Option<Box<PgConnectOptions>>,
    is_alone: bool,
    /// Longest time to look. Whoever waits for an answer has waited for nearly as long as he will.
    timeout: Duration,
    last: Mutex<Option<(Instant, String)>>,
}

impl Diagnosis {
    /// `timeout` is that of those who wait for an answer.
    pub(crate) fn new(place: &Place, is_alone: bool, timeout: Duration) -> Self {
        let postgres = match place {
            Place::Postgres(options) => Some(options.clone()),
            Place::File(_) | Place::Memory => None,
        };
        Self { place: place.name(), postgres, is_alone, timeout: timeout / 8, last: Mutex::default() }
    }

    /// The failure in the words of the domain, with the cause where the pool hid it.
    pub(crate) async fn explain(&self, error: DbErr) -> StoreError {
        if !matches!(error, DbErr::ConnectionAcquire(ConnAcquireErr::Timeout)) {
            return store_error(error);
        }
        let (place, cause) = (self.place.clone(), self.cause().await);
        StoreError::unavailable(NoConnection { place, cause })
    }

    async fn cause(&self) -> String {
        let mut last = self.last.lock().await;
        if let Some((_, cause)) = last.as_ref().filter(|(since, _)| since.elapsed() < FRESH) {
            return cause.clone();
        }
        let cause = self.look().await;
        *last = Some((Instant::now(), cause.clone()));
        cause
    }

    /// A connection beside the pool shows whether there are none, or whether those of the pool are in use.
    async fn look(&self) -> String {
        let looked = match &self.postgres {
            Some(options) => timeout(self.timeout, self.connect(options)).await,
            None => Ok(Ok(())),
        };
        match looked {
            Ok(Ok(())) => "all of its connections are in use".to_owned(),
            Ok(Err(error)) => describe(&error),
            Err(_) => "it doesn't answer".to_owned(),
        }
    }

    async fn connect(&self, options: &PgConnectOptions) -> Result<(), sqlx::Error> {
        let mut session = PgConnection::connect_with(options).await?;
        if !self.is_alone {
            enter(&mut session).await?;
        }
        session.close().await
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::engines;
    use crate::{Database, DatabaseConfig};
    use domain::error::{StoreError, error_chain};
    use sea_orm::TransactionTrait;
    use std::time::Duration;

    #[tokio::test]
    async fn a_full_pool_is_told_as_such_and_with_the_database() {
        for engine in engines().await {
            let config =
                DatabaseConfig { max_connections: 1, acquire_timeout: Duration::from_secs(2), ..engine.config.clone() };
            let database = Database::connect(&config).await.unwrap();
            let held = database.db().reads.begin().await.unwrap();
            let error = database.ping().await.unwrap_err();
            assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
            let told = error_chain(&error);
            assert!(told.starts_with("the store is unavailable: no connection to the database "), "{told}");
            assert!(told.ends_with(": all of its connections are in use"), "{told}");
            held.rollback().await.unwrap();
            database.ping().await.unwrap();
        }
    }
}
