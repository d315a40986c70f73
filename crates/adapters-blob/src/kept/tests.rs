//! What is kept, what isn't, and that no reader waits for it.

use super::copies::READERS;
use super::*;
use domain::blob::{BlobKind, MockBlobStore};
use domain::blob_store_contract;
use futures_util::FutureExt;
use std::collections::VecDeque;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use uuid::Uuid;

blob_store_contract!(contents_in_memory, async {
    let folder = tempfile::tempdir().unwrap();
    let store = crate::open(&crate::BlobConfig::Local { path: folder.path().to_owned() }).await.unwrap();
    (with_contents_in_memory(store), folder)
});

type Piece = Result<Bytes, StoreError>;

/// More than is read to its end before any of it is handed on.
const PIECE: usize = SMALL + 1;

fn key(number: u128) -> BlobKey {
    BlobKey::new(BlobKind::Resource, Uuid::from_u128(number))
}

fn bytes(byte: u8, size: usize) -> Bytes {
    vec![byte; size].into()
}

fn broken() -> Piece {
    Err(StoreError::other("the disk is gone"))
}

fn over(readings: impl IntoIterator<Item = ByteStream>) -> ContentsInMemory {
    let readings = Mutex::new(readings.into_iter().collect::<VecDeque<_>>());
    let mut store = MockBlobStore::new();
    store.expect_read().returning(move |_, _| Ok(readings.lock().unwrap().pop_front()));
    store.expect_delete().returning(|_| Ok(()));
    ContentsInMemory::new(Arc::new(store))
}

/// A store from which can be read once for each of these: the pieces of a content. Afterwards there is none.
fn giving(readings: impl IntoIterator<Item = Vec<Piece>>) -> ContentsInMemory {
    over(readings.into_iter().map(|pieces| stream::iter(pieces).boxed()))
}

/// A store from which can be read so many times, and what gives each reading its pieces.
fn fed(readings: usize) -> (ContentsInMemory, Vec<UnboundedSender<Piece>>) {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..readings).map(|_| unbounded_channel()).unzip();
    let streams = receivers.into_iter().map(|mut receiver| stream::poll_fn(move |cx| receiver.poll_recv(cx)).boxed());
    (over(streams), senders)
}

/// Whoever asks for this content asks for it again.
async fn pass(store: &ContentsInMemory, number: u128, size: usize) {
    store.passed.insert(key(number), u32::try_from(size).unwrap()).await;
}

async fn begin(store: &ContentsInMemory) -> ByteStream {
    store.read(&key(1), None).await.unwrap().unwrap()
}

/// The piece that is there by now.
#[track_caller]
fn at_once(content: &mut ByteStream) -> Option<Piece> {
    content.next().now_or_never().expect("it comes at once")
}

async fn read(store: &ContentsInMemory, range: Option<Range<u64>>) -> Result<Vec<u8>, StoreError> {
    let content = store.read(&key(1), range).await?.expect("a content");
    let pieces: Vec<Bytes> = content.try_collect().await?;
    Ok(pieces.concat())
}

/// Whether a reading is answered from memory; there is nothing to read but that.
async fn is_kept(store: &ContentsInMemory) -> bool {
    store.read(&key(1), None).await.unwrap().is_some()
}

#[tokio::test]
async fn a_small_content_is_read_once_and_forgotten_when_it_is_deleted() {
    let store = giving([vec![Ok(bytes(1, 2)), Ok(bytes(2, 3))], vec![Ok(bytes(3, 1))]]);
    for _ in 0..3 {
        assert_eq!(read(&store, None).await.unwrap(), [1, 1, 2, 2, 2]);
    }
    store.delete(&key(1)).await.unwrap();
    assert_eq!(read(&store, None).await.unwrap(), [3]);
}

#[tokio::test]
async fn a_large_content_goes_to_its_readers_as_it_comes_and_is_read_twice() {
    let (store, senders) = fed(2);
    for (sender, is_second) in senders.into_iter().zip([false, true]) {
        sender.send(Ok(bytes(1, PIECE))).unwrap();
        let mut content = begin(&store).await;
        assert_eq!(at_once(&mut content).unwrap().unwrap(), vec![1; PIECE]);
        assert_eq!(store.copies.free() < copies::ROOM, is_second);
        assert!(content.next().now_or_never().is_none(), "there is no more yet");
        sender.send(Ok(bytes(2, 5))).unwrap();
        assert_eq!(at_once(&mut content).unwrap().unwrap(), vec![2; 5]);
        drop(sender);
        assert!(at_once(&mut content).is_none());
    }
    for _ in 0..2 {
        assert_eq!(read(&store, None).await.unwrap(), [vec![1; PIECE], vec![2; 5]].concat());
    }
}

/// Else a copy would be made of each, in vain.
#[tokio::test]
async fn what_is_asked_for_again_after_more_than_can_be_kept_is_not_copied() {
    const COUNT: u128 = ROOM as u128 / LARGEST as u128 + 1;
    let content = || vec![Ok(bytes(1, LARGEST))];
    let store = giving((0..=2 * COUNT).map(|_| content()));
    for number in (0..COUNT).chain(0..COUNT) {
        let content = store.read(&key(number), None).await.unwrap().unwrap();
        assert_eq!(content.count().await, 1);
        store.passed.run_pending_tasks().await;
        assert_eq!(store.copies.free(), copies::ROOM);
    }
    // The last one has just gone by.
    let content = store.read(&key(COUNT - 1), None).await.unwrap().unwrap();
    assert_eq!(content.count().await, 1);
    assert!(store.copies.free() < copies::ROOM);
}

#[tokio::test]
async fn the_largest_content_is_kept_and_takes_its_own_size_of_the_room() {
    let sizes = [PIECE, LARGEST / 2, 0, LARGEST - LARGEST / 2 - PIECE];
    let store = giving([sizes.into_iter().map(|size| Ok(bytes(1, size))).collect()]);
    pass(&store, 1, LARGEST).await;
    for _ in 0..2 {
        assert_eq!(read(&store, None).await.unwrap().len(), LARGEST);
    }
    assert_eq!(store.copies.free(), copies::ROOM - LARGEST);
    store.delete(&key(1)).await.unwrap();
    assert_eq!(store.copies.free(), copies::ROOM);
}

#[tokio::test]
async fn a_reader_that_goes_away_leaves_nothing_but_room() {
    let store = giving([vec![Ok(bytes(1, PIECE)), Ok(bytes(2, PIECE))]]);
    pass(&store, 1, 2 * PIECE).await;
    let mut content = begin(&store).await;
    for _ in 0..2 {
        at_once(&mut content).unwrap().unwrap();
    }
    assert!(store.copies.free() < copies::ROOM);
    drop(content);
    assert_eq!(store.copies.free(), copies::ROOM);
    assert!(!is_kept(&store).await);
}

#[tokio::test]
async fn a_content_that_breaks_off_is_not_kept() {
    let readings = [
        vec![Ok(bytes(1, 4)), broken()],
        vec![broken()],
        vec![Ok(bytes(1, PIECE)), broken()],
        vec![Ok(bytes(1, PIECE)), Ok(bytes(2, 1)), broken(), Ok(bytes(3, 1))],
    ];
    let count = readings.len();
    let store = giving(readings);
    pass(&store, 1, PIECE).await;
    for _ in 0..count {
        assert!(read(&store, None).await.is_err());
    }
    assert!(!is_kept(&store).await);
    assert_eq!(store.copies.free(), copies::ROOM);
}

#[tokio::test]
async fn after_a_failure_nothing_of_the_rest_is_taken_for_the_whole() {
    for has_passed in [false, true] {
        let store = giving([vec![Ok(bytes(1, PIECE)), broken(), Ok(bytes(2, 1))]]);
        if has_passed {
            pass(&store, 1, PIECE).await;
        }
        let pieces: Vec<_> = begin(&store).await.collect().await;
        assert!(matches!(&pieces[..], [Ok(_), Err(_), Ok(_)]), "{} pieces", pieces.len());
        assert_eq!(store.passed.contains_key(&key(1)), has_passed);
        assert!(!is_kept(&store).await);
    }
}

#[tokio::test]
async fn a_content_that_is_too_large_passes_by() {
    let (store, [sender]) = {
        let (store, senders) = fed(1);
        (store, <[_; 1]>::try_from(senders).unwrap())
    };
    // As if a smaller one had passed, so that it is copied.
    pass(&store, 1, PIECE).await;
    sender.send(Ok(bytes(1, LARGEST))).unwrap();
    let mut content = begin(&store).await;
    assert_eq!(at_once(&mut content).unwrap().unwrap().len(), LARGEST);
    assert!(store.copies.free() < copies::ROOM);
    sender.send(Ok(bytes(2, 1))).unwrap();
    assert_eq!(at_once(&mut content).unwrap().unwrap(), vec![2]);
    assert_eq!(store.copies.free(), copies::ROOM, "the copy is given up before the end");
    drop(sender);
    assert!(at_once(&mut content).is_none());
    assert!(!is_kept(&store).await);

    // Nobody begins to copy what was seen to be too large.
    let store = giving([vec![Ok(bytes(1, LARGEST)), Ok(bytes(2, 1))]]);
    assert_eq!(read(&store, None).await.unwrap().len(), LARGEST + 1);
    assert!(!store.passed.contains_key(&key(1)));
}

#[tokio::test]
async fn a_content_for_which_there_is_no_room_is_streamed_all_the_same() {
    for size in [3, PIECE] {
        let pieces = || vec![Ok(bytes(1, size)), Ok(bytes(2, size))];
        let store = giving([pieces(), pieces(), pieces()]);
        pass(&store, 1, 2 * size).await;
        // Room for none of it, then for its first piece alone, then for all.
        for room in [0, size, LARGEST] {
            let taken = store.copies.take(copies::ROOM - room);
            assert_eq!(read(&store, None).await.unwrap(), [vec![1; size], vec![2; size]].concat());
            drop(taken);
            assert_eq!(store.copies.free() < copies::ROOM, room == LARGEST, "room for {room} bytes");
        }
        assert!(is_kept(&store).await);
    }
}

#[tokio::test]
async fn of_many_readers_of_a_content_some_copy_it() {
    let (store, mut senders) = fed(READERS + 2);
    pass(&store, 1, PIECE).await;
    for sender in &senders {
        sender.send(Ok(bytes(1, PIECE))).unwrap();
    }
    let mut contents = Vec::new();
    for _ in 0..=READERS {
        let mut content = begin(&store).await;
        at_once(&mut content).unwrap().unwrap();
        contents.push(content);
    }
    assert_eq!(store.copies.free(), copies::ROOM - READERS * PIECE);
    drop(senders.remove(READERS));
    assert!(at_once(&mut contents[READERS]).is_none());
    assert_eq!(store.copies.free(), copies::ROOM - READERS * PIECE, "the last one read it all and copied nothing");

    // One who copied goes, and who comes next takes the place.
    drop(contents.remove(0));
    drop(senders.pop());
    assert_eq!(read(&store, None).await.unwrap(), vec![1; PIECE]);
    assert_eq!(read(&store, None).await.unwrap(), vec![1; PIECE]);
}

#[tokio::test]
async fn the_room_of_a_content_is_taken_for_as_long_as_a_reader_holds_it() {
    let copies = Arc::new(Copies::default());
    let copy = copies.begin(&key(1)).unwrap().with(&[1; 1000]).and_then(|copy| copy.with(&[2; 500])).unwrap();
    let kept = copy.into_bytes();
    assert_eq!(kept, [[1; 1000].as_slice(), &[2; 500]].concat());
    assert_eq!(copies.free(), copies::ROOM - 1500, "no more than its bytes");
    let mut reader = kept.clone();
    drop(kept);
    drop(reader.split_to(1000));
    assert_eq!(copies.free(), copies::ROOM - 1500);
    drop(reader);
    assert_eq!(copies.free(), copies::ROOM);
}

/// The profile that is new among labels without end.
#[tokio::test]
async fn a_large_content_finds_its_place_among_small_ones() {
    let count = 2 * ROOM / SMALL as u64;
    let small = (0..count).map(|_| vec![Ok(bytes(1, SMALL))]);
    let store = giving(small.chain([vec![Ok(bytes(2, LARGEST))]]));
    pass(&store, 1, LARGEST).await;
    for number in 0..count {
        let content = store.read(&key(u128::from(number) + 2), None).await.unwrap().unwrap();
        assert_eq!(content.count().await, 1);
    }
    for _ in 0..2 {
        assert_eq!(read(&store, None).await.unwrap().len(), LARGEST);
    }
    store.kept.run_pending_tasks().await;
    assert!(store.kept.weighted_size() <= ROOM);
    assert!(store.copies.free() as u64 >= copies::ROOM as u64 - ROOM, "what had to go has given its room back");
}

#[tokio::test]
async fn parts_are_not_kept() {
    let store = giving([vec![Ok(bytes(1, 2))]]);
    assert_eq!(read(&store, Some(1..3)).await.unwrap(), [1, 1]);
    assert!(!is_kept(&store).await);
}
