//! The trace that a request belongs to: the header `traceparent` of W3C Trace Context, level 1.

use actix_web::http::header::{HeaderMap, HeaderName};
use std::fmt;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Length of a `traceparent` of version 00.
const LENGTH: usize = 55;

/// The id of a trace. `Display` gives its 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceId(pub [u8; 16]);

impl fmt::Display for TraceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// Which trace a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    pub id: TraceId,
    /// The client's own span; `None` where the trace begins here.
    pub parent: Option<[u8; 8]>,
    /// Whether the client records the trace; where it doesn't, we don't either.
    pub is_sampled: bool,
}

impl Trace {
    /// A trace that begins here.
    pub(crate) fn begin(id: [u8; 16]) -> Self {
        Self { id: TraceId(id), parent: None, is_sampled: true }
    }

    /// The trace that the client names; `None` where it names none in the form that the standard
    /// demands, which then counts as if it weren't there.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut sent = headers.get_all(TRACEPARENT);
        let value = sent.next()?.as_bytes();
        // Several contradict each other.
        if sent.next().is_some() { None } else { parse(value.trim_ascii()) }
    }
}

fn parse(text: &[u8]) -> Option<Trace> {
    let (head, rest) = text.split_at_checked(LENGTH)?;
    let [version] = bytes::<1>(&head[..2])?;
    // Later versions may add fields behind a dash; ff is none.
    let is_known = match version {
        0 => rest.is_empty(),
        0xff => false,
        _ => rest.first().is_none_or(|byte| *byte == b'-'),
    };
    if !is_known || [2, 35, 52].into_iter().any(|dash| head[dash] != b'-') {
        return None;
    }
    let (id, parent, [flags]) = (bytes::<16>(&head[3..35])?, bytes::<8>(&head[36..52])?, bytes::<1>(&head[53..])?);
    let is_zero = id == [0; 16] || parent == [0; 8];
    (!is_zero).then_some(Trace { id: TraceId(id), parent: Some(parent), is_sampled: flags & 1 == 1 })
}

/// Lower-case hexadecimal digits, as the standard demands them.
fn bytes<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use proptest::prelude::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn of(values: &[&str]) -> Option<Trace> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(TRACEPARENT, HeaderValue::from_str(value).unwrap());
        }
        Trace::of(&headers)
    }

    #[test]
    fn a_trace_in_the_form_of_the_standard_is_taken_up() {
        let trace = of(&[GOOD]).unwrap();
        assert_eq!(trace.id.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(trace.parent, Some([0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]));
        assert!(trace.is_sampled);
        assert!(!of(&[&GOOD.replace("-01", "-00")]).unwrap().is_sampled);
        assert!(of(&[&GOOD.replace("-01", "-ff")]).unwrap().is_sampled, "flags that aren't known yet are ignored");
    }

    #[test]
    fn a_later_version_may_have_more_fields() {
        let later = GOOD.replacen("00", "cc", 1);
        assert_eq!(of(&[&later]), of(&[GOOD]));
        assert_eq!(of(&[&format!("{later}-what-the-future-brings")]), of(&[GOOD]));
        assert_eq!(of(&[&format!("{later}.what")]), None);
    }

    #[test]
    fn what_is_malformed_counts_as_nothing() {
        let malformed = [
            "",
            "00",
            &GOOD[..54],
            &format!("{GOOD}-00"),
            &format!("{GOOD}0"),
            &GOOD.replacen("00", "ff", 1),
            &GOOD.replacen("00", "0x", 1),
            &GOOD.to_uppercase(),
            &GOOD.replace('-', "_"),
            &GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &GOOD.replace("-01", "-0g"),
        ];
        for text in malformed {
            assert_eq!(of(&[text]), None, "{text}");
        }
        assert_eq!(of(&[GOOD, GOOD]), None, "several");
        assert_eq!(of(&[]), None);
    }

    proptest! {
        #[test]
        fn every_trace_is_read_as_it_was_written(id in any::<[u8; 16]>(), parent in any::<[u8; 8]>(), flags: u8) {
            let written = u128::from_be_bytes(id);
            let read = of(&[&format!("00-{written:032x}-{:016x}-{flags:02x}", u64::from_be_bytes(parent))]);
            if id == [0; 16] || parent == [0; 8] {
                prop_assert_eq!(read, None);
            } else {
                let expected = Trace { id: TraceId(id), parent: Some(parent), is_sampled: flags % 2 == 1 };
                prop_assert_eq!(read, Some(expected));
                prop_assert_eq!(expected.id.to_string(), format!("{written:032x}"));
            }
        }

        #[test]
        fn what_is_taken_up_has_the_form_of_the_standard(
            text in "[0-9a-fA-F]{2}-[0-9a-f]{31,33}-[0-9a-f]{15,17}-[0-9a-fg]{2}.{0,2}|[ -~]{50,60}|[0-9a-f-]{55}"
        ) {
            let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) else { return Ok(()) };
            let mut headers = HeaderMap::new();
            headers.append(TRACEPARENT, value);
            if let Some(trace) = Trace::of(&headers) {
                let text = text.trim();
                let parent = trace.parent.map(|parent| format!("{:016x}", u64::from_be_bytes(parent)));
                prop_assert_eq!(&text[3..35], trace.id.to_string());
                prop_assert_eq!(Some(&text[36..52]), parent.as_deref());
                prop_assert!(!text.starts_with("ff"));
                prop_assert!(!text.starts_with("00") || text.len() == LENGTH);
            }
        }
    }
}
