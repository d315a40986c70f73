//! From a value as it was written to what a key means by it; `None` where the key doesn't allow it.

use super::layers::Raw;
use adapters_db::is_database_url;
use http_actix::Network;
use reqwest::Url;
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// An address to listen on. The host may be a name; it is looked up when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    host: String,
    pub(crate) port: u16,
}

impl Address {
    /// Reads `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Some(Self { host: address.ip().to_string(), port: address.port() });
        }
        let (host, port) = text.split_once(':')?;
        let label = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        // What ends in a number is an IP address, and a malformed one if it got here.
        let numeric = host.split('.').next_back().is_some_and(|last| last.parse::<u64>().is_ok());
        let digits = port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok()?;
        (digits && !numeric && host.split('.').all(label)).then(|| Self { host: host.to_owned(), port })
    }

    /// The socket addresses that the host has.
    pub(crate) fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(out, "[{}]:{}", self.host, self.port);
        }
        write!(out, "{}:{}", self.host, self.port)
    }
}

pub(super) fn text(raw: &Raw<'_>) -> Option<String> {
    match raw {
        Raw::Text(text) => Some((*text).to_owned()),
        _ => None,
    }
}

pub(super) fn filled_text(raw: &Raw<'_>) -> Option<String> {
    text(raw).filter(|text| !text.trim().is_empty())
}

pub(super) fn path(raw: &Raw<'_>) -> Option<PathBuf> {
    filled_text(raw).filter(|text| !text.contains('\0')).map(PathBuf::from)
}

pub(super) fn switch(raw: &Raw<'_>) -> Option<bool> {
    match raw {
        Raw::Switch(switch) => Some(*switch),
        Raw::Text("true") => Some(true),
        Raw::Text("false") => Some(false),
        _ => None,
    }
}

/// A whole number from 1 to 1024: workers, connections.
pub(super) fn count(raw: &Raw<'_>) -> Option<u16> {
    let count = number(raw)?.parse().ok()?;
    (1..=1024).contains(&count).then_some(count)
}

/// A bound on a number of things; 0 for none.
pub(super) fn bound(raw: &Raw<'_>) -> Option<u32> {
    number(raw)?.parse().ok().filter(|bound| *bound <= 1_000_000)
}

/// Addresses and networks with commas between.
pub(super) fn networks(raw: &Raw<'_>) -> Option<Vec<Network>> {
    let text = text(raw)?;
    let named = text.split(',').map(str::trim).filter(|network| !network.is_empty());
    named.map(Network::parse).collect()
}

pub(super) fn address(raw: &Raw<'_>) -> Option<Address> {
    Address::parse(&text(raw)?)
}

/// Empty, or `/` and segments; without a slash at its end.
pub(super) fn base_path(raw: &Raw<'_>) -> Option<String> {
    let text = text(raw)?;
    let path = text.strip_suffix('/').unwrap_or(&text);
    let usable = |segment: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        !matches!(segment, "" | "." | "..") && segment.chars().all(known)
    };
    let fits = path.is_empty() || path.strip_prefix('/')?.split('/').all(usable);
    fits.then(|| path.to_owned())
}

/// The prefix of keys in a bucket, without slashes around it.
pub(super) fn prefix(raw: &Raw<'_>) -> Option<String> {
    let text = text(raw)?;
    let prefix = text.strip_suffix('/').unwrap_or(&text);
    let usable = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains(char::is_control);
    (prefix.is_empty() || prefix.split('/').all(usable)).then(|| prefix.to_owned())
}

/// What can stand in a host name: buckets and regions do.
pub(super) fn host_name(raw: &Raw<'_>) -> Option<String> {
    let usable = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    filled_text(raw).filter(|name| name.chars().all(usable))
}

/// The URL of a server, to which paths are added. What is secret has no place in it: URLs are shown.
pub(super) fn http_url(raw: &Raw<'_>) -> Option<String> {
    let text = text(raw)?;
    let url = Url::parse(&text).ok()?;
    let is_bare = url.username().is_empty() && url.password().is_none() && !text.contains(['?', '#']);
    (matches!(url.scheme(), "http" | "https") && url.has_host() && is_bare).then_some(text)
}

pub(super) fn database_url(raw: &Raw<'_>) -> Option<String> {
    text(raw).filter(|url| is_database_url(url))
}

/// The URL of a database with `mask` for its password and its parameters; `None` where it is no URL.
pub(super) fn without_password(text: &str, mask: &str) -> Option<String> {
    if text.starts_with("sqlite:") {
        return Some(text.split_once('?').map_or_else(|| text.to_owned(), |(path, _)| format!("{path}?{mask}")));
    }
    let mut url = Url::parse(text).ok()?;
    if url.password().is_some() {
        url.set_password(Some(mask)).ok()?;
    }
    if url.query().is_some() {
        url.set_query(Some(mask));
    }
    url.set_fragment(None);
    Some(url.into())
}

/// A size in bytes, above zero.
pub(super) fn size(raw: &Raw<'_>) -> Option<u64> {
    let text = number(raw)?;
    let (digits, unit) = quantity(&text)?;
    let (base, power): (u64, u32) = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => (1, 1),
        "kb" => (1000, 1),
        "mb" => (1000, 2),
        "gb" => (1000, 3),
        "tb" => (1000, 4),
        "kib" => (1024, 1),
        "mib" => (1024, 2),
        "gib" => (1024, 3),
        "tib" => (1024, 4),
        _ => return None,
    };
    let bytes = digits.checked_mul(base.checked_pow(power)?)?;
    // Sizes are kept as signed numbers in the database.
    (bytes > 0 && i64::try_from(bytes).is_ok()).then_some(bytes)
}

/// A duration; its unit is always written.
pub(super) fn duration(raw: &Raw<'_>) -> Option<Duration> {
    duration_of(&text(raw)?)
}

/// A duration of the command line, in the same form.
pub(crate) fn duration_of(text: &str) -> Option<Duration> {
    let (digits, unit) = quantity(text)?;
    let millis: u64 = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return None,
    };
    Some(Duration::from_millis(digits.checked_mul(millis)?))
}

pub(super) fn positive_duration(raw: &Raw<'_>) -> Option<Duration> {
    duration(raw).filter(|duration| !duration.is_zero())
}

/// How long records are kept. Whoever writes less than a day has mistaken the unit, and would lose what can't
/// be brought back.
pub(super) fn age(raw: &Raw<'_>) -> Option<Duration> {
    duration(raw).filter(|duration| *duration >= Duration::from_hours(24))
}

/// Log directives. One bare word must be a level: as a directive it would be a target, and a
/// misspelt level would silence all else.
pub(super) fn log_level(raw: &Raw<'_>) -> Option<String> {
    let text = text(raw)?;
    let bare = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let known = if bare { text.parse::<LevelFilter>().is_ok() } else { EnvFilter::builder().parse(&text).is_ok() };
    (known && !text.trim().is_empty()).then_some(text)
}

/// The text of a number, whether or not it was written as a text.
fn number(raw: &Raw<'_>) -> Option<String> {
    match raw {
        Raw::Text(text) => Some((*text).to_owned()),
        Raw::Number(number) => Some(number.clone()),
        _ => None,
    }
}

/// Splits `30s` or `2 GiB` into number and unit.
fn quantity(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    Some((digits.parse().ok()?, unit.trim_start()))
}
