//! Content codings of a body (decision R10). A small body may decode to a huge one: at most one chunk
//! is decoded ahead of what is taken, and windows are bounded.

use super::MAX_CHUNK;
use super::source::Source;
use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Bytes, BytesMut};
use domain::body::BodyError;
use std::io::Cursor;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio_util::io::StreamReader;

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

impl Coding {
    /// Reads the Content-Encoding headers; the error says what of them isn't known.
    pub(crate) fn parse(headers: &[String]) -> Result<Self, String> {
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
}

type Chunks = mpsc::Sender<Result<Bytes, BodyError>>;

/// Sends the decoded body until it ends or nobody wants more.
pub(super) async fn feed(source: &mut Source, coding: Coding, chunks: &Chunks) -> Result<(), BodyError> {
    if coding == Coding::Identity {
        return feed_plain(source, chunks).await;
    }
    let mut reader = StreamReader::new(&mut *source);
    let decoded = feed_decoded(&mut reader, coding, chunks).await;
    let Err(error) = decoded else {
        return Ok(());
    };
    // Decoders wrap what the source says, or find that something is missing.
    Err(match source.failure() {
        Some(failure) => failure.clone(),
        None => BodyError::Malformed(format!("the body can't be decoded: {error}")),
    })
}

async fn feed_plain(source: &mut Source, chunks: &Chunks) -> Result<(), BodyError> {
    loop {
        let next = tokio::select! {
            next = source.chunk() => next?,
            () = chunks.closed() => return Ok(()),
        };
        let Some(mut bytes) = next else {
            return Ok(());
        };
        while !bytes.is_empty() {
            let chunk = bytes.split_to(bytes.len().min(MAX_CHUNK));
            if chunks.send(Ok(chunk)).await.is_err() {
                return Ok(());
            }
        }
    }
}

async fn feed_decoded<R>(reader: &mut R, coding: Coding, chunks: &Chunks) -> std::io::Result<()>
where
    R: AsyncBufRead + Unpin,
{
    let mut start = Vec::with_capacity(2);
    let mut beginning = (&mut *reader).take(2);
    tokio::select! {
        read = beginning.read_to_end(&mut start) => read?,
        () = chunks.closed() => return Ok(()),
    };
    let is_zlib = is_zlib(&start);
    let is_large_brotli = start.first().is_some_and(|first| first & 0x7f == 0x11);
    let mut reader = Cursor::new(start).chain(reader);
    let reader = &mut reader;
    match coding {
        Coding::Identity => copy(reader, chunks).await,
        Coding::Gzip => {
            let mut decoder = GzipDecoder::new(reader);
            decoder.multiple_members(true);
            copy(&mut decoder, chunks).await
        }
        // "deflate" means zlib; some clients send it bare.
        Coding::Deflate if is_zlib => copy(&mut ZlibDecoder::new(reader), chunks).await,
        Coding::Deflate => copy(&mut DeflateDecoder::new(reader), chunks).await,
        // The mark of "large window" streams, which no standard knows: a window of up to 1 GiB.
        Coding::Brotli if is_large_brotli => Err(std::io::Error::other("the window of the brotli stream is too large")),
        Coding::Brotli => copy(&mut BrotliDecoder::new(reader), chunks).await,
        Coding::Zstd => {
            let mut decoder = ZstdDecoder::with_params(reader, &[DParameter::window_log_max(MAX_ZSTD_WINDOW)]);
            decoder.multiple_members(true);
            copy(&mut decoder, chunks).await
        }
    }
}

/// Whether bytes begin with the two of a zlib header.
fn is_zlib(start: &[u8]) -> bool {
    match start {
        [method, flags, ..] => method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0,
        _ => true,
    }
}

async fn copy<R: AsyncRead + Unpin>(decoder: &mut R, chunks: &Chunks) -> std::io::Result<()> {
    loop {
        let mut buffer = BytesMut::with_capacity(MAX_CHUNK);
        let read = tokio::select! {
            read = decoder.read_buf(&mut buffer) => read?,
            () = chunks.closed() => return Ok(()),
        };
        if read == 0 || chunks.send(Ok(buffer.freeze())).await.is_err() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(headers: &[&str]) -> Result<Coding, String> {
        let headers: Vec<String> = headers.iter().map(|header| (*header).to_owned()).collect();
        Coding::parse(&headers)
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
            let spaced = [format!(" {} ,", names.join(" , "))];
            let spaced = parsed(&spaced.each_ref().map(String::as_str));
            let named: Vec<&str> = names.iter().map(String::as_str).collect();
            prop_assert_eq!(parsed(&named).ok(), spaced.ok());
        }
    }
}
