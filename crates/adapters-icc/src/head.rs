//! The header of a profile and its table of tags (ICC.1:2022, 7.2 and 7.3). All numbers are big-endian.

use super::names::signature;
use domain::timestamp::Timestamp;
use time::{Date, Month, OffsetDateTime, Time};

/// The length of the header in bytes.
pub(crate) const HEAD: usize = 128;

/// The offset of the first entry of the table, and the length of an entry, in bytes.
pub(crate) const TABLE: usize = HEAD + 4;
pub(crate) const ENTRY: usize = 12;

/// Limit for the entries that are read. Common profiles have about twenty.
pub(crate) const MAX_TAGS: usize = 1_000;

/// The fields of the header. Bytes beyond the end of a cut content count as zero.
pub(crate) struct Head {
    /// The size of the whole profile in bytes, as the header declares it.
    pub(crate) size: u32,
    pub(crate) version: String,
    pub(crate) class: [u8; 4],
    pub(crate) color_space: [u8; 4],
    pub(crate) connection_space: [u8; 4],
    /// `None` if the bytes are no valid date.
    pub(crate) created: Option<Timestamp>,
    pub(crate) rendering_intent: u32,
}

impl Head {
    pub(crate) fn read(content: &[u8]) -> Self {
        let version = bytes(content, 8);
        let (major, minor, fix) = (version[0], version[1] >> 4, version[1] & 0xf);
        let version = if fix == 0 { format!("{major}.{minor}") } else { format!("{major}.{minor}.{fix}") };
        Self {
            size: number(content, 0),
            version,
            class: bytes(content, 12),
            color_space: bytes(content, 16),
            connection_space: bytes(content, 20),
            created: date(content),
            rendering_intent: number(content, 64),
        }
    }
}

fn bytes(content: &[u8], offset: usize) -> [u8; 4] {
    let found = content.get(offset..).and_then(|rest| rest.first_chunk::<4>());
    found.copied().unwrap_or_default()
}

fn number(content: &[u8], offset: usize) -> u32 {
    u32::from_be_bytes(bytes(content, offset))
}

/// Reads year, month, day, hour, minute and second, two bytes each.
fn date(content: &[u8]) -> Option<Timestamp> {
    let part = |index: usize| {
        let [high, low, ..] = bytes(content, 24 + 2 * index);
        u16::from_be_bytes([high, low])
    };
    let small = |index| u8::try_from(part(index)).ok();
    let month = Month::try_from(small(1)?).ok()?;
    let year = i32::from(part(0));
    let date = Date::from_calendar_date(year, month, small(2)?).ok().filter(|_| (1..=9999).contains(&year))?;
    let time = Time::from_hms(small(3)?, small(4)?, small(5)?).ok()?;
    Some(Timestamp::from(OffsetDateTime::new_utc(date, time)))
}

/// An entry of the table.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) signature: [u8; 4],
    pub(crate) offset: u32,
    pub(crate) size: u32,
}

impl Entry {
    /// Whether the tag lies within a content of `size` bytes.
    pub(crate) fn is_inside(self, size: usize) -> bool {
        u64::from(self.offset) + u64::from(self.size) <= size as u64
    }

    pub(crate) fn write(self, to: &mut Vec<u8>) {
        to.extend(self.signature);
        to.extend(self.offset.to_be_bytes());
        to.extend(self.size.to_be_bytes());
    }
}

/// Reads the entries of the table, and a sentence about each error in it.
pub(crate) fn table(content: &[u8]) -> (Vec<Entry>, Vec<String>) {
    let mut problems = Vec::new();
    if content.len() < TABLE {
        problems.push(format!("the content ends after {} bytes, before the table of tags", content.len()));
        return (Vec::new(), problems);
    }
    let declared = number(content, HEAD) as usize;
    let present = (content.len() - TABLE) / ENTRY;
    if declared > present {
        problems.push(format!("the table of tags says that it has {declared} entries; at most {present} fit"));
    } else if declared > MAX_TAGS {
        problems.push(format!("the table of tags has {declared} entries; the first {MAX_TAGS} are read"));
    }
    let entry = |index: usize| {
        let at = TABLE + index * ENTRY;
        Entry { signature: bytes(content, at), offset: number(content, at + 4), size: number(content, at + 8) }
    };
    let entries: Vec<Entry> = (0..declared.min(present).min(MAX_TAGS)).map(entry).collect();
    let outside: Vec<String> = entries
        .iter()
        .filter(|entry| !entry.is_inside(content.len()))
        .map(|entry| signature(entry.signature))
        .collect();
    if let [first, ..] = &outside[..] {
        let (count, is) = (outside.len(), if outside.len() == 1 { "lies" } else { "lie" });
        let tags = if count == 1 { format!("the tag {first}") } else { format!("{count} tags, {first} first,") };
        problems.push(format!("{tags} {is} outside of the content"));
    }
    (entries, problems)
}
