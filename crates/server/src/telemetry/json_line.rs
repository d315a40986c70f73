//! A line of the log as JSON, in one piece: the line that tracing-subscriber writes, by the same serializers
//! (ADR 58).

use serde::ser::{Error as _, SerializeMap, Serializer as _};
use std::{fmt, str};
use tracing::{Event, Subscriber};
use tracing_log::NormalizeEvent;
use tracing_serde::{AsSerde, SerdeMapVisitor};
use tracing_subscriber::fmt::format::{Format, FormatEvent, FormatFields, Json, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, format};
use tracing_subscriber::registry::LookupSpan;

/// Bytes of most lines, with room to spare.
const CAPACITY: usize = 1024;

pub(super) struct JsonLine {
    /// Writes what is rare: events within spans, which only libraries have and only `debug` shows, and those of the
    /// crate `log`.
    usual: Format<Json>,
}

impl JsonLine {
    pub(super) fn new() -> Self {
        Self { usual: format().json().flatten_event(true) }
    }
}

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        if event.is_log() || event.parent().is_some() || context.lookup_current().is_some() {
            return self.usual.format_event(context, writer, event);
        }
        let mut line = Vec::with_capacity(CAPACITY);
        serialize(&mut line, event).map_err(|_| fmt::Error)?;
        line.push(b'\n');
        writer.write_str(str::from_utf8(&line).map_err(|_| fmt::Error)?)
    }
}

fn serialize(line: &mut Vec<u8>, event: &Event<'_>) -> Result<(), serde_json::Error> {
    let mut time = String::new();
    SystemTime.format_time(&mut Writer::new(&mut time)).map_err(serde_json::Error::custom)?;
    let mut serializer = serde_json::Serializer::new(line);
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("timestamp", &time)?;
    map.serialize_entry("level", &event.metadata().level().as_serde())?;
    let mut members = SerdeMapVisitor::new(map);
    event.record(&mut members);
    let mut map = members.take_serializer()?;
    map.serialize_entry("target", event.metadata().target())?;
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::testing::Lines;
    use std::error::Error;
    use tracing::Level;
    use tracing_subscriber::fmt::layer;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry;

    /// What is logged, as this writes it and as tracing-subscriber does; of their times, the form.
    fn written(log: impl Fn()) -> [Vec<String>; 2] {
        let [ours, theirs] = [(); 2].map(|()| Lines::default());
        let subscriber = registry()
            .with(layer().json().with_writer(ours.maker()).event_format(JsonLine::new()))
            .with(layer().json().with_writer(theirs.maker()).flatten_event(true));
        tracing::subscriber::with_default(subscriber, log);
        let form = |line: &str| {
            let (time, rest) = line.split_once(",\"level\"").expect(line);
            format!("{}{rest}", time.replace(|digit: char| digit.is_ascii_digit(), "0"))
        };
        [ours, theirs].map(|lines| lines.text().lines().map(form).collect())
    }

    #[test]
    fn a_line_is_the_one_that_tracing_subscriber_writes() {
        let [ours, theirs] = written(|| {
            tracing::info!("plain");
            let (text, none): (_, Option<&str>) = ("\"quoted\"\n\u{1b}[31m\u{7f}\u{2028}Größe \u{1f5a8}", None);
            tracing::error!(text, none, "beside a message: {text}");
            tracing::warn!(shown = %text, told = ?text, number = 7_u64, less = -7_i64, no = f64::NAN, yes = true);
            tracing::event!(target: "else\"where", Level::INFO, a.b = "dotted", bytes = &b"\xff\0"[..]);
            let cause: Box<dyn Error> = "a cause".into();
            tracing::error!(cause = &*cause, "failed");
            let record = tracing_log::log::Record::builder().args(format_args!("of the crate log")).build();
            tracing_log::format_trace(&record).unwrap();
            let _span = tracing::info_span!("a span", of = "somebody").entered();
            tracing::info!(within = 1, "in a span");
        });
        assert_eq!(ours.len(), 7);
        assert!(ours[0].starts_with("{\"timestamp\":\"0000-00-00T00:00:00.000000Z\""), "{}", ours[0]);
        assert!(ours[6].contains("somebody"), "{}", ours[6]);
        assert_eq!(ours, theirs);
    }
}
