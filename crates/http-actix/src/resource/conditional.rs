//! Conditional requests and ranges: whether the file is the one that the client means, and whether to answer all of it, a
//! range, or only that the client has it (decision T17).

#[cfg(test)]
mod tests;

use crate::error::ApiError;
use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{
    ByteRangeSpec, EntityTag, Header, HttpDate, IF_MATCH, IF_NONE_MATCH, IF_RANGE, IfMatch, IfModifiedSince,
    IfNoneMatch, IfRange, IfUnmodifiedSince, RANGE,
};
use domain::checksum::Sha1Checksum;
use domain::error::Failure;
use domain::limits::Limits;
use domain::resource::Preconditions;
use domain::timestamp::Timestamp;
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The validators of a file (ETag and Last-Modified), and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Validators {
    /// The ETag is this text in quotation marks.
    pub(crate) checksum: Sha1Checksum,
    pub(crate) modified: Timestamp,
    /// In bytes.
    pub(crate) size: u64,
}

/// The response to a request for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    Part(Range<u64>),
    /// 304: the client has this content.
    NotModified,
}

/// Decides by the headers of a request, in the order of RFC 9110, 13.2.2. Ranges are defined for GET only.
///
/// # Errors
/// 412 where the file isn't the one that the client means, 416 where the range lies outside.
pub(crate) fn decide(
    request: &HttpRequest,
    file: &Validators,
    now: Timestamp,
    limits: &Limits,
) -> Result<Delivery, ApiError> {
    preconditions(request, now, limits).check(file.checksum, file.modified).map_err(Failure::from)?;
    if is_known(request, file) {
        return Ok(Delivery::NotModified);
    }
    let range = requested_range(request).filter(|_| file.size > 0 && range_applies(request, file));
    let Some(range) = range else {
        return Ok(Delivery::Whole);
    };
    let (first, last) =
        range.to_satisfiable_range(file.size).ok_or(ApiError::RangeNotSatisfiable { size: file.size })?;
    Ok(Delivery::Part(first..last + 1))
}

impl Validators {
    fn etag(&self) -> EntityTag {
        EntityTag::new_strong(self.checksum.to_string())
    }
}

/// The preconditions of a request: `If-Match` takes precedence over `If-Unmodified-Since`.
pub(crate) fn preconditions(request: &HttpRequest, now: Timestamp, limits: &Limits) -> Preconditions {
    if request.headers().contains_key(IF_MATCH) {
        return match IfMatch::parse(request) {
            Ok(IfMatch::Any) => Preconditions::None,
            Ok(IfMatch::Items(tags)) => Preconditions::Checksum(tags.iter().filter_map(checksum).collect()),
            Err(_) => Preconditions::Checksum(Vec::new()),
        };
    }
    match IfUnmodifiedSince::parse(request) {
        Ok(since) => {
            Preconditions::UnmodifiedSince { since: timestamp(since.0), now, max_ahead: limits.max_timestamp_ahead }
        }
        Err(_) => Preconditions::None,
    }
}

/// The checksum that a strong tag stands for. A weak one never matches.
fn checksum(tag: &EntityTag) -> Option<Sha1Checksum> {
    Sha1Checksum::parse(tag.tag()).filter(|checksum| EntityTag::new_strong(checksum.to_string()).strong_eq(tag))
}

/// Whether the client has this state already; If-None-Match takes precedence.
fn is_known(request: &HttpRequest, file: &Validators) -> bool {
    if request.headers().contains_key(IF_NONE_MATCH) {
        return match IfNoneMatch::parse(request) {
            Ok(IfNoneMatch::Any) => true,
            Ok(IfNoneMatch::Items(tags)) => tags.iter().any(|tag| tag.weak_eq(&file.etag())),
            Err(_) => false,
        };
    }
    let since = IfModifiedSince::parse(request).ok().map(|since| timestamp(since.0));
    // Compared with the full Timestamp: with a fraction of a second it is newer than the date, which has none.
    since.is_some_and(|since| file.modified <= since)
}

/// The requested range; `None` for several or a malformed one. actix-web's `Range` takes `+1-3` for a range, but no unit
/// in upper case and no number of more than 64 bits (RFC 9110, 14.1; ADR 67).
fn requested_range(request: &HttpRequest) -> Option<ByteRangeSpec> {
    let mut headers = request.headers().get_all(RANGE);
    let (Some(header), None, &Method::GET) = (headers.next(), headers.next(), request.method()) else {
        return None;
    };
    let (unit, range) = header.to_str().ok()?.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    match range.trim().split_once('-')? {
        ("", length) => Some(ByteRangeSpec::Last(position(length)?)),
        (first, "") => Some(ByteRangeSpec::From(position(first)?)),
        (first, last) => {
            let (first, last) = (position(first)?, position(last)?);
            (first <= last).then_some(ByteRangeSpec::FromTo(first, last))
        }
    }
}

/// A position in a file or a length. One of more than 64 bits lies outside of any file.
fn position(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// Whether If-Range allows a part: only if the client has parts of this state.
fn range_applies(request: &HttpRequest, file: &Validators) -> bool {
    match IfRange::parse(request) {
        Ok(IfRange::EntityTag(tag)) => tag.strong_eq(&file.etag()),
        // A date has whole seconds: equal to the whole Timestamp it names one state only.
        Ok(IfRange::Date(date)) => timestamp(date) == file.modified,
        Err(_) => !request.headers().contains_key(IF_RANGE),
    }
}

pub(crate) fn timestamp(date: HttpDate) -> Timestamp {
    let since_epoch = SystemTime::from(date).duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}

/// A time in the form of HTTP. Times before 1970 become 1970.
pub(crate) fn http_date(moment: Timestamp) -> HttpDate {
    let micros = u64::try_from(moment.as_micros()).unwrap_or_default();
    HttpDate::from(UNIX_EPOCH + Duration::from_micros(micros))
}
