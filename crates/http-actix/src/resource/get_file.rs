//! GET /api/v2/resource/{guid}: the file of a resource (interface 4.2, decisions T17, T18).

use super::conditional::{Delivery, Validators, decide, http_date};
use crate::error::ApiError;
use crate::extract::caller::Caller;
use crate::middleware::context::shared;
use crate::openapi::description::{Description, Header};
use crate::openapi::schema::{binary, text, whole_number, words};
use actix_web::body::{None as NoBody, SizedStream};
use actix_web::http::header::{ACCEPT_RANGES, CONTENT_RANGE, ContentType, ETAG, LastModified};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use domain::error::{Reason, StoreError};
use domain::resource::ResourceService;
use futures_util::stream;

pub(crate) async fn get_file(
    request: HttpRequest,
    caller: Caller,
    guid: Path<String>,
    resources: Data<ResourceService>,
) -> Result<HttpResponse, ApiError> {
    let resource = resources.find(&caller, &guid).await?;
    let size = resource.content.size;
    let file = Validators { checksum: resource.checksum, modified: resource.modified, size };
    let (status, range) = match decide(&request, &file)? {
        Delivery::NotModified => return Ok(respond(StatusCode::NOT_MODIFIED, &file, &request).body(NoBody::new())),
        Delivery::Part(range) => (StatusCode::PARTIAL_CONTENT, Some(range)),
        Delivery::Whole => (StatusCode::OK, None),
    };
    let mut answer = respond(status, &file, &request);
    answer.insert_header(ContentType::octet_stream());
    if let Some(range) = &range {
        answer.insert_header((CONTENT_RANGE, format!("bytes {}-{}/{size}", range.start, range.end - 1)));
    }
    if request.method() == Method::HEAD {
        return Ok(answer.body(SizedStream::new(size, stream::empty::<Result<_, StoreError>>())));
    }
    let length = range.as_ref().map_or(size, |range| range.end - range.start);
    let content = resources.content(&resource, range).await?;
    Ok(answer.body(SizedStream::new(length, content)))
}

/// An answer with what tells this state of the file from others.
fn respond(status: StatusCode, file: &Validators, request: &HttpRequest) -> HttpResponseBuilder {
    // A clock that is ahead of ours may have stamped it; no date of ours lies in the future.
    let shown = file.modified.min(shared(request).settings.clock.now());
    let mut answer = HttpResponse::build(status);
    answer.insert_header((ETAG, format!("\"{}\"", file.checksum)));
    answer.insert_header(LastModified(http_date(shown)));
    answer.insert_header((ACCEPT_RANGES, "bytes"));
    answer
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
        .header("If-Match", "ETags: 412 if the file has none of them.", text(""))
        .header("If-Unmodified-Since", "A date: 412 if the file was modified since.", text(""))
        .header("If-None-Match", "ETags: 304 if the file has one of them.", text(""))
        .header("If-Modified-Since", "A date: 304 if the file wasn't modified since.", text(""))
        .answers(StatusCode::OK, "The file.", file(), whole)
        .answers(StatusCode::PARTIAL_CONTENT, "The part of the file.", file(), part)
        .answers(StatusCode::NOT_MODIFIED, "What the client has is still the file.", None, validators())
        .refuses([Reason::ResourceNotFound, Reason::PreconditionFailed])
        .fails(ApiError::RangeNotSatisfiable { size: 0 })
}
