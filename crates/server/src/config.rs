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
use anyhow::{Context, Result, anyhow};
use domain::limits::Limits;
use domain::retention::RetentionPolicy;
use http_actix::{Network, UploadBounds};
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
    pub(crate) console: Console,
    pub(crate) retention: RetentionPolicy,
    pub(crate) insight: Insight,
    pub(crate) log: Log,
    pub(crate) telemetry: Telemetry,
}

/// An address to listen on, and the file to which the address taken is written.
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
    /// `history.sample_every`: how often the measured values of a device are kept at most (decision I1).
    pub(crate) sample_every: Duration,
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

/// Section `insight`.
#[derive(Debug)]
pub(crate) struct Insight {
    /// A device without a status for this long is silent (decision I3).
    pub(crate) silent_after: Duration,
    /// Bytes of the largest minidump that is read (decision I6).
    pub(crate) max_dump: u64,
}

/// Section `console`.
#[derive(Debug)]
pub(crate) struct Console {
    /// Whether the console and the operator API are served (decision P10).
    pub(crate) enabled: bool,
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

    /// The configuration of these layers, if every value is usable.
    pub(crate) fn of(layers: &Layers) -> Result<Self> {
        let size = |name| layers.required(name, values::size);
        let bound = |name| layers.required(name, values::bound);
        Ok(Self {
            http: Http {
                listener: listener(layers, "http.bind", "http.bind_file")?,
                base_path: layers.required("http.base_path", values::base_path)?,
                workers: layers.optional("http.workers", values::count)?.map_or_else(cores, usize::from),
                read_timeout: layers.required("http.read_timeout", values::positive_duration)?,
                trusted_proxies: layers.required("http.trusted_proxies", values::networks)?,
                tls: tls_files(layers)?,
            },
            ops: listener(layers, "ops.bind", "ops.bind_file")?,
            database: Database {
                url: database_url(layers)?.into(),
                max_connections: layers.required("database.max_connections", values::count)?.into(),
                sample_every: layers.required("history.sample_every", values::positive_duration)?,
            },
            blobs: Blobs {
                place: blob_place(layers)?,
                discarded_grace: layers.required("blobs.discarded_grace", values::duration)?,
            },
            limits: Limits {
                max_resource_size: size("limits.max_resource_size")?,
                max_crash_report_size: size("limits.max_crash_report_size")?,
                max_json_size: size("limits.max_json_size")?,
                // An empty text means that there is no limit (decision T4).
                max_timestamp_ahead: layers.required("limits.max_timestamp_ahead", |value| {
                    if value.text.is_empty() { Some(None) } else { values::duration(value).map(Some) }
                })?,
            },
            abuse: Abuse {
                max_failed_authentications: bound("abuse.max_failed_authentications")?,
                failure_window: layers.required("abuse.failure_window", values::positive_duration)?,
                uploads: UploadBounds {
                    of_organization: bound("abuse.max_uploads_per_organization")?,
                    in_all: bound("abuse.max_uploads")?,
                },
            },
            console: Console { enabled: layers.required("console.enabled", values::switch)? },
            retention: RetentionPolicy {
                logs: layers.optional("retention.logs", values::age)?,
                crash_reports: layers.optional("retention.crash_reports", values::age)?,
                // An empty text means for ever.
                device_history: layers.required("retention.device_history", |value| {
                    if value.text.is_empty() { Some(None) } else { values::age(value).map(Some) }
                })?,
            },
            insight: Insight {
                silent_after: layers.required("insight.silent_after", values::positive_duration)?,
                max_dump: size("insight.max_dump")?,
            },
            log: Log {
                format: layers.optional("log.format", |value| {
                    values::choice(value, &[("text", LogFormat::Text), ("json", LogFormat::Json)])
                })?,
                level: layers.optional("log.level", values::log_level)?,
            },
            telemetry: Telemetry { otlp_endpoint: layers.optional("telemetry.otlp_endpoint", values::http_url)? },
        })
    }
}

fn listener(layers: &Layers, bind: &str, bind_file: &str) -> Result<Listener> {
    Ok(Listener { bind: layers.required(bind, values::address)?, bind_file: layers.path(bind_file)? })
}

fn tls_files(layers: &Layers) -> Result<Option<TlsFiles>> {
    let names = ["http.tls_certificate", "http.tls_key"];
    let files = layers.pair(names, values::path)?;
    Ok(files.map(|[certificate, key]| TlsFiles {
        certificate: layers.resolve(names[0], certificate),
        key: layers.resolve(names[1], key),
    }))
}

fn database_url(layers: &Layers) -> Result<String> {
    let name = "database.url";
    let url = layers.required(name, values::database_url)?;
    Ok(match url.strip_prefix("sqlite://").filter(|path| *path != ":memory:") {
        Some(path) => format!("sqlite://{}", layers.resolve(name, path.into()).display()),
        None => url,
    })
}

/// The values of `blobs.kind`.
#[derive(Clone, Copy)]
enum BlobKind {
    Local,
    S3,
    Memory,
}

/// All keys of the section are checked whatever the kind, so that an error doesn't wait for the day
/// on which the kind is changed.
fn blob_place(layers: &Layers) -> Result<BlobConfig> {
    let kinds = [("local", BlobKind::Local), ("s3", BlobKind::S3), ("memory", BlobKind::Memory)];
    let kind = layers.required("blobs.kind", |value| values::choice(value, &kinds))?;
    let path = layers.resolve("blobs.path", layers.required("blobs.path", values::path)?);
    let bucket = match kind {
        BlobKind::S3 => layers.required("blobs.bucket", values::host_name)?,
        BlobKind::Local | BlobKind::Memory => String::new(),
    };
    let access_key = layers.pair(["blobs.access_key_id", "blobs.secret_access_key"], values::filled_text)?;
    let s3 = S3Config {
        bucket,
        prefix: Some(layers.required("blobs.prefix", values::prefix)?).filter(|prefix| !prefix.is_empty()),
        region: layers.optional("blobs.region", values::host_name)?,
        endpoint: layers.optional("blobs.endpoint", values::http_url)?,
        access_key: access_key.map(|[id, secret]| AccessKey { id: id.into(), secret: secret.into() }),
        allow_http: layers.required("blobs.allow_http", values::switch)?,
        path_style: layers.required("blobs.path_style", values::switch)?,
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

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
