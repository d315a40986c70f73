//! The pages of crashes, computers and the search.

use super::support::{Shown, World};
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION};
use domain::audit::{AuditAction, AuditFilter, AuditRepository};
use domain::blob::{BlobKey, BlobKind};
use domain::caller::OrganizationId;
use domain::checksum::Sha1Checksum;
use domain::crash_analysis::{CrashAnalysis, CrashAnalysisRepository, DumpAnalysis};
use domain::crash_group::CrashGroupId;
use domain::crash_report::{CrashPart, CrashReportRepository, NewCrashReport, PartRole};
use domain::log_entry::{LogRepository, NewLogEntry};
use domain::minidump::{DumpFacts, DumpModule};
use domain::refusal::{NewRefusal, Owner, RefusalRepository};
use domain::testing::{ACME, ZENITH, a_crash_report, a_log_entry, a_refusal, acme_records, at, numbered};

/// Markup, a script, a mark that turns the direction of text, and quotes.
const HOSTILE: &str = "<script>alert('x')</script>\u{202E}\"><img src=x onerror=alert(1)>";

const STACK: &str = "EAccessViolation <b>\n00 ntdll!RtlRaiseException\n01 rip!Spooler::render\n02 rip!main\n";
const XML: &str = "<?xml version=\"1.0\"?><report><os name=\"Windows\"/><script>alert('xml')</script></report>";

/// A report with every kind of part, of Acme's computer unless it says otherwise.
async fn add_report(world: &World, owner: OrganizationId, number: u128, signature: &str, hostile: bool) {
    let text = |plain: &str| if hostile { HOSTILE.to_owned() } else { plain.to_owned() };
    let parts = [
        (PartRole::CallStack, "CallStack.txt", STACK.as_bytes()),
        (PartRole::Xml, "report.xml", XML.as_bytes()),
        (PartRole::Attachment, "C:\\Users\\ann\\..\\notes.html", b"<script>alert('attachment')</script>"),
    ];
    let mut stored = Vec::new();
    for (index, (role, file_name, content)) in (0..).zip(parts) {
        let key = BlobKey::new(BlobKind::CrashReport, numbered(number * 100 + index));
        world.blobs.put(&key, content.to_vec());
        stored.push(CrashPart {
            role,
            name: Some(text("part")),
            file_name: Some(file_name.to_owned()),
            content_type: Some(text("text/html")),
            key,
            size: content.len() as u64,
            checksum: Sha1Checksum::of(content),
        });
    }
    let report = NewCrashReport {
        received: at(number.try_into().unwrap()),
        application_name: Some(text("Rip")),
        user: Some(text("Ann")),
        serial_number: text("SN-1000"),
        application_version: text("9.0"),
        computer: Some(acme_records().computer),
        note: Some(text("note")),
        parts: stored,
        ..a_crash_report(number)
    };
    let module = DumpModule {
        name: text("Rip.exe"),
        version: Some(text("9.0")),
        debug_identifier: None,
        address: "0x0000".to_owned(),
        size: 4096,
    };
    let facts = DumpFacts {
        operating_system: Some(text("Windows NT")),
        exception: Some(text("EXCEPTION_ACCESS_VIOLATION_READ")),
        modules: vec![module],
        annotations: vec![(text("name"), text("value"))],
        ..DumpFacts::default()
    };
    let analysis = CrashAnalysis {
        report: report.id,
        algorithm: 1,
        signature: Ok(signature.to_owned()),
        dump: Some(DumpAnalysis { reader: "reader 1".to_owned(), facts: Ok(facts) }),
        analyzed: at(0),
    };
    CrashReportRepository::add(&world.store, owner, report).await.unwrap();
    CrashAnalysisRepository::record(&world.store, analysis).await.unwrap();
}

fn report_path(number: u128) -> String {
    format!("/console/crash-reports/{}", numbered(number))
}

/// Asserts that a page holds these texts.
fn assert_shows(page: &Shown, texts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.html);
    for text in texts {
        assert!(page.html.contains(text), "{text} is not in\n{}", page.html);
    }
}

/// Decision I5.
#[actix_web::test]
async fn groups_are_listed_with_state_numbers_and_the_line_of_the_last_days() {
    let (world, acme, zenith) = World::with_fleet().await;
    let ann = world.ann().await;
    let empty = world.get("/console/crashes", Some(&ann)).await;
    assert_shows(&empty, &["No crashes yet", "When a program sends a crash report"]);
    add_report(&world, acme, 1, "Spooler::render", false).await;
    add_report(&world, zenith, 2, "Nester::place", false).await;
    let listed = world.get("/console/crashes", Some(&ann)).await;
    assert_shows(
        &listed,
        &["Spooler::render", "Nester::place", ">new</span>", "class=\"spark\"", "1 in the last 30 days"],
    );
    let filtered = world.get("/console/crashes?q=nester&state=new&sort=reports", Some(&ann)).await;
    assert_shows(&filtered, &["Nester::place", "value=\"nester\"", "<option value=\"reports\" selected>"]);
    assert!(!filtered.html.contains("Spooler::render"));
    assert_shows(&world.get("/console/crashes?state=resolved", Some(&ann)).await, &["No crash matches"]);
    assert_eq!(world.get("/console/crashes?state=closed", Some(&ann)).await.status, 400);
    let first = world.get("/console/crashes?limit=1", Some(&ann)).await;
    let next = first.html.split("href=\"").find(|rest| rest.contains("rel=\"next\"")).unwrap();
    let next = next.split('"').next().unwrap().replace("&#38;", "&");
    assert_shows(&world.get(&next, Some(&ann)).await, &["Spooler::render"]);
}

/// Decisions P8, P9: safe against two people at once, and recorded.
#[actix_web::test]
async fn the_state_of_a_group_is_changed_by_a_form() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    add_report(&world, acme, 1, "Spooler::render", false).await;
    let path = format!("/console/crashes/{}", CrashGroupId::of(acme, Some("Rip"), "Spooler::render"));
    let page = world.get(&path, Some(&ann)).await;
    assert_shows(&page, &["Spooler::render", "Change the state", "9.0", &report_path(1), "Acme Print"]);
    let version = page.html.split("name=\"version\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let form = format!("state=resolved&resolved_in=9.4&version={version}");
    let changed = world.post(&path, &form, Some(&ann)).await;
    assert_eq!((changed.status, changed.header(LOCATION)), (303, format!("{path}?done=state").as_str()));
    let page = world.get(changed.header(LOCATION), Some(&ann)).await;
    assert_shows(&page, &["The state is changed.", ">resolved</span>", "Resolved in", "9.4"]);

    let stale = world.post(&path, &format!("state=acknowledged&version={version}"), Some(&ann)).await;
    assert_eq!(stale.status, 412);
    assert!(stale.html.contains("Somebody else changed this crash meanwhile: it is resolved now"), "{}", stale.html);
    let version = stale.html.split("name=\"version\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let long = format!("state=resolved&resolved_in={}&version={version}", "9".repeat(65));
    let refused = world.post(&path, &long, Some(&ann)).await;
    assert_eq!(refused.status, 400);
    assert!(refused.html.contains("The version must have at most 64 characters."), "{}", refused.html);
    let site = [("sec-fetch-site", "cross-site")];
    assert_eq!(world.send("POST", &path, &form, Some(&ann), &site).await.status, 403);

    let viewer = world.operator_of(ACME).await;
    assert!(!world.get(&path, Some(&viewer)).await.html.contains("Change the state"));
    assert_eq!(world.post(&path, &form, Some(&viewer)).await.status, 403);
    let filter = AuditFilter { what: Some(AuditAction::CrashGroupChanged), ..AuditFilter::default() };
    assert_eq!(AuditRepository::page(&world.store, &filter, None, 9).await.unwrap().len(), 1);
}

/// Decisions I4, I6, I7.
#[actix_web::test]
async fn a_report_shows_its_stack_xml_minidump_parts_and_the_log_before() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    add_report(&world, acme, 700, "Spooler::render", false).await;
    let own = NewLogEntry { computer_guid: acme_records().computer, ..a_log_entry("") };
    for (seconds, description) in [(99, "too early"), (100, "job started"), (700, "printing")] {
        let entry = NewLogEntry { received: at(seconds), description: description.to_owned(), ..own.clone() };
        LogRepository::add(&world.store, acme, entry).await.unwrap();
    }
    let page = world.get(&report_path(700), Some(&ann)).await;
    assert_shows(
        &page,
        &[
            "<mark><bdi>rip!Spooler::render</bdi></mark>",
            "in the signature, its end",
            "skipped: ",
            "&#60;report&#62;\n  &#60;os name=&#34;Windows&#34;/&#62;",
            "EXCEPTION_ACCESS_VIOLATION_READ",
            "Rip.exe",
            "job started",
            "printing",
            "notes.html",
            "/console/logs?computer_guid=",
        ],
    );
    assert!(!page.html.contains("too early"));
    let unanalyzed = a_crash_report(9);
    CrashReportRepository::add(&world.store, acme, unanalyzed).await.unwrap();
    let page = world.get(&report_path(9), Some(&ann)).await;
    assert_shows(&page, &["It isn&#39;t analyzed yet", "its content is gone"]);
}

/// Decision P7.
#[actix_web::test]
async fn a_part_is_downloaded_as_a_file_without_a_path() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    add_report(&world, acme, 1, "Spooler::render", false).await;
    let part = world.get(&format!("{}/parts/3", report_path(1)), Some(&ann)).await;
    assert_eq!((part.status, part.header(CONTENT_TYPE)), (200, "application/octet-stream"));
    assert_eq!(part.header(CONTENT_DISPOSITION), "attachment; filename=\"notes.html\"");
    assert_eq!(part.headers.get("x-content-type-options").unwrap(), "nosniff");
    assert!(part.html.contains("alert('attachment')"));
    assert_eq!(world.get(&format!("{}/parts/4", report_path(1)), Some(&ann)).await.status, 404);
}

/// Decisions I8, I12.
#[actix_web::test]
async fn a_computer_shows_what_happened_to_it() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    let listed = world.get("/console/computers?q=rip-01", Some(&ann)).await;
    assert_shows(&listed, &["RIP-01", "never", "SN-1000", "value=\"rip-01\""]);
    assert_shows(&world.get("/console/computers?q=nowhere&seen_since=7d", Some(&ann)).await, &["No computer matches"]);
    assert_eq!(world.get("/console/computers?seen_since=lately", Some(&ann)).await.status, 400);
    add_report(&world, acme, 1, "Spooler::render", false).await;
    let computer = Some(acme_records().computer);
    let refusal = NewRefusal { computer, at: at(5), ..a_refusal(Owner::Organization(acme)) };
    RefusalRepository::add(&world.store, &[refusal]).await.unwrap();
    let path = format!("/console/computers/{}", acme_records().computer);
    let page = world.get(&path, Some(&ann)).await;
    assert_shows(&page, &["RIP-01", "Spooler::render", "the Timestamp is not newer", "Timeline", &report_path(1)]);
    let newest = world.get(&format!("{path}?limit=1"), Some(&ann)).await;
    let older = newest.html.split("href=\"").find(|rest| rest.contains(">Older<")).unwrap();
    let older = older.split(['"', '#']).next().unwrap();
    let older = world.get(older, Some(&ann)).await;
    assert_shows(&older, &["Back to the newest", &report_path(1)]);
    assert!(!older.html.contains("the Timestamp is not newer"), "{}", older.html);
}

#[actix_web::test]
async fn a_search_leads_to_what_was_found() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    add_report(&world, acme, 1, "Spooler::render", false).await;
    let refusal = NewRefusal { request_id: "request-7".to_owned(), ..a_refusal(Owner::Organization(acme)) };
    RefusalRepository::add(&world.store, &[refusal]).await.unwrap();
    for (q, location) in [
        (acme_records().computer.to_string(), format!("/console/computers/{}", acme_records().computer)),
        (numbered(1).to_string(), report_path(1)),
        ("Latex".to_owned(), format!("/console/devices/{}", acme_records().device)),
        ("banner".to_owned(), format!("/console/devices/{}", acme_records().device)),
    ] {
        let found = world.get(&format!("/console/search?q={q}"), Some(&ann)).await;
        assert_eq!((found.status, found.header(LOCATION)), (303, location.as_str()), "{q}");
    }
    assert_shows(&world.get("/console/search?q=rip-0", Some(&ann)).await, &["2 found", "RIP-01", "RIP-02", ZENITH]);
    assert_shows(&world.get("/console/search?q=request-7", Some(&ann)).await, &["Refused request", "is not newer"]);
    assert_shows(&world.get("/console/search?q=nowhere", Some(&ann)).await, &["Nothing is known as", "nowhere"]);
    let home = world.get("/console/search", Some(&ann)).await;
    assert_shows(&home, &["id=\"search\"", "action=\"/console/search\"", "Type in the field above"]);
}

/// Decision P8.
#[actix_web::test]
async fn an_operator_of_one_organization_sees_none_of_anothers_crashes_and_computers() {
    let (world, acme, _) = World::with_fleet().await;
    let foreign = world.operator_of(ZENITH).await;
    add_report(&world, acme, 1, "Spooler::render", false).await;
    let group = CrashGroupId::of(acme, Some("Rip"), "Spooler::render");
    for path in [
        format!("/console/crashes/{group}"),
        report_path(1),
        format!("{}/parts/1", report_path(1)),
        format!("/console/computers/{}", acme_records().computer),
        "/console/crashes?organization=Acme+Print".to_owned(),
        "/console/computers?organization=Acme+Print".to_owned(),
        "/console/crashes/no-guid".to_owned(),
        "/console/crash-reports/no-guid".to_owned(),
        "/console/computers/no-guid".to_owned(),
    ] {
        assert_eq!(world.get(&path, Some(&foreign)).await.status, 404, "{path}");
    }
    for path in ["/console/crashes", "/console/computers", "/console/search?q=rip-0", "/console/search?q=Acme"] {
        let page = world.get(path, Some(&foreign)).await.html.to_lowercase();
        assert!(
            !page.contains("rip-01") && !page.contains("spooler") && !page.contains("acme print"),
            "{path}\n{page}"
        );
    }
}

/// Decision P7: what was sent is shown as text.
#[actix_web::test]
async fn hostile_content_stays_text_on_every_page() {
    let (world, acme, _) = World::with_fleet().await;
    let ann = world.ann().await;
    add_report(&world, acme, 700, HOSTILE, true).await;
    let entry = NewLogEntry {
        received: at(650),
        computer_guid: acme_records().computer,
        user: HOSTILE.to_owned(),
        source: HOSTILE.to_owned(),
        description: format!("{HOSTILE}{}", "x".repeat(100_000)),
        ..a_log_entry("")
    };
    LogRepository::add(&world.store, acme, entry).await.unwrap();
    let refusal = NewRefusal {
        computer: Some(acme_records().computer),
        detail: HOSTILE.to_owned(),
        request_id: HOSTILE.to_owned(),
        ..a_refusal(Owner::Organization(acme))
    };
    RefusalRepository::add(&world.store, &[refusal]).await.unwrap();
    let group = CrashGroupId::of(acme, Some(HOSTILE), HOSTILE);
    let encoded = "%3Cscript%3Ealert('x')%3C%2Fscript%3E%E2%80%AE%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E";
    for path in [
        "/console/crashes".to_owned(),
        format!("/console/crashes/{group}"),
        report_path(700),
        format!("/console/computers/{}", acme_records().computer),
        format!("/console/crashes?q={encoded}&application={encoded}"),
        format!("/console/computers?q={encoded}"),
        format!("/console/search?q={encoded}"),
    ] {
        let page = world.get(&path, Some(&ann)).await;
        assert_eq!(page.status, 200, "{path}");
        for markup in ["<script>", "<img src=x", "onerror=alert(1)>"] {
            assert!(!page.html.contains(markup), "{path} holds {markup}\n{}", page.html);
        }
        assert!(page.html.contains("&#60;script&#62;"), "{path}");
        assert!(page.html.len() < 60_000, "{path} has {} bytes", page.html.len());
    }
}
