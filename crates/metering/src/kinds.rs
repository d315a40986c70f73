//! The kinds of metrics, with the number of their labels in the type.

use metrics::{Key, Label, Level, Metadata, Unit, with_recorder};

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts measured values in buckets.
    Histogram,
}

/// An entry of the catalog.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    pub name: &'static str,
    pub kind: Kind,
    pub help: &'static str,
    pub labels: &'static [&'static str],
    /// Upper bounds of the buckets of a histogram.
    pub buckets: &'static [f64],
}

impl Metric {
    /// The unit, if the name ends with one.
    #[must_use]
    pub fn unit(&self) -> Option<Unit> {
        match self.name.trim_end_matches("_total").rsplit('_').next() {
            Some("seconds") => Some(Unit::Seconds),
            Some("bytes") => Some(Unit::Bytes),
            _ => None,
        }
    }

    pub(crate) fn describe(&self) {
        let (name, help) = (self.name.into(), self.help.into());
        with_recorder(|recorder| match self.kind {
            Kind::Counter => recorder.describe_counter(name, self.unit(), help),
            Kind::Gauge => recorder.describe_gauge(name, self.unit(), help),
            Kind::Histogram => recorder.describe_histogram(name, self.unit(), help),
        });
    }
}

const METADATA: Metadata<'static> = Metadata::new("platen", Level::INFO, None);

fn key<const N: usize>(name: &'static str, labels: [&'static str; N], values: [&str; N]) -> Key {
    let labels: Vec<Label> =
        labels.into_iter().zip(values).map(|(label, value)| Label::new(label, value.to_owned())).collect();
    Key::from_parts(name, labels)
}

/// A counter with `N` labels.
#[derive(Debug, Clone, Copy)]
pub struct Counter<const N: usize> {
    pub(crate) name: &'static str,
    pub(crate) labels: [&'static str; N],
}

impl<const N: usize> Counter<N> {
    /// The handle for these label values, in the order of the catalog.
    pub fn with(&self, values: [&str; N]) -> metrics::Counter {
        let key = key(self.name, self.labels, values);
        with_recorder(|recorder| recorder.register_counter(&key, &METADATA))
    }
}

/// A gauge with `N` labels.
#[derive(Debug, Clone, Copy)]
pub struct Gauge<const N: usize> {
    pub(crate) name: &'static str,
    pub(crate) labels: [&'static str; N],
}

impl<const N: usize> Gauge<N> {
    /// The handle for these label values, in the order of the catalog.
    pub fn with(&self, values: [&str; N]) -> metrics::Gauge {
        let key = key(self.name, self.labels, values);
        with_recorder(|recorder| recorder.register_gauge(&key, &METADATA))
    }
}

/// A histogram with `N` labels.
#[derive(Debug, Clone, Copy)]
pub struct Histogram<const N: usize> {
    pub(crate) name: &'static str,
    pub(crate) labels: [&'static str; N],
}

impl<const N: usize> Histogram<N> {
    /// The handle for these label values, in the order of the catalog.
    pub fn with(&self, values: [&str; N]) -> metrics::Histogram {
        let key = key(self.name, self.labels, values);
        with_recorder(|recorder| recorder.register_histogram(&key, &METADATA))
    }
}
