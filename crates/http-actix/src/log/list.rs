//! Get logs (interface 4.9).

use crate::call::Call;
use crate::error::Fault;
use crate::reply::{Answer, array};
use domain::json::Quoted;
use domain::log_entry::ListedLogEntry;
use std::fmt::Write;

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
