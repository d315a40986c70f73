//! The page of the log.

use super::support::World;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use domain::caller::OrganizationId;
use domain::log_entry::{LogRepository, NewLogEntry};
use domain::testing::{ACME, a_log_entry, at};

const HOSTILE: &str = "<script>alert(1)</script>\"' onload=x \u{202e}txt.exe";

async fn log(world: &World, organization: OrganizationId, second: i64, text: &str) {
    let entry = NewLogEntry { received: at(second), ..a_log_entry(text) };
    LogRepository::add(&world.store, organization, entry).await.unwrap();
}

/// Nothing of what clients sent became markup.
fn assert_harmless(html: &str) {
    assert!(!html.contains("<script>alert"), "{html}");
    for inline in ["style=", "<style", "<script>", "hx-on", "onclick", "javascript:"] {
        assert!(!html.contains(inline), "{inline}\n{html}");
    }
}

#[actix_web::test]
async fn an_empty_log_says_what_will_be_there() {
    let (world, ..) = World::with_fleet().await;
    let page = world.get("/console/logs", Some(&world.ann().await)).await;
    assert!(page.html.contains("What clients log appears here."), "{}", page.html);
    assert!(page.html.contains(r#"aria-current="page">Logs</a>"#), "{}", page.html);
}

#[actix_web::test]
async fn the_newest_entries_are_shown_and_a_link_leads_to_older_ones() {
    let (world, acme, zenith) = World::with_fleet().await;
    let ann = world.ann().await;
    for second in 0..60 {
        log(&world, if second % 2 == 0 { acme } else { zenith }, second, &format!("entry <{second}>")).await;
    }
    let first = world.get("/console/logs?user=ann&q=", Some(&ann)).await;
    assert_eq!(first.html.matches("<tr id=\"entry-").count(), 50);
    let place = |second: i32| first.html.find(&format!("entry &#60;{second}&#62;")).unwrap();
    assert!(place(59) < place(58) && place(58) < place(10));
    assert!(first.html.contains("<time datetime=\"2026-01-01T00:00:59.000000Z\""), "{}", first.html);
    let link = |marker: &str| {
        let start = first.html.find(marker).unwrap() + marker.len();
        first.html[start..].split('"').next().unwrap().replace("&#38;", "&")
    };
    let (href, lines) =
        (link("<a class=\"button quiet\" href=\"/console/logs?user=ann&#38;cursor="), link("hx-get=\""));
    let older = world.get(&format!("/console/logs?user=ann&cursor={href}"), Some(&ann)).await;
    assert_eq!(older.html.matches("<tr id=\"entry-").count(), 10);
    assert!(older.html.contains("Back to the newest entries") && !older.html.contains("hx-get"));
    // A script of the page takes the lines alone.
    let alone = world.send("GET", &lines, "", Some(&ann), &[("hx-request", "true")]).await;
    assert_eq!(alone.html.matches("<tr id=\"entry-").count(), 10);
    assert!(alone.html.trim_start().starts_with("<tr id=\"entry-10\""), "{}", alone.html);
    let full = lines.replace("shown=50", "shown=1999").replace("limit=50", "limit=5");
    let full = world.send("GET", &full, "", Some(&ann), &[("hx-request", "true")]).await;
    assert!(full.html.contains("Go on with older entries") && !full.html.contains("hx-get"), "{}", full.html);
}

/// Decision P7.
#[actix_web::test]
async fn what_clients_sent_stays_text_and_long_texts_are_cut() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    log(&world, acme, 1, HOSTILE).await;
    log(&world, acme, 2, &"<b>x".repeat(25_000)).await;
    let hostile = NewLogEntry {
        user: HOSTILE.to_owned(),
        source: HOSTILE.repeat(2_000),
        computer: HOSTILE.to_owned(),
        version: HOSTILE.to_owned(),
        ..a_log_entry("\r\n\r\nid: 77\r\nevent: end")
    };
    LogRepository::add(&world.store, acme, hostile).await.unwrap();
    let page = world.get("/console/logs", Some(&ann)).await;
    assert_harmless(&page.html);
    assert!(page.html.len() < 100_000, "{}", page.html.len());
    assert!(page.html.contains("90000 characters more are in the downloads."), "{}", page.html);
    assert!(page.html.contains("<bdi>&#60;script&#62;alert(1)"), "a text can't turn its neighbours: {}", page.html);
    let filtered = world.get("/console/logs?q=%22%3E%3Cscript%3Ealert(2)&user=%3Cb%3E", Some(&ann)).await;
    assert_harmless(&filtered.html);
    let events = world.get("/console/logs/stream?after=0", Some(&ann)).await;
    assert_harmless(&events.html);
    let fields = events.html.lines().map(|line| line.split(':').next().unwrap());
    assert!(fields.clone().all(|field| ["", "retry", "id", "event", "data"].contains(&field)), "{}", events.html);
    assert!(!events.html.contains("\nid: 77") && !events.html.contains("\nevent: end"), "{}", events.html);
}

/// Decision P8.
#[actix_web::test]
async fn an_operator_of_one_organization_sees_its_log_only() {
    let (world, acme, zenith) = World::with_fleet().await;
    let own = world.operator_of(ACME).await;
    log(&world, acme, 1, "of the own").await;
    log(&world, zenith, 2, "of the other").await;
    for path in ["/console/logs", "/console/logs?live=1", "/console/logs/download/csv", "/console/logs/stream?after=0"]
    {
        let shown = world.get(path, Some(&own)).await;
        assert!(shown.html.contains("of the own"), "{path}: {}", shown.html);
        assert!(!shown.html.contains("other") && !shown.html.contains("Zenith"), "{path}: {}", shown.html);
    }
    let other = world.get("/console/logs?organization=Zenith%20Media", Some(&own)).await;
    assert_eq!(other.status, 404);
}

#[actix_web::test]
async fn a_live_view_says_where_its_stream_begins() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    for second in 0..3 {
        log(&world, acme, second, "before").await;
    }
    let page = world.get("/console/logs?live=1&user=ann", Some(&ann)).await;
    let stream = r#"sse-connect="/console/logs/stream?user=ann" sse-swap="entry" sse-close="end" hx-swap="afterbegin" data-after="3" data-max="2000""#;
    assert!(page.html.contains(stream), "{}", page.html);
    assert!(page.html.contains("/console-live.js\"") && page.html.contains("Live entries need JavaScript."));
    log(&world, acme, 9, "after").await;
    let events = world.get("/console/logs/stream?user=ann&after=3", Some(&ann)).await;
    assert_eq!(events.headers.get(CONTENT_TYPE).unwrap(), "text/event-stream");
    assert_eq!(events.header(CACHE_CONTROL), "no-cache");
    assert!(events.html.contains("event: entry\nid: 4\ndata: <tr id=\"entry-4\""), "{}", events.html);
    assert!(!events.html.contains("before"));
    let empty = world.get("/console/logs?live=1&user=nobody", Some(&ann)).await;
    assert!(empty.html.contains("Entries appear here as clients send them."), "{}", empty.html);
}

/// Decision P7.
#[actix_web::test]
async fn what_is_filtered_is_downloaded_whole() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    for second in 0..300 {
        log(&world, acme, second, "=1+1").await;
    }
    let csv = world.get("/console/logs/download/csv?user=ann", Some(&ann)).await;
    assert_eq!(csv.header(CONTENT_TYPE), "application/octet-stream");
    assert_eq!(csv.header(CONTENT_DISPOSITION), "attachment; filename=\"logs.csv\"");
    assert_eq!(csv.html.matches(",'=1+1\r\n").count(), 300);
    let lines = world.get("/console/logs/download/ndjson?user=ann", Some(&ann)).await;
    assert_eq!(lines.header(CONTENT_DISPOSITION), "attachment; filename=\"logs.ndjson\"");
    assert_eq!(lines.html.lines().count(), 300);
    assert_eq!(world.get("/console/logs/download/xls", Some(&ann)).await.status, 404);
    assert_eq!(world.get("/console/logs/download/csv", None).await.status, 303);
}

#[actix_web::test]
async fn a_filter_that_cannot_be_read_is_said() {
    let (world, ..) = World::with_fleet().await;
    let page = world.get("/console/logs?from=yesterday", Some(&world.ann().await)).await;
    assert_eq!(page.status, 400);
    assert!(page.html.contains("from: must be a time such as"), "{}", page.html);
}
