//! Whole lists of log entries as CSV and as lines of JSON, written while they are read.

use super::LogBody;
use crate::time::shown;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use csv_core::{Terminator, WriterBuilder};
use domain::error::{StoreError, error_chain};
use domain::operator_log::OperatorLogEntry;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use http_actix::RequestInfo;
use std::borrow::Cow;
use std::future::ready;

/// Entries that are written at once, if so many are there.
const AT_ONCE: usize = 128;

const COLUMNS: [&str; 11] = [
    "id",
    "received",
    "organization",
    "type",
    "user",
    "source",
    "version",
    "computer",
    "computer_guid",
    "serial_number",
    "description",
];

/// A format of whole lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// RFC 4180, with a line of names.
    Csv,
    /// An object a line.
    Ndjson,
}

impl Export {
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Ndjson => "application/x-ndjson",
        }
    }

    fn text_of(self, entries: Vec<OperatorLogEntry>) -> Vec<u8> {
        match self {
            Self::Csv => csv_text(entries.iter().map(cells)),
            Self::Ndjson => {
                // It is made of texts and numbers only, which always can be written.
                let line = |one| serde_json::to_string(&LogBody::from(one)).unwrap_or_default() + "\n";
                entries.into_iter().map(line).collect::<String>().into_bytes()
            }
        }
    }
}

/// Answers all entries. A failure on the way breaks the response off, so that a client notices it. With a file name it is a
/// download.
pub fn exported(
    request: &HttpRequest,
    format: Export,
    content_type: &'static str,
    file_name: Option<&str>,
    entries: BoxStream<'static, Result<OperatorLogEntry, StoreError>>,
) -> HttpResponse {
    let request_id = RequestInfo::of(request).id;
    let texts = entries.ready_chunks(AT_ONCE).map(move |entries| {
        let entries: Result<Vec<_>, StoreError> = entries.into_iter().collect();
        let text = entries.map(|entries| Bytes::from(format.text_of(entries)));
        text.inspect_err(|error| {
            let cause = error_chain(error);
            tracing::error!(request_id, cause, "a list of log entries broke off");
        })
    });
    let names = match format {
        Export::Csv => Bytes::from(csv_text([COLUMNS.map(Cow::Borrowed)])),
        Export::Ndjson => Bytes::new(),
    };
    let head = stream::iter((!names.is_empty()).then_some(Ok(names)));
    let mut response = HttpResponse::Ok();
    response.insert_header((CONTENT_TYPE, content_type)).insert_header((CACHE_CONTROL, "no-store"));
    if let Some(name) = file_name {
        response.insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")));
    }
    response.streaming(head.chain(texts).take_while(|text| ready(!matches!(text, Ok(text) if text.is_empty()))))
}

fn cells(one: &OperatorLogEntry) -> [Cow<'_, str>; 11] {
    let entry = &one.entry;
    let listed = &entry.entry;
    [
        entry.number.to_string().into(),
        shown(entry.received).into(),
        disarmed(&one.organization),
        entry.log_type.as_str().into(),
        disarmed(&listed.user),
        disarmed(&listed.source),
        disarmed(&listed.version),
        disarmed(&listed.computer),
        entry.computer.to_string().into(),
        disarmed(&entry.serial_number),
        disarmed(&listed.description),
    ]
}

/// A text that no spreadsheet takes for a formula.
fn disarmed(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}").into() } else { text.into() }
}

fn csv_text<'a>(rows: impl IntoIterator<Item = [Cow<'a, str>; 11]>) -> Vec<u8> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).build();
    let mut text = Vec::new();
    for row in rows {
        for (place, cell) in row.iter().enumerate() {
            if place > 0 {
                append(&mut text, 2, |room| writer.delimiter(room).1);
            }
            // Quotes around it, and each of its own may be doubled.
            append(&mut text, 2 * cell.len() + 2, |room| writer.field(cell.as_bytes(), room).2);
        }
        append(&mut text, 4, |room| writer.terminator(room).1);
    }
    text
}

/// Appends what `write` writes into so many bytes; it says how many it needed.
fn append(text: &mut Vec<u8>, room: usize, write: impl FnOnce(&mut [u8]) -> usize) {
    let end = text.len();
    text.resize(end + room, 0);
    let written = write(&mut text[end..]);
    text.truncate(end + written);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_take_for_a_formula_is_disarmed() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(disarmed(text), format!("'{text}"));
        }
        for text in ["", "1=1", " =1", "'=1", "a\r=1"] {
            assert_eq!(disarmed(text), text);
        }
    }

    #[test]
    fn cells_with_quotes_commas_and_lines_are_quoted() {
        let row = std::array::from_fn(|place| if place == 0 { "a \"b\", c\nd".into() } else { Cow::Borrowed("x") });
        assert_eq!(csv_text([row]), b"\"a \"\"b\"\", c\nd\",x,x,x,x,x,x,x,x,x,x\r\n");
    }
}
