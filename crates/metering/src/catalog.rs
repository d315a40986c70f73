//! Every metric: kind, name, labels, help text, and the buckets of histograms.
//!
//! Names begin with `platen_` and end with their unit (`_seconds`, `_bytes`); counters end in `_total`.
//! Label values are in snake case and few, and no client chooses one. Only names of organizations are as the operator
//! wrote them.

use crate::kinds::{Counter, Gauge, Histogram, Kind, Metric};

/// Seconds of requests and of their parts.
const SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// Rows of a group commit.
const ROWS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// Makes a constant of each entry, and the list of all.
macro_rules! catalog {
    ($($kind:ident $constant:ident $name:literal [$($label:ident)*] $help:literal $(in $buckets:expr)?;)*) => {
        $(
            #[doc = $help]
            pub const $constant: $kind<{ <[&str]>::len(&[$(stringify!($label)),*]) }> =
                $kind { name: $name, labels: [$(stringify!($label)),*] };
        )*

        /// Every metric, in the order in which docs/operations.md lists them.
        pub const ALL: &[Metric] = &[
            $(Metric {
                name: $name,
                kind: Kind::$kind,
                help: $help,
                labels: &[$(stringify!($label)),*],
                buckets: catalog!(@buckets $($buckets)?),
            },)*
        ];
    };
    (@buckets) => { &[] };
    (@buckets $buckets:expr) => { $buckets };
}

catalog! {
    Gauge BUILD_INFO "platen_build_info" [version]
        "The version that runs; the value is always 1.";

    Counter HTTP_REQUESTS "platen_http_requests_total" [operation status]
        "Requests that ended, those of the health paths too.";
    Histogram HTTP_REQUEST_DURATION "platen_http_request_duration_seconds" [operation]
        "Time from the head of a request to the last byte of its response." in SECONDS;
    Gauge HTTP_REQUESTS_RUNNING "platen_http_requests_running" []
        "Requests that are being served now.";
    Counter HTTP_RECEIVED "platen_http_received_bytes_total" [operation]
        "Bytes of request bodies that were read.";
    Counter HTTP_SENT "platen_http_sent_bytes_total" [operation]
        "Bytes of response bodies that were handed to the connection.";
    Counter AUTHENTICATION_FAILURES "platen_authentication_failures_total" [reason]
        "Requests refused for their credentials.";
    Counter REFUSALS "platen_refusals_total" [organization reason]
        "Requests refused for any reason; without an organization if the client is unknown.";
    Counter REFUSAL_RECORDS "platen_refusal_records_total" [outcome]
        "Refusals recorded for platen refusals, and refusals dropped: too many at once, or no database.";

    Counter CACHE_REQUESTS "platen_cache_requests_total" [cache outcome]
        "Lookups in the caches of credentials, known records and contents.";

    Counter COMMITS "platen_commits_total" [outcome]
        "Group commits of log entries, statuses and crash reports.";
    Histogram COMMIT_ROWS "platen_commit_rows" []
        "Rows of a group commit." in ROWS;
    Gauge QUEUE_DEPTH "platen_queue_depth" [queue]
        "Requests that wait for a group commit, for an upload slot or for the database.";
    Gauge DATABASE_CONNECTIONS "platen_database_connections" [state]
        "Open connections to the database.";

    Histogram BLOB_OPERATION_DURATION "platen_blob_operation_duration_seconds" [operation outcome]
        "Operations of the blob store by kind and outcome; a write lasts from its first byte to its durable end." in SECONDS;
    Counter BLOBS_SWEPT "platen_blobs_swept_total" [kind]
        "Blobs that the background sweep removed: discarded, half-written and orphaned content.";
    Gauge DATABASE_SIZE "platen_database_size_bytes" []
        "Bytes that the database takes on its disk.";
    Gauge DISK_FREE "platen_disk_free_bytes" [store]
        "Free bytes of the disk that holds the blob folder or the SQLite database.";
    Gauge DEVICES "platen_devices" [organization status]
        "Registered devices by their last status; never_seen without one.";
    Gauge DEVICES_SILENT "platen_devices_silent" [organization]
        "Devices whose last status is older than insight.silent_after.";
    Counter CRASH_ANALYSES "platen_crash_analyses_total" [outcome]
        "Crash reports that were analyzed in the background: grouped, failed, postponed.";
    Counter RETENTION_REMOVED "platen_retention_removed_total" [kind]
        "Records removed because they were older than the configuration keeps them.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_says_kind_and_unit() {
        for metric in ALL {
            let name = metric.name;
            let snake = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            assert!(name.starts_with("platen_") && snake(name), "{name}");
            assert_eq!(metric.kind == Kind::Counter, name.ends_with("_total"), "{name}");
            assert_eq!(metric.kind == Kind::Histogram, !metric.buckets.is_empty(), "{name}: buckets");
            assert!(metric.buckets.is_sorted_by(|a, b| a < b), "{name}: buckets");
            assert!(metric.labels.iter().all(|label| snake(label)), "{name}: {:?}", metric.labels);
            assert!(metric.help.ends_with('.') && !metric.help.contains('\n'), "{name}: {}", metric.help);
        }
    }

    #[test]
    fn every_name_is_unique() {
        let names: BTreeSet<_> = ALL.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
