//! Every way in which a content can be found on either side.

use super::*;
use crate::blob::{BlobKey, BlobKind, MockBlobLedger};
use crate::checksum::Sha1Checksum;
use crate::testing::{FixedClock, InMemoryBlobs, at};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use uuid::Uuid;

fn blobs() -> InMemoryBlobs {
    InMemoryBlobs::new(Arc::new(FixedClock::stepping(at(0), std::time::Duration::from_micros(1))))
}

fn checksum(content: &[u8]) -> Sha1Checksum {
    let mut hasher = ContentHasher::new();
    hasher.update(content);
    hasher.finish()
}

fn reference(number: u128, content: &[u8]) -> BlobReference {
    let key = BlobKey::new(BlobKind::Resource, Uuid::from_u128(number));
    BlobReference { key, size: content.len() as u64, checksum: checksum(content), owner: format!("resource {number}") }
}

fn transfer(references: &[BlobReference], from: &InMemoryBlobs, to: &InMemoryBlobs) -> ContentTransfer {
    let mut ledger = MockBlobLedger::new();
    let references = references.to_vec();
    ledger.expect_references().returning(move || stream::iter(references.clone().into_iter().map(Ok)).boxed());
    ContentTransfer::new(Arc::new(ledger), Arc::new(from.clone()), Arc::new(to.clone()))
}

async fn outcomes(transfer: &ContentTransfer) -> Vec<(String, Transferred)> {
    let mut output = Vec::new();
    transfer.run(|reference, transferred| output.push((reference.owner.clone(), transferred))).await.unwrap();
    output.sort_by(|one, other| one.0.cmp(&other.0));
    output
}

#[tokio::test]
async fn contents_are_copied_once_under_their_keys() {
    let (from, to) = (blobs(), blobs());
    let large = vec![7; 100_000];
    let references = [reference(1, b"one"), reference(2, &large), reference(3, b"")];
    for (reference, content) in references.iter().zip([&b"one"[..], &large, b""]) {
        from.put(&reference.key, Bytes::copy_from_slice(content));
    }
    let transfer = transfer(&references, &from, &to);
    assert_eq!(transfer.total().await.unwrap(), ContentTotal { contents: 3, bytes: 100_003 });
    assert!(outcomes(&transfer).await.iter().all(|(_, transferred)| *transferred == Transferred::Copied));
    assert_eq!(to.keys(), from.keys());
    assert_eq!(to.content(&references[1].key).unwrap(), large);
    assert!(outcomes(&transfer).await.iter().all(|(_, transferred)| *transferred == Transferred::Kept));
}

#[tokio::test]
async fn what_is_missing_or_damaged_is_told_and_left_out() {
    let (from, to) = (blobs(), blobs());
    let references = [reference(1, b"whole"), reference(2, b"longer"), reference(3, b"changed"), reference(4, b"gone")];
    from.put(&references[0].key, "whole");
    from.put(&references[1].key, "long");
    from.put(&references[2].key, "cHanged");
    let expected = [Transferred::Copied, Transferred::Damaged, Transferred::Damaged, Transferred::Missing];
    let output = outcomes(&transfer(&references, &from, &to)).await;
    assert_eq!(output.iter().map(|(_, transferred)| *transferred).collect::<Vec<_>>(), expected);
    assert_eq!(to.keys(), [references[0].key.clone()]);
}

#[tokio::test]
async fn what_has_another_size_at_its_destination_is_copied_anew() {
    let (from, to) = (blobs(), blobs());
    let references = [reference(1, b"whole")];
    from.put(&references[0].key, "whole");
    to.put(&references[0].key, "who");
    assert_eq!(outcomes(&transfer(&references, &from, &to)).await[0].1, Transferred::Copied);
    assert_eq!(to.content(&references[0].key).unwrap(), "whole");
}

/// A database may be moved alone, over the same contents.
#[tokio::test]
async fn nothing_is_lost_where_both_sides_are_one_store() {
    let one = blobs();
    let references = [reference(1, b"whole"), reference(2, b"longer"), reference(3, b"gone")];
    one.put(&references[0].key, "whole");
    one.put(&references[1].key, "long");
    let output = outcomes(&transfer(&references, &one, &one)).await;
    let expected = [Transferred::Kept, Transferred::Damaged, Transferred::Missing];
    assert_eq!(output.iter().map(|(_, transferred)| *transferred).collect::<Vec<_>>(), expected);
    assert_eq!(one.content(&references[1].key).unwrap(), "long");
}

#[tokio::test]
async fn a_store_that_fails_ends_the_transfer() {
    let (from, to) = (blobs(), blobs());
    let references = [reference(1, b"whole")];
    from.put(&references[0].key, "whole");
    to.set_failing(true);
    assert!(transfer(&references, &from, &to).run(|_, _| {}).await.is_err());
    to.set_failing(false);
    from.set_failing(true);
    assert!(transfer(&references, &from, &to).run(|_, _| {}).await.is_err());
}
