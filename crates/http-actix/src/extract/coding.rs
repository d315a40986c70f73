//! Content codings of a body (decision R10). A small body may decode to a huge one, so it is decoded only as it is
//! read, and windows are bounded.

use super::headers::texts;
use actix_web::http::header::{CONTENT_ENCODING, HeaderMap};
use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use std::io::{self, Cursor};
use std::pin::Pin;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt};

/// The largest zstd window as a power of two: 8 MiB, the largest that its default levels use.
const MAX_ZSTD_WINDOW: u32 = 23;

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The decoded body.
pub(crate) type Decoder = Pin<Box<dyn AsyncRead>>;

impl Coding {
    /// Reads `Content-Encoding`; the error names the unknown coding.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, String> {
        let headers = texts(headers, &CONTENT_ENCODING);
        let named = headers.iter().flat_map(|header| header.split(',')).map(str::trim);
        let mut codings = named.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"));
        let Some(name) = codings.next() else {
            return Ok(Self::Identity);
        };
        if codings.next().is_some() {
            return Err("several Content-Encodings are not decoded".to_owned());
        }
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "deflate" => Ok(Self::Deflate),
            "br" => Ok(Self::Brotli),
            "zstd" => Ok(Self::Zstd),
            _ => Err(format!("Content-Encoding \"{name}\" is none of gzip, deflate, br, zstd")),
        }
    }

    /// Decodes `body`.
    pub(super) async fn decoder(self, mut body: impl AsyncBufRead + Unpin + 'static) -> io::Result<Decoder> {
        let mut start = Vec::with_capacity(2);
        (&mut body).take(2).read_to_end(&mut start).await?;
        let is_zlib = is_zlib(&start);
        let is_large_brotli = start.first().is_some_and(|first| first & 0x7f == 0x11);
        let body = Cursor::new(start).chain(body);
        Ok(match self {
            Self::Identity => Box::pin(body),
            Self::Gzip => {
                let mut decoder = GzipDecoder::new(body);
                decoder.multiple_members(true);
                Box::pin(decoder)
            }
            // "deflate" means zlib; some clients send it bare.
            Self::Deflate if is_zlib => Box::pin(ZlibDecoder::new(body)),
            Self::Deflate => Box::pin(DeflateDecoder::new(body)),
            // The first byte of a "large window" stream, which no standard defines: its window has up to 1 GiB.
            Self::Brotli if is_large_brotli => {
                return Err(io::Error::other("the window of the brotli stream is too large"));
            }
            Self::Brotli => Box::pin(BrotliDecoder::new(body)),
            Self::Zstd => {
                let mut decoder = ZstdDecoder::with_params(body, &[DParameter::window_log_max(MAX_ZSTD_WINDOW)]);
                decoder.multiple_members(true);
                Box::pin(decoder)
            }
        })
    }
}

/// Whether a body begins with the two bytes of a zlib header; also true for a body of fewer bytes.
fn is_zlib(start: &[u8]) -> bool {
    match start {
        [method, flags, ..] => method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use proptest::prelude::*;

    fn parsed(headers: &[&str]) -> Result<Coding, String> {
        let mut map = HeaderMap::new();
        for header in headers {
            map.append(CONTENT_ENCODING, HeaderValue::from_bytes(header.as_bytes()).unwrap());
        }
        Coding::of(&map)
    }

    #[test]
    fn one_known_coding_is_accepted() {
        // Decision R10.
        let expected = [
            (&[][..], Coding::Identity),
            (&["identity"], Coding::Identity),
            (&["GZIP"], Coding::Gzip),
            (&["x-gzip"], Coding::Gzip),
            (&["deflate"], Coding::Deflate),
            (&["identity, br"], Coding::Brotli),
            (&["", " zstd "], Coding::Zstd),
        ];
        for (headers, coding) in expected {
            assert_eq!(parsed(headers), Ok(coding), "{headers:?}");
        }
    }

    #[test]
    fn unknown_and_several_codings_are_refused() {
        for headers in [&["compress"][..], &["gzip, gzip"], &["gzip", "br"], &["g zip"]] {
            assert!(parsed(headers).is_err(), "{headers:?}");
        }
    }

    proptest! {
        #[test]
        fn no_header_panics_and_blanks_decide_nothing(names in prop::collection::vec("(gzip|BR|identity|\\PC{0,6})", 0..3)) {
            let spaced = format!(" {} ,", names.join(" , "));
            let named: Vec<&str> = names.iter().map(String::as_str).collect();
            prop_assert_eq!(parsed(&named).ok(), parsed(&[&spaced]).ok());
        }
    }
}
