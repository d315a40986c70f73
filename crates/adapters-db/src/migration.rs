//! The schema, step by step. A migration that was released is never edited: the next one goes on from it.

mod fleet_version;
mod initial;
mod log_origins;
mod refusal_senders;
mod refusals;
#[cfg(test)]
mod tests;

use sea_orm_migration::{MigrationTrait, MigratorTrait};

/// Knows all migrations of this program.
pub(crate) struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(initial::Migration),
            Box::new(refusals::Migration),
            Box::new(refusal_senders::Migration),
            Box::new(log_origins::Migration),
            Box::new(fleet_version::Migration),
        ]
    }
}
