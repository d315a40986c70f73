//! Memory, for trying things out: all is gone when the process ends.

use crate::place::{Manner, Place, listed};
use domain::blob::BlobEntry;
use domain::error::StoreError;
use futures_util::stream::BoxStream;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;

const MANNER: Manner = Manner { part_size: 1024 * 1024, parts_at_once: 1, patience: None, removal_pauses: &[] };

/// Memory of this process.
#[derive(Default)]
pub(crate) struct MemoryPlace(InMemory);

impl Place for MemoryPlace {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn objects(&self) -> &dyn ObjectStore {
        &self.0
    }

    fn manner(&self) -> &Manner {
        &MANNER
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        listed(&self.0, &Path::ROOT, None, self.name())
    }
}
