//! What differs between local disk, S3 and memory; everything else is written once, over this.

use crate::error::{is_missing, store_error};
use async_trait::async_trait;
use domain::blob::{BlobEntry, BlobKey, BlobKind, ByteStream};
use domain::error::StoreError;
use domain::timestamp::Timestamp;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt};
use std::fmt::Display;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// Where blobs are kept.
#[async_trait]
pub(crate) trait Place: Send + Sync + 'static {
    /// How error messages call it, such as `folder /data/blobs`.
    fn name(&self) -> &str;

    fn objects(&self) -> &dyn ObjectStore;

    fn manner(&self) -> &Manner;

    /// Where a blob is. A [`BlobKey`] has no form but the one that the domain builds, so that no
    /// text of a client can lead out of the place.
    fn location(&self, key: &BlobKey) -> Path {
        Path::from(key.as_str())
    }

    /// The bytes `range` of a blob, which isn't empty, or all of them; `None` if there is no such blob.
    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError>;

    /// Where uploads queue for the memory of a part; `None`: parts are so small that nobody has to.
    fn room(&self) -> Option<&Arc<Semaphore>> {
        None
    }

    /// Makes ready for the first byte of a blob.
    async fn prepare(&self, _key: &BlobKey) -> object_store::Result<()> {
        Ok(())
    }

    /// Begins a blob of several parts.
    async fn begin_parts(&self, location: &Path) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.objects().put_multipart(location).await
    }

    /// Begins to make durable what has arrived of a blob in parts, where that would else be left to its end. A
    /// failure counts for nothing: the end tells.
    fn settle(&self, _key: &BlobKey) -> Option<JoinHandle<io::Result<()>>> {
        None
    }

    /// Removes the parts of a blob that isn't published.
    async fn abort_parts(&self, _key: &BlobKey, parts: &mut Box<dyn MultipartUpload>) -> object_store::Result<()> {
        gone(parts.abort().await)
    }

    /// Removes a blob that may have been published although its upload failed, or that nobody wants.
    async fn discard(&self, key: &BlobKey) -> object_store::Result<()> {
        gone(self.objects().delete(&self.location(key)).await)
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>>;

    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Whether the place is there at all.
    async fn reach(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether the place can be written to, as far as that can be told cheaply.
    async fn ping(&self) -> Result<(), StoreError> {
        self.reach().await
    }
}

/// Reads a blob through `object_store`, in pieces as they come.
pub(crate) async fn streamed(
    place: &dyn Place,
    key: &BlobKey,
    range: Option<Range<u64>>,
) -> Result<Option<ByteStream>, StoreError> {
    let options = GetOptions::new().with_range(range.map(GetRange::Bounded));
    let location = place.location(key);
    let result = match within(place, 0, place.objects().get_opts(&location, options)).await {
        Ok(result) => result,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(store_error(action("read", key), place.name(), &error)),
    };
    let (key, name) = (key.clone(), place.name().to_owned());
    let content = unstalled(place.manner().patience, result.into_stream());
    Ok(Some(content.map_err(move |error| store_error(action("read", &key), &name, &error)).boxed()))
}

/// What is not there any more needs no removal.
pub(crate) fn gone(result: object_store::Result<()>) -> object_store::Result<()> {
    match result {
        Err(object_store::Error::NotFound { .. }) => Ok(()),
        other => other,
    }
}

/// How uploads go on in a place.
#[derive(Debug)]
pub(crate) struct Manner {
    /// Bytes of a part. A blob of no more than that is written in one step.
    pub(crate) part_size: usize,
    /// Parts under way while the next one is gathered.
    pub(crate) parts_at_once: usize,
    /// How long an answer may take; `None`: as long as it takes.
    pub(crate) patience: Option<Patience>,
    /// When the removal of what a failed upload left is tried again.
    pub(crate) removal_pauses: &'static [Duration],
}

/// How long an answer may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For a request without content.
    pub(crate) answer: Duration,
    /// The slowest line over which an upload still succeeds.
    pub(crate) bytes_per_second: u64,
    /// Between two pieces of a download.
    pub(crate) stall: Duration,
}

/// Waits for `work`, which carries `bytes`, no longer than the place allows.
pub(crate) async fn within<T>(
    place: &dyn Place,
    bytes: u64,
    work: impl Future<Output = object_store::Result<T>> + Send,
) -> object_store::Result<T> {
    let Some(patience) = place.manner().patience else {
        return work.await;
    };
    let limit = patience.answer + Duration::from_millis(bytes.saturating_mul(1000) / patience.bytes_per_second);
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| Err(no_answer(limit)))
}

/// The error of a place that doesn't answer.
pub(crate) fn no_answer(limit: Duration) -> object_store::Error {
    let text = format!("no answer within {:.1} s", limit.as_secs_f32());
    object_store::Error::Generic { store: "blobs", source: io::Error::new(io::ErrorKind::TimedOut, text).into() }
}

/// `stream`, ended by an error when nothing comes for longer than the place allows. The time that the
/// reader takes does not count.
pub(crate) fn unstalled<T: Send + 'static>(
    patience: Option<Patience>,
    stream: BoxStream<'static, object_store::Result<T>>,
) -> BoxStream<'static, object_store::Result<T>> {
    let Some(Patience { stall, .. }) = patience else {
        return stream;
    };
    let next = move |stream: Option<BoxStream<'static, object_store::Result<T>>>| async move {
        let mut stream = stream?;
        match tokio::time::timeout(stall, stream.next()).await {
            Ok(item) => item.map(|item| (item, Some(stream))),
            Err(_) => Some((Err(no_answer(stall)), None)),
        }
    };
    stream::unfold(Some(stream), next).boxed()
}

/// The folders in which blobs of any kind are, without the ones that spread them.
pub(crate) fn top_folders() -> impl Iterator<Item = String> + Send {
    BlobKind::ALL.into_iter().map(|kind| kind.folder().to_owned())
}

/// Every folder in which a blob can be, as [`BlobKey`] spreads them.
pub(crate) fn shard_folders() -> impl Iterator<Item = String> + Send {
    let first_key = |kind, byte| {
        let mut id = [0; 16];
        id[0] = byte;
        BlobKey::new(kind, Uuid::from_bytes(id))
    };
    let folder = |key: BlobKey| key.as_str().rsplit_once('/').map(|(folder, _)| folder.to_owned());
    BlobKind::ALL.into_iter().flat_map(move |kind| (0..=u8::MAX).filter_map(move |byte| folder(first_key(kind, byte))))
}

/// The blobs among the objects below `prefix`, asked folder by folder.
pub(crate) fn listed(
    objects: &dyn ObjectStore,
    prefix: &Path,
    patience: Option<Patience>,
    place: &str,
) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
    let listings: Vec<_> = top_folders().map(|folder| objects.list(Some(&prefix.clone().join(folder)))).collect();
    let objects = unstalled(patience, stream::iter(listings).flatten().boxed());
    let (prefix, place) = (prefix.clone(), place.to_owned());
    objects
        .filter_map(move |object| {
            let entry = match object {
                Ok(object) => entry(&prefix, &object).map(Ok),
                Err(error) => Some(Err(store_error("list the blobs", &place, &error))),
            };
            std::future::ready(entry)
        })
        .boxed()
}

fn entry(prefix: &Path, object: &ObjectMeta) -> Option<BlobEntry> {
    let segments: Vec<_> = object.location.prefix_match(prefix)?.map(|part| part.as_ref().to_owned()).collect();
    let key = BlobKey::parse(&segments.join("/"))?;
    let modified = Timestamp::from_micros(object.last_modified.timestamp_micros());
    Some(BlobEntry { key, size: object.size, modified })
}

/// What is done with a blob, for error messages.
pub(crate) fn action(verb: &str, key: &BlobKey) -> impl Display {
    format!("{verb} blob {key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_blob_has_one_of_the_shard_folders() {
        let folders: std::collections::HashSet<_> = shard_folders().collect();
        assert_eq!(folders.len(), 512);
        for kind in BlobKind::ALL {
            let key = BlobKey::new(kind, Uuid::from_u128(0xfedc_ba98 << 96));
            assert!(folders.contains(key.as_str().rsplit_once('/').unwrap().0));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_stalls_ends_with_an_error() {
        let patience = Patience { answer: Duration::ZERO, bytes_per_second: 1, stall: Duration::from_secs(15) };
        let stalling = stream::iter([Ok(1)]).chain(stream::pending()).boxed();
        let items: Vec<_> = unstalled(Some(patience), stalling).collect().await;
        assert!(matches!(items.as_slice(), [Ok(1), Err(_)]));
    }
}
