//! The blob store port, over any backend.

use crate::backend::local::read_blocks;
use crate::backend::{Backend, ignore_missing, location, with_timeout};
use crate::cache::{BlobCache, Download};
use crate::error::store_error;
use crate::metrics::{timed, timed_lookup};
use crate::upload::UploadWriter;
use async_trait::async_trait;
use domain::blob::{BlobEntry, BlobKey, BlobStore, BlobWriter, ByteStream};
use domain::error::StoreError;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::{GetOptions, GetRange, GetResultPayload, ObjectStoreExt};
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct ObjectBlobStore {
    backend: Arc<dyn Backend>,
    cache: Option<BlobCache>,
}

impl ObjectBlobStore {
    pub(crate) fn new(backend: Arc<dyn Backend>, cache: Option<BlobCache>) -> Self {
        Self { backend, cache }
    }

    fn error(&self, verb: &str, key: &BlobKey, error: &object_store::Error) -> StoreError {
        store_error(format_args!("{verb} blob {key}"), self.backend.name(), error)
    }

    async fn open(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<Download>, StoreError> {
        let options = GetOptions::new().with_range(range.map(GetRange::Bounded));
        let get = async { self.backend.objects().get_opts(&location(key), options).await };
        let result = match with_timeout(&*self.backend, 0, get).await {
            Ok(result) => result,
            Err(object_store::Error::NotFound { .. }) => return self.missing().await,
            Err(error) => return Err(self.error("read", key, &error)),
        };
        let size = result.range.end - result.range.start;
        let (key, name) = (key.clone(), self.backend.name().to_owned());
        let content = match result.payload {
            GetResultPayload::File(file, _) => read_blocks(file, result.range)
                .map_err(move |error| match error.kind() {
                    // The file was cut short.
                    ErrorKind::UnexpectedEof => StoreError::Corrupt { what: "blob", id: key.to_string() },
                    _ => store_error(format_args!("read blob {key}"), &name, &error),
                })
                .boxed(),
            GetResultPayload::Stream(content) => {
                content.map_err(move |error| store_error(format_args!("read blob {key}"), &name, &error)).boxed()
            }
        };
        Ok(Some(Download { size, content }))
    }

    /// A missing blob; an error if the whole folder or bucket is missing.
    async fn missing<T>(&self) -> Result<Option<T>, StoreError> {
        self.backend.check().await.map(|()| None)
    }
}

#[async_trait]
impl BlobStore for ObjectBlobStore {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>, StoreError> {
        Ok(Box::new(UploadWriter::new(Arc::clone(&self.backend), key.clone())))
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        if range.as_ref().is_some_and(Range::is_empty) {
            // Neither HTTP nor object_store knows empty ranges.
            return Ok(self.size(key).await?.map(|_| stream::empty().boxed()));
        }
        // Ranges are not cached.
        let cache = self.cache.as_ref().filter(|_| range.is_none());
        if let Some(cache) = cache
            && let Some(content) = cache.get(key).await
        {
            return Ok(Some(content));
        }
        let Some(download) = timed_lookup("read", self.open(key, range)).await? else { return Ok(None) };
        match cache {
            Some(cache) => cache.fill(key, download).await.map(Some),
            None => Ok(Some(download.content)),
        }
    }

    async fn delete(&self, key: &BlobKey) -> Result<(), StoreError> {
        let delete = async { self.backend.objects().delete(&location(key)).await };
        let delete = async { ignore_missing(with_timeout(&*self.backend, 0, delete).await) };
        let deleted = timed("delete", async { delete.await.map_err(|error| self.error("delete", key, &error)) }).await;
        if let Some(cache) = &self.cache {
            cache.remove(key).await;
        }
        deleted
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>, StoreError> {
        timed_lookup("size", async {
            let head = async { self.backend.objects().head(&location(key)).await };
            match with_timeout(&*self.backend, 0, head).await {
                Ok(object) => Ok(Some(object.size)),
                Err(object_store::Error::NotFound { .. }) => self.missing().await,
                Err(error) => Err(self.error("look at", key, &error)),
            }
        })
        .await
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        self.backend.list()
    }

    async fn sweep_unfinished(&self) -> Result<u64, StoreError> {
        self.backend.sweep_unfinished().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        timed("ping", self.backend.ping()).await
    }
}
