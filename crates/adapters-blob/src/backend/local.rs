//! A folder on a local disk. `object_store` writes and publishes durably; this file adds what it lacks:
//! large read blocks, a list that tolerates other files in the folder, and the removal of half-written
//! files.

mod lock;

use super::{Backend, UnfinishedUpload, UploadLimits, location};
use crate::error::{OpenError, store_error};
use async_trait::async_trait;
use bytes::Bytes;
use domain::blob::{BlobEntry, BlobKey, BlobKind};
use domain::error::StoreError;
use domain::timestamp::Timestamp;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt, TryStreamExt};
use lock::FolderLock;
use object_store::local::LocalFileSystem;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, pread};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use uuid::Uuid;

/// Bytes of a part: a blob of at most that takes one change to a blocking thread.
const UPLOAD_LIMITS: UploadLimits = UploadLimits { part_size: 512 * 1024, parts_in_flight: 2, part_slots: None };

/// Bytes read at once. At most two blocks of a download are in memory.
const BLOCK: u64 = 256 * 1024;

/// Written and removed by `ping`; 4 KiB, so that a full disk refuses it.
const PROBE_FILE: &str = ".platen-probe";
const PROBE: [u8; 4096] = [0; 4096];

pub(crate) struct LocalBackend {
    name: String,
    root: PathBuf,
    files: LocalFileSystem,
    lock: FolderLock,
}

impl LocalBackend {
    /// Opens the folder at `path`, and makes it when it is missing.
    pub(crate) async fn open(path: PathBuf) -> Result<Self, OpenError> {
        let name = format!("folder {}", path.display());
        let opened = blocking(move || Self::open_folder(&path)).await;
        opened.map_err(|error| OpenError::new(&store_error("keep blobs", &name, &error), ""))
    }

    fn open_folder(path: &Path) -> io::Result<Self> {
        make_durable_folder(path)?;
        // Fails now if the folder can't be read. Whether it can be written to is for `ping`.
        std::fs::read_dir(path)?;
        let root = path.canonicalize()?;
        let files = LocalFileSystem::new_with_prefix(&root)?.with_fsync(true);
        let name = format!("folder {}", root.display());
        Ok(Self { name, lock: FolderLock::take(&root), root, files })
    }
}

#[async_trait]
impl Backend for LocalBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn objects(&self) -> &dyn ObjectStore {
        &self.files
    }

    fn upload_limits(&self) -> &UploadLimits {
        &UPLOAD_LIMITS
    }

    /// On a blocking thread, since `LocalFileSystem` creates the file on the thread that polls it.
    async fn begin_parts(&self, key: &BlobKey) -> object_store::Result<Box<dyn MultipartUpload>> {
        let (files, location, runtime) = (self.files.clone(), location(key), Handle::current());
        spawn_blocking(move || runtime.block_on(files.put_multipart(&location))).await?
    }

    /// By path: `MultipartUpload::abort` does nothing after a `complete` that failed.
    async fn remove_upload(&self, upload: &mut UnfinishedUpload) -> object_store::Result<()> {
        upload.parts = None;
        let unfinished = self.root.join(format!("{}#1", upload.key));
        let published = self.root.join(upload.key.as_str());
        blocking(move || remove_file(&unfinished).and(remove_file(&published)))
            .await
            .map(drop)
            .map_err(|error| object_store::Error::Generic { store: "folder", source: error.into() })
    }

    /// `LocalFileSystem::list` ends at the first file name that isn't UTF-8.
    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        let (root, name) = (self.root.clone(), self.name.clone());
        // One folder at a time, so that memory holds no more than its entries.
        stream::iter(shard_folders())
            .then(move |shard| {
                let root = root.clone();
                blocking(move || blobs_in(&root, &shard))
            })
            .map_err(move |error| store_error("list the blobs", &name, &error))
            .map_ok(|blobs| stream::iter(blobs).map(Ok))
            .try_flatten()
            .boxed()
    }

    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        let Some(abandoned_before) = self.lock.abandoned_before() else { return Ok(0) };
        let root = self.root.clone();
        blocking(move || sweep(&root, abandoned_before))
            .await
            .map_err(|error| store_error("remove unfinished uploads", &self.name, &error))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let kinds = BlobKind::ALL.map(|kind| self.root.join(kind.folder()));
        let root = self.root.clone();
        blocking(move || {
            // The folder of a kind is made with its first blob.
            for folder in kinds.into_iter().filter(|folder| folder.exists()).chain([root]) {
                let probe = folder.join(PROBE_FILE);
                File::create(&probe)?.write_all(&PROBE)?;
                remove_file(&probe)?;
            }
            Ok(())
        })
        .await
        .map_err(|error| store_error("write a file", &self.name, &error))
    }
}

/// Reads a part of a file in large blocks, each while the one before is sent. The open file keeps the
/// content readable after its deletion (decision T18).
pub(crate) fn read_blocks(file: File, range: Range<u64>) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let file = Arc::new(file);
    let count = (range.end - range.start).div_ceil(BLOCK);
    stream::iter(0..count)
        .map(move |number| {
            let file = Arc::clone(&file);
            let start = range.start + number * BLOCK;
            let end = range.end.min(start + BLOCK);
            blocking(move || read_block(&file, start..end))
        })
        .buffered(2)
}

/// Reads a block into memory that isn't zeroed first.
fn read_block(file: &File, range: Range<u64>) -> io::Result<Bytes> {
    let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
    let mut block = Vec::with_capacity(length);
    while block.len() < length {
        let offset = range.start + block.len() as u64;
        match pread(file, spare_capacity(&mut block), offset) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    block.truncate(length);
    Ok(Bytes::from(block))
}

/// Runs `work` on a thread that may wait for the disk.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Makes a folder and all missing ones above it, and makes them durable.
fn make_durable_folder(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let missing: Vec<_> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    std::fs::create_dir_all(&path)?;
    missing.into_iter().filter_map(Path::parent).try_for_each(|parent| File::open(parent)?.sync_all())
}

/// Removes a file; returns whether it was there.
fn remove_file(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Every folder that can hold a blob, as a path below the root.
fn shard_folders() -> impl Iterator<Item = String> + Send {
    BlobKind::ALL.into_iter().flat_map(|kind| {
        (0..=u8::MAX).filter_map(move |first| {
            let mut id = [0; 16];
            id[0] = first;
            let key = BlobKey::new(kind, Uuid::from_bytes(id));
            key.as_str().rsplit_once('/').map(|(folder, _)| folder.to_owned())
        })
    })
}

/// The files of a folder with their paths below the root. A missing folder has none; names that
/// aren't UTF-8 are left out.
fn files_in(root: &Path, folder: &str) -> io::Result<Vec<(String, Metadata)>> {
    let entries = match std::fs::read_dir(root.join(folder)) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        match entry.metadata() {
            Ok(metadata) if metadata.is_file() => files.push((format!("{folder}/{name}"), metadata)),
            Ok(_) => {}
            // Removed meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}

fn blobs_in(root: &Path, folder: &str) -> io::Result<Vec<BlobEntry>> {
    let mut blobs = Vec::new();
    for (path, metadata) in files_in(root, folder)? {
        if let Some(key) = BlobKey::parse(&path) {
            blobs.push(BlobEntry { key, size: metadata.len(), modified: timestamp(metadata.modified()?) });
        }
    }
    Ok(blobs)
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX))
}

/// Removes half-written files that were last written to before `abandoned_before`; returns how many.
fn sweep(root: &Path, abandoned_before: SystemTime) -> io::Result<u64> {
    let mut swept = 0;
    for folder in shard_folders() {
        for (path, metadata) in files_in(root, &folder)? {
            if is_unfinished(&path) && metadata.modified()? < abandoned_before && remove_file(&root.join(path))? {
                swept += 1;
            }
        }
    }
    Ok(swept)
}

/// Whether a path is what `object_store` writes a blob to before it publishes it: `<key>#<number>`.
fn is_unfinished(path: &str) -> bool {
    path.split_once('#').is_some_and(|(key, number)| {
        BlobKey::parse(key).is_some() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
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

    #[test]
    fn every_blob_has_one_of_the_shard_folders() {
        let folders: std::collections::HashSet<_> = shard_folders().collect();
        assert_eq!(folders.len(), 512);
        for kind in BlobKind::ALL {
            let key = BlobKey::new(kind, Uuid::from_u128(0xfedc_ba98 << 96));
            assert!(folders.contains(key.as_str().rsplit_once('/').unwrap().0));
        }
    }
}
