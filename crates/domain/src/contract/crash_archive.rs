//! [`crate::crash_report::CrashReportArchive`].

use super::scene::two_organizations;
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::crash_analysis::CrashAnalysis;
use crate::crash_group::CrashGroupId;
use crate::crash_report::{NewCrashReport, ReportFilter};
use crate::error::StoreError;
use crate::guid::{ComputerGuid, CrashReportId};
use crate::inspection::PartsTotal;
use crate::testing::{a_crash_report, acme_records, at, numbered, zenith_records};

async fn add(stores: &Stores, owner: OrganizationId, report: NewCrashReport, signature: Result<&str, &str>) -> Kept {
    let signature = signature.map(str::to_owned).map_err(str::to_owned);
    let analysis = CrashAnalysis { report: report.id, algorithm: 1, signature, dump: None, analyzed: at(0) };
    stores.crash_reports.add(owner, report).await?;
    stores.crash_analyses.record(analysis).await?;
    Ok(())
}

/// The ids of the reports of a list that is read in pages of two.
async fn listed(
    stores: &Stores,
    organization: Option<OrganizationId>,
    filter: &ReportFilter,
) -> Result<Vec<CrashReportId>, StoreError> {
    let (mut after, mut ids) = (None, Vec::new());
    loop {
        let page = stores.crash_archive.page(organization, filter, after, 2).await?;
        let Some(last) = page.last() else { return Ok(ids) };
        assert!(page.len() <= 2);
        after = Some(last.cursor());
        ids.extend(page.iter().map(|row| row.report.id));
    }
}

fn ids(numbers: &[u128]) -> Vec<CrashReportId> {
    numbers.iter().map(|number| CrashReportId::from(numbered(*number))).collect()
}

/// Without a gap and without a repetition, even if several reports have the same time of receipt.
pub async fn archived_reports_are_listed_in_pages(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for number in 1..=9 {
        let owner = if number % 3 == 0 { zenith } else { acme };
        let report = NewCrashReport { received: at(i64::try_from(number / 4)?), ..a_crash_report(number) };
        stores.crash_reports.add(owner, report).await?;
    }
    let all = ReportFilter::default();
    assert_eq!(listed(stores, None, &all).await?, ids(&[9, 8, 7, 6, 5, 4, 3, 2, 1]));
    assert_eq!(listed(stores, Some(zenith), &all).await?, ids(&[9, 6, 3]));
    assert_eq!(listed(stores, Some(OrganizationId(acme.0 + zenith.0 + 1)), &all).await?, []);
    Ok(())
}

/// Filters combine.
pub async fn archived_reports_are_filtered(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let (one, other) = (acme_records().computer, zenith_records().computer);
    for (number, owner, computer, version, signature) in [
        (1, acme, Some(one), "9.1", Ok("a")),
        (2, acme, None, "9.2", Ok("a")),
        (3, acme, Some(one), "9.2", Ok("b")),
        (4, zenith, Some(other), "9.2", Ok("a")),
        (5, acme, Some(one), "9.2", Err("no call stack")),
        (6, acme, Some(one), "9.2", Ok("a")),
    ] {
        let report = NewCrashReport {
            received: at(number),
            computer,
            application_version: version.to_owned(),
            ..a_crash_report(number.unsigned_abs().into())
        };
        add(stores, owner, report, signature).await?;
    }
    let all = ReportFilter::default;
    let group = Some(CrashGroupId::of(acme, Some("Rip"), "a"));
    let version = |text: &str| Some(text.to_owned());
    for (filter, expected) in [
        (ReportFilter { group, ..all() }, vec![6, 2, 1]),
        (ReportFilter { group, computer: Some(one), ..all() }, vec![6, 1]),
        (ReportFilter { group, version: version("9.2"), ..all() }, vec![6, 2]),
        (ReportFilter { group, from: Some(at(2)), to: Some(at(5)), ..all() }, vec![2]),
        (ReportFilter { computer: Some(one), ..all() }, vec![6, 5, 3, 1]),
        (ReportFilter { computer: Some(one), version: version("9.2"), to: Some(at(5)), ..all() }, vec![5, 3]),
        (ReportFilter { version: version("9.2"), ..all() }, vec![6, 5, 4, 3, 2]),
        (ReportFilter { version: version("9.2 "), ..all() }, vec![]),
        (ReportFilter { from: Some(at(5)), ..all() }, vec![6, 5]),
        (ReportFilter { computer: Some(ComputerGuid::from(numbered(1))), ..all() }, vec![]),
    ] {
        assert_eq!(listed(stores, None, &filter).await?, ids(&expected), "{filter:?}");
        let own: Vec<u128> = expected.into_iter().filter(|number| *number != 4).collect();
        assert_eq!(listed(stores, Some(acme), &filter).await?, ids(&own), "{filter:?}");
    }
    assert_eq!(listed(stores, Some(zenith), &ReportFilter { group, ..all() }).await?, []);
    assert_eq!(listed(stores, Some(zenith), &ReportFilter { computer: Some(one), ..all() }).await?, []);
    Ok(())
}

/// Or with the reason why there is none, or with neither before the analysis.
pub async fn an_archived_report_is_listed_with_its_signature(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    stores.crash_reports.add(acme, NewCrashReport { received: at(1), ..a_crash_report(1) }).await?;
    add(stores, acme, NewCrashReport { received: at(2), ..a_crash_report(2) }, Err("no call stack")).await?;
    add(stores, acme, NewCrashReport { received: at(3), ..a_crash_report(3) }, Ok("a")).await?;
    let page = stores.crash_archive.page(None, &ReportFilter::default(), None, 9).await?;
    let signatures: Vec<_> = page.iter().map(|row| (row.organization, row.group, row.signature.clone())).collect();
    let group = CrashGroupId::of(acme, Some("Rip"), "a");
    let expected = [
        (acme, Some(group), Some(Ok("a".to_owned()))),
        (acme, None, Some(Err("no call stack".to_owned()))),
        (acme, None, None),
    ];
    assert_eq!(signatures, expected);
    let report = NewCrashReport { received: at(3), ..a_crash_report(3) };
    assert_eq!(page[0].report, report.with_parts(PartsTotal { count: 1, size: 16 }));
    Ok(())
}

/// Decision P8.
pub async fn an_archived_report_is_found_with_its_organization(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let report = a_crash_report(1);
    stores.crash_reports.add(acme, report.clone()).await?;
    for (organization, expected) in [(None, true), (Some(acme), true), (Some(zenith), false)] {
        let found = stores.crash_archive.find(organization, report.id).await?;
        assert_eq!(found, expected.then(|| (acme, report.clone())));
    }
    assert_eq!(stores.crash_archive.find(None, CrashReportId::from(numbered(9))).await?, None);
    Ok(())
}
