//! The configuration as the rest of the program sees it: every value of its own type.
//!
//! Three layers, the later wins: built-in defaults, the TOML file, the environment. A value that
//! isn't usable is refused here, so that nothing later fails over it.

mod effective;
mod keys;
mod layers;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use effective::{Effective, effective};
pub(crate) use layers::Layers;
pub(crate) use values::{Address, duration_of as duration};

use adapters_blob::{AccessKey, BlobConfig, S3Config};
use anyhow::{Context, Result, anyhow, bail};
use domain::limits::Limits;
use domain::retention::RetentionPolicy;
use http_actix::{Network, UploadBounds};
use layers::Raw;
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The files that are looked for where none is named; the first that exists is read.
const DEFAULT_FILES: [&str; 2] = ["platen.toml", "/etc/platen/platen.toml"];

/// The effective configuration. `Debug` shows no secret.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) http: Http,
    pub(crate) ops: Listener,
    pub(crate) database: Database,
    pub(crate) blobs: Blobs,
    pub(crate) limits: Limits,
    pub(crate) abuse: Abuse,
    pub(crate) retention: RetentionPolicy,
    pub(crate) log: Log,
    pub(crate) telemetry: Telemetry,
}

/// An address to listen on, and the file that tells which one was taken.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) bind: Address,
    pub(crate) bind_file: Option<PathBuf>,
}

/// Section `http`.
#[derive(Debug)]
pub(crate) struct Http {
    pub(crate) listener: Listener,
    /// Empty, or `/` and segments, without a slash at its end.
    pub(crate) base_path: String,
    pub(crate) workers: usize,
    pub(crate) read_timeout: Duration,
    /// Those that are believed whom they name as the client.
    pub(crate) trusted_proxies: Vec<Network>,
    /// `None`: plain HTTP.
    pub(crate) tls: Option<TlsFiles>,
}

/// Where the certificate of the API and its key are.
#[derive(Debug, Clone)]
pub(crate) struct TlsFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Section `database`. The URL may hold a password.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) url: SecretString,
    pub(crate) max_connections: u32,
}

/// Section `blobs`.
#[derive(Debug)]
pub(crate) struct Blobs {
    pub(crate) place: BlobConfig,
    /// How long replaced content stays for downloads under way (decision T18).
    pub(crate) discarded_grace: Duration,
}

/// Section `abuse`.
#[derive(Debug)]
pub(crate) struct Abuse {
    /// Of one client within the window; 0 for any number.
    pub(crate) max_failed_authentications: u32,
    pub(crate) failure_window: Duration,
    pub(crate) uploads: UploadBounds,
}

/// Section `log`.
#[derive(Debug)]
pub(crate) struct Log {
    /// `None`: text on a terminal, else JSON.
    pub(crate) format: Option<LogFormat>,
    /// `None`: `info` for the server, `error` for the other commands.
    pub(crate) level: Option<String>,
}

/// Section `telemetry`.
#[derive(Debug)]
pub(crate) struct Telemetry {
    /// `None`: traces are not exported.
    pub(crate) otlp_endpoint: Option<String>,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Reads the layers: `file`, else the first of [`DEFAULT_FILES`] that exists, and the environment.
pub(crate) fn load(file: Option<&Path>) -> Result<Layers> {
    let file = match file {
        Some(file) => Some(file),
        None => find(&DEFAULT_FILES)?,
    };
    Layers::read(file, std::env::vars_os())
}

/// The first of these files that exists. A folder that may not be read is an error: its file might exist.
fn find<'a>(files: &'a [&'a str]) -> Result<Option<&'a Path>> {
    for file in files.iter().map(Path::new) {
        if file.try_exists().with_context(|| layers::unreadable(file))? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

impl Config {
    /// What `file` alone says, without the environment.
    pub(crate) fn of_file(file: &Path) -> Result<Self> {
        Self::of(&Layers::read(Some(file), std::iter::empty())?)
    }

    /// What the layers mean, if every value of them is usable.
    pub(crate) fn of(layers: &Layers) -> Result<Self> {
        Ok(Self {
            http: Http {
                listener: listener(layers, "http.bind", "http.bind_file")?,
                base_path: required(layers, "http.base_path", values::base_path)?,
                workers: optional(layers, "http.workers", values::count)?.map_or_else(cores, usize::from),
                read_timeout: required(layers, "http.read_timeout", values::positive_duration)?,
                trusted_proxies: required(layers, "http.trusted_proxies", values::networks)?,
                tls: tls_files(layers)?,
            },
            ops: listener(layers, "ops.bind", "ops.bind_file")?,
            database: Database {
                url: database_url(layers)?.into(),
                max_connections: required(layers, "database.max_connections", values::count)?.into(),
            },
            blobs: Blobs {
                place: blob_place(layers)?,
                discarded_grace: required(layers, "blobs.discarded_grace", values::duration)?,
            },
            limits: Limits {
                max_resource_size: required(layers, "limits.max_resource_size", values::size)?,
                max_crash_report_size: required(layers, "limits.max_crash_report_size", values::size)?,
                max_json_size: required(layers, "limits.max_json_size", values::size)?,
                max_timestamp_ahead: max_timestamp_ahead(layers)?,
            },
            abuse: Abuse {
                max_failed_authentications: required(layers, "abuse.max_failed_authentications", values::bound)?,
                failure_window: required(layers, "abuse.failure_window", values::positive_duration)?,
                uploads: UploadBounds {
                    of_organization: required(layers, "abuse.max_uploads_per_organization", values::bound)?,
                    in_all: required(layers, "abuse.max_uploads", values::bound)?,
                },
            },
            retention: RetentionPolicy {
                logs: optional(layers, "retention.logs", values::age)?,
                crash_reports: optional(layers, "retention.crash_reports", values::age)?,
            },
            log: Log {
                format: optional(layers, "log.format", log_format)?,
                level: optional(layers, "log.level", values::log_level)?,
            },
            telemetry: Telemetry { otlp_endpoint: optional(layers, "telemetry.otlp_endpoint", values::http_url)? },
        })
    }
}

type Parse<T> = fn(&Raw<'_>) -> Option<T>;

fn optional<T>(layers: &Layers, name: &str, parse: Parse<T>) -> Result<Option<T>> {
    let Some(setting) = layers.get(name) else {
        return Ok(None);
    };
    parse(&setting.raw()).map(Some).ok_or_else(|| setting.refused())
}

fn required<T>(layers: &Layers, name: &str, parse: Parse<T>) -> Result<T> {
    let Some(value) = optional(layers, name, parse)? else {
        let allowed = keys::find(name).map_or("a value", |key| key.allowed);
        bail!("{name} is not set; allowed is {allowed}");
    };
    Ok(value)
}

fn path(layers: &Layers, name: &str) -> Result<Option<PathBuf>> {
    Ok(optional(layers, name, values::path)?.map(|path| layers.resolve(name, path)))
}

/// Unlike for other keys with a default, an empty text means that there is no limit (decision T4).
fn max_timestamp_ahead(layers: &Layers) -> Result<Option<Duration>> {
    let name = "limits.max_timestamp_ahead";
    let is_unlimited = layers.get(name).is_some_and(|setting| setting.raw() == Raw::Text(""));
    if is_unlimited { Ok(None) } else { optional(layers, name, values::duration) }
}

fn database_url(layers: &Layers) -> Result<String> {
    let name = "database.url";
    let url = required(layers, name, values::database_url)?;
    let file = url.strip_prefix("sqlite://").filter(|path| *path != ":memory:");
    Ok(file.map_or(url.clone(), |path| format!("sqlite://{}", layers.resolve(name, path.into()).display())))
}

fn listener(layers: &Layers, bind: &str, bind_file: &str) -> Result<Listener> {
    Ok(Listener { bind: required(layers, bind, values::address)?, bind_file: path(layers, bind_file)? })
}

/// All keys of the section are checked whatever the kind, so that an error doesn't wait for the day
/// on which the kind is changed.
fn blob_place(layers: &Layers) -> Result<BlobConfig> {
    let kind = required(layers, "blobs.kind", blob_kind)?;
    let path = layers.resolve("blobs.path", required(layers, "blobs.path", values::path)?);
    let bucket = match kind {
        BlobKind::S3 => required(layers, "blobs.bucket", values::host_name)?,
        BlobKind::Local | BlobKind::Memory => String::new(),
    };
    let s3 = S3Config {
        bucket,
        prefix: Some(required(layers, "blobs.prefix", values::prefix)?).filter(|prefix| !prefix.is_empty()),
        region: optional(layers, "blobs.region", values::host_name)?,
        endpoint: optional(layers, "blobs.endpoint", values::http_url)?,
        access_key: access_key(layers)?,
        allow_http: required(layers, "blobs.allow_http", values::switch)?,
        path_style: required(layers, "blobs.path_style", values::switch)?,
    };
    Ok(match kind {
        BlobKind::Local => BlobConfig::Local { path },
        BlobKind::S3 => {
            s3.check().map_err(|misfit| anyhow!("blobs.{misfit}"))?;
            BlobConfig::S3(s3)
        }
        BlobKind::Memory => BlobConfig::Memory,
    })
}

/// The values of `blobs.kind`.
#[derive(Clone, Copy)]
enum BlobKind {
    Local,
    S3,
    Memory,
}

fn blob_kind(raw: &Raw<'_>) -> Option<BlobKind> {
    match values::text(raw)?.as_str() {
        "local" => Some(BlobKind::Local),
        "s3" => Some(BlobKind::S3),
        "memory" => Some(BlobKind::Memory),
        _ => None,
    }
}

/// Certificate and key, both or none.
fn tls_files(layers: &Layers) -> Result<Option<TlsFiles>> {
    let [certificate, key] = ["http.tls_certificate", "http.tls_key"];
    if optional(layers, certificate, values::path)?.is_none() && optional(layers, key, values::path)?.is_none() {
        return Ok(None);
    }
    let file = |name| required(layers, name, values::path).map(|path| layers.resolve(name, path));
    Ok(Some(TlsFiles { certificate: file(certificate)?, key: file(key)? }))
}

/// Key id and secret, both or none.
fn access_key(layers: &Layers) -> Result<Option<AccessKey>> {
    let [id, secret] = ["blobs.access_key_id", "blobs.secret_access_key"];
    let given = |name| optional(layers, name, values::filled_text).map(|value| value.is_some());
    if !given(id)? && !given(secret)? {
        return Ok(None);
    }
    let half = |name| required(layers, name, values::filled_text).map(SecretString::from);
    Ok(Some(AccessKey { id: half(id)?, secret: half(secret)? }))
}

fn log_format(raw: &Raw<'_>) -> Option<LogFormat> {
    match values::text(raw)?.as_str() {
        "text" => Some(LogFormat::Text),
        "json" => Some(LogFormat::Json),
        _ => None,
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
