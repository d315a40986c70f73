//! Responses that hold only a message, and their formats: JSON, or what the client of a crash report asks for by
//! `Accept` (decisions R2, C5).

use actix_web::body::BoxBody;
use actix_web::http::header::{Accept, Header, Quality, QualityItem};
use actix_web::{HttpRequest, HttpResponse, Responder};
use quick_xml::escape::escape;

/// The XML namespace of a message (decision C5).
pub(crate) const NAMESPACE: &str = "http://schemas.microsoft.com/2003/10/Serialization/";

/// How a message is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Format {
    #[default]
    Json,
    TextJson,
    Xml,
    TextXml,
}

/// A message to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    Success(&'a str),
    Error(&'a str),
}

impl Message<'static> {
    /// The success message `text`.
    pub(crate) fn new(text: &'static str) -> Self {
        Self::Success(text)
    }
}

impl Responder for Message<'_> {
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
    pub(crate) fn write(self, message: Message<'_>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::ACCEPT;
    use actix_web::test::TestRequest;
    use proptest::prelude::*;

    fn accepted(lines: &[&str]) -> Format {
        let request = lines.iter().fold(TestRequest::get(), |request, line| request.append_header((ACCEPT, *line)));
        Format::accepted(&request.to_http_request())
    }

    #[test]
    fn the_best_quality_wins_and_json_wins_ties() {
        // Decision C5.
        let expected = [
            ("", Format::Json),
            ("application/xml", Format::Xml),
            ("TEXT/XML", Format::TextXml),
            ("text/json", Format::TextJson),
            ("application/xml, application/json", Format::Json),
            ("application/xml;q=0.9, application/json;q=0.5", Format::Xml),
            ("application/xml; q=0.5, */*; q=0.2", Format::Xml),
            ("text/*", Format::TextJson),
            ("text/*;q=0.5, text/xml", Format::TextXml),
            ("*/*", Format::Json),
            ("*", Format::Json),
            ("application/json;q=0, */*", Format::TextJson),
            ("application/*;q=0, text/*;q=0", Format::Json),
            ("text/html, image/png", Format::Json),
            ("application/xml;charset=utf-8", Format::Xml),
            ("application/xml;q=high", Format::Json),
            ("application/xml;q=2, text/xml;q=0.1", Format::TextXml),
        ];
        for (accept, format) in expected {
            assert_eq!(accepted(&[accept]), format, "{accept}");
        }
    }

    #[test]
    fn several_accept_headers_are_one_list() {
        assert_eq!(accepted(&["application/json;q=0.1", "text/xml"]), Format::TextXml);
    }

    #[test]
    fn xml_messages_have_the_forms_that_clients_know() {
        // Decision C5.
        assert_eq!(
            Format::Xml.write(Message::Success("a < b")),
            "<string xmlns=\"http://schemas.microsoft.com/2003/10/Serialization/\">a &lt; b</string>"
        );
        assert_eq!(Format::TextXml.write(Message::Error("a & b")), "<Error><Message>a &amp; b</Message></Error>");
    }

    proptest! {
        #[test]
        fn the_higher_of_two_qualities_wins(json in 0_u16..=1000, xml in 0_u16..=1000, swapped in any::<bool>()) {
            let written = |kind: &str, quality: u16| format!("{kind};q={}.{:03}", quality / 1000, quality % 1000);
            let mut ranges = [written("application/json", json), written("application/xml", xml)];
            if swapped {
                ranges.reverse();
            }
            let expected = if xml > json { Format::Xml } else { Format::Json };
            prop_assert_eq!(accepted(&[&ranges.join(", ")]), expected);
        }

        #[test]
        fn no_accept_header_panics(accept in "[ -~]{0,40}") {
            let _ = accepted(&[&accept]);
        }
    }
}
