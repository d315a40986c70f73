//! Logs to stderr and the recorder of metrics. stdout is for what a command answers.

mod json_line;
mod otlp;
mod stderr_lines;

pub(crate) use otlp::OtlpTraces;

use crate::config::{Log, LogFormat};
use anyhow::{Context, Result};
use json_line::JsonLine;
use metering::{Kind, catalog};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use stderr_lines::StderrLines;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

/// What the libraries below say of their own running; with `log.level` configured, that decides.
const QUIET: &str =
    "actix_server=error,actix_http=off,sea_orm_migration=error,rustls_platform_verifier=off,object_store=warn";

/// Sends logs to stderr in the configured format; `level` counts where none is configured.
pub(crate) fn start_logging(log: &Log, level: &str) -> Result<()> {
    let terminal = stderr().is_terminal();
    let format = log.format.unwrap_or(if terminal { LogFormat::Text } else { LogFormat::Json });
    let directives = log.level.clone().unwrap_or_else(|| format!("{level},{QUIET}"));
    let filter = EnvFilter::builder().parse(directives).context("log.level")?;
    let subscriber = registry().with(filter);
    let lines = Arc::new(StderrLines::new().context("cannot start logging")?);
    // A line that can't be written can't be told of on stderr either: trying to would panic.
    let layer = fmt::layer().with_writer(lines).log_internal_errors(false);
    let started = match format {
        LogFormat::Text => subscriber.with(layer.with_ansi(terminal)).try_init(),
        LogFormat::Json => subscriber.with(layer.json().event_format(JsonLine::new())).try_init(),
    };
    started.context("cannot start logging")
}

/// Installs the recorder of metrics, and records which build this is. Whatever records metrics is made
/// after this: it looks its handles up when it is made.
pub(crate) fn record_metrics() -> Result<PrometheusHandle> {
    let mut recorder = PrometheusBuilder::new();
    for metric in metering::ALL.iter().filter(|metric| metric.kind == Kind::Histogram) {
        let name = Matcher::Full(metric.name.to_owned());
        recorder = recorder.set_buckets_for_metric(name, metric.buckets).context("cannot record metrics")?;
    }
    let handle = recorder.install_recorder().context("cannot record metrics")?;
    metering::describe();
    catalog::BUILD_INFO.with([env!("CARGO_PKG_VERSION")]).set(1.0);
    Ok(handle)
}

#[cfg(test)]
pub(crate) mod testing {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    /// What was logged.
    #[derive(Clone, Default)]
    pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Lines {
        /// What a subscriber makes its writers by.
        pub(crate) fn maker(&self) -> impl Fn() -> Self + use<> {
            let lines = self.clone();
            move || lines.clone()
        }

        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
