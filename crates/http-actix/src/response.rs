//! Responses: a message in JSON, or in the format that the client of a crash report accepts (decisions R2, C5); a list as
//! a JSON array that is streamed from the store, so that memory doesn't grow with it (decision L8).

#[cfg(test)]
mod tests;

use actix_web::body::BoxBody;
use actix_web::http::header::{Accept, Header, Quality, QualityItem};
use actix_web::{HttpRequest, HttpResponse, Responder};
use bytes::Bytes;
use domain::error::StoreError;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use quick_xml::escape::escape;
use serde::Serialize;

/// The XML namespace of a message (decision C5).
pub(crate) const NAMESPACE: &str = "http://schemas.microsoft.com/2003/10/Serialization/";

/// Bytes of a list that are collected before they are sent.
const CHUNK: usize = 32 * 1024;

/// How a message is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Format {
    #[default]
    Json,
    TextJson,
    Xml,
    TextXml,
}

/// A message to a client. As the result of a handler it is a response with status 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    Success(&'static str),
    Error(&'static str),
}

impl Responder for Message {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        json(Format::Json.write(self))
    }
}

/// A 200 response with JSON text.
pub(crate) fn json(text: String) -> HttpResponse {
    HttpResponse::Ok().content_type(Format::Json.content_type()).body(text)
}

impl Format {
    /// JSON is first: it is taken on a tie.
    pub(crate) const ALL: [Self; 4] = [Self::Json, Self::TextJson, Self::Xml, Self::TextXml];

    /// The best format by the quality that `Accept` gives it; JSON where none fits.
    pub(crate) fn accepted(request: &HttpRequest) -> Self {
        let accepted = Accept::parse(request).map(|accept| accept.0).unwrap_or_default();
        let mut best = (Self::Json, Quality::ZERO);
        for format in Self::ALL {
            let quality = format.quality(&accepted);
            if quality > best.1 {
                best = (format, quality);
            }
        }
        best.0
    }

    /// The quality of the most specific range that fits; of several equally specific ones the highest.
    fn quality(self, accepted: &[QualityItem<mime::Mime>]) -> Quality {
        let (kind, subtype) = self.media_type().split_once('/').unwrap_or_default();
        let specificity = |range: &mime::Mime| match (range.type_(), range.subtype()) {
            (mime::STAR, mime::STAR) => Some(0),
            (range, mime::STAR) if range == kind => Some(1),
            (range, sub) if range == kind && sub == subtype => Some(2),
            _ => None,
        };
        let fitting = accepted.iter().filter_map(|item| Some((specificity(&item.item)?, item.quality)));
        fitting.max().map_or(Quality::ZERO, |(_, quality)| quality)
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json; charset=utf-8",
            Self::TextJson => "text/json; charset=utf-8",
            Self::Xml => "application/xml; charset=utf-8",
            Self::TextXml => "text/xml; charset=utf-8",
        }
    }

    /// The content type without its parameter.
    pub(crate) fn media_type(self) -> &'static str {
        self.content_type().split(';').next().unwrap_or_default()
    }

    pub(crate) fn is_xml(self) -> bool {
        matches!(self, Self::Xml | Self::TextXml)
    }

    /// The body that carries `message` (decisions R2, C5).
    pub(crate) fn write(self, message: Message) -> String {
        match (self, message) {
            (Self::Json | Self::TextJson, Message::Success(text)) => serde_json::json!(text).to_string(),
            (Self::Json | Self::TextJson, Message::Error(text)) => serde_json::json!({ "Message": text }).to_string(),
            (Self::Xml | Self::TextXml, Message::Success(text)) => {
                format!("<string xmlns=\"{NAMESPACE}\">{}</string>", escape(text))
            }
            (Self::Xml | Self::TextXml, Message::Error(text)) => {
                format!("<Error><Message>{}</Message></Error>", escape(text))
            }
        }
    }
}

/// Responds with a JSON array of `items`; `write` appends one item to the text.
///
/// Waits for the first chunk: if the store fails before it, the response is 500. A later failure aborts the body, so
/// that a client can't take it for complete.
pub(crate) async fn json_array<T: Send + 'static>(
    items: BoxStream<'static, Result<T, StoreError>>,
    write: fn(&T, &mut String),
) -> Result<HttpResponse, StoreError> {
    let mut writer = ArrayWriter { items, write, text: String::from("["), is_first: true, has_ended: false };
    let beginning = writer.next_chunk().await?;
    let mut response = HttpResponse::Ok();
    response.content_type(Format::Json.content_type());
    if writer.has_ended {
        return Ok(response.body(beginning));
    }
    let rest = stream::try_unfold(writer, |mut writer| async move {
        if writer.has_ended {
            return Ok(None);
        }
        let chunk = writer.next_chunk().await?;
        Ok(Some((chunk, writer)))
    });
    Ok(response.streaming(stream::iter([Ok::<_, StoreError>(beginning)]).chain(rest)))
}

struct ArrayWriter<T> {
    items: BoxStream<'static, Result<T, StoreError>>,
    write: fn(&T, &mut String),
    text: String,
    is_first: bool,
    has_ended: bool,
}

impl<T> ArrayWriter<T> {
    async fn next_chunk(&mut self) -> Result<Bytes, StoreError> {
        while self.text.len() < CHUNK {
            let Some(item) = self.items.next().await.transpose()? else {
                self.text.push(']');
                self.has_ended = true;
                break;
            };
            if !std::mem::take(&mut self.is_first) {
                self.text.push(',');
            }
            (self.write)(&item, &mut self.text);
        }
        Ok(std::mem::take(&mut self.text).into())
    }
}

/// Appends `value` as JSON.
pub(crate) fn push_json(text: &mut String, value: &impl Serialize) {
    // Items are structs of texts and numbers, which can always be serialized.
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
}
