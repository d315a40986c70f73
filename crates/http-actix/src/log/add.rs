//! Add a log entry (interface 4.7).

use crate::call::{Call, to_its_end};
use crate::error::Fault;
use crate::openapi::description::Description;
use crate::openapi::schema::{filled, guid, object, text, words};
use crate::reply::Answer;
use domain::error::Reason;

const ADDED: &str = "Log successfully added";

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let body = call.json().await?;
    let (services, caller) = (call.services(), call.caller());
    to_its_end(async move { services.logs.add(&caller, &body).await }).await?;
    Ok(Answer::success(ADDED))
}

pub(crate) fn description() -> Description {
    let about = "Adds an entry to the organization's log. 200 means that it is durable.";
    let entry = object("")
        .property("ComputerGUID", guid("A registered computer."))
        .property("Type", words(&["log", "configuration"]))
        .property("Description", filled("The message."))
        .property("RipVersion", text("Usually x.x.x; kept as sent."))
        .property("DeviceGUID", guid("A registered device."))
        .property("QueueGUID", guid("A registered queue."))
        .property("JobGUID", guid("A registered job."))
        .property("JobName", text(""))
        .required("ComputerGUID")
        .required("Type")
        .required("Description");
    Description::new("Add a log entry", about).json_body("LogEntry", entry).answers_message(ADDED).refuses([
        Reason::JsonExpected,
        Reason::JsonInvalid,
        Reason::LogFieldsRequired,
        Reason::ComputerNotFound,
        Reason::DeviceNotFound,
        Reason::QueueNotFound,
        Reason::JobNotFound,
    ])
}
