//! Decisions A1, A8 and A9.

use super::*;
use proptest::prelude::*;

fn values(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

/// Decision A1: credentials are stored as SHA-256 digests only; the vector is that of FIPS 180.
#[test]
fn a_digest_is_the_sha256_of_the_credential() {
    let expected = [
        0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03,
        0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
    ];
    assert_eq!(CredentialDigest::of("abc").as_bytes(), &expected);
}

/// Decision A9: logs may show a prefix of the digest and nothing of the credential.
#[test]
fn debug_shows_a_prefix_of_the_digest_only() {
    assert_eq!(format!("{:?}", CredentialDigest::of("abc")), "ba7816bf");
    let sent = SentCredentials {
        mis_key: values(&["abc"]),
        hardware_hash: values(&["secret-hash", "other-hash"]),
        serial_number: values(&["SN-1"]),
        application_version: values(&["9.0"]),
    };
    let shown = format!("{sent:?}");
    assert!(shown.contains("ba7816bf") && shown.contains("SN-1") && shown.contains("9.0"), "{shown}");
    assert!(!shown.contains("abc") && !shown.contains("hash\""), "{shown}");
    assert_eq!(SentCredentials::default().digests(), [None, None]);
}

/// Decision A8.
#[test]
fn a_repeated_value_counts_once() {
    for repeated in [&["a"][..], &["a", "a"], &["a,a"], &["a, a", " a "], &[" a\t"], &["", "a", ""], &["a,", ",a"]] {
        assert_eq!(Sent::read(&values(repeated)), Sent::One("a"), "{repeated:?}");
    }
}

/// Decisions A2, A8.
#[test]
fn empty_values_count_as_missing() {
    for missing in [&[][..], &[""], &[" "], &["", "\t"], &[","], &[" , ,"]] {
        assert_eq!(Sent::read(&values(missing)), Sent::Missing, "{missing:?}");
    }
}

/// Decision A8.
#[test]
fn different_values_are_told_apart() {
    for different in [&["a", "b"][..], &["a", "a", "b"], &["a,a", "b"], &["a", "A"], &["a", "a b"]] {
        assert_eq!(Sent::read(&values(different)), Sent::Differing { first: "a" }, "{different:?}");
    }
}

/// A value that holds a comma itself is tried as it stands, also where it is repeated (decision A8).
#[test]
fn a_value_with_a_comma_is_tried_as_it_stands() {
    for one in [&["a,b"][..], &[" a,b "], &["a,b", "a,b"], &["a,b", ""]] {
        assert_eq!(Sent::read(&values(one)), Sent::One("a,b"), "{one:?}");
    }
    assert_eq!(Sent::read(&values(&["a,b", "a"])), Sent::Differing { first: "a" });
}

proptest! {
    /// Decision A8: however often and however joined, one value is one value.
    #[test]
    fn one_value_is_read_from_any_repetition(
        value in "[!-+.-~]{1,20}",
        lines in prop::collection::vec((1..4_usize, "[ \t]{0,2}"), 1..4),
    ) {
        let joined = |(count, blank): &(usize, String)| vec![format!("{blank}{value}{blank}"); *count].join(",");
        let sent: Vec<String> = lines.iter().map(joined).collect();
        prop_assert_eq!(Sent::read(&sent), Sent::One(value.as_str()));
    }

    /// Nothing panics, and what is read is never empty nor has white space around.
    #[test]
    fn any_values_are_read(sent in prop::collection::vec("[ab, \t]{0,6}", 0..4)) {
        if let Some(first) = Sent::read(&sent).first() {
            prop_assert!(!first.is_empty());
            prop_assert_eq!(first.trim(), first);
        }
    }
}
