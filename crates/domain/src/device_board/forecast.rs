//! Computes the forecasts for lists of devices in the background: reading a week of samples for each row of a list
//! would be too slow.

use super::{DeviceBoardRepository, DeviceForecast};
use crate::caller::OrganizationId;
use crate::clock::Clock;
use crate::device_history::{DeviceHistoryRepository, InkForecast, InkUsage, Period};
use crate::error::StoreError;
use crate::guid::DeviceGuid;
use crate::timestamp::Timestamp;
use futures_util::TryStreamExt;
use std::sync::Arc;

/// Devices in one batch.
const BATCH: u64 = 20;

/// The time at which the first ink of a device will be empty; `None` without a forecast.
#[must_use]
pub fn earliest(forecast: &[InkForecast]) -> Option<Timestamp> {
    forecast.iter().map(|ink| ink.empties_at).min()
}

/// Computes the forecast of each ink of a device from the samples of the last week (decision I2).
pub(super) async fn forecast(
    history: &dyn DeviceHistoryRepository,
    organization: OrganizationId,
    device: DeviceGuid,
    now: Timestamp,
) -> Result<Vec<InkForecast>, StoreError> {
    let week = Period { from: now.minus(InkUsage::WINDOW), to: now };
    let mut usage = InkUsage::default();
    let mut samples = history.samples(organization, device, week, u32::MAX);
    while let Some(sample) = samples.try_next().await? {
        usage.add(&sample);
    }
    Ok(usage.forecast())
}

/// Computes and stores forecasts for all devices, a batch at a time.
pub struct ForecastService {
    board: Arc<dyn DeviceBoardRepository>,
    history: Arc<dyn DeviceHistoryRepository>,
    clock: Arc<dyn Clock>,
}

impl ForecastService {
    #[must_use]
    pub fn new(
        board: Arc<dyn DeviceBoardRepository>,
        history: Arc<dyn DeviceHistoryRepository>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { board, history, clock }
    }

    /// Computes the forecasts of the next batch of devices, after `after`. Returns the last device of the batch; `None`
    /// after the last batch.
    ///
    /// # Errors
    /// A store failure.
    pub async fn batch(&self, after: Option<DeviceGuid>) -> Result<Option<DeviceGuid>, StoreError> {
        let devices = self.board.devices_to_forecast(after, BATCH).await?;
        let mut forecasts = Vec::new();
        for (organization, device) in &devices {
            let at = self.clock.now();
            let inks = forecast(self.history.as_ref(), *organization, *device, at).await?;
            forecasts.push(DeviceForecast { organization: *organization, device: *device, at, inks });
        }
        if !forecasts.is_empty() {
            self.board.store_forecasts(&forecasts).await?;
        }
        Ok(devices.last().map(|(_, device)| *device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_status::{DeviceStatus, DeviceStatusRepository, RemainingInk};
    use crate::fleet::FleetRegistry;
    use crate::testing::{FixedClock, InMemoryStore, a_fleet, a_status, acme_records, at};

    /// Decision I2: a tank of a litre of which a tenth is used in a day.
    #[tokio::test]
    async fn the_forecast_of_every_device_reaches_the_list() {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let acme = store.organization_named("Acme Print");
        for hour in 0..=48 {
            let level = 600.0 - f64::from(i32::try_from(hour).unwrap()) * 100.0 / 24.0;
            let cyan = RemainingInk { index: 1.0, name: "Cyan".to_owned(), level, max_level: 1000.0 };
            let device = acme_records().device;
            let status = DeviceStatus { received: at(hour * 3600), remaining_inks: vec![cyan], ..a_status(device) };
            store.put(acme, status).await.unwrap();
        }
        let now = at(48 * 3600);
        let shared = Arc::new(store.clone());
        let forecasts = ForecastService::new(shared.clone(), shared, Arc::new(FixedClock::new(now)));
        let mut last = forecasts.batch(None).await.unwrap();
        assert_eq!(last, Some(acme_records().device), "Zenith's device never sent a status");
        last = forecasts.batch(last).await.unwrap();
        assert_eq!(last, None);
        let device = DeviceBoardRepository::find(&store, None, acme_records().device).await.unwrap().unwrap();
        let empties_at = device.empties_at(&device.status.as_ref().unwrap().remaining_inks[0]).unwrap();
        let days = f64::from(u32::try_from(empties_at.whole_seconds() - now.whole_seconds()).unwrap()) / 86_400.0;
        assert!((days - 4.0).abs() < 0.01, "{days}");
    }
}
