//! Groups as operators see and change them (decisions I5, P8, P9).

use super::*;
use crate::audit::{AuditFilter, AuditRepository};
use crate::caller::OrganizationId;
use crate::crash_analysis::{CrashAnalysis, CrashAnalysisRepository};
use crate::crash_group::{GroupState, MockCrashGroupRepository};
use crate::crash_report::{CrashReportRepository, NewCrashReport};
use crate::fleet::FleetRegistry;
use crate::operator::Role;
use crate::testing::{ACME, FixedClock, InMemoryStore, ZENITH, a_crash_report, a_fleet, at};

struct Scene {
    store: InMemoryStore,
    service: CrashGroupService,
    acme: OrganizationId,
    zenith: OrganizationId,
}

impl Scene {
    async fn new() -> Self {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let shared = Arc::new(store.clone());
        let organizations = Arc::new(OrganizationList::new(shared.clone()));
        let root = Actor::command("root");
        let id = async |name| organizations.narrow(&root, Some(name)).await.unwrap().unwrap();
        let (acme, zenith) = (id(ACME).await, id(ZENITH).await);
        let service = CrashGroupService::new(shared, organizations, Arc::new(FixedClock::default()));
        Self { store, service, acme, zenith }
    }

    async fn report(&self, owner: OrganizationId, number: u128, received: Timestamp) {
        let report = NewCrashReport { received, ..a_crash_report(number) };
        let analysis = CrashAnalysis {
            report: report.id,
            algorithm: 1,
            signature: Ok("Spooler::render".to_owned()),
            dump: None,
            analyzed: at(0),
        };
        CrashReportRepository::add(&self.store, owner, report).await.unwrap();
        self.store.record(analysis).await.unwrap();
    }

    async fn list(&self, actor: &Actor, organization: Option<&str>) -> Result<Vec<ListedGroup>, OperatorError> {
        let asked = PageRequest { after: None, limit: 50 };
        let page = self.service.list(actor, organization, &GroupFilter::default(), GroupSort::LastSeen, asked).await?;
        Ok(page.items)
    }
}

fn root() -> Actor {
    Actor::command("root")
}

fn of(organization: OrganizationId) -> Actor {
    Actor { scope: Scope::Organization(organization), ..root() }
}

/// Decision P8.
#[tokio::test]
async fn an_operator_of_one_organization_sees_its_groups_only() {
    let scene = Scene::new().await;
    scene.report(scene.acme, 1, at(0)).await;
    scene.report(scene.zenith, 2, at(0)).await;
    assert_eq!(scene.list(&root(), None).await.unwrap().len(), 2);
    let own = scene.list(&of(scene.acme), None).await.unwrap();
    assert_eq!(own.iter().map(|group| group.organization.as_str()).collect::<Vec<_>>(), [ACME]);
    assert!(matches!(scene.list(&of(scene.acme), Some(ZENITH)).await, Err(OperatorError::NotFound(_))));
    let id = own[0].details.group.id;
    assert!(scene.service.find(&of(scene.acme), id).await.is_ok());
    assert!(matches!(scene.service.find(&of(scene.zenith), id).await, Err(OperatorError::NotFound(_))));
    let change = scene.service.change(&of(scene.zenith), id, StateChange::Acknowledge, None).await;
    assert!(matches!(change, Err(OperatorError::NotFound(_))));
    let viewer = Actor { role: Role::Viewer, ..of(scene.acme) };
    let change = scene.service.change(&viewer, id, StateChange::Acknowledge, None).await;
    assert!(matches!(change, Err(OperatorError::Forbidden(_))));
}

/// Decision I5.
#[tokio::test]
async fn the_reports_of_the_last_30_days_are_counted_by_day() {
    let scene = Scene::new().await;
    let day = 24 * 60 * 60;
    for (number, seconds) in (1..).zip([0, 1, -1, -29 * day, -30 * day - 1]) {
        scene.report(scene.acme, number, at(seconds)).await;
    }
    let daily = scene.list(&root(), None).await.unwrap().remove(0).daily;
    let mut expected = vec![0; DAYS];
    (expected[0], expected[28], expected[29]) = (1, 1, 2);
    assert_eq!(daily, expected);
}

/// Decision P9.
#[tokio::test]
async fn a_change_is_recorded_with_the_values_before_and_after() {
    let scene = Scene::new().await;
    scene.report(scene.acme, 1, at(0)).await;
    let id = scene.list(&root(), None).await.unwrap()[0].details.group.id;
    let resolve = StateChange::Resolve { in_version: Some("9.4".to_owned()) };
    let group = scene.service.change(&of(scene.acme), id, resolve.clone(), None).await.unwrap();
    assert_eq!((group.state, group.resolved_in.as_deref()), (GroupState::Resolved, Some("9.4")));
    scene.service.change(&of(scene.acme), id, resolve, None).await.unwrap();
    let filter = AuditFilter { what: Some(AuditAction::CrashGroupChanged), ..AuditFilter::default() };
    let records = AuditRepository::page(&scene.store, &filter, None, 9).await.unwrap();
    assert_eq!(records.len(), 1, "the same again changes nothing");
    let record = &records[0].record;
    assert_eq!((record.author.name.as_str(), record.target.clone()), ("root", format!("crash group {id}")));
    let values = [
        AuditedValue::changed("state", "new", "resolved"),
        AuditedValue { member: "resolved_in".to_owned(), before: None, after: Some("9.4".to_owned()) },
    ];
    assert_eq!(record.values, values);
}

#[tokio::test]
async fn the_second_of_two_operators_with_the_same_version_gets_stale() {
    let scene = Scene::new().await;
    scene.report(scene.acme, 1, at(0)).await;
    let group = scene.list(&root(), None).await.unwrap().remove(0).details.group;
    let (id, read) = (group.id, [group.version()]);
    scene.report(scene.acme, 2, at(1)).await;
    let first = scene.service.change(&root(), id, StateChange::Acknowledge, Some(&read)).await;
    assert_eq!(first.unwrap().state, GroupState::Acknowledged, "a new report is no change of the state");
    let second = scene.service.change(&root(), id, StateChange::Reopen, Some(&read)).await;
    assert!(matches!(second, Err(OperatorError::Stale(_))), "{second:?}");
    let forced = scene.service.change(&root(), id, StateChange::Reopen, None).await;
    assert_eq!(forced.unwrap().state, GroupState::New);
}

/// Another operator changes the group between the read and the write.
#[tokio::test]
async fn a_change_without_a_version_is_tried_again_until_it_succeeds() {
    let scene = Scene::new().await;
    scene.report(scene.acme, 1, at(0)).await;
    let details = scene.list(&root(), None).await.unwrap().remove(0).details;
    let mut groups = MockCrashGroupRepository::new();
    let found = details.clone();
    groups.expect_find().returning(move |_, _| Ok(Some(found.clone())));
    groups.expect_set_state().times(MAX_ATTEMPTS).returning(|_, _, _, _, _, _| Ok(false));
    let organizations = Arc::new(OrganizationList::new(Arc::new(scene.store.clone())));
    let service = CrashGroupService::new(Arc::new(groups), organizations, Arc::new(FixedClock::default()));
    let change = service.change(&root(), details.group.id, StateChange::Acknowledge, None).await;
    assert!(matches!(change, Err(OperatorError::Conflict(_))), "{change:?}");
}
