//! Errors of `object_store` and of the file system as errors of the domain, each in one line that
//! names the store and the cause. No credential is part of any of them.

use domain::error::{StoreError, error_chain};
use object_store::client::HttpError;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, ErrorKind};

/// Characters of a cause, which may hold the answer of a server.
const MAX_CAUSE: usize = 300;

/// Why a blob store can't be opened, in one line that names the store and the cause.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(pub(crate) String);

impl OpenError {
    /// `remark` follows the causes.
    pub(crate) fn new(error: &StoreError, remark: &str) -> Self {
        // The text of the error itself only repeats its variant.
        Self(error.source().map_or_else(|| one_line(&error.to_string()), in_one_line) + remark)
    }
}

/// What could not be done, and where; the cause is its source.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} in {store}")]
struct OperationError {
    action: String,
    store: String,
    #[source]
    cause: Box<dyn Error + Send + Sync>,
}

/// Wraps an `object_store::Error` or an `io::Error`. Of its chain only the innermost cause is kept,
/// since the layers between repeat it.
pub(crate) fn store_error(action: impl Display, store: &str, error: &(dyn Error + 'static)) -> StoreError {
    let cause = match find::<io::Error>(error) {
        Some(cause) => io::Error::new(cause.kind(), one_line(&cause.to_string())).into(),
        None => one_line(&chain(error).last().map_or_else(String::new, ToString::to_string)).into(),
    };
    let operation = OperationError { action: action.to_string(), store: store.to_owned(), cause };
    if may_pass(error) { StoreError::unavailable(operation) } else { StoreError::other(operation) }
}

/// Whether no server answered. Another try may help.
pub(crate) fn is_unanswered(error: &(dyn Error + 'static)) -> bool {
    find::<HttpError>(error).is_some() || find::<io::Error>(error).is_some_and(|io| io.kind() == ErrorKind::TimedOut)
}

/// Whether the same call may succeed later without a change to Platen or its configuration.
fn may_pass(error: &(dyn Error + 'static)) -> bool {
    if is_unanswered(error) {
        return true;
    }
    match find::<io::Error>(error) {
        Some(cause) => matches!(
            cause.kind(),
            ErrorKind::StorageFull
                | ErrorKind::QuotaExceeded
                | ErrorKind::ReadOnlyFilesystem
                | ErrorKind::PermissionDenied
                | ErrorKind::ResourceBusy
                | ErrorKind::StaleNetworkFileHandle
                | ErrorKind::Interrupted
                | ErrorKind::OutOfMemory
        ),
        // Refusals have variants of their own. What stays is a server that failed in spite of retries.
        None => matches!(error.downcast_ref(), Some(object_store::Error::Generic { .. })),
    }
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// An error and its causes in one line, for people.
pub(crate) fn in_one_line(error: &(dyn Error + 'static)) -> String {
    one_line(&error_chain(error))
}

/// A text as one line of bounded length.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CAUSE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(source: impl Into<Box<dyn Error + Send + Sync>>) -> object_store::Error {
        object_store::Error::Generic { store: "test", source: source.into() }
    }

    #[test]
    fn an_error_of_the_system_is_the_innermost_source() {
        let full = failed(io::Error::from_raw_os_error(28));
        let error = store_error("write blob x", "folder /blobs", &full);
        assert!(matches!(error, StoreError::Unavailable(_)));
        assert_eq!(find::<io::Error>(&error).unwrap().kind(), ErrorKind::StorageFull);
        assert!(in_one_line(&error).contains("cannot write blob x in folder /blobs: No space left on device"));
    }

    #[test]
    fn the_answer_of_a_server_is_one_line() {
        let body =
            "<?xml version=\"1.0\"?>\n<Error>\n<Code>SlowDown</Code><Message>Reduce your\nrate.</Message></Error>";
        let error = store_error("read blob x", "bucket b", &failed(format!("503 Service Unavailable: {body}")));
        assert!(matches!(error, StoreError::Unavailable(_)));
        let line = in_one_line(&error);
        assert!(line.contains("503 Service Unavailable") && line.contains("Reduce your rate."), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }

    #[test]
    fn a_refusal_of_a_server_does_not_pass_by_itself() {
        let refused = object_store::Error::PermissionDenied { path: "x".to_owned(), source: "403 Forbidden".into() };
        assert!(matches!(store_error("read blob x", "bucket b", &refused), StoreError::Other(_)));
    }

    #[test]
    fn a_long_answer_is_cut() {
        let error = store_error("read blob x", "bucket b", &failed("y".repeat(10_000)));
        assert!(in_one_line(&error).chars().count() < 500);
    }
}
