//! The schema. A migration that was released is never edited: the next one goes on from it.

mod activity;
mod crash_lists;
mod device_board;
mod former_names;
mod history;
mod initial;
mod insight;
mod operators;
mod resource_catalog;

use sea_orm_migration::{MigrationTrait, MigratorTrait};

/// Knows all migrations of this program.
pub(crate) struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(initial::Initial),
            Box::new(operators::Operators),
            Box::new(insight::Insight),
            Box::new(history::History),
            Box::new(activity::Activity),
            Box::new(crash_lists::CrashLists),
            Box::new(device_board::DeviceBoard),
            Box::new(resource_catalog::ResourceCatalog),
            Box::new(former_names::FormerNames),
        ]
    }
}
