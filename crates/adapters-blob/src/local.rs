//! A folder on a local disk. `object_store` writes under `<name>#1`, syncs and renames; here is what
//! it leaves open: that folders are durable before a blob in them is, that nothing stays of an
//! upload that fails or is killed, and a listing that bears strangers' files.

mod blocks;
mod presence;

use crate::error::io_error;
use crate::place::{Manner, Place, action, shard_folders};
use async_trait::async_trait;
use domain::blob::{BlobEntry, BlobKey, BlobKind, ByteStream};
use domain::error::StoreError;
use domain::timestamp::Timestamp;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};
use presence::Presence;
use std::collections::HashSet;
use std::fs::{DirEntry, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};

/// Written and removed to learn whether the folder can be written to.
const PROBE_FILE: &str = ".platen-probe";

/// Enough that a full disk refuses it.
const PROBE: [u8; 4096] = [0; 4096];

/// Small blobs cost one file, two syncs and one change to a blocking thread; large ones are hashed and
/// written in pieces of this size, side by side, while the next is received.
const MANNER: Manner = Manner { part_size: 512 * 1024, parts_at_once: 2, patience: None, removal_pauses: &[] };

/// A folder on a local disk.
pub(crate) struct LocalPlace {
    name: String,
    root: PathBuf,
    files: LocalFileSystem,
    /// Folders below the root that are known to be durable.
    durable: Arc<Mutex<HashSet<String>>>,
    presence: Presence,
}

impl LocalPlace {
    /// Opens the folder at `path`, which is made durably if it isn't there. Blocks.
    pub(crate) fn open(path: &std::path::Path) -> io::Result<Self> {
        make_durable_folder(path)?;
        // Whether it can be read is learned now, whether it can be written to by `ping`: a check of
        // blobs works on a folder that is read-only.
        std::fs::read_dir(path)?;
        let root = path.canonicalize()?;
        let files = LocalFileSystem::new_with_prefix(&root).map_err(io::Error::from)?.with_fsync(true);
        let name = format!("folder {}", root.display());
        Ok(Self { name, presence: Presence::begin(&root), root, files, durable: Arc::default() })
    }

    /// Where `object_store` writes a blob until it is whole.
    fn unfinished(&self, key: &BlobKey) -> PathBuf {
        self.root.join(format!("{key}#1"))
    }
}

#[async_trait]
impl Place for LocalPlace {
    fn name(&self) -> &str {
        &self.name
    }

    fn objects(&self) -> &dyn ObjectStore {
        &self.files
    }

    /// One change to a thread that may wait for the disk opens the file and reads its first block.
    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        let path = self.root.join(key.as_str());
        let opened = blocking(move || blocks::open(&path, range)).await;
        let opened = opened.map_err(|error| io_error(action("read", key), &self.name, error))?;
        Ok(opened.map(|opened| opened.into_stream(key, &self.name)))
    }

    fn manner(&self) -> &Manner {
        &MANNER
    }

    async fn prepare(&self, key: &BlobKey) -> object_store::Result<()> {
        let Some((shard, _)) = key.as_str().rsplit_once('/') else { return Ok(()) };
        if known(&self.durable, shard) {
            return Ok(());
        }
        let (root, shard, durable) = (self.root.clone(), shard.to_owned(), self.durable.clone());
        blocking(move || make_durable_shard(&root, &shard, &durable)).await.map_err(generic)
    }

    async fn begin_parts(&self, location: &Path) -> object_store::Result<Box<dyn MultipartUpload>> {
        // The file is opened wherever this is polled, which must not be a thread that serves others.
        let (files, location, runtime) = (self.files.clone(), location.clone(), Handle::current());
        spawn_blocking(move || runtime.block_on(files.put_multipart(&location))).await?
    }

    fn settle(&self, key: &BlobKey) -> Option<JoinHandle<io::Result<()>>> {
        let unfinished = self.unfinished(key);
        Some(spawn_blocking(move || File::open(unfinished)?.sync_data()))
    }

    async fn abort_parts(&self, key: &BlobKey, _parts: &mut Box<dyn MultipartUpload>) -> object_store::Result<()> {
        // `MultipartUpload::abort` does nothing after a `complete` that failed.
        self.discard(key).await
    }

    async fn discard(&self, key: &BlobKey) -> object_store::Result<()> {
        let published = self.root.join(key.as_str());
        let unfinished = self.unfinished(key);
        let remove = move || removed(&unfinished).and_then(|_| removed(&published)).map(|_| ());
        blocking(remove).await.map_err(generic)
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        let (root, name) = (self.root.clone(), self.name.clone());
        // One folder at a time, so that no more than its entries are held in memory.
        stream::iter(shard_folders())
            .then(move |shard| {
                let root = root.clone();
                blocking(move || blobs_of_shard(&root, &shard))
            })
            .map(move |shard| match shard {
                Ok(entries) => Ok(stream::iter(entries.into_iter().map(Ok))),
                Err(error) => Err(io_error("list the blobs", &name, error)),
            })
            .try_flatten()
            .boxed()
    }

    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        let Some(dead_before) = self.presence.dead_before() else { return Ok(0) };
        let root = self.root.clone();
        blocking(move || sweep(&root, dead_before))
            .await
            .map_err(|error| io_error("remove unfinished uploads", &self.name, error))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let kinds = BlobKind::ALL.map(|kind| self.root.join(kind.folder()));
        let root = self.root.clone();
        blocking(move || {
            // A folder of a kind that isn't there yet is made when it is needed.
            for folder in kinds.into_iter().filter(|folder| folder.exists()).chain([root]) {
                let probe = folder.join(PROBE_FILE);
                File::create(&probe)?.write_all(&PROBE)?;
                removed(&probe)?;
            }
            Ok(())
        })
        .await
        .map_err(|error| io_error("write a file", &self.name, error))
    }
}

/// Runs `work` on a thread that may wait for the disk.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

fn generic(error: io::Error) -> object_store::Error {
    object_store::Error::Generic { store: "folder", source: error.into() }
}

fn known(durable: &Mutex<HashSet<String>>, folder: &str) -> bool {
    durable.lock().unwrap_or_else(PoisonError::into_inner).contains(folder)
}

/// Makes a folder for blobs, and every folder above it, and makes them durable even if another
/// process made them and has not come to do so.
fn make_durable_shard(root: &std::path::Path, shard: &str, durable: &Mutex<HashSet<String>>) -> io::Result<()> {
    let ends = shard.match_indices('/').map(|(end, _)| end).chain([shard.len()]);
    for folder in ends.map(|end| &shard[..end]) {
        if known(durable, folder) {
            continue;
        }
        let path = root.join(folder);
        std::fs::create_dir_all(&path)?;
        sync_folder(path.parent().unwrap_or(root))?;
        durable.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
    }
    Ok(())
}

/// Makes a folder and all missing ones above it, and makes them durable.
fn make_durable_folder(path: &std::path::Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let missing: Vec<_> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    std::fs::create_dir_all(&path)?;
    missing.into_iter().filter_map(std::path::Path::parent).try_for_each(sync_folder)
}

/// Makes the entries of a folder durable.
fn sync_folder(path: &std::path::Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(path)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Removes a file; whether it was there.
fn removed(path: &std::path::Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The entries of a folder for blobs, each with its path below the root; names that aren't text
/// aren't ours. A folder that isn't there, or isn't a folder, has none.
fn entries(root: &std::path::Path, shard: &str) -> io::Result<impl Iterator<Item = io::Result<(String, DirEntry)>>> {
    let folder = match std::fs::read_dir(root.join(shard)) {
        Ok(folder) => Some(folder),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
        Err(error) => return Err(error),
    };
    let shard = shard.to_owned();
    Ok(folder.into_iter().flatten().filter_map(move |entry| match entry {
        Ok(entry) => Some(Ok((format!("{shard}/{}", entry.file_name().to_str()?), entry))),
        Err(error) => Some(Err(error)),
    }))
}

/// What is known of a file; `None` if it isn't there any more or isn't a file.
fn file_metadata(entry: &DirEntry) -> io::Result<Option<Metadata>> {
    match entry.metadata() {
        Ok(metadata) => Ok(metadata.is_file().then_some(metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn blobs_of_shard(root: &std::path::Path, shard: &str) -> io::Result<Vec<BlobEntry>> {
    let mut blobs = Vec::new();
    for entry in entries(root, shard)? {
        let (path, entry) = entry?;
        let Some(key) = BlobKey::parse(&path) else { continue };
        if let Some(metadata) = file_metadata(&entry)? {
            blobs.push(BlobEntry { key, size: metadata.len(), modified: timestamp(metadata.modified()?) });
        }
    }
    Ok(blobs)
}

fn timestamp(time: SystemTime) -> Timestamp {
    let micros = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()),
        Err(before) => i64::try_from(before.duration().as_micros()).map(i64::wrapping_neg),
    };
    Timestamp::from_micros(micros.unwrap_or_default())
}

/// Removes the half-written files that nobody has written to since `dead_before`.
fn sweep(root: &std::path::Path, dead_before: SystemTime) -> io::Result<u64> {
    let mut swept = 0;
    for shard in shard_folders() {
        for entry in entries(root, &shard)? {
            let (path, entry) = entry?;
            if !is_unfinished(&path) {
                continue;
            }
            let Some(metadata) = file_metadata(&entry)? else { continue };
            if metadata.modified()? < dead_before && removed(&entry.path())? {
                swept += 1;
            }
        }
    }
    Ok(swept)
}

/// Whether a file has the name that `object_store` gives to a blob of ours until it is whole.
fn is_unfinished(path: &str) -> bool {
    let Some((key, number)) = path.split_once('#') else { return false };
    BlobKey::parse(key).is_some() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_our_own_making_count_as_unfinished() {
        let key = "resources/0f/0f9619ff-8b86-d011-b42d-00c04fc964ff";
        assert!(is_unfinished(&format!("{key}#1")));
        assert!(is_unfinished(&format!("{key}#12")));
        for stranger in ["", "#", "#x", "#1.txt", "#1#2", ".1"] {
            assert!(!is_unfinished(&format!("{key}{stranger}")), "{stranger}");
        }
        assert!(!is_unfinished("resources/0f/notes#1"));
    }

    #[tokio::test]
    async fn what_has_arrived_is_settled_where_it_is_until_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = LocalPlace::open(folder.path()).unwrap();
        let key = BlobKey::new(BlobKind::Resource, uuid::Uuid::from_u128(1));
        place.prepare(&key).await.unwrap();
        let mut parts = place.begin_parts(&place.location(&key)).await.unwrap();
        parts.put_part("part".into()).await.unwrap();
        place.settle(&key).unwrap().await.unwrap().unwrap();
        parts.complete().await.unwrap();
        let settled = place.settle(&key).unwrap().await.unwrap();
        assert_eq!(settled.unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn times_before_1970_are_kept() {
        let before = UNIX_EPOCH - std::time::Duration::from_micros(1);
        assert_eq!(timestamp(before), Timestamp::from_micros(-1));
    }
}
