//! The content of a file, in blocks large enough that the changes between threads don't count.

use crate::error::io_error;
use crate::place::action;
use bytes::Bytes;
use domain::blob::{BlobKey, ByteStream};
use domain::error::StoreError;
use futures_util::{StreamExt, stream};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use tokio::task::{JoinHandle, spawn_blocking};

/// Bytes read at once. At most two blocks of a download are in memory.
const BLOCK: u64 = 256 * 1024;

/// The bytes `range` of a file. The file stays open, and so its content stays readable, even when it
/// is deleted meanwhile (decision T18).
pub(crate) fn blocks(file: File, range: Range<u64>, key: &BlobKey, place: &str) -> ByteStream {
    let (key, place) = (key.clone(), place.to_owned());
    let first = (!range.is_empty()).then(|| begin(file, Some(range.start), range.end - range.start));
    let next = move |reading: Option<Reading>| {
        let (key, place) = (key.clone(), place.clone());
        async move {
            let Reading { block, rest } = reading?;
            let failed = |error| Some((Err(io_error(action("read", &key), &place, error)), None));
            match block.await.map_err(io::Error::other) {
                Ok(Ok((file, bytes))) => {
                    let rest = rest - bytes.len() as u64;
                    if bytes.is_empty() {
                        // Somebody has cut the file short.
                        return Some((Err(StoreError::Corrupt { what: "blob", id: key.to_string() }), None));
                    }
                    // The next block is read while this one is on its way.
                    let next = (rest > 0).then(|| begin(file, None, rest));
                    Some((Ok(bytes), next))
                }
                Ok(Err(error)) | Err(error) => failed(error),
            }
        }
    };
    stream::unfold(first, next).boxed()
}

/// A block that is being read.
struct Reading {
    block: JoinHandle<io::Result<(File, Bytes)>>,
    /// Bytes to come, those of the block included.
    rest: u64,
}

fn begin(mut file: File, seek: Option<u64>, rest: u64) -> Reading {
    let read = move || {
        if let Some(start) = seek.filter(|start| *start > 0) {
            file.seek(SeekFrom::Start(start))?;
        }
        let length = rest.min(BLOCK);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        (&file).take(length).read_to_end(&mut bytes)?;
        Ok((file, bytes.into()))
    };
    Reading { block: spawn_blocking(read), rest }
}
