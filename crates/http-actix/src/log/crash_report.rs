//! POST /api/v2/log/crashreport: add a crash report (interface 4.8, decisions C3–C7).

use crate::error::{ApiError, ERROR_DETAIL};
use crate::extract::Caller;
use crate::extract::headers::joined;
use crate::extract::multipart::Multipart;
use crate::openapi::responses::{Responses, error_responses, with_credentials, words};
use crate::response::{Format, Message, NAMESPACE};
use crate::services::{Settings, run_to_completion};
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpRequest, HttpResponse};
use domain::crash_report::{AddCrashReport, CrashReportService};
use domain::error::{Reason, RequiredHeader};
use std::collections::BTreeMap;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::xml::XmlBuilder;
use utoipa::openapi::{ContentBuilder, HeaderBuilder, ResponseBuilder, SchemaFormat};
use utoipa::{IntoResponses, ToSchema};

const ADDED: &str = "Crash report successfully added";

const REPORT_ID: &str = "Crash-Report-Id";

/// Add a crash report
///
/// Keeps a crash report. Parts may have other names or content types: where both don't fit, the name decides, then the
/// content type; any other part is kept as an attachment. A dump that is too large is dropped and the rest kept,
/// which `X-Error-Detail` then says. The answer is JSON, or XML where `Accept` prefers it.
#[utoipa::path(
    post,
    path = "/api/v2/log/crashreport",
    tag = "Logs and crash reports",
    params(
        ("ApplicationName" = Option<String>, Header, nullable = false,
            description = "Name of the application that crashed."),
        ("OS" = Option<String>, Header, nullable = false,
            description = "0 for macOS, 1 for Windows. Others are recorded as unknown.", example = "1"),
    ),
    request_body(
        content = CrashReportForm,
        content_type = "multipart/form-data",
        encoding(
            ("CallStack" = (content_type = "text/plain")),
            ("Xml" = (content_type = "application/xml")),
            ("dump" = (content_type = "application/octet-stream")),
        )
    ),
    responses(Added, Refusals)
)]
pub(crate) async fn add_crash_report(
    request: HttpRequest,
    caller: Caller,
    body: Multipart,
    settings: Data<Settings>,
    crash_reports: Data<CrashReportService>,
) -> Result<HttpResponse, ApiError> {
    let header = |name| joined(request.headers(), &HeaderName::from_static(name));
    let command = AddCrashReport::new(header("applicationname").as_deref(), header("os").as_deref());
    let permit = settings.uploads.acquire(caller.organization).await?;
    let mut parts = body.parts();
    let accepted = run_to_completion(async move {
        let _permit = permit;
        crash_reports.add(&caller, command, &mut parts).await
    })
    .await?;
    let format = Format::accepted(&request);
    let mut response = HttpResponse::Ok();
    response.content_type(format.content_type()).insert_header((REPORT_ID, accepted.id.to_string()));
    if let Some(note) = &accepted.note {
        response.insert_header((ERROR_DETAIL, note.as_str()));
    }
    Ok(response.body(format.write(Message::Success(ADDED))))
}

/// Writes errors in the format that the client accepts (decision C5).
pub(crate) async fn format_errors(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let format = Format::accepted(request.request());
    let response = next.call(request).await?.map_into_boxed_body();
    let error = response.response().error().and_then(|error| error.as_error::<ApiError>());
    let Some(message) = error.map(ApiError::message) else {
        return Ok(response);
    };
    let mut response = response.map_body(|_, _| BoxBody::new(format.write(Message::Error(message))));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(format.content_type()));
    Ok(response)
}

/// Other parts are kept as attachments under their names.
#[derive(ToSchema)]
#[schema(as = CrashReport)]
#[expect(dead_code, reason = "it is only the schema of the body")]
struct CrashReportForm {
    /// The call stack.
    #[schema(rename = "CallStack", min_length = 1, pattern = r"\S")]
    call_stack: String,
    /// What is known of the crash, as XML.
    #[schema(rename = "Xml", required = false)]
    xml: String,
    /// The dump.
    #[schema(value_type = String, format = Binary, required = false)]
    dump: Vec<u8>,
}

/// The response in every format (decision C5).
struct Added;

impl IntoResponses for Added {
    fn responses() -> Responses {
        let uuid = SchemaFormat::Custom("uuid".to_owned());
        let uuid = ObjectBuilder::new().schema_type(Type::String).format(Some(uuid));
        let id = HeaderBuilder::new().description(Some("Names the report.")).schema(Some(uuid));
        let detail = HeaderBuilder::new().description(Some("Which part of the report was dropped, and why."));
        let response = ResponseBuilder::new()
            .description(ADDED)
            .header(REPORT_ID, id.build())
            .header("X-Error-Detail", detail.build());
        let response = Format::ALL.into_iter().fold(response, |response, format| {
            let element = XmlBuilder::new().name(Some("string")).namespace(Some(NAMESPACE)).build();
            let message = words("", &[ADDED]).xml(format.is_xml().then_some(element));
            response.content(format.media_type(), ContentBuilder::new().schema(Some(message)).build())
        });
        BTreeMap::from([("200".to_owned(), response.build().into())])
    }
}

struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> Responses {
        let missing = [RequiredHeader::HardwareHash, RequiredHeader::SerialNumber, RequiredHeader::ApplicationVersion];
        let reasons = missing.map(Reason::CrashHeaderRequired).into_iter().chain([
            Reason::CrashHardwareHashInvalid,
            Reason::BodyTooLarge,
            Reason::BodyTimedOut,
            Reason::NotProperlyFormatted,
            Reason::CallStackRequired,
        ]);
        error_responses(&Format::ALL, with_credentials(reasons))
    }
}
