//! [`crate::inspection::InspectionRepository`]: crash reports.

use super::scene::{TEXTS, organizations, shuffled, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::crash_report::{CrashPart, NewCrashReport};
use crate::error::StoreError;
use crate::guid::{ComputerGuid, CrashReportId};
use crate::inspection::{CrashReportFilter, InspectedCrashReport, PartsTotal};
use crate::testing::{a_blob_key, a_crash_report, at, numbered};
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;

/// A report is listed with all its values, the number of its parts and their size.
pub async fn a_report_is_listed_without_its_parts(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    for (number, text) in (1..).zip(TEXTS) {
        let some = || Some((*text).to_owned());
        let one = a_crash_report(number);
        let part = |size| CrashPart { size, ..one.parts[0].clone() };
        let second = CrashPart { key: a_blob_key(1_000 + number), ..part(1 << 40) };
        let report = NewCrashReport {
            received: at(i64::try_from(number)?),
            application_name: some(),
            os: some(),
            user: some(),
            serial_number: (*text).to_owned(),
            application_version: (*text).to_owned(),
            note: some(),
            parts: vec![part(5), second],
            ..one
        };
        stores.crash_reports.add(acme, report.clone()).await?;
        let parts = PartsTotal { count: 2, size: (1 << 40) + 5 };
        let expected = InspectedCrashReport { organization: acme, report: report.with_parts(parts) };
        assert_eq!(listed(stores, &[acme], none()).await?.first(), Some(&expected));
    }
    Ok(())
}

/// Decision C3.
pub async fn what_a_listed_report_lacks_stays_absent(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let report = NewCrashReport {
        application_name: None,
        os: None,
        user: None,
        computer: None,
        parts: Vec::new(),
        ..a_crash_report(1)
    };
    stores.crash_reports.add(acme, report.clone()).await?;
    assert_eq!(listed(stores, &[acme], none()).await?, [summary(acme, report)]);
    Ok(())
}

/// By time; at one time the higher id comes first, whatever its organization.
pub async fn reports_of_several_organizations_are_in_one_order(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false, false, false]).await?;
    for (number, second) in (0..).zip([5, 1, 5, 3, 3, 9, 3, 1]) {
        let report = NewCrashReport { received: at(second), ..a_crash_report(number) };
        stores.crash_reports.add(ids[usize::try_from(number % 3)?], report).await?;
    }
    let numbers = async |ids: &[OrganizationId]| -> Result<Vec<CrashReportId>, StoreError> {
        Ok(listed(stores, ids, none()).await?.into_iter().map(|listed| listed.report.id).collect())
    };
    let expected = |numbers: &[u128]| numbers.iter().map(|n| CrashReportId::from(numbered(*n))).collect::<Vec<_>>();
    assert_eq!(numbers(&ids).await?, expected(&[5, 2, 0, 6, 4, 3, 7, 1]));
    assert_eq!(numbers(&ids[..2]).await?, expected(&[0, 6, 4, 3, 7, 1]));
    assert_eq!(numbers(&[]).await?, []);
    Ok(())
}

/// From and to are inclusive; conditions combine.
pub async fn reports_are_filtered(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false]).await?;
    let computer = ComputerGuid::from(numbered(77));
    for number in 0..8 {
        let computer = (number % 2 == 0).then_some(computer);
        let report = NewCrashReport { received: at(number), computer, ..a_crash_report(u128::try_from(number)?) };
        stores.crash_reports.add(ids[usize::from(number > 3)], report).await?;
    }
    let seconds = async |filter: CrashReportFilter| -> Result<Vec<i64>, StoreError> {
        let reports = listed(stores, &ids, filter).await?.into_iter();
        Ok(reports.map(|listed| (listed.report.received.as_micros() - at(0).as_micros()) / 1_000_000).collect())
    };
    let of_computer = CrashReportFilter { computer: Some(computer), ..none() };
    assert_eq!(seconds(of_computer).await?, [6, 4, 2, 0]);
    assert_eq!(seconds(CrashReportFilter { from: Some(at(6)), ..none() }).await?, [7, 6]);
    assert_eq!(seconds(CrashReportFilter { to: Some(at(1)), ..none() }).await?, [1, 0]);
    assert_eq!(seconds(CrashReportFilter { from: Some(at(2)), to: Some(at(5)), ..of_computer }).await?, [4, 2]);
    Ok(())
}

/// Pages follow each other without a gap and without a repetition.
pub async fn thousands_of_reports_are_listed_in_order(stores: &Stores) -> Kept {
    let ids = organizations(stores, &[false, false]).await?;
    for (round, second) in (0..).zip(shuffled()) {
        let adds = (0..20_u128).map(|number| {
            let report = NewCrashReport { received: at(second), ..a_crash_report(round * 20 + number) };
            stores.crash_reports.add(ids[usize::from(number % 3 == 0)], report)
        });
        try_join_all(adds).await?;
    }
    let listed = listed(stores, &ids, none()).await?;
    assert_eq!(listed.len(), 2_020);
    let key = |listed: &InspectedCrashReport| (listed.report.received, listed.report.id);
    assert!(listed.is_sorted_by(|one, other| key(one) > key(other)));
    Ok(())
}

/// An id that a client reported doesn't say to which organization it belongs.
pub async fn a_report_is_found_with_its_organization(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    stores.crash_reports.add(acme, a_crash_report(1)).await?;
    stores.crash_reports.add(zenith, a_crash_report(2)).await?;
    for (owner, report) in [(acme, a_crash_report(1)), (zenith, a_crash_report(2))] {
        assert_eq!(stores.inspection.find_crash_report(report.id).await?, Some((owner, report)));
    }
    assert_eq!(stores.inspection.find_crash_report(a_crash_report(3).id).await?, None);
    Ok(())
}

fn none() -> CrashReportFilter {
    CrashReportFilter::default()
}

async fn listed(
    stores: &Stores,
    organizations: &[OrganizationId],
    filter: CrashReportFilter,
) -> Result<Vec<InspectedCrashReport>, StoreError> {
    stores.inspection.crash_reports(organizations.to_vec(), filter).try_collect().await
}

/// What is listed of a report without parts.
fn summary(organization: OrganizationId, report: NewCrashReport) -> InspectedCrashReport {
    InspectedCrashReport { organization, report: report.with_parts(PartsTotal::default()) }
}
