//! What every [`BlobStore`] must hold. [`blob_store_contract!`](crate::blob_store_contract) makes a
//! test of each clause; every one gets a store of its own, without any blob.

use crate::blob::{BlobEntry, BlobKey, BlobKind, BlobStore, BlobWriter};
use crate::checksum::Sha1Checksum;
use crate::timestamp::Timestamp;
use bytes::{Bytes, BytesMut};
use futures_util::future::{join_all, try_join_all};
use futures_util::{StreamExt, TryStreamExt};
use std::collections::BTreeMap;
use std::ops::Range;
use uuid::Uuid;

/// Runs every clause as a test of its own: `blob_store_contract!(local, open_store());`, where the
/// second is evaluated anew in each and gives, when awaited, the store and whatever must live as long
/// as it, such as its folder. The caller has tokio.
#[macro_export]
macro_rules! blob_store_contract {
    ($module:ident, $make:expr) => {
        $crate::blob_store_contract! { @clauses $module, $make,
            an_empty_blob_comes_back
            blobs_of_any_size_come_back_whole
            a_blob_of_many_parts_comes_back_whole
            pieces_of_any_size_keep_their_order
            the_checksum_is_that_of_all_that_was_written
            both_kinds_of_blobs_are_kept_apart
            ranges_are_served
            a_blob_is_invisible_until_it_is_finished
            an_aborted_blob_leaves_nothing
            a_dropped_writer_leaves_nothing_visible
            concurrent_writers_do_not_mix
            a_missing_blob_is_none
            a_deleted_blob_is_gone
            deleting_a_missing_blob_succeeds
            a_read_that_has_begun_survives_the_deletion
            the_size_is_that_of_the_content
            the_list_holds_what_is_published
            a_long_list_is_complete
            the_sweep_leaves_published_and_running_uploads_alone
            a_store_that_works_answers_a_ping
        }
    };
    (@clauses $module:ident, $make:expr, $($clause:ident)*) => {
        mod $module {
            use super::*;
            $(
                #[::tokio::test]
                async fn $clause() {
                    let (store, _guard) = $make.await;
                    $crate::contract::blob_store::$clause(&*store).await;
                }
            )*
        }
    };
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// More than the parts of any store that may be in memory at once.
const MANY_PARTS: usize = 20 * MIB + 7;

/// More than two parts of any store, and more than lies in the buffers of a connection.
const SOME_PARTS: usize = 13 * MIB + 7;

fn key(number: u128) -> BlobKey {
    // Spread over the folders as random ones are.
    BlobKey::new(BlobKind::Resource, Uuid::from_u128(number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)))
}

/// Bytes that repeat nowhere within reach.
fn content(seed: u64, length: usize) -> Bytes {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = BytesMut::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes.freeze()
}

async fn begin(store: &dyn BlobStore, key: &BlobKey) -> Box<dyn BlobWriter> {
    store.create(key).await.expect("a new blob can be begun")
}

/// Writes in pieces as they come from a network.
async fn write(writer: &mut dyn BlobWriter, content: &Bytes) {
    for start in (0..content.len()).step_by(64 * KIB) {
        let piece = content.slice(start..content.len().min(start + 64 * KIB));
        writer.write(piece).await.expect("bytes are taken");
    }
}

async fn publish(store: &dyn BlobStore, key: &BlobKey, content: &Bytes) {
    let mut writer = begin(store, key).await;
    write(&mut *writer, content).await;
    writer.finish().await.expect("the blob is published");
}

async fn read(store: &dyn BlobStore, key: &BlobKey, range: Option<Range<u64>>) -> Option<Bytes> {
    let stream = store.read(key, range).await.expect("the store can be read")?;
    let read: BytesMut = stream.try_collect().await.expect("the blob is read to its end");
    Some(read.freeze())
}

async fn assert_holds(store: &dyn BlobStore, key: &BlobKey, content: &Bytes) {
    let held = read(store, key, None).await.expect("the blob is there");
    assert_eq!(held.len(), content.len(), "another length");
    // Not compared by assert_eq!, which would print them.
    assert!(held == content, "other bytes");
}

async fn list(store: &dyn BlobStore) -> Vec<BlobEntry> {
    store.list().try_collect().await.expect("the blobs are listed")
}

async fn assert_empty(store: &dyn BlobStore, key: &BlobKey) {
    assert_eq!(read(store, key, None).await, None);
    assert_eq!(store.size(key).await.expect("the store answers"), None);
    assert_eq!(list(store).await, []);
}

/// A file of 0 bytes is a file (decision T11).
pub async fn an_empty_blob_comes_back(store: &dyn BlobStore) {
    publish(store, &key(1), &Bytes::new()).await;
    assert_holds(store, &key(1), &Bytes::new()).await;
    assert_eq!(store.size(&key(1)).await.expect("the store answers"), Some(0));
    assert_eq!(read(store, &key(1), Some(0..0)).await, Some(Bytes::new()));
}

/// Those around the sizes of parts and blocks among them.
pub async fn blobs_of_any_size_come_back_whole(store: &dyn BlobStore) {
    let around = [4 * KIB, 64 * KIB, 256 * KIB, 512 * KIB, MIB, 5 * MIB];
    let sizes = around.into_iter().flat_map(|size| [size - 1, size, size + 1]).chain([1, 8 * MIB]);
    for (number, size) in (1..).zip(sizes) {
        let content = content(number, size);
        publish(store, &key(number.into()), &content).await;
        assert_holds(store, &key(number.into()), &content).await;
    }
}

pub async fn a_blob_of_many_parts_comes_back_whole(store: &dyn BlobStore) {
    let content = content(1, MANY_PARTS);
    publish(store, &key(1), &content).await;
    assert_holds(store, &key(1), &content).await;
}

pub async fn pieces_of_any_size_keep_their_order(store: &dyn BlobStore) {
    let content = content(1, 9 * MIB);
    let mut writer = begin(store, &key(1)).await;
    let mut rest = content.clone();
    for size in [0, 1, 7, 4 * KIB - 1, 4 * KIB, 100_000, 3, 7 * MIB, 0, 65_536, 11].into_iter().cycle() {
        if rest.is_empty() {
            break;
        }
        writer.write(rest.split_to(size.min(rest.len()))).await.expect("bytes are taken");
    }
    writer.finish().await.expect("the blob is published");
    assert_holds(store, &key(1), &content).await;
}

/// For blobs of one piece, of several, and around the sizes of parts (decision T6).
pub async fn the_checksum_is_that_of_all_that_was_written(store: &dyn BlobStore) {
    let sizes = [0, 1, 64 * KIB, 256 * KIB, 256 * KIB + 1, MIB, 5 * MIB + 1, SOME_PARTS];
    for (number, size) in (1..).zip(sizes) {
        let content = content(number, size);
        let mut writer = begin(store, &key(number.into())).await;
        write(&mut *writer, &content).await;
        let output = writer.finish().await.expect("the blob is published");
        assert_eq!(output, Sha1Checksum::of(&content), "{size} bytes");
    }
}

pub async fn both_kinds_of_blobs_are_kept_apart(store: &dyn BlobStore) {
    let [resource, report] =
        [BlobKind::Resource, BlobKind::CrashReport].map(|kind| BlobKey::new(kind, Uuid::from_u128(1)));
    publish(store, &resource, &content(1, 10)).await;
    publish(store, &report, &content(2, 20)).await;
    assert_holds(store, &resource, &content(1, 10)).await;
    assert_holds(store, &report, &content(2, 20)).await;
    assert_eq!(list(store).await.len(), 2);
}

pub async fn ranges_are_served(store: &dyn BlobStore) {
    let size = SOME_PARTS;
    let content = content(1, size);
    publish(store, &key(1), &content).await;
    let middle = 6 * MIB;
    let ranges =
        [0..1, 0..size, 1..size, size - 1..size, 5..5, middle - 1..middle + 1, 256 * KIB..512 * KIB, 100_000..MIB];
    for range in ranges {
        let asked = range.start as u64..range.end as u64;
        let served = read(store, &key(1), Some(asked)).await.expect("the blob is there");
        assert!(served == content.slice(range.clone()), "other bytes for {range:?}");
    }
}

pub async fn a_blob_is_invisible_until_it_is_finished(store: &dyn BlobStore) {
    for size in [10, SOME_PARTS] {
        let content = content(1, size);
        let key = key(size as u128);
        let before = list(store).await.len();
        let mut writer = begin(store, &key).await;
        write(&mut *writer, &content).await;
        assert_eq!(read(store, &key, None).await, None);
        assert_eq!(store.size(&key).await.expect("the store answers"), None);
        assert_eq!(list(store).await.len(), before);
        writer.finish().await.expect("the blob is published");
        assert_holds(store, &key, &content).await;
    }
}

pub async fn an_aborted_blob_leaves_nothing(store: &dyn BlobStore) {
    for size in [0, 10, SOME_PARTS] {
        let key = key(size as u128);
        let mut writer = begin(store, &key).await;
        write(&mut *writer, &content(1, size)).await;
        writer.abort().await.expect("the blob is given up");
        drop(writer);
        assert_empty(store, &key).await;
    }
}

pub async fn a_dropped_writer_leaves_nothing_visible(store: &dyn BlobStore) {
    for size in [0, 10, SOME_PARTS] {
        let key = key(size as u128);
        let mut writer = begin(store, &key).await;
        write(&mut *writer, &content(1, size)).await;
        drop(writer);
        assert_empty(store, &key).await;
    }
}

pub async fn concurrent_writers_do_not_mix(store: &dyn BlobStore) {
    let contents: Vec<_> = (0..).zip([0, 1, 10, KIB, 300 * KIB, MIB, 2 * MIB, 7 * MIB, 8 * MIB]).collect();
    let write_one = async |number: u64, size: usize| publish(store, &key(number.into()), &content(number, size)).await;
    join_all(contents.iter().map(|(number, size)| write_one(*number, *size))).await;
    for (number, size) in contents {
        assert_holds(store, &key(number.into()), &content(number, size)).await;
    }
}

pub async fn a_missing_blob_is_none(store: &dyn BlobStore) {
    publish(store, &key(1), &content(1, 10)).await;
    for range in [None, Some(0..1), Some(7..7)] {
        assert_eq!(read(store, &key(2), range).await, None);
    }
    assert_eq!(store.size(&key(2)).await.expect("the store answers"), None);
}

pub async fn a_deleted_blob_is_gone(store: &dyn BlobStore) {
    publish(store, &key(1), &content(1, 10)).await;
    store.delete(&key(1)).await.expect("the blob is deleted");
    assert_empty(store, &key(1)).await;
}

pub async fn deleting_a_missing_blob_succeeds(store: &dyn BlobStore) {
    store.delete(&key(1)).await.expect("there is nothing to delete");
    publish(store, &key(1), &content(1, 10)).await;
    for _ in 0..2 {
        store.delete(&key(1)).await.expect("the blob is deleted once");
    }
}

/// Decision T18.
pub async fn a_read_that_has_begun_survives_the_deletion(store: &dyn BlobStore) {
    let content = content(1, SOME_PARTS);
    publish(store, &key(1), &content).await;
    let opened = store.read(&key(1), None).await.expect("the store can be read").expect("the blob is there");
    let mut begun = store.read(&key(1), Some(5..SOME_PARTS as u64)).await.expect("it can").expect("it is there");
    let mut received = BytesMut::from(&begun.next().await.expect("there is more").expect("it is read")[..]);
    store.delete(&key(1)).await.expect("the blob is deleted");
    assert_eq!(read(store, &key(1), None).await, None);
    let rest: BytesMut = begun.try_collect().await.expect("the blob is read to its end");
    received.unsplit(rest);
    assert!(received == content.slice(5..), "other bytes after the deletion");
    let unread: BytesMut = opened.try_collect().await.expect("the blob is read to its end");
    assert!(unread == content, "other bytes where none was read before the deletion");
}

pub async fn the_size_is_that_of_the_content(store: &dyn BlobStore) {
    for size in [0, 1, 300 * KIB, 7 * MIB] {
        let key = key(size as u128);
        publish(store, &key, &content(1, size)).await;
        assert_eq!(store.size(&key).await.expect("the store answers"), Some(size as u64));
    }
}

pub async fn the_list_holds_what_is_published(store: &dyn BlobStore) {
    let sizes = BTreeMap::from([(key(1), 0), (key(2), 1), (key(3), 300 * KIB), (key(4), 7 * MIB)]);
    for (key, size) in &sizes {
        publish(store, key, &content(1, *size)).await;
    }
    let mut begun = begin(store, &key(5)).await;
    write(&mut *begun, &content(1, SOME_PARTS)).await;
    let listed = list(store).await;
    assert!(listed.iter().all(|entry| entry.modified > Timestamp::from_micros(0)));
    let listed: BTreeMap<_, _> = listed.into_iter().map(|entry| (entry.key, entry.size)).collect();
    let expected: BTreeMap<_, _> = sizes.into_iter().map(|(key, size)| (key, size as u64)).collect();
    assert_eq!(listed, expected);
    begun.abort().await.expect("the blob is given up");
}

/// Stores list page by page.
pub async fn a_long_list_is_complete(store: &dyn BlobStore) {
    const COUNT: u128 = 1_100;
    let publish_one = async |number: u128| {
        let mut writer = store.create(&key(number)).await?;
        writer.write(Bytes::from_static(b"x")).await?;
        writer.finish().await
    };
    for start in (0..COUNT).step_by(50) {
        try_join_all((start..start + 50).map(publish_one)).await.expect("the blobs are published");
    }
    let mut keys: Vec<_> = list(store).await.into_iter().map(|entry| entry.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len() as u128, COUNT);
}

pub async fn the_sweep_leaves_published_and_running_uploads_alone(store: &dyn BlobStore) {
    let content = content(1, SOME_PARTS);
    publish(store, &key(1), &content).await;
    let mut running = begin(store, &key(2)).await;
    write(&mut *running, &content).await;
    assert_eq!(store.sweep_unfinished().await.expect("the store is swept"), 0);
    running.finish().await.expect("the blob is published");
    assert_holds(store, &key(1), &content).await;
    assert_holds(store, &key(2), &content).await;
}

pub async fn a_store_that_works_answers_a_ping(store: &dyn BlobStore) {
    for _ in 0..2 {
        store.ping().await.expect("the store works");
    }
    assert_eq!(list(store).await, []);
}
