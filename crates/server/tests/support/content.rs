//! Content that is made up rather than kept, so that a gibibyte of it needs no memory.

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use sha1::{Digest, Sha1};

pub(crate) const MIB: u64 = 1024 * 1024;

/// `mebibytes` blocks of a mebibyte, no two of them equal.
pub(crate) fn blocks(mebibytes: u64) -> impl Iterator<Item = Bytes> + Send {
    let mut block = vec![0; usize::try_from(MIB).unwrap()];
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    for word in block.chunks_exact_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word.copy_from_slice(&state.to_le_bytes());
    }
    (0..mebibytes).map(move |number| {
        let mut block = block.clone();
        block[..8].copy_from_slice(&number.to_le_bytes());
        Bytes::from(block)
    })
}

/// The same, for a body.
pub(crate) fn stream(mebibytes: u64) -> impl Stream<Item = Bytes> + Send {
    stream::iter(blocks(mebibytes))
}

/// The SHA1 of a content as the interface writes it.
pub(crate) fn sha1(content: &[u8]) -> String {
    hex::encode_upper(Sha1::digest(content))
}

/// Length and SHA1 of a content in pieces.
pub(crate) async fn digest(content: impl Stream<Item = Bytes>) -> (u64, String) {
    let mut content = std::pin::pin!(content);
    let (mut length, mut hasher) = (0, Sha1::new());
    while let Some(piece) = content.next().await {
        length += piece.len() as u64;
        hasher.update(&piece);
    }
    (length, hex::encode_upper(hasher.finalize()))
}
