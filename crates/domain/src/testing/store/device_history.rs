//! The history of devices in memory.

use super::{InMemoryStore, State};
use crate::caller::OrganizationId;
use crate::device_history::{DeviceHistoryRepository, DeviceSample, Period, SAMPLE_EVERY, StateChange, Thinning};
use crate::device_status::DeviceStatus;
use crate::error::StoreError;
use crate::guid::DeviceGuid;
use crate::text::cut;
use crate::timeline::TimelineDetails;
use crate::timestamp::Timestamp;
use futures_util::stream::BoxStream;

/// The entry that one status adds to the history of its device.
pub(super) struct HistoryRecord {
    device: DeviceGuid,
    pub(super) at: Timestamp,
    state: StateChange,
    is_change: bool,
    sample: Option<DeviceSample>,
}

impl State {
    /// Adds a status that isn't stored yet to the history of its device (decision I1).
    pub(super) fn keep_history(&mut self, organization: OrganizationId, status: &DeviceStatus) {
        let device = status.device;
        let last = self.statuses.get(&(organization, device));
        let is_change =
            last.is_none_or(|last| (last.status, last.connection_state) != (status.status, status.connection_state));
        let of_device =
            |(owner, record): &&(OrganizationId, HistoryRecord)| *owner == organization && record.device == device;
        let last_sample =
            self.device_history.iter().rev().filter(of_device).find_map(|(_, record)| record.sample.as_ref());
        let is_due =
            last_sample.is_none_or(|last| status.received < last.at || last.at.plus(SAMPLE_EVERY) <= status.received);
        if is_change || is_due {
            let state = StateChange::of(status);
            let sample = is_due.then(|| DeviceSample::of(status));
            self.device_history
                .push((organization, HistoryRecord { device, at: status.received, state, is_change, sample }));
        }
    }

    /// The changes of a device, with the beginning of their messages.
    pub(super) fn changes_of(&self, organization: OrganizationId, device: DeviceGuid) -> Vec<StateChange> {
        let begin = |text: Option<String>| text.map(|text| cut(&text, TimelineDetails::MAX_TEXT));
        let changes = self.history_of(organization, device).into_iter().filter(|record| record.is_change);
        let shown = |record: &HistoryRecord| StateChange {
            message: begin(record.state.message.clone()),
            connection_message: begin(record.state.connection_message.clone()),
            ..record.state.clone()
        };
        changes.map(shown).collect()
    }

    /// The time of the last change in the history of a device.
    pub(super) fn last_change(&self, organization: OrganizationId, device: DeviceGuid) -> Option<Timestamp> {
        let all = self.history_of(organization, device);
        all.iter().rev().find(|record| record.is_change).map(|record| record.at)
    }

    /// The records of a device, oldest first.
    fn history_of(&self, organization: OrganizationId, device: DeviceGuid) -> Vec<&HistoryRecord> {
        let own =
            self.device_history.iter().filter(|(owner, record)| *owner == organization && record.device == device);
        let mut own: Vec<&HistoryRecord> = own.map(|(_, record)| record).collect();
        own.sort_by_key(|record| record.at);
        own
    }
}

impl DeviceHistoryRepository for InMemoryStore {
    fn changes(
        &self,
        organization: OrganizationId,
        device: DeviceGuid,
        period: Period,
    ) -> BoxStream<'static, Result<StateChange, StoreError>> {
        let read = move |state: &State| {
            let all = state.history_of(organization, device);
            let before = || all.iter().rev().filter(|record| record.at < period.from);
            let begin = before().find(|record| record.is_change).map(|record| record.state.clone());
            let unexplained = |record: &&HistoryRecord| StateChange {
                message: None,
                connection_message: None,
                ..record.state.clone()
            };
            let begin = begin.or_else(|| before().next().map(unexplained));
            let within = all.iter().filter(|record| record.is_change && period.contains(record.at));
            begin.into_iter().chain(within.map(|record| record.state.clone())).collect()
        };
        self.stream(read, |change| change)
    }

    fn samples(
        &self,
        organization: OrganizationId,
        device: DeviceGuid,
        period: Period,
        most: u32,
    ) -> BoxStream<'static, Result<DeviceSample, StoreError>> {
        let read = move |state: &State| {
            let mut thinning = Thinning::new(period, most);
            let all = state.history_of(organization, device).into_iter().filter_map(|record| record.sample.clone());
            all.filter(|sample| period.contains(sample.at)).filter(|sample| thinning.chooses(sample.at)).collect()
        };
        self.stream(read, |sample| sample)
    }
}
