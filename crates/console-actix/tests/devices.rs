//! The overview and the pages of devices over fakes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use domain::device_status::{ConnectionState, DeviceStatus, DeviceStatusRepository, QueueLength, RemainingInk, Status};
use domain::fleet::{Device, Fleet, FleetOrganization, FleetRegistry};
use domain::guid::DeviceGuid;
use domain::testing::{ACME, ZENITH, a_status, at, numbered};
use std::time::Duration;
use support::World;

/// Markup, scripts, marks that turn the direction of writing, and quotes.
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202e}\u{2066}&amp;";

fn guid(number: u128) -> DeviceGuid {
    numbered(number).into()
}

fn ink(name: &str, level: f64) -> RemainingInk {
    RemainingInk { index: 1.0, name: name.to_owned(), level, max_level: 800.0 }
}

/// Acme with devices in error, printing and never seen; Zenith with one that is idle.
async fn world() -> World {
    let world = World::with_ann().await;
    let devices = |named: &[(u128, &str)]| -> Vec<Device> {
        named.iter().map(|(number, name)| Device { guid: guid(*number), name: Some((*name).to_owned()) }).collect()
    };
    let organization =
        |name: &str, devices| FleetOrganization { name: name.to_owned(), devices, ..FleetOrganization::default() };
    let acme = organization(ACME, devices(&[(1, "Latex 1"), (2, "Flatbed 2"), (3, "Sleeper 3")]));
    let zenith = organization(ZENITH, devices(&[(4, "Foreign 4")]));
    world.store.apply(&Fleet { organizations: vec![acme, zenith] }, &[], at(0)).await.unwrap();
    world
}

async fn put(world: &World, organization: &str, status: DeviceStatus) {
    world.store.put(world.store.organization_named(organization), status).await.unwrap();
}

async fn filled() -> World {
    let world = world().await;
    let now = domain::clock::Clock::now(&world.clock);
    let error = DeviceStatus {
        received: now,
        status: Status::Error,
        message: Some("Head strike".to_owned()),
        temperature: Some(31.5),
        connection_state: Some(ConnectionState::Unstable),
        remaining_inks: vec![ink("Cyan", 410.0), ink("Light Magenta", 40.0), ink("Spot 7", -1.0)],
        queue_length: QueueLength::Sheets(12),
        ..a_status(guid(1))
    };
    put(&world, ACME, error).await;
    put(&world, ACME, DeviceStatus { received: now, status: Status::Printing, ..a_status(guid(2)) }).await;
    put(&world, ZENITH, DeviceStatus { received: now, ..a_status(guid(4)) }).await;
    world
}

#[actix_web::test]
async fn the_board_shows_status_inks_queue_and_message_in_words() {
    let world = filled().await;
    let ann = world.ann().await;
    for view in ["", "?view=table"] {
        let board = world.get(&format!("/console/devices{view}"), Some(&ann)).await;
        assert_eq!(board.status, 200);
        for shown in [
            "Latex 1",
            "Error",
            "Head strike",
            "31.5 °C",
            "12 sheets",
            "Unstable",
            "Cyan: 51 %, 410 of 800 ml",
            "Light Magenta: 5 %, 40 of 800 ml, low",
            "Spot 7: level unknown",
            "#00a0d8",
            "Never seen",
            ZENITH,
            r##"hx-trigger="every 10s" hx-select="#board""##,
        ] {
            assert!(board.html.contains(shown), "{view}: {shown}\n{}", board.html);
        }
        let place = |name: &str| board.html.find(name).unwrap();
        assert!(place("Latex 1") < place("Flatbed 2"), "who needs somebody comes first");
    }
    let printing = world.get("/console/devices?status=Printing&q=", Some(&ann)).await;
    assert!(printing.html.contains("Flatbed 2") && !printing.html.contains("Latex 1"));
    let none = world.get("/console/devices?q=nothing", Some(&ann)).await;
    assert!(none.html.contains("No device fits"), "{}", none.html);
    assert_eq!(world.get("/console/devices?status=Broken", Some(&ann)).await.status, 400);
}

/// Decision I3.
#[actix_web::test]
async fn what_a_silent_device_said_is_shown_as_past() {
    let world = filled().await;
    world.clock.advance(Duration::from_hours(2));
    let ann = world.ann().await;
    for path in ["/console/devices", "/console/devices?view=table", "/console"] {
        let page = world.get(path, Some(&ann)).await;
        assert!(page.html.contains("Silent for 2 h, was error"), "{path}\n{}", page.html);
    }
    let device = world.get(&format!("/console/devices/{}", guid(1)), Some(&ann)).await;
    assert!(device.html.contains("Last status") && device.html.contains("what follows is what it said last"));
}

/// Decisions I1, I2 and I12.
#[actix_web::test]
async fn a_device_has_charts_with_the_same_numbers_as_tables_and_a_forecast() {
    let world = world().await;
    let start = domain::clock::Clock::now(&world.clock);
    for hour in 0..=47_u32 {
        world.clock.set(start.plus(Duration::from_hours(hour.into())));
        let status = DeviceStatus {
            received: domain::clock::Clock::now(&world.clock),
            status: if hour % 6 == 0 { Status::Printing } else { Status::Idle },
            temperature: Some(20.0 + f64::from(hour) / 10.0),
            remaining_inks: vec![ink("Cyan", 700.0 - f64::from(hour) * 2.0)],
            ..a_status(guid(1))
        };
        put(&world, ACME, status).await;
    }
    let ann = world.ann().await;
    let path = format!("/console/devices/{}", guid(1));
    let week = world.get(&format!("{path}?range=7d"), Some(&ann)).await;
    for shown in [
        "The last 7 days",
        "band-printing",
        "band-idle",
        "<polyline",
        r##"stroke="#00a0d8""##,
        "606 ml",
        "24.7 °C",
        " %</text>",
        "48 ml a day",
        "in 12 d",
        "The same as tables",
        "range=30d",
    ] {
        assert!(week.html.contains(shown), "{shown}\n{}", week.html);
    }
    let day = world.get(&path, Some(&ann)).await;
    assert!(day.html.contains("The last 24 hours") && !day.html.contains("700 ml"), "older samples");
    assert_eq!(world.get(&format!("{path}?cursor=nonsense"), Some(&ann)).await.status, 400);
}

/// Decision P8.
#[actix_web::test]
async fn an_operator_of_one_organization_sees_its_devices_only() {
    let world = filled().await;
    let own = world.operator_of(ACME).await;
    for path in ["/console", "/console/devices", "/console/devices?view=table"] {
        let page = world.get(path, Some(&own)).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.html.contains("Latex 1") && !page.html.contains("Foreign 4"), "{path}");
        assert!(!page.html.contains(ZENITH) && !page.html.contains("name=\"organization\""), "{path}");
    }
    assert_eq!(world.get(&format!("/console/devices/{}", guid(1)), Some(&own)).await.status, 200);
    for foreign in [
        format!("/console/devices/{}", guid(4)),
        "/console/devices?organization=Zenith%20Media".to_owned(),
        "/console?organization=Zenith%20Media".to_owned(),
        "/console/devices/nonsense".to_owned(),
    ] {
        let page = world.get(&foreign, Some(&own)).await;
        assert_eq!(page.status, 404, "{foreign}");
        assert!(!page.html.contains("Foreign"), "{foreign}");
    }
}

/// Decision P7: what was sent is text, however long.
#[actix_web::test]
async fn hostile_content_stays_text_on_every_page_of_devices() {
    let world = world().await;
    let now = domain::clock::Clock::now(&world.clock);
    let long = HOSTILE.repeat(1_500);
    for (number, text) in [(1, HOSTILE.to_owned()), (2, long)] {
        let hostile = DeviceStatus {
            received: now,
            status: Status::Error,
            message: Some(text.clone()),
            connection_message: Some(text.clone()),
            connection_state: Some(ConnectionState::Online),
            remaining_inks: (0..60).map(|number| ink(&format!("{number}{text}"), 1.0)).collect(),
            ..a_status(guid(number))
        };
        put(&world, ACME, hostile).await;
    }
    let fleet = FleetOrganization {
        name: ACME.to_owned(),
        devices: vec![Device { guid: guid(5), name: Some(HOSTILE.to_owned()) }],
        ..FleetOrganization::default()
    };
    world.store.apply(&Fleet { organizations: vec![fleet] }, &[], at(0)).await.unwrap();
    let ann = world.ann().await;
    for path in [
        "/console".to_owned(),
        "/console/devices".to_owned(),
        "/console/devices?view=table&limit=1".to_owned(),
        "/console/devices?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E%22".to_owned(),
        format!("/console/devices/{}", guid(1)),
        format!("/console/devices/{}?range=30d", guid(2)),
        format!("/console/devices/{}", guid(5)),
    ] {
        let page = world.get(&path, Some(&ann)).await;
        assert_eq!(page.status, 200, "{path}");
        for markup in ["<script>alert", "<img src=x", "style=", "\"'><"] {
            assert!(!page.html.contains(markup), "{path}: {markup}");
        }
        assert!(page.html.len() < 1_500_000, "{path}: {} bytes", page.html.len());
    }
}

/// A list that goes on leads to its next page, with the filter.
#[actix_web::test]
async fn a_long_board_has_a_link_to_its_next_page() {
    let world = filled().await;
    let ann = world.ann().await;
    let mut path = "/console/devices?sort=name&limit=2&organization=Acme%20Print".to_owned();
    let first = world.get(&path, Some(&ann)).await;
    assert!(first.html.contains("Flatbed 2") && first.html.contains("Latex 1") && !first.html.contains("Sleeper 3"));
    path = first
        .html
        .split("href=\"")
        .find_map(|rest| rest.contains("rel=\"next\"").then(|| rest.split('"').next()))
        .flatten()
        .unwrap()
        .replace("&#38;", "&")
        .replace("&amp;", "&");
    assert!(path.contains("organization=Acme%20Print") && path.contains("sort=name"), "{path}");
    let second = world.get(&path, Some(&ann)).await;
    assert!(second.html.contains("Sleeper 3") && !second.html.contains("Latex 1"), "{path}\n{}", second.html);
}

/// Decision P3.
#[actix_web::test]
async fn a_board_that_asks_for_itself_after_the_end_of_the_session_loads_the_page_anew() {
    let world = filled().await;
    let ended = world.send("GET", "/console/devices", "", None, &[("hx-request", "true")]).await;
    assert_eq!((ended.status, ended.header("hx-refresh".try_into().unwrap())), (401, "true"));
    assert_eq!(world.get("/console/devices", None).await.status, 303);
}
