//! POST /api/v2/log/crashreport: add a crash report (interface 4.8, decisions C3–C7).

use crate::answer::{Format, Message, NAMESPACE};
use crate::error::{ApiError, ERROR_DETAIL};
use crate::extract::caller::Caller;
use crate::extract::headers::joined;
use crate::extract::multipart::Multipart;
use crate::openapi::description::Description;
use crate::openapi::schema::{binary, filled, guid, object, text, words};
use crate::routes::authenticated;
use crate::run::run_to_completion;
use crate::uploads::UploadPermit;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Data};
use actix_web::{Error, HttpRequest, HttpResponse, Route};
use domain::access::CredentialMessages;
use domain::crash_report::{AddCrashReport, CrashReportService};
use domain::error::Reason;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::xml::XmlBuilder;

const ADDED: &str = "Crash report successfully added";

const REPORT_ID: &str = "Crash-Report-Id";

/// The route, whose errors have the format that the client accepts too.
pub(crate) fn route() -> Route {
    let route = web::post().to(add_crash_report);
    authenticated("add_crash_report", CredentialMessages::CrashReport, route).wrap(from_fn(format_errors))
}

async fn add_crash_report(
    request: HttpRequest,
    caller: Caller,
    body: Multipart,
    permit: UploadPermit,
    crash_reports: Data<CrashReportService>,
) -> Result<HttpResponse, ApiError> {
    let header = |name| joined(request.headers(), &HeaderName::from_static(name));
    let command = AddCrashReport::new(header("applicationname").as_deref(), header("os").as_deref());
    let mut parts = body.parts();
    let accepted = run_to_completion(async move {
        let _permit = permit;
        crash_reports.add(&caller, command, &mut parts).await
    })
    .await?;
    let format = Format::accepted(&request);
    let mut answer = HttpResponse::Ok();
    answer.content_type(format.content_type()).insert_header((REPORT_ID, accepted.id.to_string()));
    if let Some(note) = &accepted.note {
        answer.insert_header((ERROR_DETAIL, note.as_str()));
    }
    Ok(answer.body(format.write(Message::Success(ADDED))))
}

/// Writes errors in the format that the client accepts (decision C5).
async fn format_errors(
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

pub(crate) fn description() -> Description {
    let about = "Keeps a crash report. Parts may have other names or content types: where both don't fit, the name \
                 decides, then the content type; what takes no place is kept as an attachment. A dump that is too large \
                 is dropped and the rest kept, which `X-Error-Detail` then tells. The answer is JSON, or XML where \
                 `Accept` prefers it.";
    let parts = object("Other parts are kept as attachments under their names.")
        .property("CallStack", filled("The call stack."))
        .property("Xml", text("What is known of the crash, as XML."))
        .property("dump", binary("The dump."))
        .required("CallStack")
        // Others can't stand in the header that names a part.
        .property_names(Some(RefOr::from(text("").pattern(Some(r"^[^\x00-\x1f\x7f]*$")))));
    let types = [("CallStack", "text/plain"), ("Xml", "application/xml"), ("dump", "application/octet-stream")];
    let described = Description::new("Add a crash report", about)
        .header("ApplicationName", "Name of the application that crashed.", text(""))
        .header("OS", "0 for macOS, 1 for Windows. Others are recorded as unknown.", text("").examples(["1"]))
        .form_body(parts, &types)
        .refuses([Reason::NotProperlyFormatted, Reason::CallStackRequired]);
    Format::ALL.into_iter().fold(described, |described, format| {
        let headers = [
            ("Crash-Report-Id", guid("Names the report.")),
            ("X-Error-Detail", text("What of the report was dropped, and why.").max_length(Some(300))),
        ];
        let content = Some((format.media_type(), message(format).into()));
        described.answers(StatusCode::OK, ADDED, content, headers)
    })
}

/// The message in this format (decision C5).
fn message(format: Format) -> ObjectBuilder {
    let message = words(&[ADDED]);
    if !format.is_xml() {
        return message;
    }
    let element = XmlBuilder::new().name(Some("string")).namespace(Some(NAMESPACE));
    message.xml(Some(element.build()))
}
