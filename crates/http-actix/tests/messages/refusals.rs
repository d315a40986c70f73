//! Which refusals are handed over to be kept, and what they say (decisions R11, A9).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::support::bodies::{GUID, add_label};
use super::support::{ACME, Connection, Options, Request, Server};
use domain::refusal::{CredentialKind, NewRefusal, Owner};
use domain::testing::{ACME_HASH, ACME_SERIAL, ANN_KEY, acme_records};
use http_actix::RefusalSink;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<NewRefusal>>>);

impl RefusalSink for Kept {
    fn record(&self, refusal: NewRefusal) {
        self.0.lock().unwrap().push(refusal);
    }
}

impl Kept {
    /// The one refusal since the last call.
    #[track_caller]
    fn one(&self) -> NewRefusal {
        let kept = std::mem::take(&mut *self.0.lock().unwrap());
        assert_eq!(kept.len(), 1, "{kept:?}");
        kept.into_iter().next().unwrap()
    }

    #[track_caller]
    fn none(&self) {
        assert_eq!(*self.0.lock().unwrap(), []);
    }
}

fn server() -> (Server, Kept) {
    let kept = Kept::default();
    let refusals: Option<Arc<dyn RefusalSink>> = Some(Arc::new(kept.clone()));
    (Server::with(Options { refusals, ..Options::default() }), kept)
}

#[test]
fn a_refused_caller_is_kept_under_its_organization_with_what_it_was_told() {
    let (server, kept) = server();
    let unknown = format!("/api/v2/resource/{GUID}");
    let reply = server.send(Request::get(&unknown).header("X-Request-Id", "the-id"));
    let refusal = kept.one();
    assert_eq!(refusal.owner, Owner::Organization(ACME));
    assert_eq!((refusal.operation.as_str(), refusal.status), ("get_file", 404));
    assert_eq!((refusal.reason.as_str(), refusal.request_id.as_str()), ("resource_not_found", "the-id"));
    assert_eq!(refusal.detail, reply.detail());
    assert_eq!((refusal.credential, refusal.user.as_deref()), (CredentialKind::MisKey, Some("Ann")));
    assert_eq!((refusal.computer, refusal.address.as_deref()), (None, Some("127.0.0.1")));
    assert_eq!((refusal.serial_number.as_str(), refusal.application_version.as_str()), ("SN-7", "9.1"));

    let on_computer =
        Request::get(&unknown).without("MisKey").header("HardwareHash", ACME_HASH).header("SerialNumber", ACME_SERIAL);
    assert_eq!(server.send(on_computer).status, 404);
    let refusal = kept.one();
    assert_eq!((refusal.credential, refusal.computer), (CredentialKind::HardwareHash, Some(acme_records().computer)));
    assert_eq!((refusal.serial_number.as_str(), refusal.named), (ACME_SERIAL, None));
}

#[test]
fn a_computer_whose_hash_was_sent_with_another_serial_number_is_named_and_the_client_not_told() {
    // Decision A9: the answer to a known hash is that to an unknown one, but for the particulars of decision R11.
    let (server, kept) = server();
    let guess = |hash: &str| {
        let request = Request::get("/api/v2").without("MisKey").header("HardwareHash", hash);
        server.send(request.header("SerialNumber", "SN-elsewhere").header("ApplicationVersion", "9.5"))
    };
    let output = guess(ACME_HASH);
    output.assert_error(401, "Invalid HardwareHash");
    assert_eq!(output.detail(), "HardwareHash is registered under another SerialNumber");
    let refusal = kept.one();
    assert_eq!(refusal.owner, Owner::Address("127.0.0.1".to_owned()));
    assert_eq!((refusal.computer, refusal.named), (Some(acme_records().computer), Some(ACME)));
    assert_eq!((refusal.serial_number.as_str(), refusal.application_version.as_str()), ("SN-elsewhere", "9.5"));
    assert_eq!((refusal.user.as_deref(), refusal.credential), (None, CredentialKind::HardwareHash));
    assert!(!format!("{refusal:?}").contains(ACME_HASH), "{refusal:?}");

    let unknown = guess("nobody's-hash");
    unknown.assert_error(401, "Invalid HardwareHash");
    assert_eq!(unknown.body, output.body);
    let refusal = kept.one();
    assert_eq!((refusal.computer, refusal.named), (None, None));
    assert_eq!((refusal.serial_number.as_str(), refusal.application_version.as_str()), ("SN-elsewhere", "9.5"));
}

#[test]
fn a_caller_whose_organization_is_not_known_is_kept_under_its_address_without_its_credential() {
    // Decision A9.
    let (server, kept) = server();
    let wrong = "wrong-key-0123456789";
    assert_eq!(server.send(Request::get("/api/v2").header("MisKey", wrong)).status, 401);
    let refusal = kept.one();
    assert_eq!(refusal.owner, Owner::Address("127.0.0.1".to_owned()));
    assert_eq!((refusal.reason.as_str(), refusal.credential), ("mis_key_invalid", CredentialKind::MisKey));
    assert!(!format!("{refusal:?}").contains(wrong), "{refusal:?}");

    assert_eq!(server.send(Request::get("/api/v2").anonymous()).status, 401);
    let refusal = kept.one();
    assert_eq!((refusal.reason.as_str(), refusal.credential), ("headers_required", CredentialKind::None));
    assert_eq!((refusal.serial_number.as_str(), refusal.application_version.as_str()), ("", ""));

    assert_eq!(server.send(Request::get("/api/v1/log")).status, 404);
    let refusal = kept.one();
    assert_eq!((refusal.reason.as_str(), refusal.operation.as_str()), ("path_unknown", "none"));
    assert_eq!((refusal.status, refusal.detail.as_str()), (404, "no operation has this path"));
    assert_eq!((refusal.serial_number.as_str(), refusal.application_version.as_str()), ("SN-7", "9.1"));
    assert!(!format!("{refusal:?}").contains(ANN_KEY), "{refusal:?}");
}

#[test]
fn what_is_no_refusal_is_not_kept() {
    let (server, kept) = server();
    assert_eq!(server.send(add_label(GUID, b"content")).status, 200);
    let range = Request::get(&format!("/api/v2/resource/{GUID}")).header("Range", "bytes=100-");
    assert_eq!(server.send(range).status, 416);
    let nothing = r#"{"ProfileGroup":"a","Media":"b","Mode":"c"}"#;
    assert_eq!(server.send(Request::post("/api/v2/resource/pmminfo").json(nothing)).status, 404);
    server.failing.credentials.set(true);
    assert_eq!(server.send(Request::get("/api/v2")).status, 500);
    // No client calls at the operators' listener.
    assert_eq!(Connection::open(server.ops).send(&Request::get("/nowhere")).status, 404);
    kept.none();
}

#[test]
fn what_an_address_is_refused_that_fails_without_end_is_not_kept() {
    // ADR 42: the failures before it are.
    let kept = Kept::default();
    let refusals: Option<Arc<dyn RefusalSink>> = Some(Arc::new(kept.clone()));
    let server = Server::with(Options { refusals, max_failed_authentications: 1, ..Options::default() });
    let guess = || Request::get("/api/v2").without("MisKey").header("MisKey", "guessed");
    server.send(guess()).assert_error(401, "Invalid MisKey");
    assert_eq!(kept.one().reason, "mis_key_invalid");
    server.send(guess()).assert_error(429, "Too Many Requests");
    kept.none();
}

#[test]
fn the_client_that_a_trusted_proxy_names_is_kept() {
    let kept = Kept::default();
    let refusals: Option<Arc<dyn RefusalSink>> = Some(Arc::new(kept.clone()));
    let trusted_proxies = vec![http_actix::parse_network("127.0.0.1").unwrap()];
    let server = Server::with(Options { refusals, trusted_proxies, ..Options::default() });
    let guess = Request::get("/api/v2").without("MisKey").header("MisKey", "guessed");
    server.send(guess.header("Forwarded", "for=\"[2001:db8::7]:4711\"")).assert_error(401, "Invalid MisKey");
    assert_eq!(kept.one().owner, Owner::Address("2001:db8::7".to_owned()));
}
