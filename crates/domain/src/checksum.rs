//! The SHA1 checksum of a resource's content (interface 2.1, decision T6).

use sha1::{Digest, Sha1};
use std::fmt::{self, Write};

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

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
        // `{:02X}` for each byte would call the formatter twenty times for each item of a list.
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        digits.map(|digit| char::from(DIGITS[usize::from(digit)])).try_for_each(|digit| out.write_char(digit))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decision T6: accepted in either case, answered in upper case.
    #[test]
    fn either_case_is_read_and_upper_case_is_answered() {
        let upper = "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709";
        for text in
            [upper.to_owned(), upper.to_ascii_lowercase(), "dA39a3EE5E6B4B0D3255BFEF95601890AFD80709".to_owned()]
        {
            assert_eq!(Sha1Checksum::parse(&text).map(|checksum| checksum.to_string()).as_deref(), Some(upper));
        }
    }

    /// Decision T6: what isn't 40 hexadecimal digits is none.
    #[test]
    fn anything_but_forty_digits_is_refused() {
        let malformed = [
            "",
            "DA39A3EE5E6B4B0D3255BFEF95601890AFD8070",
            "DA39A3EE5E6B4B0D3255BFEF95601890AFD807090",
            "DA39A3EE5E6B4B0D3255BFEF95601890AFD8070G",
            " DA39A3EE5E6B4B0D3255BFEF95601890AFD8070",
            "0xDA39A3EE5E6B4B0D3255BFEF95601890AFD807",
            "+A39A3EE5E6B4B0D3255BFEF95601890AFD80709",
            "DA39A3EE5E6B4B0D3255BFEF95601890AFD8\u{FF10}7",
        ];
        for text in malformed {
            assert_eq!(Sha1Checksum::parse(text), None, "{text:?}");
        }
    }

    /// Interface 2.1: it is the SHA1 of the content; the vectors are those of FIPS 180.
    #[test]
    fn the_checksum_is_the_sha1_of_the_content() {
        assert_eq!(Sha1Checksum::of(b"").to_string(), "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709");
        assert_eq!(Sha1Checksum::of(b"abc").to_string(), "A9993E364706816ABA3E25717850C26C9CD0D89D");
        assert_eq!(Sha1Checksum::of(&vec![b'a'; 1_000_000]).to_string(), "34AA973CD4C4DAA4F61EEB2BDBAD27316534016F");
    }

    proptest! {
        /// Where a content is cut into chunks doesn't matter.
        #[test]
        fn chunks_hash_like_the_whole(content: Vec<u8>, cut in 0..100_usize) {
            let (head, tail) = content.split_at(cut.min(content.len()));
            let mut hasher = ContentHasher::new();
            hasher.update(head);
            hasher.update(tail);
            prop_assert_eq!(hasher.finish(), Sha1Checksum::of(&content));
        }

        #[test]
        fn what_is_answered_is_read_again(content: Vec<u8>) {
            let checksum = Sha1Checksum::of(&content);
            prop_assert_eq!(Sha1Checksum::parse(&checksum.to_string()), Some(checksum));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*|[0-9a-fA-F]{40}") {
            let read = Sha1Checksum::parse(&text).map(|checksum| checksum.to_string());
            let digits = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            prop_assert_eq!(read, digits.then(|| text.to_ascii_uppercase()));
        }
    }
}
