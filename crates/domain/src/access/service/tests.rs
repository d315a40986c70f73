//! Decisions A1–A9, with the messages of both surfaces.

use super::*;
use crate::access::MockCredentialDirectory;
use crate::caller::{CallingComputer, OrganizationId};
use crate::error::{Failure, Refusal, StoreError};
use crate::guid::ComputerGuid;
use crate::testing::numbered;

const ACME: OrganizationId = OrganizationId(1);
const ZENITH: OrganizationId = OrganizationId(2);

/// Acme has the user Ann with the key `ann-key` and the computer `acme-hash`, `SN-1`; Zenith has Zoe
/// with `zoe-key` and the computer `zenith-hash`, `SN-2`.
fn directory() -> MockCredentialDirectory {
    let mut directory = MockCredentialDirectory::new();
    directory.expect_find_key_holder().returning(|digest| {
        let holder = |organization, name: &str, user: &str| KeyHolder {
            organization,
            organization_name: name.to_owned(),
            user: user.to_owned(),
        };
        let keys = [("ann-key", holder(ACME, "Acme", "Ann")), ("zoe-key", holder(ZENITH, "Zenith", "Zoe"))];
        Ok(keys.into_iter().find(|(key, _)| CredentialDigest::of(key) == digest).map(|(_, holder)| holder))
    });
    directory.expect_find_computer().returning(|digest| {
        let hashes =
            [("acme-hash", computer(ACME, "Acme", "SN-1")), ("zenith-hash", computer(ZENITH, "Zenith", "SN-2"))];
        Ok(hashes.into_iter().find(|(hash, _)| CredentialDigest::of(hash) == digest).map(|(_, computer)| computer))
    });
    directory
}

fn computer(organization: OrganizationId, name: &str, serial_number: &str) -> RegisteredComputer {
    RegisteredComputer {
        organization,
        organization_name: name.to_owned(),
        computer: CallingComputer {
            guid: ComputerGuid::from(numbered(7)),
            name: format!("RIP of {name}"),
            user: Some("Assigned".to_owned()),
        },
        serial_number: Folded::of(serial_number),
    }
}

/// One value for each header; an empty one is not sent.
fn sent(mis_key: &str, hardware_hash: &str, serial_number: &str, application_version: &str) -> SentCredentials {
    let header = |value: &str| if value.is_empty() { Vec::new() } else { vec![value.to_owned()] };
    SentCredentials {
        mis_key: header(mis_key),
        hardware_hash: header(hardware_hash),
        serial_number: header(serial_number),
        application_version: header(application_version),
    }
}

async fn admit_with(
    directory: MockCredentialDirectory,
    sent: &SentCredentials,
    messages: CredentialMessages,
) -> Result<Caller, Refusal> {
    match AccessService::new(Arc::new(directory)).authenticate(sent, messages).await {
        Ok(caller) => Ok(caller),
        Err(AuthenticationFailure { failure: Failure::Refused(refusal), .. }) => Err(refusal),
        Err(AuthenticationFailure { failure: Failure::Store(error), .. }) => panic!("{error}"),
    }
}

async fn admit(sent: &SentCredentials, messages: CredentialMessages) -> Result<Caller, Refusal> {
    admit_with(directory(), sent, messages).await
}

async fn reason(sent: &SentCredentials, messages: CredentialMessages) -> Option<Reason> {
    admit(sent, messages).await.err().map(|refusal| refusal.reason)
}

/// Decision A1: a MisKey identifies a user of one organization; decision A3: with it the
/// SerialNumber is recorded, not checked.
#[tokio::test]
async fn a_key_admits_its_user() {
    for messages in [CredentialMessages::Common, CredentialMessages::CrashReport] {
        let caller = admit(&sent("ann-key", "", "any serial", "9.0"), messages).await.unwrap();
        let expected = Caller {
            organization: ACME,
            organization_name: "Acme".to_owned(),
            user: Some("Ann".to_owned()),
            computer: None,
            serial_number: "any serial".to_owned(),
            application_version: "9.0".to_owned(),
        };
        assert_eq!(caller, expected);
    }
}

/// Decision A1: a HardwareHash with its SerialNumber identifies a computer.
#[tokio::test]
async fn a_hardware_hash_admits_its_computer() {
    for messages in [CredentialMessages::Common, CredentialMessages::CrashReport] {
        let caller = admit(&sent("", "zenith-hash", "SN-2", "9.0"), messages).await.unwrap();
        assert_eq!((caller.organization, caller.organization_name.as_str()), (ZENITH, "Zenith"));
        assert_eq!(caller.user, None);
        assert_eq!(caller.computer, Some(computer(ZENITH, "Zenith", "SN-2").computer));
        assert_eq!(caller.user_name(), "Assigned");
    }
}

/// Decision A4: the caller is that user at that computer.
#[tokio::test]
async fn both_credentials_admit_the_user_at_the_computer() {
    for messages in [CredentialMessages::Common, CredentialMessages::CrashReport] {
        let caller = admit(&sent("ann-key", "acme-hash", "SN-1", "9.0"), messages).await.unwrap();
        assert_eq!(caller.organization, ACME);
        assert_eq!(caller.user_name(), "Ann");
        assert_eq!(caller.computer, Some(computer(ACME, "Acme", "SN-1").computer));
    }
}

/// Decision A2: one messages for whatever is missing, before anything is looked up.
#[tokio::test]
async fn missing_headers_are_answered_before_invalid_ones() {
    let missing = [
        (sent("", "", "", ""), "missing or empty: MisKey or HardwareHash, SerialNumber, ApplicationVersion"),
        (sent("", "", "SN-1", "9.0"), "missing or empty: MisKey or HardwareHash"),
        (sent("ann-key", "", "", "9.0"), "missing or empty: SerialNumber"),
        (sent("", "acme-hash", "", "9.0"), "missing or empty: SerialNumber"),
        (sent("ann-key", "", "SN-1", ""), "missing or empty: ApplicationVersion"),
        (sent("ann-key", "", " ", "\t"), "missing or empty: SerialNumber, ApplicationVersion"),
        (sent("unknown", "unknown", "SN-1", ""), "missing or empty: ApplicationVersion"),
        (sent(" ", ",", "SN-1", "9.0"), "missing or empty: MisKey or HardwareHash"),
    ];
    for (sent, detail) in missing {
        // A fake without expectations panics where it is asked.
        let refusal = admit_with(MockCredentialDirectory::new(), &sent, CredentialMessages::Common).await.unwrap_err();
        assert_eq!((refusal.reason, refusal.detail.as_str()), (Reason::HeadersRequired, detail));
    }
}

/// Decision A3.
#[tokio::test]
async fn unknown_credentials_are_invalid() {
    let invalid = [
        (sent("unknown", "", "SN-1", "9.0"), Reason::MisKeyInvalid),
        (sent("ANN-KEY", "", "SN-1", "9.0"), Reason::MisKeyInvalid),
        (sent("acme-hash", "", "SN-1", "9.0"), Reason::MisKeyInvalid),
        (sent("", "unknown", "SN-1", "9.0"), Reason::HardwareHashInvalid),
        (sent("", "ann-key", "SN-1", "9.0"), Reason::HardwareHashInvalid),
        (sent("", "acme-hash", "SN-2", "9.0"), Reason::HardwareHashInvalid),
        (sent("", "acme-hash", "SN-", "9.0"), Reason::HardwareHashInvalid),
    ];
    for (sent, expected) in invalid {
        assert_eq!(reason(&sent, CredentialMessages::Common).await, Some(expected), "{sent:?}");
    }
}

/// For the operator; the answer is the same as to everybody (decision A9).
#[tokio::test]
async fn a_known_hardware_hash_that_admits_nobody_names_its_computer() {
    let acme = ClaimedComputer { organization: ACME, guid: ComputerGuid::from(numbered(7)) };
    let zenith = ClaimedComputer { organization: ZENITH, ..acme };
    let mut serials = sent("", "acme-hash", "SN-1", "9.0");
    serials.serial_number.push("SN-2".to_owned());
    let refused = [
        (sent("", "acme-hash", "SN-2", "9.0"), Some(acme)),
        (sent("ann-key", "acme-hash", "SN-2", "9.0"), Some(acme)),
        (sent("zoe-key", "acme-hash", "SN-2", "9.0"), Some(acme)),
        (sent("ann-key", "zenith-hash", "SN-2", "9.0"), Some(zenith)),
        (serials, Some(acme)),
        (sent("", "unknown", "SN-1", "9.0"), None),
        (sent("ann-key", "unknown", "SN-1", "9.0"), None),
        (sent("", "acme-hash,unknown", "SN-1", "9.0"), None),
        // What is missing is answered before anything is looked up.
        (sent("", "acme-hash", "", "9.0"), None),
    ];
    let service = AccessService::new(Arc::new(directory()));
    for (sent, computer) in refused {
        for messages in [CredentialMessages::Common, CredentialMessages::CrashReport] {
            assert_eq!(service.authenticate(&sent, messages).await.unwrap_err().computer, computer, "{sent:?}");
        }
    }
    let unknown_key =
        service.authenticate(&sent("unknown", "acme-hash", "SN-1", "9.0"), CredentialMessages::Common).await;
    assert_eq!(unknown_key.unwrap_err().computer, None, "nothing is looked up after an invalid MisKey");
}

/// Decision A4: MisKey is checked first, then the HardwareHash, which has to be of the same
/// organization.
#[tokio::test]
async fn of_two_credentials_both_have_to_be_valid() {
    let invalid = [
        (sent("unknown", "unknown", "SN-1", "9.0"), Reason::MisKeyInvalid),
        (sent("unknown", "acme-hash", "SN-1", "9.0"), Reason::MisKeyInvalid),
        (sent("ann-key", "unknown", "SN-1", "9.0"), Reason::HardwareHashInvalid),
        (sent("ann-key", "acme-hash", "SN-2", "9.0"), Reason::HardwareHashInvalid),
        (sent("ann-key", "zenith-hash", "SN-2", "9.0"), Reason::HardwareHashInvalid),
    ];
    for (sent, expected) in invalid {
        assert_eq!(reason(&sent, CredentialMessages::Common).await, Some(expected), "{sent:?}");
    }
}

/// Decision A5: each missing header by its own, in this order, before an invalid one.
#[tokio::test]
async fn a_crash_report_names_each_missing_header() {
    let missing = [
        (sent("", "", "", ""), RequiredHeader::HardwareHash),
        (sent("", "", "SN-1", "9.0"), RequiredHeader::HardwareHash),
        (sent("unknown", "", "SN-1", "9.0"), RequiredHeader::HardwareHash),
        (sent("unknown", "", "", ""), RequiredHeader::HardwareHash),
        (sent("", "acme-hash", "", ""), RequiredHeader::SerialNumber),
        (sent("", "unknown", "", "9.0"), RequiredHeader::SerialNumber),
        (sent("ann-key", "", "", ""), RequiredHeader::SerialNumber),
        (sent("", "acme-hash", "SN-1", ""), RequiredHeader::ApplicationVersion),
        (sent("ann-key", "unknown", "SN-1", " "), RequiredHeader::ApplicationVersion),
    ];
    for (sent, header) in missing {
        let refusal = admit(&sent, CredentialMessages::CrashReport).await.unwrap_err();
        assert_eq!(refusal.reason, Reason::CrashHeaderRequired(header), "{sent:?}");
        assert!(refusal.detail.as_str().starts_with("missing or empty: "), "{}", refusal.detail);
    }
}

/// Decision A5.
#[tokio::test]
async fn a_crash_report_with_an_invalid_hardware_hash_is_refused() {
    let invalid = [
        sent("", "unknown", "SN-1", "9.0"),
        sent("", "acme-hash", "SN-2", "9.0"),
        sent("unknown", "unknown", "SN-1", "9.0"),
        // A valid MisKey doesn't make up for it, and both have to be of one organization.
        sent("ann-key", "unknown", "SN-1", "9.0"),
        sent("ann-key", "zenith-hash", "SN-2", "9.0"),
    ];
    for sent in invalid {
        assert_eq!(
            reason(&sent, CredentialMessages::CrashReport).await,
            Some(Reason::CrashHardwareHashInvalid),
            "{sent:?}"
        );
    }
}

/// Decision A5: an invalid MisKey with a valid HardwareHash is ignored, and so is one sent with
/// different values.
#[tokio::test]
async fn a_crash_report_ignores_an_invalid_key_beside_a_valid_hardware_hash() {
    let mut twice = sent("ann-key", "acme-hash", "SN-1", "9.0");
    twice.mis_key.push("zoe-key".to_owned());
    for sent in [sent("unknown", "acme-hash", "SN-1", "9.0"), twice] {
        let caller = admit(&sent, CredentialMessages::CrashReport).await.unwrap();
        assert_eq!((caller.organization, caller.user), (ACME, None));
        assert!(caller.computer.is_some());
    }
}

/// Decisions A7, R14.
#[tokio::test]
async fn a_serial_number_is_compared_without_case() {
    let mut directory = MockCredentialDirectory::new();
    directory.expect_find_computer().returning(|_| Ok(Some(computer(ACME, "Acme", "Größe-ss"))));
    let caller = admit_with(directory, &sent("", "acme-hash", "GRO\u{308}SSE-ß", "9.0"), CredentialMessages::Common)
        .await
        .unwrap();
    // It is recorded as it was sent.
    assert_eq!(caller.serial_number, "GRO\u{308}SSE-ß");
}

/// Decision A7: any text, cut beyond 64 characters; sent several times, the first counts.
#[tokio::test]
async fn an_application_version_is_never_refused() {
    let long = "ü".repeat(65);
    let versions = [
        (vec![long.as_str()], "ü".repeat(64)),
        (vec!["1.0, beta"], "1.0, beta".to_owned()),
        (vec!["", " 2.0 ", "3.0"], "2.0".to_owned()),
        (vec!["?"], "?".to_owned()),
    ];
    for (sent_versions, expected) in versions {
        let mut sent = sent("ann-key", "", "SN-1", "");
        sent.application_version = sent_versions.iter().map(|version| (*version).to_owned()).collect();
        assert_eq!(admit(&sent, CredentialMessages::Common).await.unwrap().application_version, expected);
    }
}

/// Decision A8: one value repeated counts once, in lines or joined by commas.
#[tokio::test]
async fn a_credential_repeated_with_one_value_counts_once() {
    let mut sent = sent("ann-key, ann-key", "acme-hash", " SN-1 ", "9.0");
    sent.hardware_hash.push("acme-hash".to_owned());
    sent.serial_number.push("SN-1,SN-1".to_owned());
    let caller = admit(&sent, CredentialMessages::Common).await.unwrap();
    assert_eq!((caller.user.as_deref(), caller.serial_number.as_str()), (Some("Ann"), "SN-1"));
}

/// Decision A8: different values are invalid, even where one of them would be valid.
#[tokio::test]
async fn a_credential_sent_with_different_values_is_invalid() {
    let valid = || sent("ann-key", "acme-hash", "SN-1", "9.0");
    let mut keys = valid();
    keys.mis_key.push("other".to_owned());
    assert_eq!(reason(&keys, CredentialMessages::Common).await, Some(Reason::MisKeyInvalid));
    keys.mis_key = vec!["ann-key,other".to_owned()];
    assert_eq!(reason(&keys, CredentialMessages::Common).await, Some(Reason::MisKeyInvalid));
    let mut hashes = valid();
    hashes.hardware_hash.push("other".to_owned());
    let mut serials = valid();
    serials.serial_number.push("SN-2".to_owned());
    for sent in [hashes, serials] {
        assert_eq!(reason(&sent, CredentialMessages::Common).await, Some(Reason::HardwareHashInvalid));
        assert_eq!(reason(&sent, CredentialMessages::CrashReport).await, Some(Reason::CrashHardwareHashInvalid));
    }
}

/// Decision A8: with a MisKey alone the first SerialNumber counts.
#[tokio::test]
async fn with_a_key_alone_the_first_serial_number_counts() {
    for (first, second) in [("SN-1", "SN-2"), ("SN-1, SN-2", ""), ("SN-1,SN-2", "SN-3")] {
        let mut sent = sent("ann-key", "", first, "9.0");
        sent.serial_number.push(second.to_owned());
        for messages in [CredentialMessages::Common, CredentialMessages::CrashReport] {
            assert_eq!(admit(&sent, messages).await.unwrap().serial_number, "SN-1");
        }
    }
}

/// Decision A9: no detail shows a credential.
#[tokio::test]
async fn a_detail_never_shows_a_credential() {
    let mut twice = sent("secret-key", "secret-hash", "SN-1", "9.0");
    twice.mis_key.push("secret-other".to_owned());
    twice.hardware_hash.push("secret-other".to_owned());
    let refused = [
        sent("secret-key", "", "SN-1", "9.0"),
        sent("secret-key", "secret-hash", "", "9.0"),
        sent("", "secret-hash", "SN-1", "9.0"),
        sent("ann-key", "zenith-hash", "SN-2", "9.0"),
        sent("", "acme-hash", "SN-9", "9.0"),
        twice,
    ];
    for sent in refused {
        for messages in [CredentialMessages::Common, CredentialMessages::CrashReport] {
            let detail = admit(&sent, messages).await.unwrap_err().detail.to_string();
            for credential in ["secret", "ann-key", "-hash", "SN-"] {
                assert!(!detail.contains(credential), "{detail}");
            }
        }
    }
}

/// Decision R4: a directory that fails is our fault, not the caller's.
#[tokio::test]
async fn a_failing_directory_is_a_store_failure() {
    for messages in [CredentialMessages::Common, CredentialMessages::CrashReport] {
        let mut directory = MockCredentialDirectory::new();
        directory.expect_find_key_holder().returning(|_| Err(StoreError::other("down")));
        directory.expect_find_computer().returning(|_| Err(StoreError::other("down")));
        let service = AccessService::new(Arc::new(directory));
        for sent in [sent("ann-key", "", "SN-1", "9.0"), sent("", "acme-hash", "SN-1", "9.0")] {
            assert!(matches!(
                service.authenticate(&sent, messages).await,
                Err(AuthenticationFailure { failure: Failure::Store(_), .. })
            ));
        }
    }
}

/// An overloaded directory says nothing about the credentials: it must not count as a failed authentication.
#[tokio::test]
async fn an_overloaded_directory_is_no_wrong_credential() {
    let mut directory = MockCredentialDirectory::new();
    directory.expect_find_key_holder().returning(|_| Err(StoreError::Overloaded));
    let service = AccessService::new(Arc::new(directory));
    let refused = service.authenticate(&sent("ann-key", "", "SN-1", "9.0"), CredentialMessages::Common).await;
    assert!(!refused.expect_err("the directory is overloaded").is_wrong());
}

/// Decisions A2–A5: every combination of headers, against the rules as they are worded.
#[tokio::test]
async fn every_combination_is_answered_as_the_rules_are_worded() {
    let (keys, hashes) = (["", "ann-key", "zoe-key", "unknown"], ["", "acme-hash", "zenith-hash", "unknown"]);
    let (serials, versions) = (["", "SN-1", "SN-2", "SN-3"], ["", "9.0"]);
    let combinations = keys.into_iter().flat_map(|key| {
        hashes.into_iter().flat_map(move |hash| {
            serials
                .into_iter()
                .flat_map(move |serial| versions.into_iter().map(move |version| (key, hash, serial, version)))
        })
    });
    for (key, hash, serial, version) in combinations {
        let of_key = match key {
            "ann-key" => Some(ACME),
            "zoe-key" => Some(ZENITH),
            _ => None,
        };
        let of_hash = match (hash, serial) {
            ("acme-hash", "SN-1") => Some(ACME),
            ("zenith-hash", "SN-2") => Some(ZENITH),
            _ => None,
        };
        let one_organization = of_key.is_none() || of_key == of_hash;
        let common = if key.is_empty() && hash.is_empty() || serial.is_empty() || version.is_empty() {
            Some(Reason::HeadersRequired)
        } else if !key.is_empty() && of_key.is_none() {
            Some(Reason::MisKeyInvalid)
        } else if !hash.is_empty() && (of_hash.is_none() || !one_organization) {
            Some(Reason::HardwareHashInvalid)
        } else {
            None
        };
        let crash_report = if hash.is_empty() && of_key.is_none() {
            Some(Reason::CrashHeaderRequired(RequiredHeader::HardwareHash))
        } else if serial.is_empty() {
            Some(Reason::CrashHeaderRequired(RequiredHeader::SerialNumber))
        } else if version.is_empty() {
            Some(Reason::CrashHeaderRequired(RequiredHeader::ApplicationVersion))
        } else if !hash.is_empty() && (of_hash.is_none() || !one_organization) {
            Some(Reason::CrashHardwareHashInvalid)
        } else {
            None
        };
        let sent = sent(key, hash, serial, version);
        for (messages, expected) in
            [(CredentialMessages::Common, common), (CredentialMessages::CrashReport, crash_report)]
        {
            match admit(&sent, messages).await {
                Ok(caller) => {
                    assert_eq!(expected, None, "{key} {hash} {serial} {version}");
                    assert_eq!(Some(caller.organization), of_hash.or(of_key));
                }
                Err(refusal) => assert_eq!(Some(refusal.reason), expected, "{key} {hash} {serial} {version}"),
            }
        }
    }
}
