//! From what `object_store` and the file system report to what the domain knows, in words that name
//! the place and the cause in one line each. No credential is part of any of them.

use domain::error::{StoreError, error_chain};
use object_store::client::HttpError;
use std::error::Error;
use std::fmt::Display;
use std::io::{self, ErrorKind};

/// The longest part of a server's answer that an error repeats.
const LONGEST_ANSWER: usize = 300;

/// What could not be done, and where; the cause is its source.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} in {place}")]
struct Failure {
    action: String,
    place: String,
    #[source]
    cause: Box<dyn Error + Send + Sync>,
}

/// What a server answered, or why there was no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Answer(String);

/// A failed call of `object_store`.
pub(crate) fn store_error(action: impl Display, place: &str, error: &object_store::Error) -> StoreError {
    let chain = || std::iter::successors(Some(error as &(dyn Error + 'static)), |&error| error.source());
    // What goes wrong on the way to a server may pass; what a disk reports has to be looked at.
    let on_the_way = chain().any(<dyn Error>::is::<HttpError>);
    if let Some(cause) = chain().find_map(|error| error.downcast_ref::<io::Error>()) {
        return wrap(action, place, on_the_way || may_pass(cause), Box::new(copied(cause)));
    }
    let last = chain().last().map_or_else(String::new, ToString::to_string);
    match status_and_body(&error.to_string()) {
        Some((status, body)) => {
            let answer = Answer(one_line(&[&status, &explained(&body)].map(String::as_str).join(" ")));
            wrap(action, place, status.starts_with('5') || status.starts_with("429"), Box::new(answer))
        }
        None => wrap(action, place, on_the_way, Box::new(Answer(one_line(&last)))),
    }
}

/// A failed call of the file system.
pub(crate) fn io_error(action: impl Display, place: &str, error: io::Error) -> StoreError {
    let passes = may_pass(&error);
    wrap(action, place, passes, Box::new(error))
}

/// Whether `error` says that there is no such blob. A missing bucket is another matter.
pub(crate) fn is_missing(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotFound { .. }) && !error.to_string().contains("NoSuchBucket")
}

/// The error and all its error_chain in one line, for people.
pub(crate) fn spelled_out(error: &(dyn Error + 'static)) -> String {
    one_line(&error_chain(error))
}

fn wrap(action: impl Display, place: &str, passes: bool, cause: Box<dyn Error + Send + Sync>) -> StoreError {
    let failure = Failure { action: action.to_string(), place: place.to_owned(), cause };
    if passes { StoreError::unavailable(failure) } else { StoreError::other(failure) }
}

/// Whether an operator or time cures this without a change of ours.
fn may_pass(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::PermissionDenied
            | ErrorKind::ResourceBusy
            | ErrorKind::StaleNetworkFileHandle
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::OutOfMemory
    )
}

/// The errors of `object_store` keep the one of the system to themselves, so it is made once more.
fn copied(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), one_line(&error.to_string())),
    }
}

/// `object_store` keeps the type that holds the status to itself; its text is what there is.
fn status_and_body(text: &str) -> Option<(String, String)> {
    let (_, answer) = text.split_once("status code: ")?;
    let (status, body) = answer.split_once(": ").unwrap_or((answer, ""));
    Some((status.to_owned(), body.to_owned()))
}

/// Code and message of an S3 error document, or the beginning of whatever it is.
fn explained(body: &str) -> String {
    let element = |name: &str| {
        let (_, rest) = body.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
    };
    match (element("Code"), element("Message")) {
        (Some(code), Some(message)) => format!("({code}: {message})"),
        (Some(code), None) => format!("({code})"),
        _ => body.to_owned(),
    }
}

/// A text of any form as one line of bounded length.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_ANSWER) {
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
        let cause = error.source().and_then(Error::source).unwrap();
        assert_eq!(cause.downcast_ref::<io::Error>().unwrap().kind(), ErrorKind::StorageFull);
        assert!(spelled_out(&error).contains("cannot write blob x in folder /blobs: No space left on device"));
    }

    #[test]
    fn an_answer_of_a_server_is_told_by_status_code_and_message() {
        let body =
            "<?xml version=\"1.0\"?>\n<Error>\n<Code>SlowDown</Code><Message>Reduce your\nrate.</Message></Error>";
        let text = format!("Server returned non-2xx status code: 503 Service Unavailable: {body}");
        let error = store_error("read blob x", "bucket b", &failed(text));
        assert!(matches!(error, StoreError::Unavailable(_)));
        assert!(spelled_out(&error).ends_with("503 Service Unavailable (SlowDown: Reduce your rate.)"));
    }

    #[test]
    fn a_refusal_of_a_server_does_not_pass_by_itself() {
        let error = store_error("read blob x", "bucket b", &failed("status code: 403 Forbidden: "));
        assert!(matches!(error, StoreError::Other(_)));
    }

    #[test]
    fn a_long_answer_is_cut() {
        let error = store_error("read blob x", "bucket b", &failed("y".repeat(10_000)));
        assert!(spelled_out(&error).chars().count() < 500);
    }

    #[test]
    fn a_missing_bucket_is_not_a_missing_blob() {
        let missing = |text: &str| object_store::Error::NotFound { path: "x".into(), source: text.into() };
        assert!(is_missing(&missing("status code: 404 Not Found: ")));
        assert!(!is_missing(&missing("404 Not Found: <Code>NoSuchBucket</Code>")));
    }
}
