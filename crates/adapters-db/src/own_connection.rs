//! A connection to `PostgreSQL` that one task uses alone, beside those of the pool: nothing is asked
//! when it is given back, because it never is (ADR 26).

use crate::error::may_pass;
use crate::occupancy::enter;
use crate::open::{PAUSE, TRUSTED, answers, named_in};
use metering::{Counted, GaugeHandle, catalog};
use sea_orm::sqlx::postgres::{PgConnectOptions, PgConnection};
use sea_orm::sqlx::{self, Connection, Executor};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout, timeout_at};

pub(crate) struct OwnConnection {
    options: Arc<PgConnectOptions>,
    idle: Option<(Held, Instant)>,
    /// Longest wait for an answer of the database.
    patience: Duration,
    open: GaugeHandle,
}

/// The statements of such a connection are few and always the same: planned once, not with each use. Where the values
/// that one is used with look cheaper than any others, `PostgreSQL` would plan it anew each time, which takes
/// longer than a look-up. A plan made while a table was small must do when it is large, so none reads a table whole.
const SETTINGS: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
                        SET enable_hashjoin = off; SET enable_mergejoin = off";

/// The connection while it is used, counted as long as it is there. Whoever drops it gives it up.
pub(crate) struct Held {
    pub(crate) connection: PgConnection,
    /// Whether it wasn't put back yet: it may be to another server than the one before.
    pub(crate) is_new: bool,
    _counted: Counted,
}

impl OwnConnection {
    /// Opens nothing yet. `state` is how the metrics call the connection.
    pub(crate) fn new(options: Arc<PgConnectOptions>, patience: Duration, state: &str) -> Self {
        let open = catalog::DATABASE_CONNECTIONS.with([state]);
        Self { options, idle: None, patience, open }
    }

    /// Takes the connection out, or a new one if it is gone: nobody uses a connection on which something
    /// was broken off.
    pub(crate) async fn take(&mut self) -> Result<Held, sqlx::Error> {
        if let Some((mut held, since)) = self.idle.take() {
            let is_trusted = since.elapsed() < TRUSTED;
            if is_trusted || answers(&mut held.connection, self.patience).await {
                return Ok(held);
            }
        }
        // Seldom needed, and large.
        Box::pin(self.connect()).await
    }

    /// Puts the connection back, unless this outcome says that it may be broken: after a word of the
    /// database's own on a statement it is as good as before.
    pub(crate) fn put_back<T>(&mut self, mut held: Held, outcome: &Result<T, sqlx::Error>) {
        held.is_new = false;
        if outcome.as_ref().err().is_none_or(|error| !may_pass(error)) {
            self.idle = Some((held, Instant::now()));
        }
    }

    /// Closes the connection in order.
    pub(crate) async fn close(self) {
        if let Some((held, _)) = self.idle {
            // A server that doesn't answer finds out by itself.
            let _ = timeout(self.patience, held.connection.close()).await;
        }
    }

    /// Tries until it works or patience ends; who waits is told why it didn't.
    async fn connect(&self) -> Result<Held, sqlx::Error> {
        let end = Instant::now() + named_in(self.patience);
        let mut pause = PAUSE;
        loop {
            let entered = async {
                let mut connection = PgConnection::connect_with(&self.options).await?;
                enter(&mut connection).await?;
                connection.execute(SETTINGS).await.map(|_| connection)
            };
            let error = match timeout_at(end, entered).await {
                Ok(Ok(connection)) => return Ok(Held { connection, is_new: true, _counted: Counted::by(&self.open) }),
                Ok(Err(error)) => error,
                Err(_) => sqlx::Error::PoolTimedOut,
            };
            if !may_pass(&error) || Instant::now() + pause >= end {
                return Err(error);
            }
            sleep(pause).await;
            pause *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use sea_orm::DbBackend;

    #[tokio::test]
    async fn statements_are_planned_once_and_none_reads_a_table_whole() {
        let engine = engines().await.into_iter().find(|engine| engine.core().backend == DbBackend::Postgres).unwrap();
        let core = engine.core();
        let options = core.reads.get_postgres_connection_pool().connect_options();
        let mut own = OwnConnection::new(options, core.patience, "looking_up");
        let mut held = own.take().await.unwrap();
        // Nothing is in the table: reading it whole would be cheapest.
        let ask = "SELECT guid FROM resource WHERE organization_id = $1";
        for organization in 0..9_i64 {
            sqlx::query(ask).bind(organization).fetch_all(&mut held.connection).await.unwrap();
        }
        let plans = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1";
        let plans: (i64, i64) = sqlx::query_as(plans).bind(ask).fetch_one(&mut held.connection).await.unwrap();
        assert_eq!(plans, (9, 0));
        let explained = "EXPLAIN SELECT guid FROM resource WHERE organization_id = 1";
        let plan: Vec<(String,)> = sqlx::query_as(explained).fetch_all(&mut held.connection).await.unwrap();
        assert!(plan.iter().all(|(line,)| !line.contains("Seq Scan")), "{plan:?}");
    }
}
