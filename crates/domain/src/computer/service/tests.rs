//! Computers as operators see them (decisions I8, I9, I12, P8).

use super::*;
use crate::activity::{Fetch, Holder, ResourceKey};
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::crash_analysis::{CrashAnalysis, CrashAnalysisRepository};
use crate::crash_report::{CrashReportRepository, NewCrashReport};
use crate::fleet::FleetRegistry;
use crate::operator::Scope;
use crate::refusal::{NewRefusal, Owner};
use crate::resource::ResourceRepository;
use crate::testing::{
    ACME, InMemoryStore, ZENITH, a_crash_report, a_fleet, a_refusal, a_resource, acme_records, at, resource_guid,
    zenith_records,
};

struct Scene {
    store: InMemoryStore,
    service: ComputerService,
    acme: OrganizationId,
    zenith: OrganizationId,
}

impl Scene {
    async fn new() -> Self {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let shared = Arc::new(store.clone());
        let organizations = Arc::new(OrganizationList::new(shared.clone()));
        let id = async |name| organizations.narrow(&root(), Some(name)).await.unwrap().unwrap();
        let (acme, zenith) = (id(ACME).await, id(ZENITH).await);
        let sources = ComputerSources {
            computers: shared.clone(),
            refusals: shared.clone(),
            activity: shared.clone(),
            groups: shared.clone(),
            timeline: shared,
        };
        Self { store, service: ComputerService::new(sources, organizations), acme, zenith }
    }
}

fn root() -> Actor {
    Actor::command("root")
}

fn first<K>() -> PageRequest<K> {
    PageRequest { after: None, limit: 50 }
}

/// Decision P8.
#[tokio::test]
async fn an_operator_of_one_organization_sees_its_computers_only() {
    let scene = Scene::new().await;
    let of_acme = Actor { scope: Scope::Organization(scene.acme), ..root() };
    let all = ComputerFilter::default();
    let listed = scene.service.list(&of_acme, None, &all, first()).await.unwrap().items;
    assert_eq!(listed.iter().map(|one| one.organization.as_str()).collect::<Vec<_>>(), [ACME]);
    assert_eq!(scene.service.list(&root(), None, &all, first()).await.unwrap().items.len(), 2);
    let foreign = scene.service.list(&of_acme, Some(ZENITH), &all, first()).await;
    assert!(matches!(foreign, Err(OperatorError::NotFound(_))));
    let other = zenith_records().computer;
    assert!(matches!(scene.service.find(&of_acme, other).await, Err(OperatorError::NotFound(_))));
    assert!(matches!(scene.service.timeline(&of_acme, other, first()).await, Err(OperatorError::NotFound(_))));
}

/// Decisions I8, I9, I12.
#[tokio::test]
async fn a_computer_is_shown_with_refusals_outdated_resources_and_crash_groups() {
    let scene = Scene::new().await;
    let (store, guid) = (&scene.store, acme_records().computer);
    let report = NewCrashReport { computer: Some(guid), ..a_crash_report(1) };
    let analysis =
        CrashAnalysis { report: report.id, algorithm: 1, signature: Ok("a".to_owned()), dump: None, analyzed: at(0) };
    CrashReportRepository::add(store, scene.acme, report).await.unwrap();
    CrashAnalysisRepository::record(store, analysis).await.unwrap();
    let of = |owner| NewRefusal { computer: Some(guid), ..a_refusal(Owner::Organization(owner)) };
    RefusalRepository::add(store, &[of(scene.acme), of(scene.zenith)]).await.unwrap();
    store.store(scene.acme, a_resource(1), at(0)).await.unwrap();
    let key = ResourceKey { organization: scene.acme, guid: resource_guid(1) };
    let fetch = Fetch { checksum: Sha1Checksum::of(b"older"), at: at(3) };
    store.store_fetches(&[((Holder::Computer(scene.acme, guid), key), fetch)]).await.unwrap();

    let found = scene.service.find(&root(), guid).await.unwrap();
    assert_eq!((found.listed.organization.as_str(), found.listed.computer.name.as_str()), (ACME, "RIP-01"));
    assert_eq!(found.refusals.len(), 1, "those of its organization");
    assert_eq!(found.outdated.iter().map(|one| one.resource).collect::<Vec<_>>(), [key]);
    assert_eq!(found.groups.iter().map(|one| one.group.signature.as_str()).collect::<Vec<_>>(), ["a"]);

    let asked = PageRequest { after: None, limit: 2 };
    let page = scene.service.timeline(&root(), guid, asked).await.unwrap();
    assert_eq!(page.items.iter().map(|event| event.details.kind()).collect::<Vec<_>>(), ["fetch", "refusal"]);
    let older = scene.service.timeline(&root(), guid, PageRequest { after: page.next, limit: 2 }).await.unwrap();
    assert!(older.items.iter().any(|event| event.details.kind() == "crash"), "{older:?}");
}
