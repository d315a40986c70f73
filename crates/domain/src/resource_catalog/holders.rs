//! Who has which content of a resource (decision I9).

use crate::activity::{ComputerFetch, Currency, Fetch, UserFetch};
use crate::checksum::Sha1Checksum;
use crate::error::StoreError;
use crate::guid::ComputerGuid;
use crate::page::{Page, PageRequest};
use crate::text::Folded;
use futures_util::{Stream, TryStreamExt};
use std::fmt;

/// Which holders to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HolderFilter {
    /// The organization whose computers are listed; by default the one of the resource.
    pub organization: Option<String>,
    pub state: Option<Currency>,
}

/// A computer, or a user at a computer that isn't registered, and the content that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceHolder {
    /// `None` for a user.
    pub computer: Option<ComputerGuid>,
    /// Of the computer or the user.
    pub name: String,
    /// That the user sent.
    pub serial_number: Option<String>,
    /// `None` if it never fetched the resource whole.
    pub fetch: Option<Fetch>,
    pub state: Currency,
}

impl ResourceHolder {
    pub(super) fn of_computer(found: ComputerFetch, stored: Sha1Checksum) -> Self {
        Self {
            computer: Some(found.guid),
            name: found.name,
            serial_number: None,
            fetch: found.fetch,
            state: Currency::of(found.fetch, stored),
        }
    }

    pub(super) fn of_user(found: UserFetch, stored: Sha1Checksum) -> Self {
        Self {
            computer: None,
            name: found.name,
            serial_number: Some(found.serial_number),
            fetch: Some(found.fetch),
            state: Currency::of(Some(found.fetch), stored),
        }
    }

    fn cursor(&self) -> HolderCursor {
        match (self.computer, &self.serial_number) {
            (Some(guid), _) => HolderCursor::Computer { name: self.name.clone(), guid },
            (None, serial) => {
                let serial = Folded::of(serial.as_deref().unwrap_or_default()).into_string();
                HolderCursor::User { name: self.name.clone(), serial }
            }
        }
    }
}

/// Where a list of holders goes on. Computers come first, by name, then GUID; then users by name, then SerialNumber
/// without case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum HolderCursor {
    Computer { name: String, guid: ComputerGuid },
    User { name: String, serial: String },
}

/// `c.GUID.NAME`, or `u.LENGTH.NAME` and the SerialNumber; the length is that of the name in bytes.
impl fmt::Display for HolderCursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Computer { name, guid } => write!(out, "c.{guid}.{name}"),
            Self::User { name, serial } => write!(out, "u.{}.{name}{serial}", name.len()),
        }
    }
}

impl HolderCursor {
    /// Reads what `Display` writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once('.')?;
        let (head, rest) = rest.split_once('.')?;
        match kind {
            "c" => Some(Self::Computer { name: rest.to_owned(), guid: ComputerGuid::parse(head)? }),
            "u" => {
                let (name, serial) = rest.split_at_checked(head.parse().ok()?)?;
                Some(Self::User { name: name.to_owned(), serial: serial.to_owned() })
            }
            _ => None,
        }
    }
}

/// How many holders have which content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HolderCounts {
    pub current: u64,
    pub outdated: u64,
    pub never_fetched: u64,
}

impl HolderCounts {
    fn count(&mut self, state: Currency) {
        match state {
            Currency::Current => self.current += 1,
            Currency::Outdated => self.outdated += 1,
            Currency::NeverFetched => self.never_fetched += 1,
        }
    }
}

/// A page of holders, and how many there are in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderPage {
    /// Of all states and pages.
    pub counts: HolderCounts,
    pub page: Page<ResourceHolder, HolderCursor>,
}

impl HolderPage {
    /// Goes through all holders once; only those of the page are kept.
    pub(super) async fn collect(
        holders: impl Stream<Item = Result<ResourceHolder, StoreError>>,
        state: Option<Currency>,
        asked: &PageRequest<HolderCursor>,
    ) -> Result<Self, StoreError> {
        let rows = usize::try_from(asked.rows()).unwrap_or(usize::MAX);
        let (mut counts, mut kept) = (HolderCounts::default(), Vec::new());
        let mut holders = std::pin::pin!(holders);
        while let Some(holder) = holders.try_next().await? {
            counts.count(holder.state);
            let is_wanted = state.is_none_or(|state| state == holder.state);
            if is_wanted && kept.len() < rows && asked.after.as_ref().is_none_or(|after| holder.cursor() > *after) {
                kept.push(holder);
            }
        }
        Ok(Self { counts, page: asked.page(kept, ResourceHolder::cursor) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, numbered};
    use futures_util::stream;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for name in ["RIP-01", "", "a.b", "Ü🖨"] {
            for cursor in [
                HolderCursor::Computer { name: name.to_owned(), guid: ComputerGuid::from(numbered(5)) },
                HolderCursor::User { name: name.to_owned(), serial: "sn.1".to_owned() },
            ] {
                assert_eq!(HolderCursor::parse(&cursor.to_string()), Some(cursor));
            }
        }
        for text in ["", "c.x.y", "x.1.a", "u.9.abc", "u.1.Ü"] {
            assert_eq!(HolderCursor::parse(text), None, "{text}");
        }
    }

    /// Decision I9.
    #[tokio::test]
    async fn all_holders_are_counted_and_pages_follow_each_other() {
        let stored = Sha1Checksum::of(b"now");
        let fetch = |content: &[u8]| Fetch { checksum: Sha1Checksum::of(content), at: at(1) };
        let computer = |number: u128, fetch| {
            let found = ComputerFetch { guid: ComputerGuid::from(numbered(number)), name: "RIP".to_owned(), fetch };
            ResourceHolder::of_computer(found, stored)
        };
        let user = UserFetch { name: "Ann".to_owned(), serial_number: "SN-1".to_owned(), fetch: fetch(b"before") };
        let all = vec![
            computer(1, Some(fetch(b"now"))),
            computer(2, None),
            computer(3, Some(fetch(b"before"))),
            ResourceHolder::of_user(user, stored),
        ];
        let page = async |state, after| {
            let asked = PageRequest { after, limit: 1 };
            HolderPage::collect(stream::iter(all.clone().into_iter().map(Ok)), state, &asked).await.unwrap()
        };
        for (state, expected) in [(None, all.clone()), (Some(Currency::Outdated), all[2..].to_vec())] {
            let (mut listed, mut after) = (Vec::new(), None);
            loop {
                let found = page(state, after).await;
                assert_eq!(found.counts, HolderCounts { current: 1, outdated: 2, never_fetched: 1 });
                listed.extend(found.page.items);
                after = found.page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(listed, expected);
        }
    }
}
