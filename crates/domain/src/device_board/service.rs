//! The use cases of operators on devices.

use super::forecast::forecast;
use super::{BoardDevice, DeviceBoardRepository, DeviceCursor, DeviceFilter, DeviceSort, Moment};
use crate::clock::Clock;
use crate::device_history::{DeviceHistoryRepository, DeviceSample, Period, StateChange};
use crate::guid::DeviceGuid;
use crate::operator::{Actor, OperatorError};
use crate::page::{Page, PageRequest};
use crate::timeline::{Subject, TimelineCursor, TimelineEvent, TimelineRepository};
use crate::timestamp::Timestamp;
use futures_util::{StreamExt, TryStreamExt};
use std::sync::Arc;
use std::time::Duration;

/// Limit for the changes of one history: a device may change its state every second.
pub const MAX_CHANGES: usize = 5_000;

/// Limit for the samples of one history.
pub const MAX_SAMPLES: u32 = 1_000;

/// The length of the period if a request names no beginning.
const DEFAULT_PERIOD: Duration = Duration::from_hours(24);

/// The history of a device within a period (decision I1), oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceHistory {
    pub device: BoardDevice,
    pub period: Period,
    /// The first change may be older than the period: it is the state at the beginning of the period.
    pub changes: Vec<StateChange>,
    /// Whether there are more than [`MAX_CHANGES`]; the later ones are missing.
    pub is_cut: bool,
    pub samples: Vec<DeviceSample>,
}

/// Lists, history and timeline of devices. An operator of one organization sees the devices of that organization only
/// (decision P8).
pub struct DeviceBoardService {
    board: Arc<dyn DeviceBoardRepository>,
    history: Arc<dyn DeviceHistoryRepository>,
    timeline: Arc<dyn TimelineRepository>,
    clock: Arc<dyn Clock>,
    silent_after: Duration,
}

impl DeviceBoardService {
    #[must_use]
    pub fn new(
        board: Arc<dyn DeviceBoardRepository>,
        history: Arc<dyn DeviceHistoryRepository>,
        timeline: Arc<dyn TimelineRepository>,
        clock: Arc<dyn Clock>,
        silent_after: Duration,
    ) -> Self {
        Self { board, history, timeline, clock, silent_after }
    }

    /// The moment for a list that begins now.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment::new(self.clock.now(), self.silent_after)
    }

    /// Lists the devices that match at `moment`.
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] for an organization that the actor doesn't see.
    pub async fn list(
        &self,
        actor: &Actor,
        filter: DeviceFilter,
        sort: DeviceSort,
        moment: Moment,
        asked: &PageRequest<DeviceCursor>,
    ) -> Result<Page<BoardDevice, DeviceCursor>, OperatorError> {
        let filter = DeviceFilter { organization: actor.seen(filter.organization)?, ..filter };
        Ok(self.board.page(&filter, sort, moment, asked).await?)
    }

    /// Finds a device and computes its forecast for now.
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] for a device that the actor doesn't see.
    pub async fn find(&self, actor: &Actor, guid: DeviceGuid) -> Result<BoardDevice, OperatorError> {
        let device = self.require(actor, guid).await?;
        let forecast = forecast(self.history.as_ref(), device.organization.id, guid, self.clock.now()).await?;
        Ok(BoardDevice { forecast, ..device })
    }

    /// The history of a device. `to` is now by default, `from` 24 hours before `to`.
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] for a device that the actor doesn't see, [`OperatorError::Invalid`] for a period that
    /// ends before it begins.
    pub async fn history(
        &self,
        actor: &Actor,
        guid: DeviceGuid,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
    ) -> Result<DeviceHistory, OperatorError> {
        let device = self.require(actor, guid).await?;
        let to = to.unwrap_or_else(|| self.clock.now());
        let period = Period { from: from.unwrap_or_else(|| to.minus(DEFAULT_PERIOD)), to };
        if period.from > period.to {
            return Err(OperatorError::invalid("from", "must not be later than to"));
        }
        let organization = device.organization.id;
        let changes = self.history.changes(organization, guid, period).take(MAX_CHANGES + 1);
        let mut changes: Vec<StateChange> = changes.try_collect().await?;
        let is_cut = changes.len() > MAX_CHANGES;
        changes.truncate(MAX_CHANGES);
        let samples = self.history.samples(organization, guid, period, MAX_SAMPLES).try_collect().await?;
        Ok(DeviceHistory { device, period, changes, is_cut, samples })
    }

    /// A page of the timeline of a device, the newest event first (decision I12).
    ///
    /// # Errors
    /// [`OperatorError::NotFound`] for a device that the actor doesn't see.
    pub async fn timeline(
        &self,
        actor: &Actor,
        guid: DeviceGuid,
        asked: &PageRequest<TimelineCursor>,
    ) -> Result<Page<TimelineEvent, TimelineCursor>, OperatorError> {
        let organization = self.require(actor, guid).await?.organization.id;
        let rows = u32::try_from(asked.rows()).unwrap_or(u32::MAX);
        let events = self.timeline.page(organization, Subject::Device(guid), asked.after, rows).await?;
        Ok(asked.page(events, |event| event.cursor))
    }

    async fn require(&self, actor: &Actor, guid: DeviceGuid) -> Result<BoardDevice, OperatorError> {
        let found = self.board.find(actor.scope.organization(), guid).await?;
        found.ok_or_else(|| OperatorError::NotFound(format!("device {guid}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::OrganizationId;
    use crate::device_board::MockDeviceBoardRepository;
    use crate::device_history::MockDeviceHistoryRepository;
    use crate::device_status::{SILENT_AFTER, Status};
    use crate::inspection::RegisteredOrganization;
    use crate::operator::Scope;
    use crate::testing::{FixedClock, at, numbered};
    use crate::timeline::MockTimelineRepository;
    use futures_util::stream;

    const OWN: OrganizationId = OrganizationId(2);

    fn actor() -> Actor {
        Actor { scope: Scope::Organization(OWN), ..Actor::command("root") }
    }

    fn service(board: MockDeviceBoardRepository, history: MockDeviceHistoryRepository) -> DeviceBoardService {
        let timeline = Arc::new(MockTimelineRepository::new());
        let clock = Arc::new(FixedClock::new(at(900)));
        DeviceBoardService::new(Arc::new(board), Arc::new(history), timeline, clock, SILENT_AFTER)
    }

    fn device() -> BoardDevice {
        BoardDevice {
            organization: RegisteredOrganization { id: OWN, name: "Acme".to_owned() },
            guid: numbered(1).into(),
            name: "Latex".to_owned(),
            status: None,
            changed: None,
            forecast: Vec::new(),
        }
    }

    /// Decision P8.
    #[tokio::test]
    async fn an_operator_of_one_organization_lists_and_finds_devices_of_that_one_only() {
        let mut board = MockDeviceBoardRepository::new();
        let page = || Page { items: Vec::new(), next: None };
        let of_own = |filter: &DeviceFilter, _: &_, _: &_, _: &_| filter.organization == Some(OWN);
        board.expect_page().withf(of_own).return_once(move |_, _, _, _| Ok(page()));
        board.expect_find().withf(|organization, _| *organization == Some(OWN)).returning(|_, _| Ok(None));
        let service = service(board, MockDeviceHistoryRepository::new());
        let foreign = DeviceFilter { organization: Some(OrganizationId(1)), ..DeviceFilter::default() };
        let asked = PageRequest { after: None, limit: 9 };
        let moment = service.moment();
        let refused = service.list(&actor(), foreign, DeviceSort::Name, moment, &asked).await;
        assert!(matches!(refused, Err(OperatorError::NotFound(_))), "{refused:?}");
        service.list(&actor(), DeviceFilter::default(), DeviceSort::Name, moment, &asked).await.unwrap();
        assert_eq!(moment.silent_before, at(0));
        let guid = numbered(1).into();
        for found in [
            service.find(&actor(), guid).await.map(drop),
            service.history(&actor(), guid, None, None).await.map(drop),
            service.timeline(&actor(), guid, &PageRequest { after: None, limit: 9 }).await.map(drop),
        ] {
            assert!(matches!(found, Err(OperatorError::NotFound(_))), "{found:?}");
        }
    }

    /// Decision I1.
    #[tokio::test]
    async fn a_history_is_cut_where_a_device_changes_too_often() {
        let mut board = MockDeviceBoardRepository::new();
        board.expect_find().returning(|_, _| Ok(Some(device())));
        let mut history = MockDeviceHistoryRepository::new();
        let change = |second: usize| StateChange {
            at: at(i64::try_from(second).unwrap()),
            status: Status::Idle,
            message: None,
            connection_state: None,
            connection_message: None,
        };
        history.expect_changes().returning(move |_, _, _| stream::iter((0..9_000).map(change).map(Ok)).boxed());
        history.expect_samples().returning(|_, _, _, _| stream::empty().boxed());
        let service = service(board, history);
        let guid = numbered(1).into();
        let found = service.history(&actor(), guid, None, Some(at(86_400))).await.unwrap();
        assert_eq!((found.changes.len(), found.is_cut, found.period.from), (MAX_CHANGES, true, at(0)));
        let wrong = service.history(&actor(), guid, Some(at(1)), Some(at(0))).await;
        assert!(matches!(wrong, Err(OperatorError::Invalid { field: "from", .. })), "{wrong:?}");
    }
}
