//! What a crash report is.

use crate::blob::BlobKey;
use crate::checksum::Sha1Checksum;
use crate::guid::{ComputerGuid, CrashReportId};
use crate::timestamp::Timestamp;

/// What a part is in a report (decision C1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartRole {
    CallStack,
    Xml,
    Dump,
    /// A part without a role of its own.
    Attachment,
}

impl PartRole {
    /// The interface's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CallStack => "CallStack",
            Self::Xml => "Xml",
            Self::Dump => "dump",
            Self::Attachment => "attachment",
        }
    }

    /// Reads [`PartRole::as_str`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::CallStack, Self::Xml, Self::Dump, Self::Attachment].into_iter().find(|role| role.as_str() == text)
    }
}

/// The operating system that crashed (decision C3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Os {
    MacOs,
    Windows,
    Unknown,
}

impl Os {
    /// Reads the header OS: 0 is macOS, 1 is Windows, all else unknown (decision C3).
    #[must_use]
    pub fn parse(header: Option<&str>) -> Self {
        match header.map(str::trim) {
            Some("0") => Self::MacOs,
            Some("1") => Self::Windows,
            _ => Self::Unknown,
        }
    }

    /// A word for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MacOs => "macOS",
            Self::Windows => "Windows",
            Self::Unknown => "unknown",
        }
    }
}

/// A part of a report; its bytes lie in the blob store as they were sent (decision C4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashPart {
    pub role: PartRole,
    /// The name of the form part, where it had one.
    pub name: Option<String>,
    pub file_name: Option<String>,
    pub content_type: Option<String>,
    pub key: BlobKey,
    /// Bytes.
    pub size: u64,
    pub checksum: Sha1Checksum,
}

/// A report whose parts are described by `P`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashReport<P> {
    pub id: CrashReportId,
    pub received: Timestamp,
    /// The header ApplicationName as sent (decision C3).
    pub application_name: Option<String>,
    /// The header OS as sent (decision C3).
    pub os: Option<String>,
    pub user: Option<String>,
    pub computer: Option<ComputerGuid>,
    pub serial_number: String,
    pub application_version: String,
    pub parts: P,
    /// What was dropped, and why (decision C6).
    pub note: Option<String>,
}

impl<P> CrashReport<P> {
    /// The same report with another description of its parts.
    #[must_use]
    pub fn with_parts<Q>(self, parts: Q) -> CrashReport<Q> {
        CrashReport {
            id: self.id,
            received: self.received,
            application_name: self.application_name,
            os: self.os,
            user: self.user,
            computer: self.computer,
            serial_number: self.serial_number,
            application_version: self.application_version,
            parts,
            note: self.note,
        }
    }
}

/// A report about to be stored; its parts, in the order of the body, are durable already.
pub type NewCrashReport = CrashReport<Vec<CrashPart>>;

/// A report as it is stored.
pub type StoredCrashReport = NewCrashReport;
