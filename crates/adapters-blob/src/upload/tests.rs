//! How an upload goes on, over a place that counts.

use super::*;
use crate::memory::MemoryPlace;
use crate::place::Manner;
use domain::blob::{BlobEntry, BlobKind, ByteStream};
use futures_util::stream::BoxStream;
use object_store::ObjectStore;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use uuid::Uuid;

/// Memory that counts how often it was asked to settle.
#[derive(Default)]
struct Settling(MemoryPlace, AtomicU32);

#[async_trait]
impl Place for Settling {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn objects(&self) -> &dyn ObjectStore {
        self.0.objects()
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        self.0.read(key, range).await
    }

    fn manner(&self) -> &Manner {
        self.0.manner()
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        self.0.list()
    }

    fn settle(&self, _: &BlobKey) -> Option<JoinHandle<io::Result<()>>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[tokio::test]
async fn a_large_blob_is_settled_on_its_way_and_a_small_one_only_at_its_end() {
    for (size, times) in [(1, 0), (SETTLED_EVERY, 1), (3 * SETTLED_EVERY + 1, 3)] {
        let place = Arc::new(Settling::default());
        let mut writer = UploadWriter::begin(place.clone(), BlobKey::new(BlobKind::Resource, Uuid::from_u128(1)));
        let content = Bytes::from(vec![7; usize::try_from(size).unwrap()]);
        writer.write(content).await.unwrap();
        writer.finish().await.unwrap();
        assert_eq!(place.1.load(Ordering::Relaxed), times, "{size}");
    }
}
