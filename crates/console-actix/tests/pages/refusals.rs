//! The page of refusals.

use super::support::World;
use domain::refusal::{NewRefusal, Owner, RefusalRepository};
use domain::testing::{ACME, ACME_SERIAL, a_refusal, acme_records, at};

const HOSTILE: &str = "<script>alert(1)</script>\"' onload=x \u{202e}txt.exe";

fn stranger() -> NewRefusal {
    a_refusal(Owner::Address("192.0.2.1".to_owned()))
}

#[actix_web::test]
async fn without_refusals_the_page_says_what_will_be_there() {
    let (world, ..) = World::with_fleet().await;
    let page = world.get("/console/refusals", Some(&world.ann().await)).await;
    assert!(page.html.contains("No refusals in the last 24 hours"), "{}", page.html);
}

#[actix_web::test]
async fn reasons_are_counted_and_explained() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    let refusals = [
        NewRefusal { computer: Some(acme_records().computer), ..a_refusal(Owner::Organization(acme)) },
        NewRefusal { reason: "mis_key_invalid".to_owned(), at: at(1), ..stranger() },
        NewRefusal { reason: "mis_key_invalid".to_owned(), at: at(2), ..stranger() },
        NewRefusal {
            serial_number: ACME_SERIAL.to_owned(),
            at: at(3),
            detail: "of the board".to_owned(),
            ..stranger()
        },
        NewRefusal { reason: "path_unknown".to_owned(), at: at(-200_000), ..stranger() },
    ];
    RefusalRepository::add(&world.store, &refusals).await.unwrap();
    let page = world.get("/console/refusals", Some(&ann)).await;
    let (counted, each) = page.html.split_once("Each refusal").unwrap();
    assert!(counted.contains(r#"href="/console/refusals?reason=mis_key_invalid">mis_key_invalid</a>"#), "{counted}");
    assert!(counted.contains("The MisKey is unknown or was revoked. <strong>Issue a new key"), "{counted}");
    assert!(!counted.contains("path_unknown") && each.contains("path_unknown"), "more than a day ago");
    assert!(each.contains("the Timestamp is not newer"), "the particulars that the client got: {each}");
    let guid = acme_records().computer;
    let computer = format!(r#"<a href="/console/computers/{guid}"><bdi>RIP-01</bdi></a>"#);
    assert!(each.contains(&format!("<span class=\"muted\">probably</span> {computer}")), "{each}");
    assert_eq!(each.matches(&computer).count(), 2);

    let of_one = world.get("/console/refusals?reason=mis_key_invalid&organization=&computer=", Some(&ann)).await;
    let (_, each) = of_one.html.split_once("Each refusal").unwrap();
    assert_eq!(each.matches("<tr>").count(), 3, "two, and the head");
    assert!(each.contains(r#"value="mis_key_invalid" selected"#) && each.contains("Issue a new key"), "{each}");
    let paged = world.get("/console/refusals?reason=mis_key_invalid&limit=1", Some(&ann)).await;
    assert!(paged.html.contains("href=\"/console/refusals?reason=mis_key_invalid&#38;cursor="), "{}", paged.html);
}

/// Decision P7.
#[actix_web::test]
async fn what_clients_sent_stays_text() {
    let (world, acme, _) = World::with_fleet().await;
    let hostile = NewRefusal {
        user: Some(HOSTILE.to_owned()),
        serial_number: HOSTILE.to_owned(),
        application_version: HOSTILE.to_owned(),
        detail: HOSTILE.repeat(3_000),
        reason: HOSTILE.to_owned(),
        request_id: HOSTILE.to_owned(),
        ..a_refusal(Owner::Organization(acme))
    };
    RefusalRepository::add(&world.store, &[hostile]).await.unwrap();
    let page = world.get("/console/refusals", Some(&world.ann().await)).await;
    assert!(page.html.contains("alert(1)") && !page.html.contains("<script>alert"), "{}", page.html);
    for inline in ["style=", "<style", "<script>", "hx-on", "onclick", "javascript:"] {
        assert!(!page.html.contains(inline), "{inline}\n{}", page.html);
    }
    assert!(page.html.len() < 60_000, "{}", page.html.len());
}

/// Decision P8.
#[actix_web::test]
async fn an_operator_of_one_organization_sees_its_refusals_only() {
    let (world, acme, zenith) = World::with_fleet().await;
    let own = world.operator_of(ACME).await;
    let refusals = [
        NewRefusal { detail: "of the own".to_owned(), ..a_refusal(Owner::Organization(acme)) },
        NewRefusal { detail: "of the other".to_owned(), ..a_refusal(Owner::Organization(zenith)) },
        NewRefusal { detail: "of the other unknown".to_owned(), ..stranger() },
    ];
    RefusalRepository::add(&world.store, &refusals).await.unwrap();
    let page = world.get("/console/refusals", Some(&own)).await;
    assert!(
        page.html.contains("of the own") && !page.html.contains("other") && !page.html.contains("Zenith"),
        "{}",
        page.html
    );
    assert!(page.html.contains(r#"<td class="num">1</td>"#), "{}", page.html);
    assert_eq!(world.get("/console/refusals?organization=Zenith%20Media", Some(&own)).await.status, 404);
}
