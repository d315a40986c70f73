//! Decisions P3, P4 and P9.

use super::*;
use crate::audit::{AuditFilter, AuditRecord};
use crate::operator::{Actor, AddOperator, OperatorName, OperatorService, Role};
use crate::testing::{CountingIds, FixedClock, InMemoryStore, PlainHasher};

struct Scene {
    store: InMemoryStore,
    clock: FixedClock,
    sessions: SessionService,
    operators: OperatorService,
}

fn scene() -> Scene {
    let (store, clock, ids) = (InMemoryStore::new(), FixedClock::default(), Arc::new(CountingIds::default()));
    let shared = Arc::new(store.clone());
    let hasher = Arc::new(PlainHasher);
    let sessions = SessionService::new(
        shared.clone(),
        shared.clone(),
        shared.clone(),
        hasher.clone(),
        Arc::new(clock.clone()),
        ids.clone(),
    );
    let operators = OperatorService::new(shared, hasher, Arc::new(clock.clone()), ids);
    Scene { store, clock, sessions, operators }
}

impl Scene {
    async fn add(&self, name: &str) -> Password {
        let name = OperatorName::parse(name).unwrap();
        let command = AddOperator { name, role: Role::Viewer, organization: None };
        let (_, password) = self.operators.add(&Actor::command("root"), command).await.unwrap();
        password.as_password().clone()
    }

    async fn sign_in(&self, name: &str, password: &Password) -> Result<StartedSession, OperatorError> {
        let address = Some("192.0.2.1".parse().unwrap());
        self.sessions.sign_in(SignIn { name: name.to_owned(), password: password.clone(), address }).await
    }

    async fn is_valid(&self, started: &StartedSession) -> bool {
        self.sessions.authenticate(started.secret.reveal()).await.unwrap().is_some()
    }

    async fn records(&self) -> Vec<AuditRecord> {
        AuditRepository::page(&self.store, &AuditFilter::default(), None, 100).await.unwrap()
    }
}

const WRONG: &str = "wrong password";

#[tokio::test]
async fn an_operator_signs_in_by_name_without_case_and_password() {
    let scene = scene();
    let password = scene.add("Ann").await;
    let started = scene.sign_in(" aNN ", &password).await.unwrap();
    let signed_in = scene.sessions.authenticate(started.secret.reveal()).await.unwrap().unwrap();
    assert_eq!((signed_in.operator.name.as_str(), signed_in.role), ("Ann", Role::Viewer));
    assert_eq!(started.secret.reveal().len(), 64, "256 random bits");
    assert!(scene.sessions.authenticate("another").await.unwrap().is_none());
    assert!(signed_in.operator.last_sign_in.is_some());
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_name_are_answered_alike() {
    let scene = scene();
    scene.add("Ann").await;
    for name in ["Ann", "Eve"] {
        for _ in 0..5 {
            let refused = scene.sign_in(name, &Password::new(WRONG)).await;
            assert!(matches!(refused, Err(OperatorError::WrongCredentials)), "{name}");
        }
        let refused = scene.sign_in(name, &Password::new(WRONG)).await;
        let Err(OperatorError::TooManyFailures { retry_after }) = refused else { panic!("{name}: {refused:?}") };
        assert_eq!(retry_after, Duration::from_mins(1));
    }
}

#[tokio::test]
async fn the_right_password_waits_too_and_counts_after_a_minute() {
    let scene = scene();
    let password = scene.add("Ann").await;
    for _ in 0..5 {
        scene.sign_in("Ann", &Password::new(WRONG)).await.unwrap_err();
    }
    scene.sign_in("Ann", &password).await.unwrap_err();
    scene.clock.advance(Duration::from_mins(1));
    scene.sign_in("Ann", &password).await.unwrap();
}

#[tokio::test]
async fn a_session_ends_without_requests_and_after_seven_days() {
    let scene = scene();
    let password = scene.add("Ann").await;
    let idle = scene.sign_in("Ann", &password).await.unwrap();
    scene.clock.advance(SESSION_IDLE);
    assert!(!scene.is_valid(&idle).await);
    let busy = scene.sign_in("Ann", &password).await.unwrap();
    for _ in 0..20 {
        scene.clock.advance(Duration::from_hours(8));
        assert!(scene.is_valid(&busy).await);
    }
    scene.clock.advance(Duration::from_hours(8));
    assert!(!scene.is_valid(&busy).await);
    assert_eq!(scene.sessions.prune().await.unwrap(), 2);
}

#[tokio::test]
async fn a_session_ends_at_sign_out() {
    let scene = scene();
    let password = scene.add("Ann").await;
    let [one, other] = [scene.sign_in("Ann", &password).await.unwrap(), scene.sign_in("Ann", &password).await.unwrap()];
    let signed_in = scene.sessions.authenticate(one.secret.reveal()).await.unwrap().unwrap();
    scene.sessions.sign_out(&signed_in, None).await.unwrap();
    assert!(!scene.is_valid(&one).await && scene.is_valid(&other).await);
}

#[tokio::test]
async fn a_change_of_password_ends_all_sessions_but_the_new_one() {
    let scene = scene();
    let password = scene.add("Ann").await;
    let old = scene.sign_in("Ann", &password).await.unwrap();
    let signed_in = scene.sessions.authenticate(old.secret.reveal()).await.unwrap().unwrap();
    let new = NewPassword::parse("another password").unwrap();
    let refused = scene.sessions.change_password(&signed_in, &Password::new(WRONG), &new, None).await;
    assert!(matches!(refused, Err(OperatorError::Invalid { field: "current_password", .. })), "{refused:?}");
    let started = scene.sessions.change_password(&signed_in, &password, &new, None).await.unwrap();
    assert!(!scene.is_valid(&old).await && scene.is_valid(&started).await);
    scene.sign_in("Ann", &password).await.unwrap_err();
    scene.sign_in("Ann", new.as_password()).await.unwrap();
}

#[tokio::test]
async fn a_reset_password_and_a_removal_end_all_sessions() {
    let scene = scene();
    let (ann, bob) = (scene.add("Ann").await, scene.add("Bob").await);
    let sessions = [scene.sign_in("Ann", &ann).await.unwrap(), scene.sign_in("Bob", &bob).await.unwrap()];
    let actor = Actor::command("root");
    scene.operators.reset_password(&actor, "ann").await.unwrap();
    scene.operators.remove(&actor, "BOB").await.unwrap();
    for session in &sessions {
        assert!(!scene.is_valid(session).await);
    }
    let gone = scene.operators.remove(&actor, "Bob").await;
    assert!(matches!(gone, Err(OperatorError::NotFound(_))), "{gone:?}");
}

#[tokio::test]
async fn every_sign_in_and_every_failed_one_is_recorded_without_the_password() {
    let scene = scene();
    let password = scene.add("Ann").await;
    scene.sign_in("ann", &Password::new(WRONG)).await.unwrap_err();
    let started = scene.sign_in("ann", &password).await.unwrap();
    let records = scene.records().await;
    let kept: Vec<_> = records.iter().map(|one| (one.record.action.code(), one.record.author.name.as_str())).collect();
    assert_eq!(kept, [("session.started", "Ann"), ("session.refused", "ann"), ("operator.added", "root")]);
    assert_eq!(records[0].record.author.address.as_deref(), Some("192.0.2.1"));
    let text = format!("{records:?}");
    for secret in [WRONG, password.reveal(), started.secret.reveal()] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn a_failed_store_is_no_failure_of_the_client() {
    let scene = scene();
    let password = scene.add("Ann").await;
    scene.store.set_failing(true);
    for _ in 0..10 {
        assert!(matches!(scene.sign_in("Ann", &password).await, Err(OperatorError::Store(_))));
    }
    scene.store.set_failing(false);
    scene.sign_in("Ann", &password).await.unwrap();
}
