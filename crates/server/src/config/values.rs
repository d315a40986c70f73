//! Values as a layer wrote them, and their parsers: `None` where the key doesn't allow the value.

use adapters_db::is_database_url;
use http_actix::{Network, parse_network};
use reqwest::Url;
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;
use toml_edit::Item;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// A value as its layer wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    /// Whether it stands without quotation marks in the file, as a number does. The environment only has texts.
    pub(super) is_bare: bool,
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_bare: false }
    }

    pub(super) fn of(item: &Item) -> Self {
        if let Some(text) = item.as_str() {
            return Self::text(text);
        }
        let number = item.as_integer().map(|number| number.to_string());
        let text = number.or(item.as_bool().map(|switch| switch.to_string()));
        // No key takes a list, a table, a date or a fraction.
        Self { text: text.unwrap_or_else(|| format!("a value of the type {}", item.type_name())), is_bare: true }
    }
}

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

/// A text; a number or `true` without quotation marks is none.
pub(super) fn text(value: &Value) -> Option<&str> {
    (!value.is_bare).then_some(&value.text)
}

pub(super) fn filled_text(value: &Value) -> Option<String> {
    text(value).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// One of some words.
pub(super) fn choice<T: Copy>(value: &Value, words: &[(&str, T)]) -> Option<T> {
    let text = text(value)?;
    words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning)
}

pub(super) fn path(value: &Value) -> Option<PathBuf> {
    filled_text(value).filter(|text| !text.contains('\0')).map(PathBuf::from)
}

pub(super) fn switch(value: &Value) -> Option<bool> {
    value.text.parse().ok()
}

/// A whole number from 1 to 1024: workers, connections.
pub(super) fn count(value: &Value) -> Option<u16> {
    value.text.parse().ok().filter(|count| (1..=1024).contains(count))
}

/// A bound on a number of things; 0 for none.
pub(super) fn bound(value: &Value) -> Option<u32> {
    value.text.parse().ok().filter(|bound| *bound <= 1_000_000)
}

/// Addresses and networks with commas between.
pub(super) fn networks(value: &Value) -> Option<Vec<Network>> {
    let networks = text(value)?.split(',').map(str::trim).filter(|network| !network.is_empty());
    networks.map(parse_network).collect()
}

pub(super) fn address(value: &Value) -> Option<Address> {
    Address::parse(text(value)?)
}

/// Empty, or `/` and segments; without a slash at its end.
pub(super) fn base_path(value: &Value) -> Option<String> {
    let text = text(value)?;
    let path = text.strip_suffix('/').unwrap_or(text);
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || "-._~".contains(character);
    let is_usable = path.is_empty() || segments(path.strip_prefix('/')?, is_allowed);
    is_usable.then(|| path.to_owned())
}

/// The prefix of keys in a bucket, without slashes around it.
pub(super) fn prefix(value: &Value) -> Option<String> {
    let text = text(value)?;
    let prefix = text.strip_suffix('/').unwrap_or(text);
    (prefix.is_empty() || segments(prefix, |character| !character.is_control())).then(|| prefix.to_owned())
}

/// Whether a path has segments of allowed characters only.
fn segments(path: &str, is_allowed: impl Fn(char) -> bool) -> bool {
    path.split('/').all(|segment| !matches!(segment, "" | "." | "..") && segment.chars().all(&is_allowed))
}

/// A text of the characters of a host name: buckets and regions are.
pub(super) fn host_name(value: &Value) -> Option<String> {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || "-._".contains(character);
    filled_text(value).filter(|name| name.chars().all(is_allowed))
}

/// The URL of a server, to which paths are added. URLs are shown, so that it may hold nothing secret.
pub(super) fn http_url(value: &Value) -> Option<String> {
    let text = text(value)?;
    let url = Url::parse(text).ok()?;
    let is_bare = url.username().is_empty() && url.password().is_none() && !text.contains(['?', '#']);
    (matches!(url.scheme(), "http" | "https") && url.has_host() && is_bare).then(|| text.to_owned())
}

pub(super) fn database_url(value: &Value) -> Option<String> {
    text(value).filter(|url| is_database_url(url)).map(str::to_owned)
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

/// A size in bytes, above zero. The database keeps sizes as signed numbers.
pub(super) fn size(value: &Value) -> Option<u64> {
    const UNITS: [(&str, u64); 10] = [
        ("", 1),
        ("b", 1),
        ("kb", 1000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
    ];
    quantity(&value.text.to_ascii_lowercase(), &UNITS).filter(|bytes| *bytes > 0 && i64::try_from(*bytes).is_ok())
}

/// A duration; its unit is always written.
pub(super) fn duration(value: &Value) -> Option<Duration> {
    duration_of(text(value)?)
}

/// A duration of the command line, in the same form.
pub(crate) fn duration_of(text: &str) -> Option<Duration> {
    const UNITS: [(&str, u64); 6] =
        [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000)];
    quantity(text, &UNITS).map(Duration::from_millis)
}

/// Reads `30s` or `2 GiB`, in the smallest unit.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

pub(super) fn positive_duration(value: &Value) -> Option<Duration> {
    duration(value).filter(|duration| !duration.is_zero())
}

/// How long records are kept. Less than a day is a mistaken unit, and would remove what can't be brought back.
pub(super) fn age(value: &Value) -> Option<Duration> {
    duration(value).filter(|duration| *duration >= Duration::from_hours(24))
}

/// Log directives. One bare word must be a level: as a directive it would be a target, and a misspelt level would
/// silence everything else.
pub(super) fn log_level(value: &Value) -> Option<String> {
    let text = filled_text(value)?;
    let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_known =
        if is_word { text.parse::<LevelFilter>().is_ok() } else { EnvFilter::builder().parse(&text).is_ok() };
    is_known.then_some(text)
}
