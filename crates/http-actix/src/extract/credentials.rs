//! The four authentication headers (interface part 5).

use crate::headers::texts;
use actix_web::http::header::{HeaderMap, HeaderName};
use domain::access::SentCredentials;

/// The headers as they were sent; what they are worth is the domain's to say.
pub(crate) fn sent(headers: &HeaderMap) -> SentCredentials {
    let values = |name: &'static str| texts(headers, &HeaderName::from_static(name));
    SentCredentials {
        mis_key: values("miskey"),
        hardware_hash: values("hardwarehash"),
        serial_number: values("serialnumber"),
        application_version: values("applicationversion"),
    }
}
