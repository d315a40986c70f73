//! The formats of messages (decision C5).

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
