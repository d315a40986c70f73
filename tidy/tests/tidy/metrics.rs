//! The list of metrics is the truth: the code records all of it, docs/operations.md describes it, and
//! dashboard and alerts name nothing else.

use metering::{ALL, Kind, Metric};
use serde_json::Value;
use std::collections::BTreeSet;
use tidy::workspace::{none_of, read, sources};

/// What metrics-process records.
const PROCESS: [&str; 7] = [
    "process_cpu_seconds_total",
    "process_open_fds",
    "process_max_fds",
    "process_virtual_memory_bytes",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_threads",
];

/// Every name of a metric that a text holds.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("platen_") || word.starts_with("process_")).collect()
}

/// The series that Prometheus makes of a metric.
fn series(metric: &Metric) -> Vec<String> {
    match metric.kind {
        Kind::Counter | Kind::Gauge => vec![metric.name.to_owned()],
        Kind::Histogram => ["bucket", "count", "sum"].map(|part| format!("{}_{part}", metric.name)).to_vec(),
    }
}

fn all_series() -> BTreeSet<String> {
    ALL.iter().flat_map(series).chain(PROCESS.map(str::to_owned)).collect()
}

fn unknown(text: &str) -> Vec<String> {
    let known = all_series();
    named(text).into_iter().filter(|name| !known.contains(*name)).map(str::to_owned).collect()
}

#[test]
fn every_metric_of_the_list_is_recorded() {
    let list = read("crates/metering/src/catalog.rs");
    let constants: Vec<(String, &str)> = list
        .lines()
        .filter_map(|line| {
            let mut words = line.trim().split(' ');
            let is_entry = matches!(words.next(), Some("Counter" | "Gauge" | "Histogram"));
            let constant = words.next().filter(|_| is_entry)?;
            Some((format!("catalog::{constant}."), words.next()?))
        })
        .collect();
    assert_eq!(constants.len(), ALL.len(), "the list was not read: {constants:?}");
    let product: Vec<String> = sources()
        .into_iter()
        .filter(|(path, _)| path.contains("/src/") && !path.starts_with("crates/metering/"))
        .map(|(_, text)| text.split_whitespace().collect::<String>())
        .collect();
    let unused = constants.iter().filter(|(use_of, _)| !product.iter().any(|text| text.contains(use_of)));
    none_of("metrics that nothing records", &unused.map(|(_, name)| (*name).to_owned()).collect::<Vec<_>>());
}

#[test]
fn every_metric_is_described_as_the_list_has_it() {
    let document = read("docs/operations.md");
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| `platen_")).collect();
    let expected: Vec<String> = ALL
        .iter()
        .map(|metric| {
            let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
            let kind = format!("{:?}", metric.kind).to_lowercase();
            format!("| `{}` | {kind} | {} | {} |", metric.name, labels.join(", "), metric.help).replace("|  |", "| |")
        })
        .collect();
    let missing: Vec<String> = expected.iter().filter(|row| !rows.contains(&row.as_str())).cloned().collect();
    none_of("rows that docs/operations.md lacks", &missing);
    let excess = rows.iter().filter(|row| !expected.iter().any(|known| known == *row));
    none_of("rows of metrics that don't exist", &excess.map(|row| (*row).to_owned()).collect::<Vec<_>>());
}

#[test]
fn the_dashboard_asks_only_for_what_exists() {
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana-dashboard.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut problems = Vec::new();
    let mut shown = BTreeSet::new();
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        let title = panel["title"].as_str().unwrap();
        let targets = panel["targets"].as_array().unwrap();
        let queries: Vec<&str> = targets.iter().map(|target| target["expr"].as_str().unwrap()).collect();
        for query in queries {
            let names = named(query);
            if names.is_empty() {
                problems.push(format!("{title}: no metric in {query}"));
            }
            problems.extend(unknown(query).into_iter().map(|name| format!("{title}: {name}")));
            shown.extend(names.into_iter().map(str::to_owned));
        }
    }
    none_of("queries of the dashboard", &problems);
    let hidden = ALL.iter().filter(|metric| !series(metric).iter().any(|name| shown.contains(name)));
    none_of("metrics that no panel shows", &hidden.map(|metric| metric.name.to_owned()).collect::<Vec<_>>());
}

#[test]
fn the_alerts_ask_only_for_what_exists() {
    let rules = read("deploy/alerts.yml");
    none_of("names in deploy/alerts.yml", &unknown(&rules));
    let count = |word: &str| rules.lines().filter(|line| line.trim_start().starts_with(word)).count();
    let alerts = count("- alert: ");
    assert!(alerts >= 6, "the rules were not read");
    for word in ["expr: ", "for: ", "severity: ", "summary: ", "description: "] {
        assert_eq!(count(word), alerts, "every alert has one `{word}`");
    }
    assert!(named(&rules).len() >= 4, "the rules name metrics");
}

#[test]
fn a_name_that_does_not_exist_is_found() {
    assert_eq!(unknown("sum(rate(platen_http_requests_total[5m]))"), Vec::<String>::new());
    assert_eq!(unknown("platen_http_request_total"), ["platen_http_request_total"]);
    assert_eq!(unknown("platen_http_request_duration_seconds"), ["platen_http_request_duration_seconds"]);
}
