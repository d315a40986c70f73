//! [`crate::search::SearchRepository`].

use super::scene::{register, two_organizations};
use super::{Kept, Stores};
use crate::caller::OrganizationId;
use crate::crash_analysis::CrashAnalysis;
use crate::crash_group::CrashGroupId;
use crate::crash_report::NewCrashReport;
use crate::error::StoreError;
use crate::fleet::{Device, FleetOrganization, FleetRecord};
use crate::guid::DeviceGuid;
use crate::refusal::{NewRefusal, Owner};
use crate::resource::{NewResource, ResourceType};
use crate::search::{Hit, SearchQuery, Thing};
use crate::testing::{
    ACME, ACME_SERIAL, a_crash_report, a_meta, a_refusal, a_resource, acme_records, at, numbered, zenith_records,
};

async fn find(
    stores: &Stores,
    organization: Option<OrganizationId>,
    text: &str,
) -> Result<Vec<Hit>, Box<dyn std::error::Error + Send + Sync>> {
    let query = SearchQuery::parse(text).ok_or("nothing to search for")?;
    Ok(stores.search.find(organization, &query, 20).await?)
}

/// Kind and name of each hit.
async fn found(
    stores: &Stores,
    organization: Option<OrganizationId>,
    text: &str,
) -> Result<Vec<(&'static str, String)>, Box<dyn std::error::Error + Send + Sync>> {
    let hits = find(stores, organization, text).await?;
    Ok(hits.iter().map(|hit| (hit.thing.kind(), hit.thing.name().to_owned())).collect())
}

async fn fill(stores: &Stores, acme: OrganizationId) -> Kept {
    let report = NewCrashReport { received: at(3), ..a_crash_report(0xabcd_ef01) };
    let analysis = CrashAnalysis {
        report: report.id,
        algorithm: 1,
        signature: Ok("Spooler::render".to_owned()),
        dump: None,
        analyzed: at(0),
    };
    stores.crash_reports.add(acme, report).await?;
    stores.crash_analyses.record(analysis).await?;
    stores.resources.store(acme, a_resource(5), at(0)).await?;
    Ok(())
}

/// For each kind with a GUID.
pub async fn a_guid_or_its_beginning_leads_to_what_it_is(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    fill(stores, acme).await?;
    let records = acme_records();
    let group = CrashGroupId::of(acme, Some("Rip"), "Spooler::render");
    for (id, kind, name) in [
        (records.computer.as_uuid(), "computer", "RIP-01"),
        (records.device.as_uuid(), "device", "Latex 1"),
        (records.queue.as_uuid(), "queue", "Banner"),
        (records.job.as_uuid(), "job", "Order 17"),
        (numbered(5), "resource", "Resource 5"),
        (numbered(0xabcd_ef01), "crash_report", "Rip"),
        (group.as_uuid(), "crash_group", "Spooler::render"),
    ] {
        let expected = vec![(kind, name.to_owned())];
        assert_eq!(found(stores, None, &id.to_string()).await?, expected);
        assert_eq!(found(stores, Some(acme), &id.as_simple().to_string()).await?, expected);
    }
    assert_eq!(found(stores, None, &numbered(9).to_string()).await?, []);
    let beginning = &group.to_string()[..12];
    assert_eq!(found(stores, None, beginning).await?, [("crash_group", "Spooler::render".to_owned())]);
    // All others begin with zeros.
    let kinds: Vec<_> = found(stores, Some(acme), "00000000-0000").await?.into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["computer", "device", "queue", "job", "resource", "crash_report"]);
    let queue = find(stores, None, &records.queue.to_string()).await?.remove(0);
    let expected = Thing::Queue { guid: records.queue, name: "Banner".to_owned(), device: Some(records.device) };
    assert_eq!(queue, Hit { organization: Some(acme), thing: expected, is_retired: false });
    Ok(())
}

/// Names without case; removed records too.
pub async fn names_and_serial_numbers_lead_to_what_they_are(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    fill(stores, acme).await?;
    let titled = NewResource { meta: a_meta(&[("Name", "100%_Ünder")]), ..a_resource(6) };
    stores.resources.store(acme, titled, at(0)).await?;
    for (text, expected) in [
        ("acme", vec![("organization", ACME)]),
        ("ANN", vec![("user", "Ann"), ("queue", "Banner")]),
        ("rip-01", vec![("computer", "RIP-01")]),
        ("latex", vec![("device", "Latex 1")]),
        ("anne", vec![("queue", "Banner")]),
        ("order 17", vec![("job", "Order 17")]),
        ("RESOURCE 5", vec![("resource", "Resource 5")]),
        ("100%_ü", vec![("resource", "100%_Ünder")]),
        ("%", vec![]),
        ("_", vec![]),
    ] {
        let expected: Vec<_> = expected.into_iter().map(|(kind, name)| (kind, name.to_owned())).collect();
        let hits: Vec<_> = found(stores, None, text).await?;
        assert_eq!(hits, expected, "{text}");
    }
    assert_eq!(found(stores, None, &ACME_SERIAL.to_lowercase()).await?, [("computer", "RIP-01".to_owned())]);
    stores.records.set_retired(ACME, &FleetRecord::Computer(acme_records().computer), Some(at(1))).await?;
    assert!(find(stores, None, "RIP-01").await?[0].is_retired);
    Ok(())
}

/// Exactly, with the response that the client got.
pub async fn a_request_id_leads_to_its_refusal(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let refusal = |owner, id: &str| NewRefusal { request_id: id.to_owned(), ..a_refusal(owner) };
    let unknown = || Owner::Address("192.0.2.1".to_owned());
    let long = "r".repeat(5000);
    let named = NewRefusal { named: Some(acme), ..refusal(unknown(), "named-1") };
    let refusals = [
        refusal(Owner::Organization(acme), &long),
        refusal(unknown(), "request-2"),
        named,
        refusal(unknown(), "REQUEST-2"),
    ];
    stores.refusals.add(&refusals).await?;
    let organization = async |scope, text: &str| -> Result<Vec<_>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(find(stores, scope, text).await?.into_iter().map(|hit| hit.organization).collect())
    };
    assert_eq!(organization(None, "request-2").await?, [None]);
    assert_eq!(organization(Some(acme), "request-2").await?, []);
    assert_eq!(organization(Some(acme), "named-1").await?, [Some(acme)]);
    assert_eq!(organization(Some(zenith), "named-1").await?, []);
    assert_eq!(organization(None, &long).await?, [], "it is cut before it is searched");
    let hit = find(stores, None, "request-2").await?.remove(0);
    let expected = Thing::Refusal {
        at: at(0),
        request_id: "request-2".to_owned(),
        operation: refusals[1].operation.clone(),
        status: 400,
        reason: refusals[1].reason.clone(),
        detail: refusals[1].detail.clone(),
    };
    assert_eq!(hit.thing, expected);
    Ok(())
}

/// Decision P8.
pub async fn a_search_stays_within_its_organization_and_limit(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let guid = zenith_records().computer.to_string();
    assert_eq!(found(stores, Some(acme), &guid).await?, []);
    assert_eq!(found(stores, Some(zenith), &guid).await?.len(), 1);
    assert_eq!(found(stores, Some(acme), "Zenith").await?, []);
    assert_eq!(found(stores, Some(acme), "RIP-0").await?, [("computer", "RIP-01".to_owned())]);
    let device =
        |number: u128| Device { guid: DeviceGuid::from(numbered(number)), name: Some(format!("Plotter {number}")) };
    let devices = (1000..1030).map(device).collect();
    register(stores, FleetOrganization { name: ACME.to_owned(), devices, ..FleetOrganization::default() }).await?;
    for number in 1000..1030 {
        let resource = NewResource {
            resource_type: ResourceType::new("Label").ok_or("a type")?,
            meta: a_meta(&[("Name", &format!("Plotter {number}"))]),
            ..a_resource(number)
        };
        stores.resources.store(zenith, resource, at(0)).await?;
    }
    let count = async |scope| -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
        let query = SearchQuery::parse("plotter").ok_or("nothing to search for")?;
        Ok::<_, StoreError>(stores.search.find(scope, &query, 7).await?.len()).map_err(Into::into)
    };
    assert_eq!((count(None).await?, count(Some(acme)).await?, count(Some(zenith)).await?), (14, 7, 7));
    Ok(())
}
