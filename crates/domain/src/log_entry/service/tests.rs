//! Taking log entries in and listing them over fakes.

use super::LogService;
use crate::caller::{Caller, CallingComputer, OrganizationId};
use crate::error::{Outcome, Reason, StoreError};
use crate::fleet::MockFleetDirectory;
use crate::guid::ComputerGuid;
use crate::log_entry::{
    AddLog, AddLogInput, ListedLogEntry, LogFilter, LogType, MockLogRepository, NewLogEntry, Pattern,
};
use crate::sample::{detail, is_store_failure, reason};
use crate::testing::{FixedClock, a_caller, at, numbered};
use futures_util::{StreamExt, stream};
use mockall::Sequence;
use std::sync::{Arc, Mutex};

const ACME: OrganizationId = OrganizationId(1);

const COMPUTER: &str = "00000000-0000-0000-0000-000000000001";
const DEVICE: &str = "{00000000-0000-0000-0000-000000000002}";
const QUEUE: &str = "00000000000000000000000000000003";
const JOB: &str = "urn:uuid:00000000-0000-0000-0000-000000000004";

/// A member of an input.
type Member = fn(&mut AddLogInput) -> &mut Option<String>;

/// The names of the records 1 to 4, `None` for one that isn't registered.
#[derive(Clone, Copy)]
struct Registered {
    computer: Option<&'static str>,
    device: Option<&'static str>,
    queue: Option<&'static str>,
    job: Option<&'static str>,
}

const ALL: Registered =
    Registered { computer: Some("RIP-01"), device: Some("Latex 1"), queue: Some("Banner"), job: Some("Order 17") };

/// Looks up in the order of decision L2 only, within one organization, and each record at most once.
fn directory(registered: Registered) -> MockFleetDirectory {
    let (mut fleet, mut order) = (MockFleetDirectory::new(), Sequence::new());
    macro_rules! expect {
        ($method:ident, $name:expr, $number:expr) => {
            let name = $name;
            fleet
                .$method()
                .times(0..=1)
                .in_sequence(&mut order)
                .withf(|organization, guid| *organization == ACME && guid.as_uuid() == numbered($number))
                .returning(move |_, _| Ok(name.map(str::to_owned)));
        };
    }
    expect!(expect_find_computer, registered.computer, 1);
    expect!(expect_find_device, registered.device, 2);
    expect!(expect_find_queue, registered.queue, 3);
    expect!(expect_find_job, registered.job, 4);
    fleet
}

fn service(logs: MockLogRepository, fleet: MockFleetDirectory) -> LogService {
    LogService::new(Arc::new(logs), Arc::new(fleet), Arc::new(FixedClock::new(at(5))))
}

fn input() -> AddLogInput {
    let text = |text: &str| Some(text.to_owned());
    AddLogInput {
        computer: text(COMPUTER),
        log_type: text("Configuration"),
        description: text("Ink is low"),
        device: text(DEVICE),
        queue: text(QUEUE),
        job: text(JOB),
        job_name: text("Poster"),
        rip_version: text("7.1.3"),
    }
}

fn command(input: AddLogInput) -> AddLog {
    AddLog::new(input).unwrap()
}

/// The entry that is stored of an input.
async fn stored(caller: &Caller, input: AddLogInput, registered: Registered) -> NewLogEntry {
    let (mut logs, asked) = (MockLogRepository::new(), Arc::new(Mutex::new(None)));
    let kept = Arc::clone(&asked);
    logs.expect_add().times(1).returning(move |organization, entry| {
        assert_eq!(organization, ACME);
        *kept.lock().unwrap() = Some(entry);
        Ok(())
    });
    service(logs, directory(registered)).add(caller, command(input)).await.unwrap();
    asked.lock().unwrap().take().unwrap()
}

/// The answer to an input that must not be stored.
async fn refused(input: AddLogInput, registered: Registered) -> Outcome<()> {
    service(MockLogRepository::new(), directory(registered)).add(&a_caller(ACME), command(input)).await
}

#[tokio::test]
async fn an_entry_is_stored_with_the_names_of_the_time_of_receipt() {
    // Decisions L4, L5, R7.
    let entry = stored(&a_caller(ACME), input(), ALL).await;
    assert_eq!(
        entry,
        NewLogEntry {
            received: at(5),
            log_type: LogType::Configuration,
            description: "Ink is low".to_owned(),
            user: "Ann".to_owned(),
            source: "Latex 1".to_owned(),
            version: "7.1.3".to_owned(),
            computer: "RIP-01".to_owned(),
            serial_number: "SN-1000".to_owned(),
            computer_guid: ComputerGuid::from(numbered(1)),
            device_guid: Some(numbered(2).into()),
            queue_guid: Some(numbered(3).into()),
            job_guid: Some(numbered(4).into()),
            job_name: Some("Poster".to_owned()),
            application_version: "9.0".to_owned(),
        }
    );
}

#[tokio::test]
async fn the_source_is_the_first_of_device_queue_job_name_and_job() {
    // Decision L4.
    let caller = a_caller(ACME);
    let mut left = input();
    let cases: [(&str, Member); 4] = [
        ("Latex 1", |input| &mut input.device),
        ("Banner", |input| &mut input.queue),
        ("Poster", |input| &mut input.job_name),
        ("Order 17", |input| &mut input.job),
    ];
    for (source, next) in cases {
        assert_eq!(stored(&caller, left.clone(), ALL).await.source, source);
        *next(&mut left) = None;
    }
    assert_eq!(stored(&caller, left, ALL).await.source, "");
}

#[tokio::test]
async fn the_version_is_that_of_the_rip_else_of_the_application() {
    // Decision L4.
    let caller = a_caller(ACME);
    for rip_version in [None, Some(String::new())] {
        let sent = AddLogInput { rip_version, ..input() };
        assert_eq!(stored(&caller, sent, ALL).await.version, "9.0");
    }
}

#[tokio::test]
async fn the_user_is_the_calling_one_else_that_of_the_calling_computer() {
    // Decision L4.
    let assigned = |user: Option<&str>| {
        let guid = ComputerGuid::from(numbered(9));
        Some(CallingComputer { guid, name: "RIP-09".to_owned(), user: user.map(str::to_owned) })
    };
    let by_key = a_caller(ACME);
    let both = Caller { computer: assigned(Some("Bob")), ..a_caller(ACME) };
    let by_hash = Caller { user: None, computer: assigned(Some("Bob")), ..a_caller(ACME) };
    let nobody = Caller { user: None, computer: assigned(None), ..a_caller(ACME) };
    for (caller, user) in [(by_key, "Ann"), (both, "Ann"), (by_hash, "Bob"), (nobody, "")] {
        let entry = stored(&caller, input(), ALL).await;
        assert_eq!(entry.user, user);
        assert_eq!(entry.computer, "RIP-01", "the computer that the entry names, not the calling one");
    }
}

#[tokio::test]
async fn the_first_unknown_record_answers() {
    // Decisions L2, O1.
    let cases = [
        (Registered { computer: None, device: None, queue: None, job: None }, Reason::ComputerNotFound),
        (Registered { device: None, queue: None, job: None, ..ALL }, Reason::DeviceNotFound),
        (Registered { queue: None, job: None, ..ALL }, Reason::QueueNotFound),
        (Registered { job: None, ..ALL }, Reason::JobNotFound),
    ];
    for (registered, answer) in cases {
        assert_eq!(reason(refused(input(), registered).await), answer);
    }
}

#[tokio::test]
async fn a_malformed_reference_is_not_found() {
    // Decisions R7, R9.
    let references: [(&str, Member, Reason); 4] = [
        ("ComputerGUID", |input| &mut input.computer, Reason::ComputerNotFound),
        ("DeviceGUID", |input| &mut input.device, Reason::DeviceNotFound),
        ("QueueGUID", |input| &mut input.queue, Reason::QueueNotFound),
        ("JobGUID", |input| &mut input.job, Reason::JobNotFound),
    ];
    for (name, member, answer) in references {
        let with = |text: &str| {
            let mut input = input();
            *member(&mut input) = Some(text.to_owned());
            input
        };
        let malformed =
            ["x", "0", "00000000-0000-0000-0000-000000000001\0", "{00000000-0000-0000-0000-000000000001", "[\"x\"]"];
        for malformed in malformed {
            assert_eq!(reason(refused(with(malformed), ALL).await), answer, "{name}: {malformed:?}");
        }
        let detail = detail(refused(with("x"), ALL).await);
        assert_eq!(detail, format!("{name} \"x\" is not registered"), "decision R11");
    }
}

#[tokio::test]
async fn an_entry_is_accepted_only_once_it_is_stored() {
    // Decision L9.
    let mut logs = MockLogRepository::new();
    logs.expect_add().times(1).returning(|_, _| Err(StoreError::unavailable("the disk is full")));
    let outcome = service(logs, directory(ALL)).add(&a_caller(ACME), command(input())).await;
    assert!(is_store_failure(&outcome));
}

#[tokio::test]
async fn a_directory_that_is_down_makes_no_record_unknown() {
    // Decision R4.
    let mut fleet = MockFleetDirectory::new();
    fleet.expect_find_computer().returning(|_, _| Err(StoreError::unavailable("no route")));
    let outcome = service(MockLogRepository::new(), fleet).add(&a_caller(ACME), command(input())).await;
    assert!(is_store_failure(&outcome));
}

#[tokio::test]
async fn a_list_is_asked_for_within_the_callers_organization() {
    // Interface 4.9.
    let mut logs = MockLogRepository::new();
    let wanted = LogFilter { computer: Some(Pattern::new("rip-*")), ..LogFilter::default() };
    logs.expect_list()
        .times(1)
        .withf(move |organization, filter| *organization == ACME && *filter == wanted)
        .returning(|_, _| {
            let empty = String::new();
            let entry = ListedLogEntry {
                user: empty.clone(),
                source: empty.clone(),
                version: empty.clone(),
                computer: empty,
                description: "Ink is low".to_owned(),
            };
            stream::iter([Ok(entry), Err(StoreError::unavailable("the connection broke"))]).boxed()
        });
    let service = service(logs, MockFleetDirectory::new());
    let filter = LogFilter { computer: Some(Pattern::new("RIP-*")), ..LogFilter::default() };
    let listed: Vec<_> = service.list(&a_caller(ACME), filter).collect().await;
    assert_eq!(listed[0].as_ref().unwrap().description, "Ink is low");
    assert!(listed[1].is_err(), "a failure within the stream reaches the reader");
}
