//! Every key of the configuration: its default, what it allows, whether it is secret.

/// A key of the configuration.
#[derive(Debug)]
pub(crate) struct Key {
    /// `section.key`, as in the TOML file.
    pub(crate) name: &'static str,
    /// The built-in default as a file would write it; `None` where there is none or it is computed.
    pub(crate) default: Option<&'static str>,
    /// What a value may be, as errors word it.
    pub(crate) allowed: &'static str,
    /// Whether the value may never be shown.
    pub(crate) secret: bool,
}

const ADDRESS: &str = "an address with a port, such as 127.0.0.1:8080 (port 0 takes a free one)";
const PATH: &str = "the path of a file";
const SIZE: &str = "a size above zero, such as 512MiB (units B, KB, KiB, MB, MiB, GB, GiB, TB, TiB)";
const DURATION: &str = "a duration, such as 30s (units ms, s, m, h, d, w)";
const PERIOD: &str = "a duration above zero, such as 5m (units ms, s, m, h, d, w)";
const AGE: &str = "a duration of at least 1d, such as 90d (units h, d, w)";
const COUNT: &str = "a whole number from 1 to 1024";
const BOUND: &str = "a whole number from 0 (no bound) to 1000000";
const SWITCH: &str = "true or false";
const DATABASE_URL: &str = "sqlite://PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST:PORT/NAME; in a password write # / ? @ % as %23 %2F %3F %40 %25";
const NETWORKS: &str =
    "one text: empty, or addresses and networks with commas between, such as \"10.0.0.0/8, 192.0.2.7\"";
const URL: &str = "an http:// or https:// URL without credentials and parameters";

const fn key(name: &'static str, default: Option<&'static str>, allowed: &'static str) -> Key {
    Key { name, default, allowed, secret: false }
}

const fn secret(name: &'static str, default: Option<&'static str>, allowed: &'static str) -> Key {
    Key { name, default, allowed, secret: true }
}

/// All keys, by section.
pub(crate) const KEYS: &[Key] = &[
    key("http.bind", Some("127.0.0.1:8080"), ADDRESS),
    key("http.bind_file", None, PATH),
    key("http.base_path", Some(""), "empty, or segments of letters, digits and -._~, such as /platen"),
    key("http.workers", None, COUNT),
    key("http.read_timeout", Some("30s"), "a duration above zero, such as 30s (units ms, s, m, h, d, w)"),
    key("http.trusted_proxies", Some(""), NETWORKS),
    key("http.tls_certificate", None, "the path of a PEM file, given together with http.tls_key"),
    key("http.tls_key", None, "the path of a PEM file, given together with http.tls_certificate"),
    key("ops.bind", Some("127.0.0.1:9090"), ADDRESS),
    key("ops.bind_file", None, PATH),
    secret("database.url", Some("sqlite://data/platen.db"), DATABASE_URL),
    key("database.max_connections", Some("16"), COUNT),
    key("blobs.kind", Some("local"), "local, s3 or memory"),
    key("blobs.path", Some("data/blobs"), "the path of a folder"),
    key("blobs.bucket", None, "the name of a bucket, required where blobs.kind is s3"),
    key("blobs.prefix", Some(""), "a text without a leading slash, such as platen/production"),
    key("blobs.region", None, "the name of a region, such as eu-central-1"),
    key("blobs.endpoint", None, URL),
    secret("blobs.access_key_id", None, "a text, given together with blobs.secret_access_key"),
    secret("blobs.secret_access_key", None, "a text, given together with blobs.access_key_id"),
    key("blobs.allow_http", Some("false"), SWITCH),
    key("blobs.path_style", Some("false"), SWITCH),
    key("blobs.discarded_grace", Some("1h"), DURATION),
    key("limits.max_resource_size", Some("2GiB"), SIZE),
    key("limits.max_crash_report_size", Some("512MiB"), SIZE),
    key("limits.max_json_size", Some("1MiB"), SIZE),
    key(
        "limits.max_timestamp_ahead",
        Some("1d"),
        "empty (no limit), or a duration, such as 1d (units ms, s, m, h, d, w)",
    ),
    key("abuse.max_failed_authentications", Some("3000"), BOUND),
    key("abuse.failure_window", Some("1m"), "a duration above zero, such as 1m (units ms, s, m, h, d, w)"),
    key("abuse.max_uploads_per_organization", Some("256"), BOUND),
    key("abuse.max_uploads", Some("512"), BOUND),
    key("console.enabled", Some("true"), SWITCH),
    key("retention.logs", None, AGE),
    key("retention.crash_reports", None, AGE),
    key(
        "retention.device_history",
        Some("90d"),
        "empty (kept for ever), or a duration of at least 1d, such as 90d (units h, d, w)",
    ),
    key("history.sample_every", Some("5m"), PERIOD),
    key("insight.silent_after", Some("15m"), PERIOD),
    key("insight.max_dump", Some("64MiB"), SIZE),
    key("log.format", None, "text or json"),
    key("log.level", None, "error, warn, info, debug, trace, off, or directives such as info,http_actix=debug"),
    key("telemetry.otlp_endpoint", None, URL),
];

/// The key of that name.
pub(crate) fn named(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The key of a section, or why there is none.
pub(crate) fn find(section: &str, name: &str) -> Result<&'static Key, String> {
    let known = of_section(section)?;
    let unknown = || format!("unknown key; section {section} allows {}", known.join(", "));
    named(&format!("{section}.{name}")).ok_or_else(unknown)
}

/// The names of the keys of a section, without the section; an error if there is no such section.
pub(crate) fn of_section(section: &str) -> Result<Vec<&'static str>, String> {
    let key = |key: &'static Key| key.name.strip_prefix(section)?.strip_prefix('.');
    let keys: Vec<_> = KEYS.iter().filter_map(key).collect();
    if keys.is_empty() { Err(format!("unknown section; allowed are {}", sections().join(", "))) } else { Ok(keys) }
}

/// The hint for a key that was written without its section.
pub(crate) fn meant_by(name: &str) -> String {
    let is_named = |key: &&Key| key.name.split_once('.').is_some_and(|(_, key)| key == name);
    let keys: Vec<_> = KEYS.iter().filter(is_named).map(|key| key.name).collect();
    if keys.is_empty() { String::new() } else { format!("; was {} meant?", keys.join(" or ")) }
}

/// The sections, in order.
pub(crate) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&str> = KEYS.iter().filter_map(|key| key.name.split('.').next()).collect();
    sections.dedup();
    sections
}
