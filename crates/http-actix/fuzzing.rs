//! What reads requests, for the targets of `fuzz/` (ADR 55). It is built with the feature `fuzzing` only, and holds no
//! rule of its own: each function calls what the handlers call.

use crate::device::status::DeviceStatusBody;
use crate::error::ApiError;
use crate::extract::body::Coding;
use crate::extract::headers::{credentials, joined, require_json, require_multipart};
use crate::extract::json;
use crate::extract::multipart::MultipartParts;
use crate::log::add::LogEntryBody;
use crate::log::list::LogFilterBody;
use crate::middleware::client::{self, Network};
use crate::resource::add;
use crate::resource::conditional::{Delivery, Validators, decide, http_date, timestamp};
use crate::resource::list::ResourceFilterBody;
use crate::resource::pmm::PmmQueryBody;
use crate::response::Format;
use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue, HttpDate};
use actix_web::test::TestRequest;
use bytes::Bytes;
use domain::access::SentCredentials;
use domain::body::PartSource;
use domain::checksum::Sha1Checksum;
use domain::device_status::UpdateDeviceStatus;
use domain::error::{Failure, Outcome, Reason};
use domain::limits::Limits;
use domain::log_entry::{AddLog, LogFilter};
use domain::resource::{ListFilter, PmmKey, StoreResourceInput};
use domain::timestamp::Timestamp;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::net::IpAddr;
use std::ops::Range;
use tokio::sync::mpsc;

/// The body of POST /api/v2/log.
pub fn add_log(body: &[u8]) -> Outcome<AddLog> {
    command::<LogEntryBody, _>(body)
}

/// The body of POST /api/v2/log/list.
pub fn log_filter(body: &[u8]) -> Outcome<LogFilter> {
    command::<LogFilterBody, _>(body)
}

/// The body of POST /api/v2/device/status.
pub fn update_device_status(body: &[u8]) -> Outcome<UpdateDeviceStatus> {
    command::<DeviceStatusBody, _>(body)
}

/// The body of POST /api/v2/resource/list.
pub fn list_filter(body: &[u8]) -> Outcome<ListFilter> {
    command::<ResourceFilterBody, _>(body)
}

/// The body of POST /api/v2/resource/pmminfo.
pub fn pmm_key(body: &[u8]) -> Outcome<PmmKey> {
    command::<PmmQueryBody, _>(body)
}

/// The part JsonString of POST /api/v2/resource.
pub fn read_description(text: &[u8]) -> Outcome<StoreResourceInput> {
    add::read_description(text)
}

fn command<Body: DeserializeOwned, Command: TryFrom<Body, Error = Failure>>(body: &[u8]) -> Outcome<Command> {
    json::parse::<Body>(body).map_err(|problem| Reason::JsonInvalid.because(problem))?.try_into()
}

/// The parts of a body, and what feeds it: each piece arrives when the one before was taken.
pub fn parts(pieces: Vec<Bytes>, boundary: &str) -> (impl PartSource + use<>, impl Future<Output = ()> + use<>) {
    let (sender, receiver) = mpsc::channel(1);
    let feed = async move {
        for piece in pieces {
            // The receiver is gone where this fails.
            if sender.send(Ok(piece)).await.is_err() {
                return;
            }
        }
    };
    (MultipartParts::new(receiver, boundary), feed)
}

/// What of a file is answered to the headers of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    Whole,
    Part(Range<u64>),
    NotModified,
    PreconditionFailed,
    Unsatisfiable,
}

/// The headers of a request.
pub struct Head(HeaderMap);

impl Head {
    /// Reads one header a line, its name before the first colon. What no request can hold is left out.
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

    fn request(&self, method: Method) -> HttpRequest {
        let request = TestRequest::default().method(method);
        self.0.iter().fold(request, TestRequest::append_header).to_http_request()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn credentials(&self) -> SentCredentials {
        credentials(&self.0)
    }

    /// The values of a header that is read as one, such as `Timestamp`.
    pub fn joined(&self, name: &'static str) -> Option<String> {
        joined(&self.0, &HeaderName::from_static(name))
    }

    /// For a file of this checksum, time and size.
    pub fn answered(&self, is_get: bool, checksum: Sha1Checksum, modified: Timestamp, size: u64) -> Answered {
        let request = self.request(if is_get { Method::GET } else { Method::HEAD });
        match decide(&request, &Validators { checksum, modified, size }, modified, &Limits::default()) {
            Ok(Delivery::Whole) => Answered::Whole,
            Ok(Delivery::Part(range)) => Answered::Part(range),
            Ok(Delivery::NotModified) => Answered::NotModified,
            Err(ApiError::RangeNotSatisfiable { .. }) => Answered::Unsatisfiable,
            Err(_) => Answered::PreconditionFailed,
        }
    }

    /// The boundary of a multipart body, if it is one.
    pub fn boundary(&self) -> Option<String> {
        require_multipart(&self.0).ok()
    }

    pub fn is_json(&self) -> bool {
        require_json(&self.0).is_ok()
    }

    /// The content coding, or what isn't known of it.
    pub fn coding(&self) -> Result<String, String> {
        Coding::of(&self.0).map(|coding| format!("{coding:?}"))
    }

    /// The content type of the answer.
    pub fn format(&self) -> &'static str {
        Format::accepted(&self.request(Method::POST)).content_type()
    }

    /// The address that the request is counted by.
    pub fn client(&self, peer: IpAddr, trusted: &[Network]) -> IpAddr {
        client::address(peer, &self.0, trusted)
    }
}

/// A date of HTTP, and how it is written.
pub fn date(text: &str) -> Option<(Timestamp, String)> {
    let moment = timestamp(text.parse::<HttpDate>().ok()?);
    Some((moment, http_date(moment).to_string()))
}
