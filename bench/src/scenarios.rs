//! What the clients do over and over.

use crate::http::{Answer, Outgoing};
use crate::load::Scenario;
use crate::requests::{self, Resource};
use anyhow::{Result, ensure};
use std::sync::Arc;

/// What each answer must be.
pub(crate) enum Expected {
    /// This body.
    Body(&'static str),
    /// This content.
    Content(Arc<Vec<u8>>),
    /// A body of so many bytes.
    Length(u64),
    /// A body of so many bytes or more: an answer that is as long as what it lists.
    AtLeast(u64),
    /// A body that holds this text.
    Holding(&'static str),
}

impl Expected {
    fn check(&self, answer: &Answer<'_>) -> Result<()> {
        match self {
            Self::Body(body) => answer.expect_body(body),
            Self::Length(length) => answer.expect_length(*length),
            Self::AtLeast(length) => {
                answer.expect_ok()?;
                ensure!(answer.length >= *length, "a body of only {} bytes", answer.length);
                Ok(())
            }
            Self::Content(content) => {
                answer.expect_length(content.len() as u64)?;
                ensure!(content.starts_with(answer.body), "other content than was stored");
                Ok(())
            }
            Self::Holding(text) => {
                answer.expect_ok()?;
                ensure!(answer.text().contains(text), "{text} is missing in {}", answer.text());
                Ok(())
            }
        }
    }
}

/// Requests made beforehand, each client going through them from another place.
pub(crate) struct Prepared {
    requests: Vec<Vec<u8>>,
    expected: Expected,
}

impl Prepared {
    /// A request for each number from 1 to `count`.
    pub(crate) fn numbered(count: u64, expected: Expected, write: impl Fn(&mut Vec<u8>, u64)) -> Arc<Self> {
        Self::of(1..=count, expected, write)
    }

    pub(crate) fn of(
        numbers: impl IntoIterator<Item = u64>,
        expected: Expected,
        write: impl Fn(&mut Vec<u8>, u64),
    ) -> Arc<Self> {
        let requests = numbers.into_iter().map(|number| {
            let mut request = Vec::new();
            write(&mut request, number);
            request
        });
        Arc::new(Self { requests: requests.collect(), expected })
    }

    pub(crate) fn plain(path: &str, expected: Expected) -> Arc<Self> {
        Self::of([0], expected, |out, _| requests::plain_get(out, path))
    }
}

impl Scenario for Prepared {
    fn prepare(&self, client: usize, sequence: u64, out: &mut Outgoing) {
        // Primes: neighbours in time are no neighbours in the table, and all are met.
        let at = (client as u64 * 7919 + sequence * 104_729) % self.requests.len() as u64;
        out.head.extend_from_slice(&self.requests[usize::try_from(at).unwrap_or_default()]);
    }

    fn check(&self, answer: &Answer<'_>) -> Result<()> {
        self.expected.check(answer)
    }
}

/// Uploads of one content, under GUIDs that belong to the client; each repeat is newer.
pub(crate) struct Uploads {
    pub(crate) resource: Resource,
}

impl Scenario for Uploads {
    fn prepare(&self, client: usize, sequence: u64, out: &mut Outgoing) {
        let number = 0xf200_0000 + ((client as u64) << 16) + sequence % 10_000;
        self.resource.write_upload(&requests::resource(number), out);
    }

    fn check(&self, answer: &Answer<'_>) -> Result<()> {
        answer.expect_body(requests::RESOURCE_ADDED)
    }
}

/// The same content put directly into S3, under names that belong to the client.
pub(crate) struct Puts {
    pub(crate) bucket: &'static str,
    pub(crate) block: Arc<Vec<u8>>,
}

impl Puts {
    fn path(&self, client: usize, sequence: u64) -> String {
        format!("{}/direct/{client}-{}", self.bucket, sequence % 10_000)
    }

    /// Reads what the first client put as so manieth.
    pub(crate) fn write_get(&self, out: &mut Vec<u8>, sequence: u64) {
        requests::plain_get(out, &self.path(0, sequence));
    }
}

impl Scenario for Puts {
    fn prepare(&self, client: usize, sequence: u64, out: &mut Outgoing) {
        requests::plain_put(out, &self.path(client, sequence), &self.block);
    }

    fn check(&self, answer: &Answer<'_>) -> Result<()> {
        answer.expect_ok()
    }
}
