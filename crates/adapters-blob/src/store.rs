//! The blob store port, for every place.

use crate::error::{is_missing, store_error};
use crate::local::blocks;
use crate::place::{Place, action, gone, unstalled, within};
use crate::upload::UploadWriter;
use async_trait::async_trait;
use domain::blob::{BlobEntry, BlobKey, BlobStore, BlobWriter, ByteStream};
use domain::error::StoreError;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::{GetOptions, GetRange, GetResultPayload, ObjectStoreExt};
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
        let options = GetOptions::new().with_range(range.map(GetRange::Bounded));
        let location = self.place.location(key);
        let result = match within(&*self.place, 0, self.place.objects().get_opts(&location, options)).await {
            Ok(result) => result,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(self.failed("read", key, &error)),
        };
        Ok(Some(match result.payload {
            GetResultPayload::File(file, _) => blocks(file, result.range, key, self.place.name()),
            GetResultPayload::Stream(content) => {
                let (doing, place) = (format!("{}", action("read", key)), self.place.clone());
                unstalled(place.manner().patience, content)
                    .map_err(move |error| store_error(&doing, place.name(), &error))
                    .boxed()
            }
        }))
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
