//! Memory of this process: all is gone when it ends.

use super::{Backend, UploadLimits};
use object_store::ObjectStore;
use object_store::memory::InMemory;

const UPLOAD_LIMITS: UploadLimits = UploadLimits { part_size: 1024 * 1024, parts_in_flight: 1, part_slots: None };

#[derive(Default)]
pub(crate) struct MemoryBackend(InMemory);

impl Backend for MemoryBackend {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn objects(&self) -> &dyn ObjectStore {
        &self.0
    }

    fn upload_limits(&self) -> &UploadLimits {
        &UPLOAD_LIMITS
    }
}
