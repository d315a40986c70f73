//! Memory, for trying things out: all is gone when the process ends.

use crate::place::{Manner, Place, listed, streamed};
use async_trait::async_trait;
use domain::blob::{BlobEntry, BlobKey, ByteStream};
use domain::error::StoreError;
use futures_util::stream::BoxStream;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use std::ops::Range;

const MANNER: Manner = Manner { part_size: 1024 * 1024, parts_at_once: 1, patience: None, removal_pauses: &[] };

/// Memory of this process.
#[derive(Default)]
pub(crate) struct MemoryPlace(InMemory);

#[async_trait]
impl Place for MemoryPlace {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn objects(&self) -> &dyn ObjectStore {
        &self.0
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        streamed(self, key, range).await
    }

    fn manner(&self) -> &Manner {
        &MANNER
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        listed(&self.0, &Path::ROOT, None, self.name())
    }
}
