//! The format of an answer: JSON, or what a crash reporter asks for with Accept (decision C5).

use crate::headers::essence;
use domain::json::Quoted;
use quick_xml::escape::escape;

/// The XML namespace of a message (decision C5).
pub(crate) const NAMESPACE: &str = "http://schemas.microsoft.com/2003/10/Serialization/";

/// How a message is written, and the content type that says so.
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

/// Of equals the first is taken: JSON on a tie.
const OFFERED: [(Format, &str, &str); 4] = [
    (Format::Json, "application", "json"),
    (Format::TextJson, "text", "json"),
    (Format::Xml, "application", "xml"),
    (Format::TextXml, "text", "xml"),
];

impl Format {
    /// The best offer by the quality that the Accept headers give it; JSON where none fits.
    pub(crate) fn negotiate<'a>(accept: impl Iterator<Item = &'a str>) -> Self {
        let ranges: Vec<MediaRange<'_>> =
            accept.flat_map(|header| header.split(',')).filter_map(MediaRange::parse).collect();
        let mut best = (Self::Json, 0);
        for (format, kind, subtype) in OFFERED {
            let fitting = ranges.iter().filter_map(|range| Some((range.specificity(kind, subtype)?, range.quality)));
            // The most specific range decides; of several equally specific ones the highest quality.
            let quality = fitting.max().map_or(0, |(_, quality)| quality);
            if quality > best.1 {
                best = (format, quality);
            }
        }
        best.0
    }

    pub(crate) const ALL: [Self; 4] = [Self::Json, Self::TextJson, Self::Xml, Self::TextXml];

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
        essence(self.content_type())
    }

    pub(crate) fn is_xml(self) -> bool {
        matches!(self, Self::Xml | Self::TextXml)
    }

    /// The body that carries `message` (decisions R2, C5).
    pub(crate) fn write(self, message: Message<'_>) -> String {
        match (self, message) {
            (Self::Json | Self::TextJson, Message::Success(text)) => Quoted(text).to_string(),
            (Self::Json | Self::TextJson, Message::Error(text)) => format!("{{\"Message\":{}}}", Quoted(text)),
            (Self::Xml | Self::TextXml, Message::Success(text)) => {
                format!("<string xmlns=\"{NAMESPACE}\">{}</string>", escape(text))
            }
            (Self::Xml | Self::TextXml, Message::Error(text)) => {
                format!("<Error><Message>{}</Message></Error>", escape(text))
            }
        }
    }
}

/// One range of an Accept header.
struct MediaRange<'a> {
    kind: &'a str,
    subtype: &'a str,
    /// Thousandths.
    quality: u16,
}

impl<'a> MediaRange<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let range = parts.next()?;
        // Some old HTTP libraries write `*` for `*/*`.
        let (kind, subtype) = if range == "*" { ("*", "*") } else { range.split_once('/')? };
        let quality = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("q").then(|| parse_quality(value.trim()))
        });
        Some(Self { kind, subtype, quality: quality.unwrap_or(Some(1000))? })
    }

    fn specificity(&self, kind: &str, subtype: &str) -> Option<u8> {
        let same = |range: &str, offer: &str| range.eq_ignore_ascii_case(offer);
        match (self.kind, self.subtype) {
            ("*", "*") => Some(0),
            (range, "*") if same(range, kind) => Some(1),
            (range, sub) if same(range, kind) && same(sub, subtype) => Some(2),
            _ => None,
        }
    }
}

/// A quality in thousandths; `None` for anything that isn't one.
fn parse_quality(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() + fraction.len() == 0 || whole.len() > 1 {
        return None;
    }
    let whole: u16 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let thousandths =
        fraction.bytes().chain([b'0'; 3]).take(3).fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    let quality = whole * 1000 + thousandths;
    (quality <= 1000).then_some(quality)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn negotiated(accept: &str) -> Format {
        Format::negotiate([accept].into_iter())
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
            ("application/xml; q=.5, */*; q=.2", Format::Xml),
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
            assert_eq!(negotiated(accept), format, "{accept}");
        }
    }

    #[test]
    fn several_accept_headers_are_one_list() {
        let format = Format::negotiate(["application/json;q=0.1", "text/xml"].into_iter());
        assert_eq!(format, Format::TextXml);
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

    fn any_quality() -> impl Strategy<Value = u16> {
        0_u16..=1000
    }

    proptest! {
        #[test]
        fn the_higher_of_two_qualities_wins(json in any_quality(), xml in any_quality(), swapped in any::<bool>()) {
            let written = |kind: &str, quality: u16| format!("{kind};q={}.{:03}", quality / 1000, quality % 1000);
            let mut ranges = [written("application/json", json), written("application/xml", xml)];
            if swapped {
                ranges.reverse();
            }
            let expected = if xml > json { Format::Xml } else { Format::Json };
            prop_assert_eq!(negotiated(&ranges.join(", ")), expected);
        }

        #[test]
        fn no_accept_header_panics(accept in any::<String>()) {
            let _ = negotiated(&accept);
        }
    }
}
