//! Add a crash report (interface 4.8, decisions C3–C7).

use crate::call::{Call, to_its_end};
use crate::error::{ERROR_DETAIL, Fault, detail_value};
use crate::format::Message;
use crate::headers::joined;
use crate::reply::Answer;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use domain::crash_report::CrashHeaders;

const REPORT_ID: HeaderName = HeaderName::from_static("crash-report-id");

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let (services, caller) = (call.services(), call.caller());
    let header = |name| joined(&call.head.headers, &HeaderName::from_static(name));
    let headers = CrashHeaders { application_name: header("applicationname"), os: header("os") };
    let mut parts = call.parts();
    let received = to_its_end(async move { services.crash_reports.add(&caller, &headers, &mut parts).await }).await?;
    let message = Message::Success("Crash report successfully added");
    let mut answer = Answer::message(StatusCode::OK, call.exchange.format(), message);
    if let Ok(id) = HeaderValue::from_str(&received.id.to_string()) {
        answer = answer.with(&REPORT_ID, id);
    }
    Ok(match &received.note {
        Some(note) => answer.with(&ERROR_DETAIL, detail_value(note)),
        None => answer,
    })
}
