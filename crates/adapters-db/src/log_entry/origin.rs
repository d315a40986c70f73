//! What log entries have in common: who and what sent them (ADR 54).
//!
//! A computer sends the same user, version, name and serial number with each of its entries. They are stored once,
//! and an entry refers to them by number. Numbers are remembered for an hour, so that warm batches ask for none.

use crate::group_commit::{Cell, Kind, Table, Written};
use domain::caller::OrganizationId;
use domain::log_entry::NewLogEntry;
use domain::text::Folded;
use domain::timestamp::Timestamp;
use metering::{CounterHandle, catalog};
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Microseconds for which a number is used without asking for it. Retention, which keeps everything for a day at
/// least, removes no origin that was seen since.
const REMEMBERED: i64 = 60 * 60 * 1_000_000;

/// Numbers that are remembered: some 20 MB.
const MOST: usize = 100_000;

/// Origins as batches write them; those that are there are seen once more, and all are answered with their numbers.
static TABLE: Table = Table {
    name: "log_origin",
    columns: &[
        ("digest", Kind::Bytes),
        ("organization_id", Kind::BigInt),
        ("user_name", Kind::Text),
        ("user_folded", Kind::Text),
        ("version", Kind::Text),
        ("version_folded", Kind::Text),
        ("computer", Kind::Text),
        ("computer_folded", Kind::Text),
        ("serial_number", Kind::Text),
        ("serial_folded", Kind::Text),
        ("computer_guid", Kind::Guid),
        ("application_version", Kind::Text),
        ("seen_at", Kind::BigInt),
    ],
    on_conflict: "ON CONFLICT (digest) DO UPDATE SET seen_at = CASE \
                  WHEN excluded.seen_at > log_origin.seen_at THEN excluded.seen_at ELSE log_origin.seen_at END \
                  RETURNING digest, id",
};

/// Names an origin, whatever the length of its texts.
pub(crate) type OriginDigest = [u8; 32];

/// The digest of where `entry` comes from.
pub(super) fn digest(organization: OrganizationId, entry: &NewLogEntry) -> OriginDigest {
    let mut digest = Sha256::new();
    digest.update(organization.0.to_le_bytes());
    digest.update(entry.computer_guid.as_uuid().as_bytes());
    let texts = [&entry.user, &entry.version, &entry.computer, &entry.serial_number, &entry.application_version];
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.finalize().into()
}

/// An origin on its way into the database.
pub(crate) struct NewOrigin {
    digest: OriginDigest,
    organization: OrganizationId,
    /// Each text as it is and folded.
    user: [String; 2],
    version: [String; 2],
    computer: [String; 2],
    serial_number: [String; 2],
    computer_guid: Uuid,
    application_version: String,
    seen: Timestamp,
}

impl NewOrigin {
    pub(super) fn of(digest: OriginDigest, organization: OrganizationId, entry: &NewLogEntry) -> Self {
        let folded = |text: &str| [text.to_owned(), Folded::of(text).into_string()];
        Self {
            digest,
            organization,
            user: folded(&entry.user),
            version: folded(&entry.version),
            computer: folded(&entry.computer),
            serial_number: folded(&entry.serial_number),
            computer_guid: entry.computer_guid.as_uuid(),
            application_version: entry.application_version.clone(),
            seen: entry.received,
        }
    }
}

impl Written for NewOrigin {
    const TABLE: &'static Table = &TABLE;

    fn write<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend_from_slice(&[Cell::Bytes(&self.digest), self.organization.0.into()]);
        let texts = [&self.user, &self.version, &self.computer, &self.serial_number];
        cells.extend(texts.into_iter().flatten().map(Cell::from));
        cells.extend_from_slice(&[
            self.computer_guid.into(),
            (&self.application_version).into(),
            self.seen.as_micros().into(),
        ]);
    }
}

/// The numbers of origins that were just used.
pub(crate) struct Origins {
    known: Cache<OriginDigest, Known>,
    hits: CounterHandle,
    misses: CounterHandle,
}

#[derive(Clone, Copy)]
struct Known {
    id: i64,
    /// Micros since 1970, as entries are received. Not the age of what is remembered: a machine that slept doesn't
    /// notice that it grew.
    seen: i64,
}

impl Origins {
    pub(crate) fn new() -> Self {
        let outcome = |outcome| catalog::CACHE_REQUESTS.with(["log_origin", outcome]);
        Self { known: Cache::new(MOST), hits: outcome("hit"), misses: outcome("miss") }
    }

    /// The number of an origin, for an entry that was received then; `None` where it has to be asked for.
    pub(super) fn number(&self, digest: &OriginDigest, received: Timestamp) -> Option<i64> {
        let known = self.known.get(digest);
        let known = known.filter(|known| received.as_micros() < known.seen.saturating_add(REMEMBERED));
        let counter = if known.is_some() { &self.hits } else { &self.misses };
        counter.increment(1);
        known.map(|known| known.id)
    }

    /// Forgets all numbers.
    pub(crate) fn forget(&self) {
        self.known.clear();
    }

    /// Remembers the number of an origin that was stored as seen then, or later.
    pub(super) fn learn(&self, digest: OriginDigest, id: i64, seen: Timestamp) {
        self.known.insert(digest, Known { id, seen: seen.as_micros() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::testing::{a_log_entry, at};
    use std::collections::HashSet;

    const ACME: OrganizationId = OrganizationId(1);

    #[test]
    fn entries_differ_in_origin_exactly_if_they_differ_in_what_an_origin_holds() {
        let entry = || a_log_entry("x");
        let moved = NewLogEntry { version: "1.2.3R".to_owned(), computer: "IP-01".to_owned(), ..entry() };
        let others = [
            NewLogEntry { user: "Bob".to_owned(), ..entry() },
            NewLogEntry { version: "1.2.4".to_owned(), ..entry() },
            NewLogEntry { computer: "rip-01".to_owned(), ..entry() },
            NewLogEntry { serial_number: String::new(), ..entry() },
            NewLogEntry { application_version: "9.1".to_owned(), ..entry() },
            NewLogEntry { computer_guid: Uuid::nil().into(), ..entry() },
            moved,
        ];
        let mut digests: HashSet<_> = others.iter().map(|entry| digest(ACME, entry)).collect();
        digests.extend([digest(ACME, &entry()), digest(OrganizationId(2), &entry())]);
        assert_eq!(digests.len(), others.len() + 2);
        let same = NewLogEntry { received: at(9), source: "Latex 2".to_owned(), job_name: None, ..a_log_entry("y") };
        assert_eq!(digest(ACME, &same), digest(ACME, &entry()));
    }

    #[test]
    fn a_number_is_remembered_for_an_hour_of_entries() {
        let origins = Origins::new();
        let origin = digest(ACME, &a_log_entry("x"));
        assert_eq!(origins.number(&origin, at(5)), None);
        origins.learn(origin, 7, at(5));
        for (time, number) in [(5, Some(7)), (0, Some(7)), (3604, Some(7)), (3605, None), (90_000, None)] {
            assert_eq!(origins.number(&origin, at(time)), number, "{time}");
        }
        origins.forget();
        assert_eq!(origins.number(&origin, at(5)), None);
    }
}
