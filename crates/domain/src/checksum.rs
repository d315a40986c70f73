//! The SHA1 checksum of a resource's content (interface 2.1, decision T6).

use sha1::{Digest, Sha1};
use std::fmt;

/// The SHA1 of a content; shown in upper-case hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha1Checksum([u8; 20]);

impl Sha1Checksum {
    /// Reads 40 hexadecimal digits in either case; `None` for anything else (decision T6).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 40 {
            return None;
        }
        let mut bytes = [0; 20];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            *byte = u8::try_from(high * 16 + low).ok()?;
        }
        Some(Self(bytes))
    }

    /// The checksum of `content`, for contents that are whole in memory.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        let mut hasher = ContentHasher::new();
        hasher.update(content);
        hasher.finish()
    }
}

impl fmt::Display for Sha1Checksum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02X}"))
    }
}

/// Computes a [`Sha1Checksum`] while the content passes by.
#[derive(Default)]
pub struct ContentHasher(Sha1);

impl ContentHasher {
    /// A hasher that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes up the next bytes of the content.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all that was taken up.
    #[must_use]
    pub fn finish(self) -> Sha1Checksum {
        Sha1Checksum(self.0.finalize().into())
    }
}
