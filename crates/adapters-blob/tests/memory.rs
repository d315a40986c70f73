//! Memory must not grow with the size of a blob. Alone in its process, so that no other test counts.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails its test")]
#![cfg(target_os = "linux")]

use adapters_blob::{BlobConfig, open};
use bytes::Bytes;
use domain::blob::{BlobKey, BlobKind};
use futures_util::TryStreamExt;
use uuid::Uuid;

const MIB: u64 = 1024 * 1024;
const SIZE: u64 = 256 * MIB;

/// The most memory that this process ever had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn memory_does_not_grow_with_the_size_of_a_blob() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&BlobConfig::Local { path: folder.path().to_owned() }).await.unwrap();
    let key = BlobKey::new(BlobKind::Resource, Uuid::from_u128(1));
    let before = peak();

    let mut writer = store.create(&key).await.unwrap();
    for _ in 0..SIZE / (64 * 1024) {
        writer.write(Bytes::from(vec![7; 64 * 1024])).await.unwrap();
    }
    writer.finish().await.unwrap();
    let written = peak() - before;
    assert!(written < 16 * MIB, "writing took {written} bytes");

    let content = store.read(&key, None).await.unwrap().unwrap();
    let size = content.try_fold(0, async |size, bytes| Ok(size + bytes.len() as u64)).await.unwrap();
    assert_eq!(size, SIZE);
    let read = peak() - before;
    assert!(read < 16 * MIB, "writing and reading took {read} bytes");
}
