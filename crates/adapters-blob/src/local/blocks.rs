//! The content of a file, in blocks large enough that the changes between threads don't count.

use crate::error::io_error;
use crate::place::action;
use bytes::Bytes;
use domain::blob::{BlobKey, ByteStream};
use domain::error::StoreError;
use futures_util::{StreamExt, stream};
use std::fs::File;
use std::future::ready;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use tokio::task::{JoinHandle, spawn_blocking};

/// Bytes read at once. At most two blocks of a download are in memory.
const BLOCK: u64 = 256 * 1024;

/// A file of which the first block is read.
pub(super) struct Opened {
    first: Bytes,
    file: File,
    /// Bytes to come after the first block.
    rest: u64,
}

/// Opens a file and reads the first block of `range`, or of all; `None` if there is no such file.
/// Blocks.
pub(super) fn open(path: &Path, range: Option<Range<u64>>) -> io::Result<Option<Opened>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let range = match range {
        Some(range) => range,
        None => 0..file.metadata()?.len(),
    };
    if range.start > 0 {
        file.seek(SeekFrom::Start(range.start))?;
    }
    let length = range.end - range.start;
    let first = block(&file, length)?;
    let rest = length - first.len() as u64;
    Ok(Some(Opened { first, file, rest }))
}

impl Opened {
    /// The content. The file stays open, and so its content stays readable, even when it is deleted
    /// meanwhile (decision T18).
    pub(super) fn into_stream(self, key: &BlobKey, place: &str) -> ByteStream {
        let Self { first, file, rest } = self;
        if first.is_empty() && rest > 0 {
            return stream::once(ready(Err(cut_short(key)))).boxed();
        }
        let beginning = stream::iter((!first.is_empty()).then_some(Ok(first)));
        if rest == 0 {
            return beginning.boxed();
        }
        let (key, place) = (key.clone(), place.to_owned());
        let next = move |reading: Option<Reading>| {
            let (key, place) = (key.clone(), place.clone());
            async move {
                let Reading { block, rest } = reading?;
                match block.await.map_err(io::Error::other).flatten() {
                    Ok((_, bytes)) if bytes.is_empty() => Some((Err(cut_short(&key)), None)),
                    Ok((file, bytes)) => {
                        let rest = rest - bytes.len() as u64;
                        // The next block is read while this one is on its way.
                        Some((Ok(bytes), (rest > 0).then(|| begin(file, rest))))
                    }
                    Err(error) => Some((Err(io_error(action("read", &key), &place, error)), None)),
                }
            }
        };
        beginning.chain(stream::unfold(Some(begin(file, rest)), next)).boxed()
    }
}

/// Somebody has cut the file short.
fn cut_short(key: &BlobKey) -> StoreError {
    StoreError::Corrupt { what: "blob", id: key.to_string() }
}

/// A block that is being read.
struct Reading {
    block: JoinHandle<io::Result<(File, Bytes)>>,
    /// Bytes to come, those of the block included.
    rest: u64,
}

fn begin(file: File, rest: u64) -> Reading {
    let read = move || block(&file, rest).map(|bytes| (file, bytes));
    Reading { block: spawn_blocking(read), rest }
}

/// The next block of the `rest` of a file; shorter only where the file ends before.
fn block(file: &File, rest: u64) -> io::Result<Bytes> {
    let length = rest.min(BLOCK);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes.into())
}
