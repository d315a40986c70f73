//! The blob store port, for every place.

use crate::error::{is_missing, store_error};
use crate::place::{Place, action, gone, within};
use crate::upload::UploadWriter;
use async_trait::async_trait;
use domain::blob::{BlobEntry, BlobKey, BlobStore, BlobWriter, ByteStream};
use domain::error::StoreError;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::ObjectStoreExt;
use std::ops::Range;
use std::sync::Arc;

/// Blobs in a place.
pub(crate) struct ObjectBlobStore {
    place: Arc<dyn Place>,
}

impl ObjectBlobStore {
    pub(crate) fn new(place: Arc<dyn Place>) -> Self {
        Self { place }
    }

    fn failed(&self, verb: &str, key: &BlobKey, error: &object_store::Error) -> StoreError {
        store_error(action(verb, key), self.place.name(), error)
    }
}

#[async_trait]
impl BlobStore for ObjectBlobStore {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>, StoreError> {
        Ok(Box::new(UploadWriter::begin(self.place.clone(), key.clone())))
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        if range.as_ref().is_some_and(Range::is_empty) {
            // HTTP and object_store know no empty ranges.
            return Ok(self.size(key).await?.map(|_| stream::empty().boxed()));
        }
        self.place.read(key, range).await
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), StoreError> {
        let location = self.place.location(key);
        gone(within(&*self.place, 0, self.place.objects().delete(&location)).await)
            .map_err(|error| self.failed("delete", key, &error))
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>, StoreError> {
        let location = self.place.location(key);
        match within(&*self.place, 0, self.place.objects().head(&location)).await {
            Ok(blob) => Ok(Some(blob.size)),
            // An answer without a body doesn't tell a missing blob from a missing bucket.
            Err(error) if is_missing(&error) => self.place.reach().await.map(|()| None),
            Err(error) => Err(self.failed("look at", key, &error)),
        }
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        self.place.list()
    }

    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        self.place.sweep_unfinished().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.place.ping().await
    }
}
