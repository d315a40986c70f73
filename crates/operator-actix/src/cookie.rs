//! The cookie of a session (decision P3).

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use domain::fleet::Secret;
use domain::session::SESSION_LIFETIME;
use http_actix::RequestInfo;

/// By TLS the name makes browsers refuse a cookie of another host or path.
const SECURE_NAME: &str = "__Host-platen_session";
const PLAIN_NAME: &str = "platen_session";

fn name(is_secure: bool) -> &'static str {
    if is_secure { SECURE_NAME } else { PLAIN_NAME }
}

/// The secret of the session that the request carries.
#[must_use]
pub fn secret(request: &HttpRequest) -> Option<String> {
    let name = name(RequestInfo::of(request).is_secure);
    request.cookie(name).map(|cookie| cookie.value().to_owned())
}

/// The cookie of a session that has begun.
#[must_use]
pub fn begun(request: &HttpRequest, secret: &Secret) -> Cookie<'static> {
    cookie(RequestInfo::of(request).is_secure, secret.reveal().to_owned(), max_age())
}

/// The cookie that removes that of a session.
#[must_use]
pub fn ended(request: &HttpRequest) -> Cookie<'static> {
    cookie(RequestInfo::of(request).is_secure, String::new(), Duration::ZERO)
}

fn max_age() -> Duration {
    Duration::try_from(SESSION_LIFETIME).unwrap_or(Duration::ZERO)
}

fn cookie(is_secure: bool, value: String, max_age: Duration) -> Cookie<'static> {
    Cookie::build(name(is_secure), value)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(is_secure)
        .max_age(max_age)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision P3.
    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        let plain = cookie(false, "secret".to_owned(), max_age()).to_string();
        assert_eq!(plain, "platen_session=secret; HttpOnly; SameSite=Lax; Path=/; Max-Age=604800");
        let secure = cookie(true, "secret".to_owned(), max_age()).to_string();
        assert_eq!(secure, "__Host-platen_session=secret; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=604800");
    }
}
