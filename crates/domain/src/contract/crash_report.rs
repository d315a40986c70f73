//! [`crate::crash_report::CrashReportRepository`].

use super::scene::{TEXTS, at_last, two_organizations};
use super::{Kept, Stores};
use crate::blob::{BlobKey, BlobKind};
use crate::checksum::Sha1Checksum;
use crate::crash_report::{CrashPart, NewCrashReport, PartRole};
use crate::guid::CrashReportId;
use crate::testing::{a_crash_report, at, numbered};
use futures_util::FutureExt;
use futures_util::future::try_join_all;

/// Interface 2.7, decisions C1, C3, C6: all members, every role, parts in the order of the body.
pub async fn a_report_is_found_as_it_was_stored(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let report = NewCrashReport {
        parts: vec![
            part(1, PartRole::Attachment, Some("screenshot"), Some("screen.png"), Some("image/png")),
            part(2, PartRole::Dump, None, Some("core.dmp"), Some("application/octet-stream")),
            part(3, PartRole::CallStack, Some("CallStack"), None, Some("text/plain")),
            part(4, PartRole::Attachment, Some("screenshot"), None, None),
            part(5, PartRole::Xml, Some("Xml"), None, Some("text/xml")),
        ],
        note: Some("dump of 5 bytes dropped".to_owned()),
        ..a_crash_report(1)
    };
    stores.crash_reports.add(acme, report.clone()).await?;
    assert_eq!(stores.crash_reports.find(acme, report.id).await?, Some(report));
    Ok(())
}

/// Decision C3: no crash is lost over what is missing.
pub async fn what_a_report_lacks_stays_absent(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let report = NewCrashReport {
        application_name: None,
        os: None,
        user: None,
        computer: None,
        serial_number: String::new(),
        application_version: String::new(),
        note: None,
        parts: vec![CrashPart { size: 0, ..part(1, PartRole::CallStack, None, None, None) }],
        ..a_crash_report(1)
    };
    stores.crash_reports.add(acme, report.clone()).await?;
    assert_eq!(stores.crash_reports.find(acme, report.id).await?, Some(report));
    // An empty text is not the same as none.
    let empty = NewCrashReport { application_name: Some(String::new()), os: Some(String::new()), ..a_crash_report(2) };
    stores.crash_reports.add(acme, empty.clone()).await?;
    assert_eq!(stores.crash_reports.find(acme, empty.id).await?, Some(empty));
    Ok(())
}

/// Interface 5, rule 3.
pub async fn only_the_own_report_is_found(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.crash_reports.add(acme, a_crash_report(1)).await?;
    assert_eq!(stores.crash_reports.find(zenith, a_crash_report(1).id).await?, None);
    assert_eq!(stores.crash_reports.find(acme, a_crash_report(2).id).await?, None);
    Ok(())
}

/// A body may have very many parts.
pub async fn a_report_of_hundreds_of_parts_keeps_their_order(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    // The keys fall, so that no order but that of the body gives the parts back.
    let attachments = (0..600).map(|number| part(9_999 - number, PartRole::Attachment, Some("same"), None, None));
    let first = part(10_000, PartRole::CallStack, None, None, None);
    let parts = std::iter::once(first).chain(attachments).collect();
    let report = NewCrashReport { parts, ..a_crash_report(1) };
    stores.crash_reports.add(acme, report.clone()).await?;
    assert_eq!(stores.crash_reports.find(acme, report.id).await?, Some(report));
    Ok(())
}

/// Decision R9: texts are kept byte for byte.
pub async fn texts_are_kept_byte_for_byte(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let long = "ä\"🖨".repeat(150_000);
    for (number, text) in (1..).zip(TEXTS.iter().copied().chain([long.as_str()])) {
        let some = || Some(text.to_owned());
        let report = NewCrashReport {
            application_name: some(),
            os: some(),
            user: some(),
            serial_number: text.to_owned(),
            application_version: text.to_owned(),
            parts: vec![part(number, PartRole::CallStack, Some(text), Some(text), Some(text))],
            note: some(),
            ..a_crash_report(number)
        };
        stores.crash_reports.add(acme, report.clone()).await?;
        let found = stores.crash_reports.find(acme, report.id).await?;
        assert!(found == Some(report), "changed: {:?}", crate::text::cut(text, 40));
    }
    Ok(())
}

/// Concurrent reports all land.
pub async fn concurrent_reports_all_land(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    try_join_all((0..100).map(|number| stores.crash_reports.add(acme, a_crash_report(number)))).await?;
    for number in 0..100 {
        let id = CrashReportId::from(numbered(number));
        assert_eq!(stores.crash_reports.find(acme, id).await?, Some(a_crash_report(number)));
    }
    Ok(())
}

/// The report is stored even if the caller goes away meanwhile.
pub async fn a_report_that_was_begun_ends_without_its_caller(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let report = NewCrashReport { received: at(5), ..a_crash_report(1) };
    drop(stores.crash_reports.add(acme, report.clone()).now_or_never());
    let landed = async || Ok(stores.crash_reports.find(acme, report.id).await?.as_ref() == Some(&report));
    assert!(at_last(landed).await?, "the report was lost");
    Ok(())
}

fn part(
    number: u128,
    role: PartRole,
    name: Option<&str>,
    file_name: Option<&str>,
    content_type: Option<&str>,
) -> CrashPart {
    CrashPart {
        role,
        name: name.map(str::to_owned),
        file_name: file_name.map(str::to_owned),
        content_type: content_type.map(str::to_owned),
        key: BlobKey::new(BlobKind::CrashReport, numbered(number)),
        size: 1 << 40,
        checksum: Sha1Checksum::of(&number.to_be_bytes()),
    }
}
