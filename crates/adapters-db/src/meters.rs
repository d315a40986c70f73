//! What is measured of connections and of what waits for them.

use metering::{GaugeHandle, catalog};
use sea_orm::{DatabaseConnection, DbBackend};

/// The connections of pools, which must be asked for their numbers.
pub(crate) struct PoolMeters {
    pools: Vec<DatabaseConnection>,
    idle: GaugeHandle,
    in_use: GaugeHandle,
}

impl PoolMeters {
    /// Measures these pools, which must be different ones.
    pub(crate) fn new(pools: Vec<DatabaseConnection>) -> Self {
        let state = |state| catalog::DATABASE_CONNECTIONS.with([state]);
        Self { pools, idle: state("idle"), in_use: state("in_use") }
    }

    pub(crate) fn measure(&self) {
        let (mut open, mut idle) = (0, 0);
        for pool in &self.pools {
            let (size, free) = if pool.get_database_backend() == DbBackend::Postgres {
                let pool = pool.get_postgres_connection_pool();
                (pool.size(), pool.num_idle())
            } else {
                let pool = pool.get_sqlite_connection_pool();
                (pool.size(), pool.num_idle())
            };
            open += size;
            idle += u32::try_from(free).unwrap_or(u32::MAX);
        }
        self.idle.set(f64::from(idle));
        // The two numbers of a pool are not of the same moment.
        self.in_use.set(f64::from(open.saturating_sub(idle)));
    }
}
