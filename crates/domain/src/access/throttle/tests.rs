//! Which clients have to wait.

use super::*;
use crate::caller::{CallingComputer, OrganizationId};
use crate::guid::ComputerGuid;
use crate::testing::{a_caller, at, numbered};
use core::net::Ipv4Addr;

const WINDOW: Duration = Duration::from_mins(1);

const SHOP: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 8));

fn key(key: &str) -> SentCredentials {
    SentCredentials { mis_key: vec![key.to_owned()], ..SentCredentials::default() }
}

/// A user, who sent a MisKey.
fn ann() -> Caller {
    a_caller(OrganizationId(1))
}

/// The key was sent and is not valid.
fn fail(throttle: &Throttle, client: IpAddr, now: Timestamp) -> bool {
    throttle.record(client, &key("wrong"), None, now)
}

/// A throttle of three failures a minute of which none is left to `SHOP`.
fn used_up() -> Throttle {
    let throttle = Throttle::new(3, WINDOW);
    for _ in 0..3 {
        assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(0)), None);
        fail(&throttle, SHOP, at(0));
    }
    throttle
}

#[test]
fn after_so_many_failures_a_client_waits_for_its_share_of_a_minute() {
    let throttle = used_up();
    assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(0)), Some(Duration::from_secs(20)));
    assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(15)), Some(Duration::from_secs(5)));
    assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(20)), None);
    fail(&throttle, SHOP, at(20));
    assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(20)), Some(Duration::from_secs(20)));
    assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(80)), None);
}

#[test]
fn others_do_not_wait() {
    assert_eq!(used_up().wait_time(OTHER, &key("wrong"), at(0)), None);
}

#[test]
fn a_credential_that_was_valid_lately_passes_beside_failing_ones() {
    let throttle = Throttle::new(3, WINDOW);
    let _ = throttle.record(SHOP, &key("ann"), Some(&ann()), at(0));
    for _ in 0..50 {
        fail(&throttle, SHOP, at(0));
    }
    assert_eq!(throttle.wait_time(SHOP, &key("ann"), at(0)), None);
    assert!(throttle.wait_time(SHOP, &key("wrong"), at(0)).is_some());
    let both = SentCredentials { hardware_hash: vec!["guessed".to_owned()], ..key("ann") };
    assert!(throttle.wait_time(SHOP, &both, at(0)).is_some(), "all that is sent must be known");
    let _ = throttle.record(SHOP, &key("ann"), None, at(0));
    assert!(throttle.wait_time(SHOP, &key("ann"), at(0)).is_some(), "a revoked one is forgotten");
}

#[test]
fn a_credential_that_is_valid_elsewhere_is_a_guess_like_any() {
    let throttle = used_up();
    let _ = throttle.record(OTHER, &key("ann"), Some(&ann()), at(0));
    assert_eq!(throttle.wait_time(OTHER, &key("ann"), at(0)), None);
    assert!(throttle.wait_time(SHOP, &key("ann"), at(0)).is_some());
}

#[test]
fn a_client_makes_up_for_what_was_under_way_together_too() {
    let throttle = Throttle::new(60, WINDOW);
    for _ in 0..90 {
        fail(&throttle, SHOP, at(0));
    }
    assert!(throttle.wait_time(SHOP, &key("wrong"), at(30)).is_some());
    assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(31)), None);
    for _ in 0..1000 {
        fail(&throttle, SHOP, at(31));
    }
    assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(31)), Some(WINDOW), "no client is asked to wait for longer");
    assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(31 + 62)), None, "what is made up for is bounded");
}

#[test]
fn a_valid_credential_counts_once_however_it_is_written() {
    let throttle = used_up();
    let written = |serials: &[&str], hashes: &[&str]| SentCredentials {
        hardware_hash: hashes.iter().map(|hash| (*hash).to_owned()).collect(),
        serial_number: serials.iter().map(|serial| (*serial).to_owned()).collect(),
        ..SentCredentials::default()
    };
    let computer = CallingComputer { guid: ComputerGuid::from(numbered(1)), name: "RIP-01".to_owned(), user: None };
    let caller = Caller { user: None, computer: Some(computer), ..ann() };
    let _ = throttle.record(SHOP, &written(&["SN-1"], &["valid"]), Some(&caller), at(0));
    assert_eq!(throttle.wait_time(SHOP, &written(&["sn-1"], &["valid, valid", "valid"]), at(0)), None);
    assert!(throttle.wait_time(SHOP, &written(&["SN-1"], &["VALID"]), at(0)).is_some());
}

#[test]
fn a_guess_beside_a_valid_credential_counts() {
    // Decision A5 passes over the invalid MisKey.
    let computer = CallingComputer { guid: ComputerGuid::from(numbered(1)), name: "RIP-01".to_owned(), user: None };
    let caller = Caller { user: None, computer: Some(computer), ..ann() };
    let throttle = Throttle::new(1, WINDOW);
    let sent = SentCredentials { hardware_hash: vec!["valid".to_owned()], ..key("guessed") };
    let hash = SentCredentials { mis_key: Vec::new(), ..sent.clone() };
    let _ = throttle.record(SHOP, &hash, Some(&caller), at(0));
    let _ = throttle.record(SHOP, &sent, Some(&caller), at(0));
    assert!(throttle.wait_time(SHOP, &sent, at(0)).is_some());
    assert_eq!(throttle.wait_time(SHOP, &hash, at(0)), None);
}

#[test]
fn a_request_without_credentials_neither_fails_nor_waits() {
    let throttle = Throttle::new(1, WINDOW);
    assert!(!throttle.record(SHOP, &SentCredentials::default(), None, at(0)));
    assert_eq!(throttle.wait_time(SHOP, &key("any"), at(0)), None);
    fail(&throttle, SHOP, at(0));
    assert!(throttle.wait_time(SHOP, &key("any"), at(0)).is_some());
    assert_eq!(throttle.wait_time(SHOP, &SentCredentials::default(), at(0)), None);
}

#[test]
fn a_serial_number_is_guessed_no_faster_than_a_hash() {
    let throttle = Throttle::new(1, WINDOW);
    let computer = CallingComputer { guid: ComputerGuid::from(numbered(1)), name: "RIP-01".to_owned(), user: None };
    let caller = Caller { user: None, computer: Some(computer), ..ann() };
    let sent = |serial: &str| SentCredentials {
        hardware_hash: vec!["valid".to_owned()],
        serial_number: vec![serial.to_owned()],
        ..SentCredentials::default()
    };
    assert!(!throttle.record(SHOP, &sent("SN-1"), Some(&caller), at(0)));
    fail(&throttle, SHOP, at(0));
    assert_eq!(throttle.wait_time(SHOP, &sent("SN-1"), at(0)), None);
    assert!(throttle.wait_time(SHOP, &sent("SN-2"), at(0)).is_some());
}

#[test]
fn the_log_is_warned_once_in_a_window_that_no_attempt_is_left() {
    let throttle = Throttle::new(3, WINDOW);
    let warnings = [0, 0, 0, 0, 30, 59, 60, 90].map(|second| fail(&throttle, SHOP, at(second)));
    assert_eq!(warnings, [false, false, true, false, false, false, true, false]);
}

#[test]
fn zero_throttles_nobody() {
    let throttle = Throttle::new(0, WINDOW);
    for _ in 0..1000 {
        fail(&throttle, SHOP, at(0));
    }
    assert_eq!(throttle.wait_time(SHOP, &key("wrong"), at(0)), None);
}

#[test]
fn a_clock_that_is_set_back_keeps_nobody_waiting_for_long() {
    let throttle = used_up();
    let wait = throttle.wait_time(SHOP, &key("wrong"), at(-86_400));
    assert!(wait.is_some_and(|wait| wait <= WINDOW), "{wait:?}");
}

#[test]
fn the_addresses_of_one_network_are_one_client() {
    let throttle = Throttle::new(1, WINDOW);
    fail(&throttle, "2001:db8::1".parse().unwrap(), at(0));
    assert!(throttle.wait_time("2001:db8::ffff:1".parse().unwrap(), &key("wrong"), at(0)).is_some());
    assert_eq!(throttle.wait_time("2001:db8:0:1::1".parse().unwrap(), &key("wrong"), at(0)), None);
    fail(&throttle, SHOP, at(0));
    assert!(throttle.wait_time("::ffff:192.0.2.7".parse().unwrap(), &key("wrong"), at(0)).is_some());
}

#[test]
fn what_is_remembered_is_bounded() {
    let throttle = Throttle::new(1, WINDOW);
    for number in 0..3 * u32::try_from(MAX_CLIENTS).unwrap() {
        fail(&throttle, IpAddr::V4(Ipv4Addr::from_bits(number)), at(0));
    }
    for number in 0..3 * MAX_VALID {
        let _ = throttle.record(SHOP, &key(&number.to_string()), Some(&ann()), at(0));
    }
    let state = throttle.lock();
    assert!(state.failed.len() <= MAX_CLIENTS);
    assert!(state.valid.len() <= MAX_VALID && state.valid_before.len() <= MAX_VALID);
}

#[test]
fn a_client_that_has_failed_much_is_not_forgotten_over_many_that_failed_once() {
    let throttle = used_up();
    for number in 0..4 * u32::try_from(MAX_CLIENTS).unwrap() {
        fail(&throttle, IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + number)), at(0));
    }
    assert!(throttle.wait_time(SHOP, &key("wrong"), at(0)).is_some());
}
