//! A believable fleet for looking around and for tests of the console: `platen demo`.
//!
//! All of it goes through the use cases of `domain`, with a clock that goes through the last ten days. What there is
//! follows from a seed and the time; secrets are random.

mod clock;
mod computers;
mod crashes;
mod devices;
mod fleet;
mod live;
mod logs;
mod parts;
mod refusals;
mod resources;
mod story;

pub(crate) use live::Live;

use crate::passwords::Argon2Hasher;
use crate::{system, wiring};
use adapters_db::Database;
use anyhow::{Result, bail};
use domain::blob::BlobStore;
use domain::inspection::InspectionRepository;
use domain::limits::Limits;
use domain::operator::{AddOperator, NewPassword, Operator, OperatorName, OperatorService, Role};
use domain::page::PageRequest;
use domain::timestamp::Timestamp;
use std::sync::Arc;
use story::Story;

/// What the data follow from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// The end of the story.
    pub(crate) now: Timestamp,
    pub(crate) limits: Limits,
    /// Bytes of the largest minidump that is read.
    pub(crate) max_dump: u64,
}

/// Makes sure that nothing is stored: the demo mixes with no real records.
pub(crate) async fn require_empty(database: &Database) -> Result<()> {
    let any = PageRequest { after: None, limit: 1 };
    let operators = wiring::operators(database).list(&wiring::actor(), any).await?;
    if !operators.items.is_empty() || !database.inspection().organizations(None).await?.is_empty() {
        bail!("the database has records already; platen demo fills an empty one only");
    }
    Ok(())
}

/// What a demo leaves: the operator who looks at it, and how it goes on.
pub(crate) struct Demo {
    pub(crate) operator: Operator,
    pub(crate) password: NewPassword,
    pub(crate) live: Live,
}

/// Fills an empty database and blob store.
pub(crate) async fn fill(database: &Database, blobs: &Arc<dyn BlobStore>, plan: Plan) -> Result<Demo> {
    let live = Story::new(database, blobs, plan)?.tell().await?;
    let operators = OperatorService::new(
        Arc::new(database.operators()),
        Arc::new(Argon2Hasher::new()),
        wiring::clock(),
        Arc::new(system::RandomIds),
    );
    let name = OperatorName::parse("demo").map_err(anyhow::Error::msg)?;
    let command = AddOperator { name, role: Role::Admin, organization: None };
    let (operator, password) = operators.add(&wiring::actor(), command).await?;
    Ok(Demo { operator, password, live })
}

#[cfg(test)]
mod tests {
    use super::*;
    use adapters_blob::BlobConfig;
    use domain::activity::{ActivityRepository, ResourceKey};
    use domain::caller::OrganizationId;
    use domain::device_history::{DeviceHistoryRepository, Period};
    use domain::device_status::Status;
    use domain::inspection::{CrashReportFilter, InspectedLogEntry};
    use domain::log_entry::{LogFilter, LogNumber};
    use domain::refusal::{RefusalFilter, RefusalRepository};
    use domain::resource_catalog::{CatalogEntry, CatalogFilter, ResourceCatalog};
    use futures_util::TryStreamExt;

    const WHOLE: Period = Period { from: Timestamp::EPOCH, to: Timestamp::from_micros(i64::MAX) };

    /// The story ends at 12:00 UTC, so that it is the same at each run.
    fn plan() -> Plan {
        let now = Timestamp::from_micros(1_777_896_000_000_000);
        Plan { seed: 11, now, limits: Limits::default(), max_dump: 1024 * 1024 }
    }

    async fn filled(plan: Plan) -> (Database, Vec<OrganizationId>) {
        let database = wiring::open_in_memory().await.unwrap();
        let blobs = adapters_blob::open_for_writing(&BlobConfig::Memory).await.unwrap();
        require_empty(&database).await.unwrap();
        fill(&database, &blobs, plan).await.unwrap();
        require_empty(&database).await.unwrap_err();
        let organizations = database.inspection().organizations(None).await.unwrap();
        (database, organizations.into_iter().map(|one| one.id).collect())
    }

    async fn resources(database: &Database) -> Vec<CatalogEntry> {
        let all = PageRequest { after: None, limit: 500 };
        database.resource_catalog().page(&CatalogFilter::default(), &all).await.unwrap().items
    }

    /// All log entries in an order that doesn't depend on how they were gathered.
    async fn logs(database: &Database, organizations: &[OrganizationId]) -> Vec<String> {
        let entries = database.inspection().log_entries(organizations.to_vec(), LogFilter::default());
        // Entries of one time are stored at once, so their numbers may differ.
        let without_number = |entry| format!("{:?}", InspectedLogEntry { number: LogNumber(0), ..entry });
        let mut entries: Vec<String> = entries.map_ok(without_number).try_collect().await.unwrap();
        entries.sort();
        entries
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_demo_has_a_believable_fleet_and_the_same_one_for_a_seed() {
        let ((one, organizations), (other, _)) = tokio::join!(filled(plan()), filled(plan()));
        assert_eq!(organizations.len(), 2);
        let (mut devices, mut computers, mut changes) = (Vec::new(), 0, 0);
        for organization in &organizations {
            let found: Vec<_> = one.inspection().devices(*organization, Vec::new()).try_collect().await.unwrap();
            for device in &found {
                let history = one.device_history().changes(*organization, device.guid, WHOLE);
                changes += history.try_collect::<Vec<_>>().await.unwrap().len();
            }
            devices.extend(found);
            computers += one.inspection().computers(*organization).try_collect::<Vec<_>>().await.unwrap().len();
        }
        assert_eq!((devices.len(), computers), (12, 40));
        let with =
            |wanted| devices.iter().filter(|one| one.status.as_ref().map(|status| status.status) == wanted).count();
        assert_eq!((with(None), with(Some(Status::Error)), with(Some(Status::Offline))), (1, 1, 1));
        assert!(changes > 500, "{changes}");

        let stored = resources(&one).await;
        assert_eq!(stored, resources(&other).await);
        assert_eq!(stored.len(), 48);
        let entries = logs(&one, &organizations).await;
        assert!(entries.len() > 1_000, "{}", entries.len());
        assert!(entries == logs(&other, &organizations).await, "the same log entries for the same seed");
        let reports = one.inspection().crash_reports(organizations.clone(), CrashReportFilter::default());
        let reports = reports.try_collect::<Vec<_>>().await.unwrap();
        assert!((30..400).contains(&reports.len()), "{}", reports.len());
        let refusals = one.refusals().page(&RefusalFilter::default(), None, 500).await.unwrap();
        assert!(refusals.len() > 20, "{}", refusals.len());
        let mut outdated = 0;
        for entry in &stored {
            let key = ResourceKey { organization: entry.organization, guid: entry.guid };
            let computers = one.activity().computers_of_resource(entry.organization, key);
            let computers: Vec<_> = computers.try_collect().await.unwrap();
            outdated +=
                computers.iter().filter_map(|one| one.fetch).filter(|fetch| fetch.checksum != entry.checksum).count();
        }
        assert!(outdated > 0, "some computers have an older profile");
    }
}
