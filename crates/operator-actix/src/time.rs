//! Times in bodies and queries: RFC 3339 in UTC with microseconds.

use domain::operator::OperatorError;
use domain::timestamp::Timestamp;

/// A time as bodies have it.
pub(crate) fn shown(time: Timestamp) -> String {
    time.precise()
}

/// A time of a query.
pub(crate) fn parse(field: &'static str, text: &str) -> Result<Timestamp, OperatorError> {
    let expected = "must be a time such as 2026-05-04T07:00:00Z";
    Timestamp::parse(text).ok_or_else(|| OperatorError::invalid(field, expected))
}
