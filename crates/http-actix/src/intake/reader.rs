//! The decoded body as use cases pull it.

use bytes::Bytes;
use domain::body::BodyError;
use futures_util::Stream;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// The decoded chunks of a body. After an error there are none.
pub(crate) struct BodyReader(mpsc::Receiver<Result<Bytes, BodyError>>);

impl BodyReader {
    pub(super) fn new(chunks: mpsc::Receiver<Result<Bytes, BodyError>>) -> Self {
        Self(chunks)
    }

    /// A body of these chunks, all there already.
    #[cfg(test)]
    pub(crate) fn of(chunks: impl IntoIterator<Item = Result<Bytes, BodyError>>) -> Self {
        let chunks: Vec<_> = chunks.into_iter().collect();
        let (sender, receiver) = mpsc::channel(chunks.len().max(1));
        for chunk in chunks {
            sender.try_send(chunk).expect("there is room for all");
        }
        Self(receiver)
    }

    /// A body that arrives piece by piece, and what feeds it.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn fed(pieces: Vec<Bytes>) -> (Self, impl Future<Output = ()> + use<>) {
        let (sender, receiver) = mpsc::channel(1);
        let feed = async move {
            for piece in pieces {
                // Nobody listens any more where this fails.
                if sender.send(Ok(piece)).await.is_err() {
                    return;
                }
            }
        };
        (Self(receiver), feed)
    }

    /// The next bytes; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        self.0.recv().await.transpose()
    }
}

impl Stream for BodyReader {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}
