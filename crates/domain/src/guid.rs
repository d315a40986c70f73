//! GUIDs in the forms that clients write them, one type for each kind of record (decision R7).

#[cfg(test)]
mod tests;

use crate::detail::quoted;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use uuid::Uuid;

/// Reads a GUID: hyphenated or not, in either case, with braces, parentheses, `urn:uuid:` or blanks
/// around (decision R7). `None` if `text` is none.
#[must_use]
pub fn parse_guid(text: &str) -> Option<Uuid> {
    let text = text.trim_matches([' ', '\t']);
    let inner = match text.as_bytes() {
        [b'{', .., b'}'] | [b'(', .., b')'] => &text[1..text.len() - 1],
        _ => match text.get(..9) {
            Some(prefix) if prefix.eq_ignore_ascii_case("urn:uuid:") => &text[9..],
            _ => text,
        },
    };
    let inner = inner.trim_matches([' ', '\t']);
    // Uuid::try_parse takes braces and prefixes of its own, which must not nest in ours.
    matches!(inner.len(), 32 | 36).then(|| Uuid::try_parse(inner).ok()).flatten()
}

macro_rules! guid_types {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Reads the forms of decision R7; `None` for a malformed GUID.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                parse_guid(text).map(Self)
            }

            /// The GUID as a number of 128 bits.
            #[must_use]
            pub fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            /// Reads what [`Self::parse`] reads.
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| D::Error::custom(format!("{} is not a GUID", quoted(&text))))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl fmt::Display for $name {
            /// Lower case, hyphenated, as answers give it (decision R7).
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "{}", self.0.as_hyphenated())
            }
        }
    )+};
}

guid_types! {
    /// Identifies a resource within its organization (interface 2.1, decision T1).
    ResourceGuid;
    /// Identifies a client computer (interface 2.5).
    ComputerGuid;
    /// Identifies a printing device (interface 2.8).
    DeviceGuid;
    /// Identifies a print queue (interface 2.5).
    QueueGuid;
    /// Identifies a print job (interface 2.5).
    JobGuid;
    /// Identifies a crash report; answered in `Crash-Report-Id` (decision C7).
    CrashReportId;
}
