//! The log for operators: pages, whole lists, and what arrives.

use super::support::{Who, World};
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE};
use domain::inspection::InspectionRepository;
use domain::log_entry::{LogRepository, LogType, NewLogEntry};
use domain::testing::{ACME, ZENITH, a_log_entry, at};
use serde_json::{Value, json};
use std::time::Duration;

async fn log(world: &World, organization: &str, entry: NewLogEntry) {
    let found = world.store.organizations(Some(organization.to_owned())).await.unwrap();
    LogRepository::add(&world.store, found[0].id, entry).await.unwrap();
}

/// Six entries, those of even seconds of Acme Print.
async fn filled() -> World {
    let world = World::new().await;
    for second in 0..6 {
        let organization = if second % 2 == 0 { ACME } else { ZENITH };
        let user = if second < 3 { "Ann" } else { "Bob" };
        let log_type = if second == 5 { LogType::Configuration } else { LogType::Log };
        let text = format!("Papierstau {second} in der Straße");
        let entry = NewLogEntry { received: at(second), user: user.to_owned(), log_type, ..a_log_entry(&text) };
        log(&world, organization, entry).await;
    }
    world
}

fn seconds(body: &Value) -> Vec<String> {
    let text = |item: &Value| item["description"].as_str().unwrap().split(' ').nth(1).unwrap().to_owned();
    body["items"].as_array().unwrap().iter().map(text).collect()
}

#[actix_web::test]
async fn a_page_shows_the_newest_entries_with_all_that_is_known() {
    let world = filled().await;
    let page = world.get("/logs?limit=2", Who::Viewer).await.body;
    assert_eq!(seconds(&page), ["5", "4"]);
    let expected = json!({
        "id": 5, "received": "2026-01-01T00:00:04.000000Z", "organization": ACME, "type": "log", "user": "Bob",
        "source": "Latex 1", "version": "1.2.3", "computer": "RIP-01",
        "computer_guid": "00000000-0000-0000-0000-000000000c01", "serial_number": "SN-1000",
        "description": "Papierstau 4 in der Straße",
    });
    assert_eq!(page["items"][1], expected);
    let next = page["next"].as_str().unwrap();
    let rest = world.get(&format!("/logs?cursor={next}"), Who::Viewer).await.body;
    assert_eq!((seconds(&rest), &rest["next"]), (vec!["3".into(), "2".into(), "1".into(), "0".into()], &Value::Null));
}

/// Decisions L5, L6.
#[actix_web::test]
async fn filters_combine_and_empty_ones_are_none() {
    let world = filled().await;
    for (query, expected) in [
        ("user=b*", vec!["5", "4", "3"]),
        ("user=b*&log_type=LOG&organization=Acme%20Print", vec!["4"]),
        ("q=STRASSE&from=2026-01-01T00:00:04Z", vec!["5", "4"]),
        ("to=2026-01-01T00:00:01", vec!["1", "0"]),
        ("q=stau%203", vec!["3"]),
        ("computer_guid=00000000-0000-0000-0000-0000000000FF", vec![]),
        ("user=&q=&organization=&from=&log_type=&computer_guid=&source=Latex*", vec!["5", "4", "3", "2", "1", "0"]),
    ] {
        assert_eq!(seconds(&world.get(&format!("/logs?{query}"), Who::Admin).await.body), expected, "{query}");
    }
    for (query, field) in [
        ("from=yesterday", "from"),
        ("to=x", "to"),
        ("log_type=x", "log_type"),
        ("computer_guid=x", "computer_guid"),
        ("cursor=x", "cursor"),
    ] {
        let refused = world.get(&format!("/logs?{query}"), Who::Admin).await;
        assert_eq!((refused.status, &refused.body["errors"][0]["field"]), (StatusCode::BAD_REQUEST, &json!(field)));
    }
}

/// Decision P8.
#[actix_web::test]
async fn an_operator_of_one_organization_reads_its_log_only() {
    let world = filled().await;
    assert_eq!(seconds(&world.get("/logs", Who::ViewerOfAcme).await.body), ["4", "2", "0"]);
    for path in ["/logs?organization=Zenith%20Media", "/logs/stream?organization=Zenith%20Media"] {
        assert_eq!(world.get(path, Who::ViewerOfAcme).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let csv = world.call("GET", "/logs", Who::ViewerOfAcme, &[("accept", "text/csv")]).await.text;
    assert!(csv.contains(ACME) && !csv.contains(ZENITH), "{csv}");
    let events = world.get("/logs/stream?after=0", Who::ViewerOfAcme).await.text;
    assert!(events.contains(ACME) && !events.contains(ZENITH), "{events}");
}

#[actix_web::test]
async fn all_entries_are_answered_as_csv_or_lines_of_json() {
    let world = filled().await;
    let hostile = NewLogEntry {
        received: at(9),
        user: "=HYPERLINK(\"http://evil.example\")".to_owned(),
        source: "@SUM(A1)".to_owned(),
        version: "-1".to_owned(),
        serial_number: "+1".to_owned(),
        ..a_log_entry("\t=1, \"quoted\"\nline <script>")
    };
    log(&world, ACME, hostile).await;
    let csv = world.call("GET", "/logs?organization=Acme%20Print", Who::Admin, &[("accept", "text/csv")]).await;
    assert_eq!(csv.headers.get(CONTENT_TYPE).unwrap(), "text/csv; charset=utf-8");
    let mut lines = csv.text.split("\r\n");
    let names = "id,received,organization,type,user,source,version,computer,computer_guid,serial_number,description";
    assert_eq!(lines.next().unwrap(), names);
    let first = lines.next().unwrap();
    let disarmed = r#"log,"'=HYPERLINK(""http://evil.example"")",'@SUM(A1),'-1,RIP-01,"#;
    assert!(first.contains(disarmed), "{first}");
    assert!(first.ends_with("'+1,\"'\t=1, \"\"quoted\"\"\nline <script>\""), "{first}");
    assert_eq!(lines.clone().count(), 4, "three more entries, and the end of the last line");

    let lines = world.call("GET", "/logs?user=bob", Who::Admin, &[("accept", "application/x-ndjson")]).await;
    assert_eq!(lines.headers.get(CONTENT_TYPE).unwrap(), "application/x-ndjson");
    let all: Vec<Value> = lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let page = world.get("/logs?user=bob", Who::Admin).await.body;
    assert_eq!(&Value::Array(all), &page["items"]);
    let preferred = world.call("GET", "/logs", Who::Admin, &[("accept", "text/csv;q=0.1, application/json")]).await;
    assert!(preferred.body["items"].is_array());
    let nothing = world.call("GET", "/logs?user=nobody", Who::Admin, &[("accept", "text/csv")]).await;
    assert_eq!(nothing.text, format!("{names}\r\n"));
}

#[actix_web::test]
async fn a_failing_database_breaks_a_whole_list_off() {
    let world = filled().await;
    world.store.set_failing(true);
    let failed = world.call("GET", "/logs", Who::Admin, &[("accept", "text/csv")]).await;
    assert_eq!(failed.status, StatusCode::INTERNAL_SERVER_ERROR);
}

#[actix_web::test]
async fn entries_are_streamed_as_they_arrive_each_with_its_id() {
    tokio::time::pause();
    let world = filled().await;
    let mut stream = world.stream("/logs/stream?user=ann", Who::Admin, &[("accept-encoding", "gzip")]).await;
    let headers = stream.headers();
    assert_eq!(headers.get(CONTENT_TYPE).unwrap(), "text/event-stream");
    assert_eq!(headers.get(CACHE_CONTROL).unwrap(), "no-cache");
    assert_eq!(headers.get("x-accel-buffering").unwrap(), "no");
    assert!(headers.get(CONTENT_ENCODING).is_none(), "it is never compressed");
    assert_eq!(stream.next().await.unwrap(), "retry: 2000\n: following\nid: 6\n\n");
    for (user, text) in [("Bob", "other"), ("Ann", "one\r\nid: 99")] {
        log(&world, ZENITH, NewLogEntry { user: user.to_owned(), ..a_log_entry(text) }).await;
    }
    let event = stream.next().await.unwrap();
    let (id, data) = event.split_once('\n').unwrap();
    assert_eq!(id, "id: 8");
    let data: Value = serde_json::from_str(data.trim_end().strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!((&data["description"], &data["organization"]), (&json!("one\r\nid: 99"), &json!(ZENITH)));
    let listed = world.get("/logs?limit=500", Who::Admin).await.body;
    assert!(listed["items"].as_array().unwrap().contains(&data), "as in the list");
    // Without matches a comment says where the stream is.
    let quiet = stream.next().await.unwrap();
    assert_eq!(quiet, ": following\nid: 8\n\n");
}

/// Nothing is lost and nothing comes twice, whatever process answers.
#[actix_web::test]
async fn a_stream_goes_on_after_the_last_event() {
    tokio::time::pause();
    let world = filled().await;
    let texts = |events: &str| -> Vec<String> {
        let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
        let value = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
        value.map(|value| value["id"].to_string()).collect()
    };
    for (path, headers) in [
        ("/logs/stream", &[("last-event-id", "3")][..]),
        ("/logs/stream?after=3", &[]),
        ("/logs/stream?after=1", &[("last-event-id", "3")]),
    ] {
        let mut stream = world.stream(path, Who::Admin, headers).await;
        let mut events = stream.next().await.unwrap();
        events += &stream.next().await.unwrap();
        assert_eq!(texts(&events), ["4", "5", "6"], "{path}");
    }
    let mut stream = world.stream("/logs/stream?after=6", Who::Admin, &[]).await;
    let mut events = stream.next().await.unwrap();
    for number in 0..50 {
        log(&world, ACME, a_log_entry(&number.to_string())).await;
        if number % 10 == 9 {
            events += &stream.next().await.unwrap();
        }
    }
    let expected: Vec<String> = (7..=56).map(|number: i64| number.to_string()).collect();
    while texts(&events).len() < expected.len() {
        events += &stream.next().await.unwrap();
    }
    assert_eq!(texts(&events), expected);
    for bad in ["/logs/stream?after=x", "/logs/stream?after=-1"] {
        assert_eq!(world.get(bad, Who::Admin).await.status, StatusCode::BAD_REQUEST, "{bad}");
    }
    assert_eq!(texts(&world.get("/logs/stream?after=999999", Who::Admin).await.text), [""; 0], "it is ahead");
}

/// Streams share one reading of the database; one that is slow reads it again.
#[actix_web::test]
async fn a_slow_reader_misses_nothing() {
    tokio::time::pause();
    let world = filled().await;
    let mut slow = world.stream("/logs/stream", Who::Admin, &[]).await;
    let mut quick = world.stream("/logs/stream", Who::Viewer, &[]).await;
    slow.next().await.unwrap();
    quick.next().await.unwrap();
    let mut taken = String::new();
    for number in 0..40 {
        log(&world, ACME, a_log_entry(&number.to_string())).await;
        taken += &quick.next().await.unwrap();
    }
    let mut late = String::new();
    while late.matches("data: ").count() < 40 {
        late += &slow.next().await.unwrap();
    }
    assert_eq!(late, taken, "the channel holds fewer batches");
}

/// Decisions P3, P6.
#[actix_web::test]
async fn a_stream_ends_with_its_session_or_token() {
    tokio::time::pause();
    for who in [Who::Viewer, Who::Token] {
        let world = filled().await;
        let mut stream = world.stream("/logs/stream", who, &[]).await;
        stream.next().await.unwrap();
        world.end_all().await;
        let mut rest = String::new();
        while let Some(text) = stream.next().await {
            rest += &text;
        }
        assert!(rest.ends_with("event: end\ndata: the session or the token has ended\n\n"), "{who:?}: {rest}");
    }
}

/// A session that only watches ends after 12 hours as well.
#[actix_web::test]
async fn a_stream_is_no_use_of_its_session() {
    tokio::time::pause();
    let world = filled().await;
    let mut stream = world.stream("/logs/stream", Who::Viewer, &[]).await;
    stream.next().await.unwrap();
    for _ in 0..5 {
        world.advance(Duration::from_hours(3));
        tokio::time::advance(Duration::from_secs(5)).await;
        log(&world, ACME, a_log_entry("more")).await;
        if stream.next().await.is_some_and(|text| text.starts_with("event: end")) {
            return;
        }
    }
    panic!("it goes on");
}

#[actix_web::test]
async fn streams_end_when_the_server_stops() {
    tokio::time::pause();
    let world = filled().await;
    let mut stream = world.stream("/logs/stream", Who::Viewer, &[]).await;
    stream.next().await.unwrap();
    world.close_streams();
    assert_eq!(stream.next().await, None);
    let mut late = world.stream("/logs/stream", Who::Viewer, &[]).await;
    late.next().await.unwrap();
    assert_eq!(late.next().await, None);
}
