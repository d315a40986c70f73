//! How to run the contract suite of a port over an implementation (docs/testing.md):
//! `cargo test -p domain --example blob_store_contract`.

fn main() {}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use domain::blob::{BlobEntry, BlobKey, BlobStore, BlobWriter, ByteStream};
    use domain::error::StoreError;
    use domain::testing::InMemoryBlobs;
    use futures_util::stream::BoxStream;
    use std::ops::Range;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A blob store that counts its reads.
    #[derive(Default)]
    struct CountingBlobs {
        inner: InMemoryBlobs,
        reads: AtomicU64,
    }

    #[async_trait]
    impl BlobStore for CountingBlobs {
        async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>, StoreError> {
            self.inner.create(key).await
        }

        async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            self.inner.read(key, range).await
        }

        async fn delete(&self, key: &BlobKey) -> Result<(), StoreError> {
            self.inner.delete(key).await
        }

        async fn size(&self, key: &BlobKey) -> Result<Option<u64>, StoreError> {
            self.inner.size(key).await
        }

        fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
            self.inner.list()
        }

        async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
            self.inner.sweep_unfinished().await
        }

        async fn ping(&self) -> Result<(), StoreError> {
            self.inner.ping().await
        }
    }

    #[expect(clippy::unused_async, reason = "the suite opens stores asynchronously")]
    async fn open() -> (Box<dyn BlobStore>, ()) {
        (Box::new(CountingBlobs::default()), ())
    }

    domain::blob_store_contract!(counting_blobs, open());
}
