//! GET /api/v2/resource/{guid}: the file of a resource (interface 4.2, decisions T17, T18).

use super::ResourcePath;
use super::conditional::{Delivery, Validators, decide, http_date};
use crate::error::ApiError;
use crate::extract::Caller;
use crate::middleware::context::RequestContext;
use crate::openapi::responses::{Responses, error_responses, refusals};
use crate::response::Format;
use crate::services::Settings;
use actix_web::body::{None as NoBody, SizedStream};
use actix_web::http::header::{ACCEPT_RANGES, CONTENT_RANGE, ContentType, ETAG, IF_NONE_MATCH, LastModified};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use domain::activity::ResourceKey;
use domain::error::{Reason, StoreError};
use domain::resource::ResourceService;
use domain::timestamp::Timestamp;
use futures_util::stream;
use utoipa::{IntoResponses, ToSchema};

/// Get the file of a resource
///
/// Answers the whole file, or the part of it that `Range` asks for. A resource that the caller's organization doesn't
/// have is looked for among the public ones of publishers. A download that has begun is served whole, even if the
/// resource is replaced in the meantime.
#[utoipa::path(
    get,
    path = "/api/v2/resource/{ResourceGUID}",
    tag = "Resources",
    params(
        ResourcePath,
        ("Range" = Option<String>, Header, nullable = false,
            description = "One range of bytes, such as `bytes=0-1023`. One that can't be read is ignored."),
        ("If-Range" = Option<String>, Header, nullable = false,
            description = "An ETag or a date: the range counts only if the file is still that one."),
        ("If-Match" = Option<String>, Header, nullable = false,
            description = "ETags: 412 if the file has none of them."),
        ("If-Unmodified-Since" = Option<String>, Header, nullable = false,
            description = "A date: 412 if the file was modified since."),
        ("If-None-Match" = Option<String>, Header, nullable = false,
            description = "ETags: 304 if the file has one of them."),
        ("If-Modified-Since" = Option<String>, Header, nullable = false,
            description = "A date: 304 if the file wasn't modified since."),
    ),
    responses(
        (
            status = 200, description = "The file.", body = inline(FileContent), content_type = "application/octet-stream",
            headers(
                ("ETag", description = "The checksum of the file, in quotation marks."),
                ("Last-Modified", description = "The Timestamp of the resource, never later than now."),
                ("Accept-Ranges", description = "`bytes`"),
                ("Content-Length" = u64, description = "Bytes of the answer."),
            )
        ),
        (
            status = 206, description = "The part of the file.", body = inline(FileContent),
            content_type = "application/octet-stream",
            headers(
                ("ETag", description = "The checksum of the file, in quotation marks."),
                ("Last-Modified", description = "The Timestamp of the resource, never later than now."),
                ("Accept-Ranges", description = "`bytes`"),
                ("Content-Length" = u64, description = "Bytes of the answer."),
                ("Content-Range", description = "Which bytes of how many these are: `bytes 0-1023/6922`."),
            )
        ),
        (
            status = 304, description = "What the client has is still the file.",
            headers(
                ("ETag", description = "The checksum of the file, in quotation marks."),
                ("Last-Modified", description = "The Timestamp of the resource, never later than now."),
                ("Accept-Ranges", description = "`bytes`"),
            )
        ),
        Refusals
    )
)]
pub(crate) async fn get_file(
    request: HttpRequest,
    caller: Caller,
    path: Path<ResourcePath>,
    settings: Data<Settings>,
    resources: Data<ResourceService>,
) -> Result<HttpResponse, ApiError> {
    let resource = resources.find(&caller, &path.guid).await?;
    let size = resource.content.size;
    let file = Validators { checksum: resource.checksum, modified: resource.modified, size };
    let now = settings.clock.now();
    let key = ResourceKey { organization: resource.organization, guid: resource.guid };
    let fetched = || RequestContext::of(&request).set_fetched(key, resource.checksum);
    let (status, range) = match decide(&request, &file, now, &settings.limits)? {
        Delivery::NotModified => {
            if !names_any_content(&request) {
                fetched();
            }
            return Ok(respond(StatusCode::NOT_MODIFIED, &file, now).body(NoBody::new()));
        }
        Delivery::Part(range) => (StatusCode::PARTIAL_CONTENT, Some(range)),
        Delivery::Whole => (StatusCode::OK, None),
    };
    let mut response = respond(status, &file, now);
    response.insert_header(ContentType::octet_stream());
    if let Some(range) = &range {
        response.insert_header((CONTENT_RANGE, format!("bytes {}-{}/{size}", range.start, range.end - 1)));
    }
    if request.method() == Method::HEAD {
        return Ok(response.body(SizedStream::new(size, stream::empty::<Result<_, StoreError>>())));
    }
    if range.as_ref().is_none_or(|range| *range == (0..size)) {
        fetched();
    }
    let length = range.as_ref().map_or(size, |range| range.end - range.start);
    let content = resources.content(&resource, range).await?;
    Ok(response.body(SizedStream::new(length, content)))
}

/// Whether `If-None-Match` is `*`: then a 304 doesn't mean that the client has the content.
fn names_any_content(request: &HttpRequest) -> bool {
    request.headers().get_all(IF_NONE_MATCH).any(|value| value.as_bytes().trim_ascii() == b"*")
}

/// A response with the validators of the file.
fn respond(status: StatusCode, file: &Validators, now: Timestamp) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response.insert_header((ETAG, format!("\"{}\"", file.checksum)));
    // A client whose clock is ahead may have set a Timestamp in the future; `Last-Modified` must not be (decision T17).
    response.insert_header(LastModified(http_date(file.modified.min(now))));
    response.insert_header((ACCEPT_RANGES, "bytes"));
    response
}

#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "it is only a schema")]
struct FileContent(Vec<u8>);

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        let mut responses = refusals([Reason::ResourceNotFound, Reason::PreconditionFailed]);
        responses.extend(error_responses(&[Format::Json], [ApiError::RangeNotSatisfiable { size: 0 }]));
        responses
    }
}
