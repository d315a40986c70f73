//! What only a local folder does.

use crate::{key, list, output, publish};
use adapters_blob::{BlobConfig, open};
use bytes::Bytes;
use domain::blob::{BlobKey, BlobStore};
use domain::error::StoreError;
use futures_util::{StreamExt, TryStreamExt};
use std::error::Error;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// More than is held back in memory, so that a file of it is on disk while it is written.
const LARGE: &[u8] = &[7; 1024 * 1024];

const HOUR: Duration = Duration::from_hours(1);

async fn open_at(folder: &Path) -> Arc<dyn BlobStore> {
    open(&BlobConfig::Local { path: folder.to_owned() }).await.unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn unfinished(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|path| path.to_str().unwrap().contains('#')).collect()
}

/// A file that was last written to `age` ago.
fn leave(folder: &Path, name: &str, age: Duration) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = File::create(&path).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now - age).unwrap();
    path
}

/// Waits until the file of a blob that is being written is there.
async fn file_of(folder: &Path) -> PathBuf {
    let appears = async {
        loop {
            if let Some(path) = unfinished(folder).pop() {
                return path;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), appears).await.expect("the file appears")
}

#[tokio::test]
async fn missing_folders_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/c");
    publish(&*open_at(&path).await, &key(1), b"x").await;
    assert!(path.join(key(1).as_str()).is_file());
}

#[tokio::test]
async fn a_blob_is_still_there_after_a_new_opening() {
    let folder = tempfile::tempdir().unwrap();
    publish(&*open_at(folder.path()).await, &key(1), LARGE).await;
    let store = open_at(folder.path()).await;
    let content: Vec<Bytes> = store.read(&key(1), None).await.unwrap().unwrap().try_collect().await.unwrap();
    assert_eq!(content.concat(), LARGE);
}

#[tokio::test]
async fn leftovers_of_killed_processes_are_swept_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    publish(&*open_at(folder.path()).await, &key(1), b"x").await;
    let age = Duration::from_secs(10);
    let dead = leave(folder.path(), &format!("{}#1", key(2)), age);
    let dead_too = leave(folder.path(), &format!("{}#23", key(0xabcd << 112)), age);
    let strangers = ["notes#1", "resources/00/notes#1", "resources/00/.hidden", "lost+found/x#1"];
    let strangers = strangers.map(|name| leave(folder.path(), name, age));
    let store = open_at(folder.path()).await;
    assert_eq!(store.sweep_unfinished().await.unwrap(), 2);
    assert!(!dead.exists() && !dead_too.exists());
    assert!(strangers.iter().all(|path| path.exists()));
    assert_eq!(store.size(&key(1)).await.unwrap(), Some(1));
    assert_eq!(store.sweep_unfinished().await.unwrap(), 0);
}

#[tokio::test]
async fn files_of_another_live_process_are_left_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let other = open_at(folder.path()).await;
    let mut writer = other.create(&key(1)).await.unwrap();
    writer.write(Bytes::from_static(LARGE)).await.unwrap();
    let theirs = file_of(folder.path()).await;
    let recent = leave(folder.path(), &format!("{}#1", key(2)), HOUR / 2);
    let forgotten = leave(folder.path(), &format!("{}#1", key(3)), HOUR * 2);
    let store = open_at(folder.path()).await;
    assert_eq!(store.sweep_unfinished().await.unwrap(), 1);
    assert!(theirs.exists() && recent.exists() && !forgotten.exists());
    writer.finish().await.unwrap();
    assert_eq!(store.size(&key(1)).await.unwrap(), Some(LARGE.len() as u64));
}

#[tokio::test]
async fn one_who_stays_while_others_come_and_go_keeps_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let first = open_at(folder.path()).await;
    let staying = open_at(folder.path()).await;
    let mut writer = staying.create(&key(1)).await.unwrap();
    writer.write(Bytes::from_static(LARGE)).await.unwrap();
    let file = file_of(folder.path()).await;
    let now = fs::metadata(&file).unwrap().modified().unwrap();
    drop(first);
    // Even one that pauses is not taken for dead by those who come after the first has gone.
    File::options().write(true).open(&file).unwrap().set_modified(now - HOUR / 2).unwrap();
    assert_eq!(open_at(folder.path()).await.sweep_unfinished().await.unwrap(), 0);
    writer.finish().await.unwrap();
}

#[tokio::test]
async fn an_upload_that_ends_early_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_at(folder.path()).await;
    let mut aborted = store.create(&key(1)).await.unwrap();
    aborted.write(Bytes::from_static(LARGE)).await.unwrap();
    file_of(folder.path()).await;
    aborted.abort().await.unwrap();
    assert_eq!(unfinished(folder.path()), Vec::<PathBuf>::new());
    let mut dropped = store.create(&key(2)).await.unwrap();
    dropped.write(Bytes::from_static(LARGE)).await.unwrap();
    file_of(folder.path()).await;
    drop(dropped);
    let gone = async {
        while !unfinished(folder.path()).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the file is removed");
}

#[tokio::test]
async fn a_finish_that_nobody_waits_for_leaves_no_blob() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_at(folder.path()).await;
    for number in 1..50 {
        let mut writer = store.create(&key(number)).await.unwrap();
        writer.write(Bytes::from_static(b"x")).await.unwrap();
        let mut finish = writer.finish();
        // Polled once, which is enough to start it.
        assert!(futures_util::poll!(&mut finish).is_pending());
        drop(finish);
    }
    let ended = async {
        while Handle::current().metrics().num_alive_tasks() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), ended).await.expect("the uploads end");
    assert_eq!(list(&*store).await, []);
    assert_eq!(unfinished(folder.path()), Vec::<PathBuf>::new());
}

/// Makes a folder refuse new files, for root as well.
fn seal(folder: &Path, blob: &BlobKey) {
    let mut permissions = fs::metadata(folder).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder, permissions).unwrap();
    if File::create(folder.join("probe")).is_ok() {
        // Root writes wherever there is room for a file; there is none below a file.
        fs::remove_file(folder.join("probe")).unwrap();
        let shard = folder.join(blob.as_str()).parent().unwrap().to_owned();
        fs::create_dir_all(shard.parent().unwrap()).unwrap();
        File::create(shard).unwrap();
    }
}

fn io_cause(error: &StoreError) -> Option<&io::Error> {
    std::iter::successors(error.source(), |&error| error.source()).find_map(|error| error.downcast_ref())
}

#[tokio::test]
async fn a_folder_that_takes_no_files_is_told_by_the_error_of_the_system() {
    for content in [b"small".as_slice(), LARGE] {
        let folder = tempfile::tempdir().unwrap();
        let store = open_at(folder.path()).await;
        seal(folder.path(), &key(1));
        let before = files(folder.path());
        let mut writer = store.create(&key(1)).await.unwrap();
        let written = writer.write(Bytes::from_static(content)).await;
        let finished = writer.finish().await;
        let error = written.and(finished.map(drop)).unwrap_err();
        assert!(io_cause(&error).is_some(), "{}", output(&error));
        assert!(output(&error).contains(&key(1).to_string()), "{}", output(&error));
        assert!(writer.abort().await.is_ok());
        drop(writer);
        assert_eq!(files(folder.path()), before);
        assert_eq!(list(&*store).await, []);
    }
}

#[tokio::test]
async fn a_blob_that_cannot_be_put_in_its_place_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_at(folder.path()).await;
    for (number, content) in (1..).zip([b"small".as_slice(), LARGE]) {
        // A folder in the place of the blob makes the last step fail.
        fs::create_dir_all(folder.path().join(key(number).as_str()).join("x")).unwrap();
        let mut writer = store.create(&key(number)).await.unwrap();
        writer.write(Bytes::from_static(content)).await.unwrap();
        let error = writer.finish().await.unwrap_err();
        assert!(io_cause(&error).is_some(), "{}", output(&error));
        assert_eq!(unfinished(folder.path()), Vec::<PathBuf>::new());
    }
}

#[tokio::test]
async fn a_folder_that_is_taken_away_while_running_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_at(folder.path()).await;
    for content in [b"small".as_slice(), LARGE] {
        publish(&*store, &key(1), content).await;
        fs::remove_dir_all(folder.path().join("resources")).unwrap();
    }
    publish(&*store, &key(1), b"x").await;
    assert_eq!(list(&*store).await.len(), 1);
}

#[tokio::test]
async fn strangers_in_the_folder_do_not_hinder_the_listing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_at(folder.path()).await;
    publish(&*store, &key(1), b"x").await;
    let shard = folder.path().join(key(1).as_str()).parent().unwrap().to_owned();
    for name in ["a b%20c", "..x", "x#1", "\u{7}bell", "ä"] {
        File::create(shard.join(name)).unwrap();
    }
    #[cfg(target_os = "linux")]
    File::create(shard.join(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(vec![0xff, b'x']))).unwrap();
    fs::create_dir(shard.join(key(2).as_str().rsplit('/').next().unwrap())).unwrap();
    File::create(folder.path().join("README")).unwrap();
    assert_eq!(list(&*store).await.into_iter().map(|entry| entry.key).collect::<Vec<_>>(), [key(1)]);
}

#[tokio::test]
async fn a_blob_that_was_cut_short_is_told_and_ends_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_at(folder.path()).await;
    publish(&*store, &key(1), LARGE).await;
    let mut stream = store.read(&key(1), None).await.unwrap().unwrap();
    stream.next().await.unwrap().unwrap();
    File::options().write(true).open(folder.path().join(key(1).as_str())).unwrap().set_len(10).unwrap();
    let rest: Vec<_> = stream.collect().await;
    assert!(matches!(rest.last(), Some(Err(StoreError::Corrupt { what: "blob", .. }))));
}

#[tokio::test]
async fn a_ping_fails_when_the_folder_is_gone_and_works_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("blobs");
    let store = open_at(&path).await;
    fs::remove_dir_all(&path).unwrap();
    let error = store.ping().await.unwrap_err();
    assert!(output(&error).contains("cannot write a file in folder"), "{}", output(&error));
    fs::create_dir(&path).unwrap();
    store.ping().await.unwrap();
}

#[tokio::test]
async fn a_path_that_is_a_file_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    File::create(&path).unwrap();
    for path in [path.clone(), path.join("below")] {
        let Err(error) = open(&BlobConfig::Local { path: path.clone() }).await else { panic!("it is opened") };
        let output = error.to_string();
        assert!(output.starts_with(&format!("cannot keep blobs in folder {}: ", path.display())), "{output}");
        assert!(!output.contains('\n'));
    }
}
