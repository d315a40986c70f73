//! The marks, and the search for them.

use crate::support::setup::Stores;
use crate::support::setup::s3_server::{KEY as S3_KEY, SECRET as S3_SECRET};
use crate::support::{COMPUTER, DEVICE, Site};
use serde_json::json;

pub(crate) const KEY: &str = "mark-key-of-ann-0001";
pub(crate) const OTHERS_KEY: &str = "mark-key-of-zoe-0001";
pub(crate) const BAD_KEY: &str = "mark-key-that-nobody-has";
pub(crate) const HASH: &str = "mark-hash-of-the-computer";
pub(crate) const BAD_HASH: &str = "mark-hash-that-nobody-has";
/// What is in the file of a resource; in the tail of a large one too.
pub(crate) const FILE: &str = "mark-in-the-file";
pub(crate) const META: &str = "mark-in-the-meta";
pub(crate) const LOG: &str = "mark-in-the-log-message";
pub(crate) const CALL_STACK: &str = "mark-in-the-call-stack";
pub(crate) const XML: &str = "mark-in-the-xml";
pub(crate) const DUMP: &str = "mark-in-the-dump";
pub(crate) const STATUS: &str = "mark-in-the-status-message";

/// Where a mark may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Nowhere,
    /// Contents, metadata and messages are stored; credentials aren't.
    InStores,
}

/// A fleet of two organizations.
pub(crate) fn fleet() -> String {
    json!({ "organizations": [
        {
            "name": "Acme Print",
            "users": [ { "name": "Ann", "mis_key": KEY } ],
            "computers": [ {
                "guid": COMPUTER, "name": "RIP-01", "hardware_hash": HASH, "serial_number": "SN-1000", "user": "Ann",
            } ],
            "devices": [ { "guid": DEVICE, "name": "Latex 1" } ],
        },
        { "name": "Zenith", "users": [ { "name": "Zoe", "mis_key": OTHERS_KEY } ] },
    ] })
    .to_string()
}

/// All marks, each with the ways in which it may be written.
pub(crate) struct Marks {
    /// Whether it is a credential, its name, and its forms.
    all: Vec<(bool, String, Vec<Vec<u8>>)>,
}

impl Marks {
    pub(crate) fn all(site: &Site) -> Self {
        let mut credentials = [KEY, OTHERS_KEY, BAD_KEY, HASH, BAD_HASH].map(str::to_owned).to_vec();
        if let Stores::PostgresAndS3 { database, .. } = site.stores() {
            let (_, after_user) = database.trim_start_matches("postgres://").split_once(':').unwrap();
            let (password, _) = after_user.split_once('@').unwrap();
            credentials.extend([password.to_owned(), S3_SECRET.to_owned(), S3_KEY.to_owned()]);
        }
        let mut marks = Self::of(&credentials.iter().map(String::as_str).collect::<Vec<_>>());
        let contents = [FILE, META, LOG, CALL_STACK, XML, DUMP, STATUS];
        marks.all.extend(contents.map(|mark| (false, mark.to_owned(), forms(mark))));
        marks
    }

    /// Credentials, which may be nowhere.
    pub(crate) fn of(credentials: &[&str]) -> Self {
        Self { all: credentials.iter().map(|mark| (true, (*mark).to_owned(), forms(mark))).collect() }
    }

    #[track_caller]
    pub(crate) fn assert_none(&self, place: &str, text: &[u8], seen: Seen) {
        let searched = self.all.iter().filter(|(is_credential, ..)| *is_credential || seen == Seen::Nowhere);
        for (_, mark, forms) in searched {
            for form in forms {
                if let Some(at) = text.windows(form.len()).position(|window| window == form) {
                    let around = &text[at.saturating_sub(300)..(at + 100).min(text.len())];
                    panic!("{place} holds {mark}: …{}…", String::from_utf8_lossy(around));
                }
            }
        }
    }
}

/// As it is, as hexadecimal digits in either case, as a list of bytes, and in base 64 at each of its three offsets.
fn forms(mark: &str) -> Vec<Vec<u8>> {
    let hex = hex::encode(mark);
    let bytes: Vec<_> = mark.bytes().map(|byte| byte.to_string()).collect();
    let mut forms = vec![mark.to_owned(), hex.to_uppercase(), hex, bytes.join(", ")];
    forms.extend((0..3).map(|offset| base64(&mark.as_bytes()[offset..])));
    forms.into_iter().map(String::into_bytes).collect()
}

/// All whole groups of three bytes.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let number = group.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[number >> shift & 63]))
    };
    bytes.chunks_exact(3).flat_map(group).collect()
}
