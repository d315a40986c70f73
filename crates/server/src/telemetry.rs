//! Logs to stderr, traces to a collector, and the recorder of metrics. stdout is for what a command answers.

mod traces;

pub(crate) use traces::Traces;

use crate::config::{Log, LogFormat};
use anyhow::{Context, Result};
use metering::{Kind, catalog};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::io::{IsTerminal, stderr};
use tracing::Metadata;
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt, registry};

/// What the libraries may log where `log.level` is not configured.
const LIBRARIES: &str = "actix_server=error,actix_http=off,sea_orm_migration=error,rustls_platform_verifier=off,object_store=warn,\
     opentelemetry=warn,opentelemetry_sdk=warn";

/// Sends logs to stderr in the configured format, and the spans of requests to `traces`. `level` counts where none is
/// configured.
pub(crate) fn start(log: &Log, level: &str, traces: Option<&Traces>) -> Result<()> {
    let is_terminal = stderr().is_terminal();
    let format = log.format.unwrap_or(if is_terminal { LogFormat::Text } else { LogFormat::Json });
    let directives = log.level.clone().unwrap_or_else(|| format!("{level},{LIBRARIES}"));
    let filter = EnvFilter::builder().parse(directives).context("log.level")?;
    // An error of writing to stderr can't be reported there: trying to would panic.
    let lines = fmt::layer().with_writer(stderr).log_internal_errors(false);
    let lines = match format {
        LogFormat::Text => lines.with_ansi(is_terminal).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // A request's line has all that its span has, so that spans are for traces alone.
    let lines = lines.with_filter(filter).with_filter(filter_fn(is_event));
    let spans = traces.map(|traces| {
        let requests = Targets::new().with_target("http_actix", LevelFilter::INFO);
        let layer = tracing_opentelemetry::layer().with_tracer(traces.tracer());
        layer.with_filter(requests).with_filter(filter_fn(is_span))
    });
    registry().with(lines).with(spans).try_init().context("cannot start logging")
}

fn is_event(metadata: &Metadata<'_>) -> bool {
    metadata.is_event()
}

fn is_span(metadata: &Metadata<'_>) -> bool {
    metadata.is_span()
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
