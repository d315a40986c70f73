//! A bucket of S3, or of a server that speaks its protocol.

mod profile;

use crate::error::{one_line, spelled_out, store_error};
use crate::place::{Manner, Patience, Place, listed, streamed, within};
use crate::{AccessKey, OpenError, S3Config};
use async_trait::async_trait;
use domain::blob::{BlobEntry, BlobKey, ByteStream};
use domain::error::StoreError;
use futures_util::stream::BoxStream;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, AwsCredential};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig, StaticCredentialProvider};
use profile::Profile;
use secrecy::ExposeSecret;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// S3 takes parts of 5 MiB and more, all of one size but the last, and 10,000 of them.
const PART_SIZE: usize = 5 * 1024 * 1024;

/// Parts that all uploads together may gather and send at once, so that memory has a bound however many
/// upload at a time (40 MiB). Who comes later waits, and its client with it.
const PARTS_IN_MEMORY: usize = 8;

/// A request without content is given up after 4 s, so that a client has its answer within 5 s.
const PATIENCE: Patience =
    Patience { answer: Duration::from_secs(4), bytes_per_second: 512 * 1024, stall: Duration::from_secs(15) };

/// An outage of a minute leaves no parts behind. Those of a longer one, and of a killed process, are
/// for the lifecycle rule of the bucket.
const REMOVAL_PAUSES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(20), Duration::from_mins(1)];

const MANNER: Manner =
    Manner { part_size: PART_SIZE, parts_at_once: 2, patience: Some(PATIENCE), removal_pauses: &REMOVAL_PAUSES };

/// How often a bucket that doesn't answer is tried at the start, and the pause after the first try; each
/// following pause is twice as long.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(100);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Servers and proxies drop connections that were idle for longer.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

const DEFAULT_REGION: &str = "us-east-1";

/// Without it nobody would guess where the failure of a request for credentials comes from.
const NO_KEYS: &str = " (no access key is configured, in the environment or in a profile, so the instance was asked)";

/// Where the credentials come from.
#[derive(Debug)]
enum Keys {
    /// Something that is configured or in the environment.
    Known,
    /// The instance, as the last resort.
    OfInstance,
}

/// A bucket.
pub(crate) struct S3Place {
    name: String,
    prefix: Path,
    objects: AmazonS3,
    room: Arc<Semaphore>,
}

impl S3Place {
    /// Prepares the way to the bucket and asks it whether it is there.
    pub(crate) async fn open(config: &S3Config) -> Result<Self, OpenError> {
        install_tls_provider();
        let wrong = |what: String| OpenError::Misconfigured(format!("blob store in S3: {what}"));
        let prefix = config.prefix.as_deref().unwrap_or_default().trim_matches('/');
        let prefix = Path::parse(prefix).map_err(|error| wrong(format!("the prefix can't be used: {error}")))?;
        let (builder, keys) = builder(config).map_err(wrong)?;
        let objects = builder.build().map_err(|error| wrong(one_line(&error.to_string())))?;
        let place = Self { name: name(config), prefix, objects, room: Arc::new(Semaphore::new(PARTS_IN_MEMORY)) };
        let Err((error, tries)) = place.reach_at_last().await else {
            return Ok(place);
        };
        let tries = if tries == 1 { String::new() } else { format!(" ({tries} tries)") };
        let remark = match keys {
            Keys::Known => tries,
            Keys::OfInstance => tries + NO_KEYS,
        };
        Err(OpenError::from_store(&error, &remark))
    }

    /// Tries a bounded number of times, as long as the failure is one that may pass; the last failure and the
    /// number of tries.
    async fn reach_at_last(&self) -> Result<(), (StoreError, u32)> {
        let mut pause = PAUSE;
        let mut tries = 1;
        loop {
            let error = match self.reach().await {
                Ok(()) => return Ok(()),
                Err(error) if tries < TRIES && matches!(error, StoreError::Unavailable(_)) => error,
                Err(error) => return Err((error, tries)),
            };
            tracing::warn!(tries, cause = spelled_out(&error), "the blob store can't be reached yet");
            sleep(pause).await;
            pause *= 2;
            tries += 1;
        }
    }
}

#[async_trait]
impl Place for S3Place {
    fn name(&self) -> &str {
        &self.name
    }

    fn objects(&self) -> &dyn ObjectStore {
        &self.objects
    }

    fn manner(&self) -> &Manner {
        &MANNER
    }

    async fn read(&self, key: &BlobKey, range: Option<Range<u64>>) -> Result<Option<ByteStream>, StoreError> {
        streamed(self, key, range).await
    }

    fn room(&self) -> Option<&Arc<Semaphore>> {
        Some(&self.room)
    }

    fn location(&self, key: &BlobKey) -> Path {
        self.prefix.parts().chain(Path::from(key.as_str()).parts()).collect()
    }

    fn list(&self) -> BoxStream<'static, Result<BlobEntry, StoreError>> {
        listed(&self.objects, &self.prefix, MANNER.patience, &self.name)
    }

    /// Asks for the first key: unlike a request for a blob, its answer tells what is wrong.
    async fn reach(&self) -> Result<(), StoreError> {
        let prefix = (!self.prefix.is_root()).then(|| format!("{}/", self.prefix));
        let first = PaginatedListOptions { max_keys: Some(1), ..PaginatedListOptions::default() };
        within(self, 0, self.objects.list_paginated(prefix.as_deref(), first))
            .await
            .map(|_| ())
            .map_err(|error| store_error("list the blobs", &self.name, &error))
    }
}

/// `object_store` is built over rustls with no provider of cryptography chosen.
fn install_tls_provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Fails only if another thread was faster, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

fn name(config: &S3Config) -> String {
    match &config.endpoint {
        Some(endpoint) => format!("bucket {} at {endpoint}", config.bucket),
        None => format!("bucket {}", config.bucket),
    }
}

fn builder(config: &S3Config) -> Result<(AmazonS3Builder, Keys), String> {
    let client = ClientOptions::new()
        .with_allow_http(config.allow_http)
        // A download takes as long as its reader; what an answer may take is bounded elsewhere.
        .with_timeout_disabled()
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
        // We delete one at a time, and not every server knows how to delete many.
        .with_disable_bulk_delete(true);
    if let Some(endpoint) = endpoint(config)? {
        // This key goes before all others that name an endpoint.
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, endpoint);
    }
    let given = config.access_key.as_ref().map(static_credential);
    let known = given.is_some() || environment_has_credentials();
    let profile = if known { Profile::default() } else { Profile::of_environment()? };
    let keys = if known || profile.credential.is_some() { Keys::Known } else { Keys::OfInstance };
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
        // One of the environment would belong to other keys.
        token: None,
    }
}

/// Whether `object_store` finds credentials by itself, before it would ask the instance.
fn environment_has_credentials() -> bool {
    let sources = [
        "AWS_ACCESS_KEY_ID",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ];
    sources.iter().any(|name| std::env::var_os(name).is_some())
}

/// The endpoint, with the bucket in its host name unless the path is to hold it. What doesn't fit is told in words
/// that begin with the name of the setting.
pub(crate) fn endpoint(config: &S3Config) -> Result<Option<String>, &'static str> {
    let Some(endpoint) = &config.endpoint else { return Ok(None) };
    let endpoint = endpoint.trim_end_matches('/');
    let parts =
        endpoint.split_once("://").filter(|(scheme, host)| ["http", "https"].contains(scheme) && !host.is_empty());
    let Some((scheme, host)) = parts else {
        return Err("endpoint must begin with https:// or http://");
    };
    if !config.path_style && is_address(host) {
        return Err("path_style is false; beside an endpoint that is an IP address, allowed is true");
    }
    if scheme == "http" && !config.allow_http {
        return Err("allow_http is false; beside an endpoint that begins with http://, allowed is true");
    }
    let endpoint = if config.path_style { endpoint.to_owned() } else { format!("{scheme}://{}.{host}", config.bucket) };
    Ok(Some(endpoint))
}

/// Whether a host, perhaps with a port, is an IP address: no bucket can be put before it.
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
    fn a_given_endpoint_region_and_key_go_before_all_others() {
        let given = S3Config {
            region: Some("eu-central-1".to_owned()),
            access_key: Some(AccessKey { id: "AKIA".into(), secret: "secret".into() }),
            ..config("http://localhost:1", true, true)
        };
        let (builder, keys) = builder(&given).unwrap();
        assert!(matches!(keys, Keys::Known));
        let value = |key| builder.get_config_value(&key);
        assert_eq!(value(AmazonS3ConfigKey::S3Endpoint).as_deref(), Some("http://localhost:1"));
        assert_eq!(value(AmazonS3ConfigKey::Region).as_deref(), Some("eu-central-1"));
    }
}
