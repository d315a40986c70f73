//! What reads requests, for the targets of `fuzz/` (ADR 55). It is built with the feature `fuzzing`
//! only, and holds no rule of its own: each function calls what the handlers call.

use crate::client::{self, Network};
use crate::conditional::{Delivery, Validators, decide};
use crate::exchange::{declared_length, framing};
use crate::extract::multipart::MultipartParts;
use crate::extract::{credentials, media};
use crate::format::Format;
use crate::headers::{joined, texts};
use crate::http_date;
use crate::intake::{BodyReader, Coding};
use crate::wire::{Framing, follow};
use actix_http::ServiceConfig;
use actix_http::h1::{Codec, Message, MessageType};
use actix_rt::{System, SystemRunner};
use actix_web::http::header::{ACCEPT, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use bytes::{Bytes, BytesMut};
use domain::access::SentCredentials;
use domain::body::PartSource;
use domain::timestamp::Timestamp;
use std::future::Future;
use std::net::IpAddr;
use std::ops::Range;
use tokio_util::codec::Decoder;

/// The parts of a body, and what feeds it: each piece arrives when the one before was taken.
pub fn parts(pieces: Vec<Bytes>, boundary: &str) -> (impl PartSource + use<>, impl Future<Output = ()> + use<>) {
    let (body, fed) = BodyReader::fed(pieces);
    (MultipartParts::new(body, boundary.to_owned()), fed)
}

/// What of a file is answered to the headers of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    Whole,
    Part(Range<u64>),
    NotModified,
    Unsatisfiable,
}

/// The headers of a request.
pub struct Head(HeaderMap);

impl Head {
    /// Reads one header a line, its name before the first colon. What no request can hold once actix has read it is
    /// left out.
    pub fn read<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut map = HeaderMap::new();
        for line in lines {
            let mut sides = line.splitn(2, |&byte| byte == b':');
            let (name, value) = (sides.next().unwrap_or_default(), sides.next().unwrap_or_default());
            if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value.trim_ascii())) {
                map.append(name, value);
            }
        }
        Self(map)
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn credentials(&self) -> SentCredentials {
        credentials::sent(&self.0)
    }

    /// The values of a header that is read as one, such as `Timestamp`.
    pub fn joined(&self, name: &'static str) -> Option<String> {
        joined(&self.0, &HeaderName::from_static(name))
    }

    /// For a file of this checksum, time and size.
    pub fn answered(&self, is_get: bool, etag: &str, modified: Timestamp, size: u64) -> Answered {
        match decide(&self.0, is_get, &Validators { etag: etag.to_owned(), modified, size }) {
            Delivery::Whole => Answered::Whole,
            Delivery::Part(range) => Answered::Part(range),
            Delivery::NotModified => Answered::NotModified,
            Delivery::Unsatisfiable => Answered::Unsatisfiable,
        }
    }

    /// The boundary of a multipart body, if it is one.
    pub fn boundary(&self) -> Option<String> {
        media::require_multipart(&self.0).ok()
    }

    pub fn is_json(&self) -> bool {
        media::require_json(&self.0).is_ok()
    }

    /// The content coding, or what isn't known of it.
    pub fn coding(&self) -> Result<String, String> {
        Coding::parse(&texts(&self.0, &CONTENT_ENCODING)).map(|coding| format!("{coding:?}"))
    }

    pub fn declared_length(&self) -> Option<u64> {
        declared_length(&self.0)
    }

    /// The content type of the answer.
    pub fn format(&self) -> &'static str {
        Format::negotiate(texts(&self.0, &ACCEPT).iter().map(String::as_str)).content_type()
    }

    /// The address that the request is counted by.
    pub fn client(&self, peer: IpAddr, trusted: &[Network]) -> IpAddr {
        client::address(peer, &self.0, trusted)
    }
}

/// A date of HTTP, and how it is written.
pub fn date(text: &str) -> Option<(Timestamp, String)> {
    http_date::parse(text).map(|moment| (moment, http_date::format(moment)))
}

thread_local! {
    /// What a codec needs, and the runtime that this needs.
    static CODECS: (SystemRunner, ServiceConfig) = {
        let system = System::new();
        let config = system.block_on(async { ServiceConfig::default() });
        (system, config)
    };
}

/// Where the first request in the bytes of a connection ends, as actix reads it; and the same as [`wire`](crate::wire)
/// tells it, by these bytes in pieces of each of `sizes`. `None` for bytes that actix refuses, waits on, or hands over to
/// another protocol: there it closes the connection, or everything that follows belongs to the request.
pub fn ends(connection: &[u8], sizes: &[usize]) -> Option<(usize, Vec<Option<usize>>)> {
    let (mut codec, mut bytes) = (CODECS.with(|(_, config)| Codec::new(config.clone())), BytesMut::from(connection));
    let Ok(Some(Message::Item(request))) = codec.decode(&mut bytes) else {
        return None;
    };
    if !matches!(codec.message_type(), MessageType::None) {
        while let Message::Chunk(Some(_)) = codec.decode(&mut bytes).ok()?? {}
    }
    let framing = framing(request.head());
    let told = sizes.iter().map(|&size| follow(connection, size, framing)).collect();
    (framing != Framing::Open).then(|| (connection.len() - bytes.len(), told))
}
