//! Which contents are cached (ADR 56).

use super::*;
use domain::blob::BlobKind;
use uuid::Uuid;

const SMALL: usize = 64 * 1024;
const LARGE: usize = SMALL + 1;
const LARGEST: usize = 4 * 1024 * 1024;

fn key(number: u128) -> BlobKey {
    BlobKey::new(BlobKind::Resource, Uuid::from_u128(number))
}

fn failed() -> Result<Bytes, StoreError> {
    Err(StoreError::other("the disk is gone"))
}

/// A content in these pieces.
fn download(pieces: Vec<Result<Bytes, StoreError>>) -> Download {
    let size = pieces.iter().flatten().map(|piece| piece.len() as u64).sum();
    Download { size, content: stream::iter(pieces).boxed() }
}

/// Reads a content of two pieces that is not cached.
async fn miss(cache: &BlobCache, number: u128, size: usize) {
    let pieces = vec![Ok(vec![1; size / 2].into()), Ok(vec![2; size - size / 2].into())];
    let content = cache.fill(&key(number), download(pieces)).await.unwrap();
    assert_eq!(collect(content).await, [vec![1; size / 2], vec![2; size - size / 2]].concat());
}

async fn collect(content: ByteStream) -> Vec<u8> {
    content.try_collect::<Vec<Bytes>>().await.unwrap().concat()
}

async fn is_cached(cache: &BlobCache, number: u128) -> bool {
    cache.get(&key(number)).await.is_some()
}

#[tokio::test]
async fn a_small_content_is_cached_when_it_is_read_and_removed_when_it_is_deleted() {
    let cache = BlobCache::new();
    for size in [0, 5, SMALL] {
        miss(&cache, 1, size).await;
        assert_eq!(collect(cache.get(&key(1)).await.unwrap()).await.len(), size);
        cache.remove(&key(1)).await;
        assert!(!is_cached(&cache, 1).await);
    }
}

#[tokio::test]
async fn a_large_content_is_cached_when_it_is_read_again() {
    for size in [LARGE, LARGEST] {
        let cache = BlobCache::new();
        miss(&cache, 1, size).await;
        assert!(!is_cached(&cache, 1).await);
        assert_eq!(cache.memory.available_permits(), MEMORY, "nothing is copied at first");
        miss(&cache, 1, size).await;
        assert_eq!(collect(cache.get(&key(1)).await.unwrap()).await.len(), size);
        assert_eq!(cache.memory.available_permits(), MEMORY - size);
    }
}

#[tokio::test]
async fn a_content_that_is_too_large_is_never_cached() {
    let cache = BlobCache::new();
    for _ in 0..3 {
        miss(&cache, 1, LARGEST + 1).await;
        assert!(!is_cached(&cache, 1).await);
    }
}

/// Otherwise each copy would be wasted.
#[tokio::test]
async fn what_is_read_again_after_more_than_can_be_cached_is_not_cached() {
    let count = u128::from(CAPACITY / MAX_CONTENT) + 1;
    let cache = BlobCache::new();
    for number in (0..count).chain(0..count) {
        miss(&cache, number, LARGEST).await;
        cache.read_once.run_pending_tasks().await;
        assert_eq!(cache.memory.available_permits(), MEMORY);
    }
    miss(&cache, count - 1, LARGEST).await;
    assert!(is_cached(&cache, count - 1).await, "the last one was read a moment ago");
}

#[tokio::test]
async fn a_content_that_breaks_off_is_an_error_and_not_cached() {
    let cache = BlobCache::new();
    for size in [4, LARGE] {
        cache.read_once.insert(key(1), 0).await;
        let broken = download(vec![Ok(vec![1; size].into()), failed()]);
        assert!(cache.fill(&key(1), broken).await.is_err());
        assert!(!is_cached(&cache, 1).await);
        assert_eq!(cache.memory.available_permits(), MEMORY);
    }
}

#[tokio::test]
async fn a_content_for_which_there_is_no_memory_is_streamed() {
    let cache = BlobCache::new();
    let taken = cache.memory.try_acquire_many(u32::try_from(MEMORY).unwrap()).unwrap();
    for _ in 0..3 {
        miss(&cache, 1, 100).await;
        miss(&cache, 2, LARGE).await;
    }
    assert!(!is_cached(&cache, 1).await && !is_cached(&cache, 2).await);
    drop(taken);
    miss(&cache, 2, LARGE).await;
    assert!(is_cached(&cache, 2).await);
}

#[tokio::test]
async fn the_memory_of_a_content_is_taken_for_as_long_as_a_reader_holds_it() {
    let cache = BlobCache::new();
    let content = cache.fill(&key(1), download(vec![Ok(vec![1; 1500].into())])).await.unwrap();
    cache.remove(&key(1)).await;
    cache.contents.run_pending_tasks().await;
    assert_eq!(cache.memory.available_permits(), MEMORY - 1500);
    drop(content);
    assert_eq!(cache.memory.available_permits(), MEMORY);
}

/// A new profile among labels without end.
#[tokio::test]
async fn a_large_content_is_cached_among_many_small_ones() {
    let cache = BlobCache::new();
    for number in 0..2 * u128::from(CAPACITY / CACHED_AT_ONCE) {
        miss(&cache, number + 2, SMALL).await;
    }
    for _ in 0..2 {
        miss(&cache, 1, LARGEST).await;
    }
    assert!(is_cached(&cache, 1).await);
    cache.contents.run_pending_tasks().await;
    assert!(cache.contents.weighted_size() <= CAPACITY);
}
