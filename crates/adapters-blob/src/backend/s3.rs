//! A bucket of S3, or of a server that speaks its protocol.

mod profile;

use super::{Backend, UploadLimits, with_timeout};
use crate::config::{AccessKey, S3Config};
use crate::error::{OpenError, in_one_line, is_unanswered, one_line, store_error};
use async_trait::async_trait;
use domain::error::StoreError;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, AwsCredential};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig, StaticCredentialProvider};
use profile::Profile;
use secrecy::ExposeSecret;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// S3 takes parts of 5 MiB and more, all of one size but the last, and 10,000 of them.
const PART_SIZE: usize = 5 * 1024 * 1024;

/// Parts of all uploads in memory (40 MiB), so that memory has a bound however many upload at a time.
const PART_SLOTS: usize = 8;

/// The timeout of a request without content, so that a client gets its response within 5 s.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);

/// The slowest line over which an upload still succeeds.
const MIN_BYTES_PER_SECOND: u64 = 512 * 1024;

/// Longest wait between two pieces of a download.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Connections are closed after this idle time, before servers and proxies drop them.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// An outage of a minute leaves no parts. The lifecycle rule of the bucket removes those of a longer
/// one, and of a killed process.
const REMOVAL_RETRIES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(20), Duration::from_mins(1)];

/// Pauses in milliseconds before a bucket that doesn't answer at the start is tried again.
const OPEN_RETRIES: [u64; 5] = [100, 200, 400, 800, 1600];

const DEFAULT_REGION: &str = "us-east-1";

/// Explains a failed request for credentials.
const NO_KEYS: &str = " (no access key is configured, in the environment or in a profile, so the instance was asked)";

/// Where the credentials come from.
#[derive(Debug, PartialEq)]
enum KeySource {
    /// The configuration, the environment or a profile.
    Configured,
    /// The metadata service of the instance, as the last resort.
    Instance,
}

impl S3Config {
    /// Checks that the endpoint fits the other settings.
    ///
    /// # Errors
    /// What doesn't fit, in one line that begins with the name of a setting.
    pub fn check(&self) -> Result<(), &'static str> {
        endpoint(self).map(drop)
    }
}

pub(crate) struct S3Backend {
    name: String,
    prefix: Path,
    bucket: AmazonS3,
    objects: PrefixStore<AmazonS3>,
    upload_limits: UploadLimits,
}

impl S3Backend {
    /// Opens a bucket and checks that it can be listed.
    pub(crate) async fn open(config: &S3Config) -> Result<Self, OpenError> {
        install_tls_provider();
        let misconfigured = |what: String| OpenError(format!("blob store in S3: {what}"));
        let prefix = config.prefix.as_deref().unwrap_or_default().trim_matches('/');
        let prefix =
            Path::parse(prefix).map_err(|error| misconfigured(format!("the prefix can't be used: {error}")))?;
        let (builder, keys) = builder(config).map_err(misconfigured)?;
        let bucket = builder.build().map_err(|error| misconfigured(one_line(&error.to_string())))?;
        let backend = Self {
            name: name(config),
            objects: PrefixStore::new(bucket.clone(), prefix.clone()),
            prefix,
            bucket,
            upload_limits: UploadLimits {
                part_size: PART_SIZE,
                parts_in_flight: 2,
                part_slots: Some(Arc::new(Semaphore::new(PART_SLOTS))),
            },
        };
        let Err((error, tries)) = backend.check_with_retries().await else { return Ok(backend) };
        let tries = if tries == 1 { String::new() } else { format!(" ({tries} tries)") };
        let keys = if keys == KeySource::Instance { NO_KEYS } else { "" };
        Err(OpenError::new(&error, &(tries + keys)))
    }

    /// Tries again while no server answers. The error comes with the number of tries.
    async fn check_with_retries(&self) -> Result<(), (StoreError, u32)> {
        let mut pauses = OPEN_RETRIES.into_iter();
        let mut tries = 1;
        loop {
            let Err(error) = self.list_first().await else { return Ok(()) };
            let failure = self.list_error(&error);
            match pauses.next() {
                Some(pause) if is_unanswered(&error) => {
                    tracing::warn!(tries, cause = in_one_line(&failure), "the blob store can't be reached yet");
                    sleep(Duration::from_millis(pause)).await;
                }
                _ => return Err((failure, tries)),
            }
            tries += 1;
        }
    }

    /// Asks for the first key: unlike a request for a blob, this fails if the bucket is missing.
    async fn list_first(&self) -> object_store::Result<()> {
        let prefix = (!self.prefix.is_root()).then(|| format!("{}/", self.prefix));
        let first = PaginatedListOptions { max_keys: Some(1), ..PaginatedListOptions::default() };
        with_timeout(self, 0, self.bucket.list_paginated(prefix.as_deref(), first)).await.map(drop)
    }

    fn list_error(&self, error: &object_store::Error) -> StoreError {
        store_error("list the blobs", &self.name, error)
    }
}

#[async_trait]
impl Backend for S3Backend {
    fn name(&self) -> &str {
        &self.name
    }

    fn objects(&self) -> &dyn ObjectStore {
        &self.objects
    }

    fn upload_limits(&self) -> &UploadLimits {
        &self.upload_limits
    }

    fn timeout(&self, bytes: u64) -> Option<Duration> {
        Some(REQUEST_TIMEOUT + Duration::from_millis(bytes.saturating_mul(1000) / MIN_BYTES_PER_SECOND))
    }

    fn removal_retries(&self) -> &[Duration] {
        &REMOVAL_RETRIES
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.list_first().await.map_err(|error| self.list_error(&error))
    }
}

/// Chooses the cryptography of rustls, without which `object_store` builds no client.
fn install_tls_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Fails only if another thread was faster, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
}

fn name(config: &S3Config) -> String {
    match &config.endpoint {
        Some(endpoint) => format!("bucket {} at {endpoint}", config.bucket),
        None => format!("bucket {}", config.bucket),
    }
}

fn builder(config: &S3Config) -> Result<(AmazonS3Builder, KeySource), String> {
    let client = ClientOptions::new()
        .with_allow_http(config.allow_http)
        // A download takes as long as its reader; `with_timeout` limits the wait for an answer.
        .with_timeout_disabled()
        .with_read_timeout(READ_TIMEOUT)
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_pool_idle_timeout(IDLE_TIMEOUT);
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_millis(800), base: 2.0 };
    let retry = RetryConfig { backoff, max_retries: 3, retry_timeout: Duration::from_mins(4) };
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(&config.bucket)
        .with_client_options(client)
        .with_retry(retry)
        .with_virtual_hosted_style_request(!config.path_style)
        // Not every server knows how to delete several blobs at once, and Platen never does.
        .with_disable_bulk_delete(true);
    if let Some(endpoint) = endpoint(config)? {
        // This key takes precedence over all others that name an endpoint.
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
    }
    let given = config.access_key.as_ref().map(static_credential);
    let known = given.is_some() || environment_has_credentials();
    let profile = if known { Profile::default() } else { Profile::of_environment()? };
    let keys = if known || profile.credential.is_some() { KeySource::Configured } else { KeySource::Instance };
    if let Some(credential) = given.or(profile.credential) {
        builder = builder.with_credentials(Arc::new(StaticCredentialProvider::new(credential)));
    }
    let of_environment = builder.get_config_value(&AmazonS3ConfigKey::Region);
    let region = config.region.clone().or(of_environment).or(profile.region);
    Ok((builder.with_region(region.unwrap_or_else(|| DEFAULT_REGION.to_owned())), keys))
}

fn static_credential(key: &AccessKey) -> AwsCredential {
    AwsCredential {
        key_id: key.id.expose_secret().to_owned(),
        secret_key: key.secret.expose_secret().to_owned(),
        // A token of the environment would belong to other keys.
        token: None,
    }
}

/// Whether `object_store` finds credentials in the environment, before it asks the instance.
fn environment_has_credentials() -> bool {
    let sources = [
        "AWS_ACCESS_KEY_ID",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ];
    sources.iter().any(|name| std::env::var_os(name).is_some())
}

/// The endpoint, with the bucket in its host name unless the path holds it. The error begins with the name of the
/// setting that doesn't fit.
fn endpoint(config: &S3Config) -> Result<Option<String>, &'static str> {
    let Some(endpoint) = &config.endpoint else { return Ok(None) };
    let endpoint = endpoint.trim_end_matches('/');
    let parts =
        endpoint.split_once("://").filter(|(scheme, host)| ["http", "https"].contains(scheme) && !host.is_empty());
    let Some((scheme, host)) = parts else {
        return Err("endpoint must begin with https:// or http://");
    };
    if !config.path_style && is_address(host) {
        return Err("path_style is false; with an endpoint that is an IP address, allowed is true");
    }
    if scheme == "http" && !config.allow_http {
        return Err("allow_http is false; with an endpoint that begins with http://, allowed is true");
    }
    let endpoint = if config.path_style { endpoint.to_owned() } else { format!("{scheme}://{}.{host}", config.bucket) };
    Ok(Some(endpoint))
}

/// Whether a host, perhaps with a port, is an IP address, which can't hold the name of a bucket.
fn is_address(host: &str) -> bool {
    let host = host.split('/').next().unwrap_or_default();
    host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok() || host.parse::<SocketAddrV4>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(endpoint: &str, allow_http: bool, path_style: bool) -> S3Config {
        let endpoint = Some(endpoint.to_owned());
        S3Config { bucket: "blobs".to_owned(), endpoint, allow_http, path_style, ..S3Config::default() }
    }

    #[test]
    fn the_bucket_is_in_the_host_name_unless_the_path_holds_it() {
        let host = endpoint(&config("https://s3.example.com:9000/", false, false)).unwrap();
        assert_eq!(host.as_deref(), Some("https://blobs.s3.example.com:9000"));
        let path = endpoint(&config("http://s3.example.com:9000/", true, true)).unwrap();
        assert_eq!(path.as_deref(), Some("http://s3.example.com:9000"));
    }

    #[test]
    fn http_must_be_permitted() {
        assert!(endpoint(&config("http://s3.example.com", false, true)).unwrap_err().contains("allow_http"));
    }

    #[test]
    fn an_address_holds_no_bucket_in_its_name() {
        for text in ["https://127.0.0.1", "https://127.0.0.1:9000", "https://127.0.0.1/s3", "https://[::1]:9000"] {
            assert!(endpoint(&config(text, false, false)).unwrap_err().contains("path_style"), "{text}");
            assert!(endpoint(&config(text, false, true)).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_endpoint_without_a_scheme_is_refused() {
        for text in ["s3.example.com", "https://", "ftp://s3.example.com"] {
            assert!(endpoint(&config(text, true, true)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_configured_endpoint_region_and_key_take_precedence() {
        let given = S3Config {
            region: Some("eu-central-1".to_owned()),
            access_key: Some(AccessKey { id: "AKIA".into(), secret: "secret".into() }),
            ..config("http://localhost:1", true, true)
        };
        let (builder, keys) = builder(&given).unwrap();
        assert_eq!(keys, KeySource::Configured);
        let value = |key| builder.get_config_value(&key);
        assert_eq!(value(AmazonS3ConfigKey::S3Endpoint).as_deref(), Some("http://localhost:1"));
        assert_eq!(value(AmazonS3ConfigKey::Region).as_deref(), Some("eu-central-1"));
    }
}
