//! The four authentication headers (interface part 5).

use super::headers::texts;
use actix_web::http::header::{HeaderMap, HeaderName};
use domain::access::SentCredentials;
use domain::refusal::CredentialKind;

const MIS_KEY: HeaderName = HeaderName::from_static("miskey");

const HARDWARE_HASH: HeaderName = HeaderName::from_static("hardwarehash");

/// Which credentials were sent, valid or not.
pub(crate) fn kind(headers: &HeaderMap) -> CredentialKind {
    CredentialKind::of(headers.contains_key(MIS_KEY), headers.contains_key(HARDWARE_HASH))
}

/// The headers as they were sent. `domain` decides whether they are valid.
pub(crate) fn sent(headers: &HeaderMap) -> SentCredentials {
    let values = |name: &'static str| texts(headers, &HeaderName::from_static(name));
    SentCredentials {
        mis_key: values("miskey"),
        hardware_hash: values("hardwarehash"),
        serial_number: values("serialnumber"),
        application_version: values("applicationversion"),
    }
}
