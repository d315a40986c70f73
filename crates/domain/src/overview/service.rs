//! Collects the figures of the first page.

use super::{DeviceFigures, Overview, OverviewRepository};
use crate::caller::OrganizationId;
use crate::clock::Clock;
use crate::device_board::{Attention, BoardDevice, DeviceBoardRepository, DeviceFilter, DeviceSort, Moment};
use crate::operator::{Actor, OperatorError};
use crate::page::PageRequest;
use std::sync::Arc;
use std::time::Duration;

/// Limit for the devices, and for the crash groups, that are shown with the figures.
const MAX_LISTED: u64 = 8;

/// The number of hours in [`Overview::log_hours`].
const LOG_HOURS: u32 = 24;

/// The age up to which refusals count.
const MAX_REFUSAL_AGE: Duration = Duration::from_hours(24);

/// Collects the figures of the first page.
pub struct OverviewService {
    figures: Arc<dyn OverviewRepository>,
    board: Arc<dyn DeviceBoardRepository>,
    clock: Arc<dyn Clock>,
    silent_after: Duration,
}

impl OverviewService {
    #[must_use]
    pub fn new(
        figures: Arc<dyn OverviewRepository>,
        board: Arc<dyn DeviceBoardRepository>,
        clock: Arc<dyn Clock>,
        silent_after: Duration,
    ) -> Self {
        Self { figures, board, clock, silent_after }
    }

    /// Collects the figures of an organization, or of all that the actor sees (decision P8).
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] for an organization that the actor doesn't see.
    pub async fn overview(
        &self,
        actor: &Actor,
        organization: Option<OrganizationId>,
    ) -> Result<Overview, OperatorError> {
        let organization = actor.seen(organization)?;
        let moment = Moment::new(self.clock.now(), self.silent_after);
        let since = moment.now.minus(MAX_REFUSAL_AGE);
        Ok(Overview {
            moment,
            devices: DeviceFigures::of(&self.board.count(organization, moment).await?),
            needing: self.needing(organization, moment).await?,
            crash_groups: self.figures.unsettled_groups(organization, MAX_LISTED).await?,
            refusals: self.figures.refusals_by_reason(organization, since).await?,
            log_hours: self.figures.log_entries_by_hour(organization, moment.now, LOG_HOURS).await?,
            outdated_resources: self.figures.outdated_resources(organization).await?,
        })
    }

    async fn needing(
        &self,
        organization: Option<OrganizationId>,
        moment: Moment,
    ) -> Result<Vec<BoardDevice>, OperatorError> {
        let filter = DeviceFilter { organization, ..DeviceFilter::default() };
        let asked = PageRequest { after: None, limit: MAX_LISTED };
        let mut first = self.board.page(&filter, DeviceSort::Attention, moment, &asked).await?.items;
        first.retain(|device| device.attention(moment) != Attention::Fine);
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_status::{DeviceStatus, DeviceStatusRepository, SILENT_AFTER, Status};
    use crate::fleet::FleetRegistry;
    use crate::operator::Scope;
    use crate::testing::{FixedClock, InMemoryStore, ZENITH, a_fleet, a_status, acme_records, at, zenith_records};

    /// Decision P8.
    #[tokio::test]
    async fn the_figures_are_those_of_the_organizations_that_the_operator_sees() {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let [acme, zenith] = ["Acme Print", ZENITH].map(|name| store.organization_named(name));
        store.put(acme, a_status(acme_records().device)).await.unwrap();
        let error = DeviceStatus { status: Status::Error, ..a_status(zenith_records().device) };
        store.put(zenith, error).await.unwrap();
        let shared = Arc::new(store);
        let service = OverviewService::new(shared.clone(), shared, Arc::new(FixedClock::new(at(0))), SILENT_AFTER);
        let everything = Actor::command("root");
        let all = service.overview(&everything, None).await.unwrap();
        assert_eq!((all.devices.idle, all.devices.error, all.needing.len(), all.log_hours.len()), (1, 1, 1, 24));
        let own = Actor { scope: Scope::Organization(acme), ..everything };
        let foreign = service.overview(&own, Some(zenith)).await;
        assert!(matches!(foreign, Err(OperatorError::NotFound(_))), "{foreign:?}");
        let own = service.overview(&own, None).await.unwrap();
        assert_eq!((own.devices.idle, own.devices.error, own.needing.len()), (1, 0, 0));
    }
}
