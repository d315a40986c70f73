//! The pages of resources.

use super::support::{World, profile};
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use domain::activity::{ActivityRepository, Fetch, Holder, ResourceKey};
use domain::testing::{a_resource, acme_records, at, resource_guid};

const HOSTILE: &str = "<script>alert(1)</script>\"' onload=x \u{202e}/../";

fn path(number: u128) -> String {
    format!("/console/resources/Acme%20Print/{}", resource_guid(number))
}

/// Nothing of what clients sent became markup.
fn assert_harmless(html: &str) {
    assert!(!html.contains("<script>alert") && !html.contains("<b>?"), "{html}");
    for inline in ["style=", "<style", "<script>", "hx-on", "onclick", "javascript:"] {
        assert!(!html.contains(inline), "{inline}\n{html}");
    }
}

#[actix_web::test]
async fn resources_are_listed_with_filters_and_pages() {
    let (world, acme, zenith) = World::with_fleet().await;
    let ann = world.ann().await;
    let empty = world.get("/console/resources", Some(&ann)).await;
    assert!(empty.html.contains("No resources yet"), "{}", empty.html);
    world.add_resource(acme, 1, HOSTILE, b"a").await;
    world.add_resource(acme, 2, &"x".repeat(100_000), b"a").await;
    world.add_resource(zenith, 3, "ISO Coated", b"a").await;
    let all = world.get("/console/resources", Some(&ann)).await;
    assert_harmless(&all.html);
    assert!(all.html.contains("ISO Coated") && all.html.contains("Zenith Media"), "{}", all.html);
    assert!(all.html.len() < 20_000, "a long name is cut: {}", all.html.len());
    let filtered = world.get("/console/resources?q=coated&organization=&type=LABEL&domain=Private", Some(&ann)).await;
    assert!(filtered.html.contains("ISO Coated") && !filtered.html.contains("alert(1)"), "{}", filtered.html);
    assert!(filtered.html.contains(r#"value="coated""#) && filtered.html.contains(r#"value="Private" selected"#));
    let none = world.get("/console/resources?q=%22%3E%3Cscript%3Ealert(2)", Some(&ann)).await;
    assert!(none.html.contains("No resource matches"), "{}", none.html);
    assert_harmless(&none.html);
    let first = world.get("/console/resources?limit=1&q=o&organization=", Some(&ann)).await;
    let next = first.html.split("rel=\"next\"").next().unwrap().rsplit("href=\"").next().unwrap();
    let next = next.split('"').next().unwrap().replace("&#38;", "&");
    assert!(next.starts_with("/console/resources?q=o&cursor="), "{next}");
    assert_eq!(world.get(&next, Some(&ann)).await.status, 200);
    assert_eq!(world.get("/console/resources?domain=Secret", Some(&ann)).await.status, 400);
}

/// Decision P8.
#[actix_web::test]
async fn an_operator_of_one_organization_sees_no_resource_of_another() {
    let (world, acme, zenith) = World::with_fleet().await;
    world.add_resource(acme, 1, "Acme label", b"a").await;
    world.add_resource(zenith, 2, "Zenith label", b"a").await;
    let operator = world.operator_of("Zenith Media").await;
    let list = world.get("/console/resources", Some(&operator)).await;
    assert!(list.html.contains("Zenith label") && !list.html.to_lowercase().contains("acme"), "{}", list.html);
    for path in [
        "/console/resources?organization=Acme%20Print".to_owned(),
        path(1),
        format!("{}/content", path(1)),
        format!("{}/preview", path(1)),
        path(2),
    ] {
        let missing = world.get(&path, Some(&operator)).await;
        assert_eq!(missing.status, 404, "{path}");
        assert!(!missing.html.contains("Acme label"), "{}", missing.html);
    }
}

/// Decisions I9, I11 and P7.
#[actix_web::test]
async fn a_resource_shows_what_it_is_and_who_has_it() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    let used = acme_records().used_by_job.as_uuid().as_u128();
    world.add_resource(acme, used, HOSTILE, &profile()).await;
    let key = ResourceKey { organization: acme, guid: resource_guid(used) };
    let fetch = Fetch { checksum: a_resource(1).checksum, at: at(60) };
    let user = Holder::User { organization: acme, name: "Ann".to_owned(), serial_number: HOSTILE.to_owned() };
    world.store.store_fetches(&[((user, key), fetch)]).await.unwrap();
    let page = world.get(&path(used), Some(&ann)).await;
    assert_eq!(page.status, 200);
    assert_harmless(&page.html);
    for expected in [
        "Order 18".replace("18", "17").as_str(),
        "Output device",
        "CMYK",
        "the tag cprt lies outside of the content",
        "outside of the content",
        "7.0 KiB",
        "unlike the content",
        "<polygon class=\"gamut-profile\"",
        "<polygon class=\"gamut-srgb\"",
        "a*</text>",
        "b*</text>",
        "The outline encloses 100 % of the area of sRGB.",
        "never fetched",
        "outdated",
        "RIP-01",
        &fetch.checksum.to_string(),
        &a_resource(used).checksum.to_string(),
    ] {
        assert!(page.html.contains(expected), "{expected}\n{}", page.html);
    }
    let outdated = world.get(&format!("{}?state=outdated", path(used)), Some(&ann)).await;
    assert!(outdated.html.contains("Show all 2") && !outdated.html.contains("RIP-01"), "{}", outdated.html);
    assert_eq!(world.get(&format!("{}?state=old", path(used)), Some(&ann)).await.status, 400);
    assert_eq!(world.get("/console/resources/Acme%20Print/no-guid", Some(&ann)).await.status, 404);
}

/// Decision P7.
#[actix_web::test]
async fn only_a_picture_is_shown_and_all_else_is_a_download() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    let png = [&b"\x89PNG\r\n\x1a\n"[..], b"<script>alert(1)</script>"].concat();
    for (number, content, kind) in [
        (1, &png[..], Some("image/png")),
        (2, b"\xff\xd8\xff\xe0 a picture", Some("image/jpeg")),
        (3, b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>", None),
        (4, b"<!doctype html><script>alert(1)</script>", None),
        (5, b"GIF89a", None),
        (6, b"", None),
    ] {
        world.add_resource(acme, number, "../picture.png\r\nX: y", content).await;
        let preview = world.get(&format!("{}/preview", path(number)), Some(&ann)).await;
        let page = world.get(&path(number), Some(&ann)).await.html;
        assert_eq!(page.contains("/preview\""), kind.is_some(), "{number}");
        if let Some(kind) = kind {
            assert_eq!((preview.status, preview.header(CONTENT_TYPE)), (200, kind));
            assert_eq!(preview.header(CONTENT_SECURITY_POLICY), "default-src 'none'; sandbox; frame-ancestors 'none'");
            assert_eq!(preview.headers.get("x-content-type-options").unwrap(), "nosniff");
            assert_eq!(preview.header(CACHE_CONTROL), "no-store");
        } else {
            assert_eq!(preview.status, 404, "{number}");
        }
        let download = world.get(&format!("{}/content", path(number)), Some(&ann)).await;
        assert_eq!((download.status, download.header(CONTENT_TYPE)), (200, "application/octet-stream"));
        assert_eq!(download.header(CONTENT_DISPOSITION), r#"attachment; filename="_.._picture.png__X_ y""#);
        assert_eq!(download.headers.get("x-content-type-options").unwrap(), "nosniff");
        assert!(download.header(CONTENT_SECURITY_POLICY).starts_with("default-src 'none'"));
    }
}
