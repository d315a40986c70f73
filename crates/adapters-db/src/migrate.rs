//! Brings the schema up to date and says which version it has.

use crate::error::{OpenError, cause_of};
use crate::migration::Migrator;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};
use sea_orm_migration::{IntoSchemaManagerConnection, MigratorTrait, SchemaManager};
use std::collections::HashSet;

/// The advisory lock of the process that migrates a `PostgreSQL` database: "platen", as a number.
const MIGRATION_LOCK: i64 = 0x0070_6c61_7465_6e00;

/// The table in which sea-orm-migration records applied migrations.
const MIGRATION_TABLE: &str = "seaql_migrations";

/// What a migration did: numbers of applied migrations, which are the versions of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    pub from: u32,
    pub to: u32,
}

/// Applies all pending migrations in one transaction, which on `SQLite` holds the write lock. Another process that
/// migrates the same database is waited for.
pub(crate) async fn migrate(transaction: DatabaseTransaction) -> Result<Migrated, OpenError> {
    let failed = |source: DbErr| OpenError::Migration { cause: cause_of(&source), source };
    if transaction.get_database_backend() == DbBackend::Postgres {
        lock(&transaction).await.map_err(failed)?;
    }
    let from = version(&transaction).await?;
    if from < known() {
        Migrator::up(&transaction, None).await.map_err(failed)?;
    }
    let to = version(&transaction).await?;
    transaction.commit().await.map_err(failed)?;
    Ok(Migrated { from, to })
}

/// Takes the advisory lock until the transaction ends.
async fn lock(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    let statement = |sql| Statement::from_sql_and_values(DbBackend::Postgres, sql, [MIGRATION_LOCK.into()]);
    let row = transaction.query_one_raw(statement("SELECT pg_try_advisory_xact_lock($1)")).await?;
    if row.map(|row| row.try_get_by_index(0)).transpose()? == Some(true) {
        return Ok(());
    }
    tracing::warn!("waiting for another process that migrates this database");
    transaction.execute_raw(statement("SELECT pg_advisory_xact_lock($1)")).await.map(drop)
}

/// The number of applied migrations, all of which must be known; 0 before the first one.
pub(crate) async fn version<'c, C>(db: &'c C) -> Result<u32, OpenError>
where
    C: ConnectionTrait,
    &'c C: IntoSchemaManagerConnection<'c>,
{
    if !SchemaManager::new(db).has_table(MIGRATION_TABLE).await.map_err(OpenError::failed)? {
        return Ok(0);
    }
    let select = format!("SELECT version FROM {MIGRATION_TABLE} ORDER BY version");
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), select)).await;
    let applied = rows.map_err(OpenError::failed)?.iter().map(|row| row.try_get_by_index::<String>(0)).collect();
    let applied: Vec<String> = Result::map_err(applied, OpenError::failed)?;
    let names: HashSet<String> = Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect();
    match applied.iter().find(|name| !names.contains(*name)) {
        Some(unknown) => Err(OpenError::Newer { known: known(), found: unknown.clone() }),
        None => Ok(u32::try_from(applied.len()).unwrap_or(u32::MAX)),
    }
}

/// The number of migrations of this program.
pub(crate) fn known() -> u32 {
    u32::try_from(Migrator::migrations().len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::known;
    use crate::OpenError;
    use crate::migration::Migrator;
    use crate::testing::engines;
    use sea_orm_migration::MigratorTrait;
    use std::collections::HashSet;

    #[tokio::test]
    async fn a_database_that_a_later_version_migrated_is_refused() {
        for engine in engines().await {
            engine.run("INSERT INTO seaql_migrations (version, applied_at) VALUES ('9999_later', 0)").await;
            let database = &engine.database;
            for refused in [
                database.migrate().await.map(drop).unwrap_err(),
                database.require_current().await.unwrap_err(),
                database.schema_version().await.map(drop).unwrap_err(),
            ] {
                assert!(matches!(&refused, OpenError::Newer { found, .. } if found == "9999_later"), "{refused}");
                assert!(refused.to_string().contains("newer"), "{refused}");
            }
        }
    }

    #[test]
    fn migrations_have_different_names() {
        let names: HashSet<String> = Migrator::migrations().iter().map(|one| one.name().to_owned()).collect();
        assert_eq!(u32::try_from(names.len()).unwrap(), known());
    }
}
