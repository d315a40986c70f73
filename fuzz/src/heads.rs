//! Heads of requests: who calls, and what of a file is asked for.

use crate::split_first;
use domain::access::{AccessService, CredentialMessages};
use domain::checksum::Sha1Checksum;
use domain::error::Failure;
use domain::fleet::FleetRegistry;
use domain::testing::{ACME, ACME_HASH, ANN_KEY, BOB_KEY, InMemoryStore, ZENITH, ZENITH_HASH, ZOE_KEY, a_fleet, at};
use domain::timestamp::Timestamp;
use futures_executor::block_on;
use http_actix::fuzzing::{Answered, Head};
use http_actix::parse_network;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, LazyLock};

/// The checksum of the file that is asked for, as it is answered.
static CHECKSUM: LazyLock<Sha1Checksum> =
    LazyLock::new(|| Sha1Checksum::parse("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").expect("it has forty digits"));

/// Nothing that is fuzzed here changes it.
static FLEET: LazyLock<Arc<InMemoryStore>> = LazyLock::new(|| {
    let store = InMemoryStore::new();
    block_on(store.apply(&a_fleet(), &[], at(0))).expect("the fleet of the tests is one");
    Arc::new(store)
});

/// Lines of a head; the first byte is the size of the file that is asked for.
pub fn headers(input: &[u8]) {
    let (size, lines) = split_first(input);
    let lines: Vec<&[u8]> = lines.split(|&byte| byte == b'\n').collect();
    let head = Head::read(lines.iter().copied());
    callers(&head);
    file(&head, size as u64);
    body(&head);
    client(&head);
    if let Some(moment) = head.joined("timestamp").as_deref().and_then(Timestamp::parse) {
        assert_eq!(Timestamp::parse(&moment.precise()), Some(moment));
        let twice = Head::read(lines.iter().chain(&lines).copied());
        assert_eq!(twice.joined("timestamp"), head.joined("timestamp"), "equal values count once");
    }
}

/// Decisions A1 to A9.
fn callers(head: &Head) {
    let sent = head.credentials();
    let shown = format!("{sent:?}");
    for secret in [ANN_KEY, BOB_KEY, ZOE_KEY] {
        let elsewhere = sent.serial_number.iter().chain(&sent.application_version);
        let is_elsewhere = elsewhere.into_iter().any(|value| value.contains(secret));
        assert!(is_elsewhere || !shown.contains(secret), "a credential is shown");
    }
    let access = AccessService::new(FLEET.clone());
    for messages in [CredentialMessages::Common, CredentialMessages::CrashReport] {
        match block_on(access.authenticate(&sent, messages)).map_err(|error| error.failure) {
            Ok(caller) => {
                let own: [&str; 3] = match caller.organization_name.as_str() {
                    ACME => [ANN_KEY, BOB_KEY, ACME_HASH],
                    ZENITH => [ZOE_KEY, ZOE_KEY, ZENITH_HASH],
                    other => panic!("{other} isn't registered"),
                };
                let mut values = sent.mis_key.iter().chain(&sent.hardware_hash);
                assert!(
                    values.any(|value| own.iter().any(|key| value.contains(key))),
                    "no caller is admitted without a key"
                );
                assert!(caller.user.is_some() || caller.computer.is_some());
                assert!(caller.application_version.chars().count() <= 64);
            }
            Err(Failure::Refused(refusal)) => {
                let detail = format!("{refusal:?}");
                assert!([ANN_KEY, BOB_KEY, ZOE_KEY].iter().all(|key| !detail.contains(key)), "a credential is shown");
            }
            Err(Failure::Store(error)) => panic!("answered 500: {error}"),
        }
    }
}

/// Decision T17.
fn file(head: &Head, size: u64) {
    let asked = head.answered(true, *CHECKSUM, at(0), size);
    match &asked {
        Answered::Part(range) => {
            assert!(head.has("range") && range.start < range.end && range.end <= size, "{range:?} of {size}");
            // Any other state of the file is answered whole where If-Range names this one.
            if head.has("if-range") && !head.has("if-match") && !head.has("if-unmodified-since") {
                assert_eq!(head.answered(true, Sha1Checksum::of(b"other"), at(1), size), Answered::Whole);
            }
        }
        Answered::Unsatisfiable => assert!(head.has("range")),
        Answered::NotModified => assert!(head.has("if-none-match") || head.has("if-modified-since")),
        Answered::PreconditionFailed => assert!(head.has("if-match") || head.has("if-unmodified-since")),
        Answered::Whole => {}
    }
    match head.answered(false, *CHECKSUM, at(0), size) {
        known @ (Answered::NotModified | Answered::PreconditionFailed) => assert_eq!(asked, known),
        other => assert_eq!(other, Answered::Whole, "HEAD knows no ranges"),
    }
}

/// Decisions R6, R10, T12, C5.
fn body(head: &Head) {
    if let Some(boundary) = head.boundary() {
        assert!((1..=200).contains(&boundary.len()), "a boundary of {} bytes", boundary.len());
        assert!(!head.is_json());
        let quoted = boundary.replace('\\', "\\\\").replace('"', "\\\"");
        let line = format!("content-type: multipart/form-data; x=\"boundary=no;\"; boundary=\"{quoted}\"");
        assert_eq!(Head::read([line.as_bytes()]).boundary(), Some(boundary), "{line}");
    }
    let _ = head.coding();
    assert!(head.format().contains("; charset=utf-8"));
}

/// What a client says of itself counts only where a trusted proxy hands it on.
fn client(head: &Head) {
    let peer = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
    let [proxy, other] = ["192.0.2.7", "198.51.100.0/24"].map(|text| parse_network(text).expect("an address"));
    assert_eq!(head.client(peer, &[]), peer);
    assert_eq!(head.client(peer, &[other]), peer);
    let named = head.client(peer, &[proxy]);
    assert!(named == peer || head.has("x-forwarded-for") || head.has("forwarded"), "{named}");
}
