//! Get logs (interface 4.9).

use crate::call::Call;
use crate::error::Fault;
use crate::openapi::description::Description;
use crate::openapi::schema::{closed_object, list_of, named, text, time, words};
use crate::reply::{Answer, array};
use domain::error::Reason;
use domain::json::Quoted;
use domain::log_entry::ListedLogEntry;
use std::fmt::Write;
use utoipa::openapi::schema::ObjectBuilder;

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let body = call.json().await?;
    let entries = call.shared.services.logs.list(&call.admission.caller, &body)?;
    Ok(Answer::json(array(entries, write_entry).await?))
}

/// A returned entry (interface 2.6).
fn write_entry(entry: &ListedLogEntry, text: &mut String) {
    let [user, source, version, computer, description] =
        [&entry.user, &entry.source, &entry.version, &entry.computer, &entry.description].map(|text| Quoted(text));
    // Writing to a String never fails.
    let _ = write!(
        text,
        r#"{{"User":{user},"Source":{source},"Version":{version},"Computer":{computer},"Description":{description}}}"#
    );
}

pub(crate) fn description() -> Description {
    let about = "Lists the entries of the organization that match all given filters, the newest first. At least one is \
                 given. A text filter matches the whole value without case; `*` in it stands for any characters, or \
                 none. The answer is streamed.";
    let received = closed_object("When the entry was received; either end may be absent.")
        .property("From", time(""))
        .property("To", time(""))
        .min_properties(Some(1));
    let filter = closed_object("")
        .property("SerialNumber", text("The header with which the entry was sent.").min_length(Some(1)))
        .property("User", text("").min_length(Some(1)))
        .property("Source", text("").min_length(Some(1)))
        .property("Version", text("").min_length(Some(1)))
        .property("Computer", text("").min_length(Some(1)))
        .property("DateTime", received)
        .property("LogType", words(&["Log", "Configuration"]))
        .min_properties(Some(1));
    Description::new("List log entries", about)
        .json_body("LogFilter", filter)
        .with_schema("ListedLogEntry", schema_of_entry())
        .answers_json("The entries.", list_of(named("ListedLogEntry")))
        .refuses([
            Reason::JsonExpected,
            Reason::JsonInvalid,
            Reason::LogFieldsRequired,
            Reason::DateTimeInvalid,
            Reason::LogTypeInvalid,
        ])
}

fn schema_of_entry() -> ObjectBuilder {
    let members = [
        ("User", "The calling user, else the one to whom the calling computer is assigned, else empty."),
        ("Source", "The name of the device, else of the queue, else JobName, else the job's name, else empty."),
        ("Version", "RipVersion, else ApplicationVersion."),
        ("Computer", "The computer's name."),
        ("Description", "The message."),
    ];
    members.into_iter().fold(closed_object(""), |entry, (name, about)| entry.property(name, text(about)).required(name))
}
