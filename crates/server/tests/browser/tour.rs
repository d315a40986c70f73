//! A tour through every page that links lead to.

use crate::Demo;
use crate::driver::{Browser, View};
use crate::support::setup::Setup;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;

/// Pages of one kind that are looked at, such as two devices.
const OF_A_KIND: usize = 2;

const VIEWS: [View; 4] = [
    View { width: 360, is_dark: false },
    View { width: 1280, is_dark: true },
    View { width: 2560, is_dark: false },
    View { width: 1280, is_dark: false },
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_accessible_fits_narrow_and_wide_windows_and_logs_nothing_on_sqlite() {
    tour(Setup::Defaults).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_accessible_fits_narrow_and_wide_windows_and_logs_nothing_on_postgresql() {
    tour(Setup::PostgresAndS3).await;
}

async fn tour(setup: Setup) {
    let demo = Demo::start(setup).await;
    let browser = Browser::start().await;
    demo.sign_in(&browser).await;
    let mut faults = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut known = BTreeSet::from([demo.url("")]);
    let mut next = VecDeque::from([demo.url("")]);
    while let Some(url) = next.pop_front() {
        let path = url.strip_prefix(&demo.server.api).unwrap_or(&url).to_owned();
        let kind = kind_of(&path);
        let count = seen.entry(kind.clone()).or_default();
        *count += 1;
        if *count > OF_A_KIND {
            continue;
        }
        browser.client.goto(&url).await.unwrap();
        check(&browser, &path, &mut faults).await;
        take_picture(&browser, &kind, *count).await;
        let links =
            browser.ask("Array.from(document.links, (link) => link.hasAttribute('download') ? '' : link.href)").await;
        for link in serde_json::from_value::<Vec<String>>(links).unwrap() {
            let link = link.split('#').next().unwrap().to_owned();
            if is_page(&demo, &link) && known.insert(link.clone()) {
                next.push_back(link);
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    for page in [
        "/console",
        "/console/devices",
        "/console/devices/*",
        "/console/logs",
        "/console/crashes",
        "/console/crashes/*",
        "/console/crash-reports/*",
        "/console/resources",
        "/console/resources/*/*",
        "/console/computers",
        "/console/computers/*",
        "/console/refusals",
        "/console/account",
    ] {
        assert!(seen.contains_key(page), "no link leads to {page}; seen {:?}", seen.keys());
    }
}

/// Looks at the page in every view.
async fn check(browser: &Browser, path: &str, faults: &mut Vec<String>) {
    for view in VIEWS {
        browser.show_as(view).await;
        let at = format!("{path} at {} px{}", view.width, if view.is_dark { ", dark" } else { "" });
        let overflow = browser.ask("document.scrollingElement.scrollWidth - window.innerWidth").await;
        if overflow.as_f64().unwrap() > 0.0 {
            faults.push(format!("{at}: wider than the window by {overflow} px"));
        }
        faults.extend(browser.violations().await.into_iter().map(|violation| format!("{at}: {violation}")));
    }
    faults.extend(browser.messages().await.into_iter().map(|message| format!("{path}: the console says {message}")));
    if browser.ask("document.querySelectorAll('h1').length").await != 1 {
        faults.push(format!("{path}: not one heading of the page"));
    }
}

/// Whether a link leads to a page of the console rather than to a download or a stream.
fn is_page(demo: &Demo, link: &str) -> bool {
    let download = ["/content", "/parts/", "/assets/", "format=", "/stream", ".csv", ".ndjson"];
    link.starts_with(&demo.url("")) && !download.iter().any(|part| link.contains(part))
}

/// The path with `*` for ids and names, without its query.
fn kind_of(path: &str) -> String {
    let path = path.split('?').next().unwrap();
    let mut segments: Vec<&str> = path.split('/').collect();
    segments.iter_mut().skip(3).for_each(|segment| *segment = "*");
    segments.join("/")
}

/// The pictures of the documents: the first page of a kind, and the name of its file.
const PICTURES: [(&str, &str); 4] = [
    ("/console", "console-overview"),
    ("/console/devices/*", "console-device"),
    ("/console/crashes/*", "console-crash-group"),
    ("/console/resources/*/*", "console-resource"),
];

async fn take_picture(browser: &Browser, kind: &str, count: usize) {
    let picture = PICTURES.iter().find(|(pictured, _)| *pictured == kind && count == 1);
    let (Some((_, name)), Ok(folder)) = (picture, std::env::var("PLATEN_PICTURES")) else { return };
    fs::create_dir_all(&folder).unwrap();
    fs::write(format!("{folder}/{name}.png"), browser.picture().await).unwrap();
}
