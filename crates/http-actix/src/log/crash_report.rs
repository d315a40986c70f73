//! Add a crash report (interface 4.8, decisions C3–C7).

use crate::call::{Call, to_its_end};
use crate::error::{ERROR_DETAIL, Fault, detail_value};
use crate::format::{Format, Message, NAMESPACE};
use crate::headers::joined;
use crate::openapi::description::Description;
use crate::openapi::schema::{binary, filled, guid, object, text, words};
use crate::reply::Answer;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use domain::crash_report::CrashHeaders;
use domain::error::Reason;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::xml::XmlBuilder;

const ADDED: &str = "Crash report successfully added";

const REPORT_ID: HeaderName = HeaderName::from_static("crash-report-id");

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let (services, caller) = (call.services(), call.caller());
    let header = |name| joined(&call.head.headers, &HeaderName::from_static(name));
    let headers = CrashHeaders { application_name: header("applicationname"), os: header("os") };
    let mut parts = call.parts();
    let turn = call.admission.upload.take();
    let add = async move {
        let _turn = turn;
        services.crash_reports.add(&caller, &headers, &mut parts).await
    };
    let received = to_its_end(add).await?;
    let message = Message::Success(ADDED);
    let mut answer = Answer::message(StatusCode::OK, call.exchange.format(), message);
    if let Ok(id) = HeaderValue::from_str(&received.id.to_string()) {
        answer = answer.with(&REPORT_ID, id);
    }
    Ok(match &received.note {
        Some(note) => answer.with(&ERROR_DETAIL, detail_value(note)),
        None => answer,
    })
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
