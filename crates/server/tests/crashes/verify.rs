//! Compares what is there after a restart with what may be there.

use crate::model::{Fate, Model, Status};
use crate::support::client::Client;
use crate::support::{Server, Site, files_below};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Everything that a restarted server shows, and its database. What was in doubt is settled by it.
pub(crate) async fn verify(site: &Site, server: &Server, model: &mut Model) {
    let client = server.client();
    resources(&client, model).await;
    logs(&client, model).await;
    reports(site, model).await;
    statuses(site, model).await;
}

async fn resources(client: &Client, model: &mut Model) {
    for (guid, resource) in &mut model.resources {
        let answer = client.get(&format!("/api/v2/resource/info/{guid}")).await;
        if answer.status() == 404 {
            resource.settle(guid, None);
            continue;
        }
        assert_eq!(answer.status(), 200, "{guid}");
        let info: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (name, checksum) = (text(&info["Meta"]["Name"]), text(&info["ResourceChecksum"]));
        resource.settle(guid, Some((&name, &checksum)));
        let version = resource.kept().unwrap();
        assert_eq!(info["Timestamp"], version.timestamp(), "{guid}");
        assert!(client.download(guid).await == version.content(), "{guid}: {version:?} is not whole");
    }
}

async fn logs(client: &Client, model: &mut Model) {
    let answer = client.post_json("/api/v2/log/list", &json!({ "LogType": "Log" })).await;
    let entries: Vec<Value> = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    let mut found = BTreeMap::new();
    for entry in entries {
        assert!(entry["User"] == "Ann" && entry["Computer"] == "RIP-01", "{entry}");
        *found.entry(entry["Description"].as_str().unwrap().to_owned()).or_insert(0) += 1;
    }
    let lost = settle(&mut model.logs, &found, |text| *text == 1);
    assert!(lost.is_empty(), "lost, doubled or made up: {lost:?}");
}

async fn reports(site: &Site, model: &mut Model) {
    let rows = site
        .sql(
            "SELECT r.application_name || '|' || p.content_size || ' ' || p.checksum
            FROM crash_report r LEFT JOIN crash_part p ON p.report_id = r.id ORDER BY r.id, p.position",
        )
        .await;
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let (application, part) = row.split_once('|').unwrap();
        found.entry(application.to_owned()).or_default().push(part.to_owned());
    }
    let expected: BTreeMap<_, _> =
        model.reports.iter().map(|(name, (parts, _))| (name.clone(), parts.clone())).collect();
    for (application, parts) in &found {
        assert_eq!(expected.get(application), Some(parts), "{application}");
    }
    let mut fates = model.reports.iter().map(|(name, (_, fate))| (name.clone(), *fate)).collect();
    let lost = settle(&mut fates, &found, |_| true);
    assert!(lost.is_empty(), "lost: {lost:?}");
    model.reports.retain(|name, _| fates.contains_key(name));
    model.reports.values_mut().for_each(|(_, fate)| *fate = Fate::Acknowledged);
}

/// What must be there and isn't, or is there and must not be. What was in doubt and is there has to stay
/// from now on, and what isn't must not come any more.
fn settle<T>(
    fates: &mut BTreeMap<String, Fate>,
    found: &BTreeMap<String, T>,
    right: impl Fn(&T) -> bool,
) -> Vec<String> {
    let mut wrong: Vec<_> = found.keys().filter(|name| !fates.contains_key(*name)).cloned().collect();
    fates.retain(|name, fate| {
        match found.get(name) {
            Some(value) if right(value) => {}
            None if *fate == Fate::InDoubt => return false,
            _ => wrong.push(name.clone()),
        }
        *fate = Fate::Acknowledged;
        true
    });
    wrong
}

async fn statuses(site: &Site, model: &mut Model) {
    let rows = site.sql("SELECT message || '|' || connection_message || '|' || queue_amount FROM device_status").await;
    let numbers: Vec<u64> = rows
        .iter()
        .map(|row| {
            let values: Vec<_> = row.split(['|', ' ']).filter_map(|value| value.parse::<u64>().ok()).collect();
            assert!(values.len() == 3 && values.iter().all(|value| *value == values[0]), "half a status: {row}");
            values[0]
        })
        .collect();
    let mut known = 0;
    for Status { kept, pending } in &mut model.statuses {
        let found = numbers.iter().copied().find(|number| [*kept, *pending].contains(&Some(*number)));
        assert!(found.is_some() || kept.is_none(), "status {kept:?} or {pending:?} is not in {numbers:?}");
        (*kept, *pending) = (found, None);
        known += usize::from(found.is_some());
    }
    assert_eq!(known, numbers.len(), "{numbers:?}");
}

/// What `blobs check` counted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) orphans: usize,
    pub(crate) removed: usize,
}

/// Runs `platen blobs check` while no process has the stores open: nothing may be missing or damaged.
pub(crate) fn check(site: &Site, line: &str) -> Checked {
    let output = site.run(line).succeeded();
    let summary = output.lines().last().unwrap();
    let figure = |name: &str| {
        let (_, rest) = summary.split_once(&format!("{name} ")).unwrap();
        rest.split(',').next().unwrap().parse::<usize>().unwrap()
    };
    assert_eq!((figure("missing"), figure("damaged")), (0, 0), "{output}");
    Checked { orphans: figure("orphans"), removed: figure("removed") }
}

/// All files of contents, half-written ones included.
pub(crate) fn contents(site: &Site) -> Vec<PathBuf> {
    ["resources", "crash-reports"].iter().flat_map(|kind| files_below(&site.contents(kind))).collect()
}

/// Makes all contents older than the age from which orphans are removed.
pub(crate) fn age(site: &Site) {
    #[expect(clippy::disallowed_methods, reason = "the age of a file counts from the real time")]
    let then = SystemTime::now() - Duration::from_hours(25);
    for file in contents(site) {
        File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
    }
}
