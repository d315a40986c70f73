//! Get the file of a resource (interface 4.2, decisions T17, T18).

use crate::call::Call;
use crate::conditional::{Delivery, Validators, decide};
use crate::error::Fault;
use crate::http_date;
use crate::openapi::description::{Description, Header};
use crate::openapi::schema::{binary, text, whole_number, words};
use crate::reply::{Answer, Content};
use actix_web::http::header::{
    ACCEPT_RANGES, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, LAST_MODIFIED,
};
use actix_web::http::{Method, StatusCode};
use domain::error::Reason;

pub(crate) async fn handle(call: Call<'_>) -> Result<Answer, Fault> {
    let resources = &call.shared.services.resources;
    let resource = resources.find(&call.admission.caller, call.guid()).await?;
    let is_get = call.head.method == Method::GET;
    let size = resource.content.size;
    let file = Validators { etag: format!("\"{}\"", resource.checksum), modified: resource.modified, size };
    let (status, content, range) = match decide(&call.head.headers, is_get, &file) {
        Delivery::Unsatisfiable => return Err(Fault::RangeNotSatisfiable { size }),
        Delivery::NotModified => (StatusCode::NOT_MODIFIED, Content::None, None),
        Delivery::Whole if !is_get => (StatusCode::OK, Content::Announced(size), None),
        Delivery::Whole => (StatusCode::OK, Content::Sized(size, resources.content(&resource, None).await?), None),
        Delivery::Part(range) => {
            let shown = format!("bytes {}-{}/{size}", range.start, range.end - 1);
            let length = range.end - range.start;
            let content = resources.content(&resource, Some(range)).await?;
            (StatusCode::PARTIAL_CONTENT, Content::Sized(length, content), Some(shown))
        }
    };
    // A clock that is ahead of ours may have stamped it; no date of ours lies in the future.
    let last_modified = http_date::format(file.modified.min(call.shared.config.clock.now()));
    let mut answer = with(Answer::new(status, content), &ETAG, &file.etag);
    answer = with(answer, &LAST_MODIFIED, &last_modified);
    answer = with(answer, &ACCEPT_RANGES, "bytes");
    if status != StatusCode::NOT_MODIFIED {
        answer = with(answer, &CONTENT_TYPE, "application/octet-stream");
    }
    Ok(with(answer, &CONTENT_RANGE, &range.unwrap_or_default()))
}

fn with(answer: Answer, name: &HeaderName, value: &str) -> Answer {
    match HeaderValue::from_str(value) {
        Ok(value) => answer.with(name, value),
        Err(_) => answer,
    }
}

pub(crate) fn description() -> Description {
    let about = "Answers the whole file, or the part of it that `Range` asks for. A resource that the caller's \
                 organization doesn't have is looked for among the public ones of publishers. A download that has begun \
                 is served whole, even if the resource is replaced meanwhile.";
    let range = "One range of bytes, such as `bytes=0-1023`. One that can't be read is ignored.";
    let validators = || -> [Header; 3] {
        [
            ("ETag", text("The checksum of the file, in quotation marks.")),
            ("Last-Modified", text("The Timestamp of the resource, never later than now.")),
            ("Accept-Ranges", words(&["bytes"])),
        ]
    };
    let length = || -> Header { ("Content-Length", whole_number("Bytes of the answer.")) };
    let content_range: Header = ("Content-Range", text("Which bytes of how many these are: `bytes 0-1023/6922`."));
    let file = || Some(("application/octet-stream", binary("").into()));
    let whole = validators().into_iter().chain([length()]);
    let part = validators().into_iter().chain([length(), content_range]);
    Description::new("Get the file of a resource", about)
        .header("Range", range, text(""))
        .header("If-Range", "An ETag or a date: the range counts only if the file is still that one.", text(""))
        .header("If-None-Match", "ETags: 304 if the file has one of them.", text(""))
        .header("If-Modified-Since", "A date: 304 if the file wasn't modified since.", text(""))
        .answers(StatusCode::OK, "The file.", file(), whole)
        .answers(StatusCode::PARTIAL_CONTENT, "The part of the file.", file(), part)
        .answers(StatusCode::NOT_MODIFIED, "What the client has is still the file.", None, validators())
        .refuses([Reason::ResourceNotFound])
        .fails(Fault::RangeNotSatisfiable { size: 0 })
}
