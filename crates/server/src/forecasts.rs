//! Makes forecasts of inks in the background, a few devices at a time with pauses, so that clients don't wait (decision I2).

use domain::device_board::ForecastService;
use domain::error::error_chain;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The time from the end of a round over all devices to the next one.
const EVERY: Duration = Duration::from_mins(15);

/// The time after a batch that failed.
const AGAIN_AFTER: Duration = Duration::from_mins(1);

/// Bounds of the pause between two batches. The pause is twenty times as long as the batch: one in twenty of one core.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

/// Makes forecasts for all devices, again and again. Several processes over one database each do; the last one counts.
pub(crate) async fn run(forecasts: ForecastService) {
    let mut after = None;
    loop {
        let begun = Instant::now();
        let pause = match forecasts.batch(after).await {
            Ok(last) => {
                after = last;
                if last.is_none() { EVERY } else { (begun.elapsed() * 20).clamp(PAUSE.0, PAUSE.1) }
            }
            Err(error) => {
                tracing::warn!(error = error_chain(&error), "cannot make forecasts of inks");
                AGAIN_AFTER
            }
        };
        sleep(pause).await;
    }
}
