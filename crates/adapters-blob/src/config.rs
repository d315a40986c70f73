//! Where the blobs are.

use secrecy::SecretString;
use std::path::PathBuf;

/// The kind of blob store and its settings. `Debug` shows no secret.
#[derive(Debug, Clone)]
pub enum BlobConfig {
    /// A folder, made when it is missing.
    Local { path: PathBuf },
    /// A bucket, which must exist.
    S3(S3Config),
    /// Memory of this process, for trying things out.
    Memory,
}

impl BlobConfig {
    /// Whether both configurations name the same folder or the same part of the same bucket, as far
    /// as their texts say.
    #[must_use]
    pub fn is_same_store(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local { path: one }, Self::Local { path: other }) => {
                let whole = |path: &PathBuf| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
                whole(one) == whole(other)
            }
            (Self::S3(one), Self::S3(other)) => one.location() == other.location(),
            _ => false,
        }
    }
}

/// A bucket and how to reach it. `Debug` shows no secret.
#[derive(Debug, Clone, Default)]
pub struct S3Config {
    pub bucket: String,
    /// Precedes every key, with a slash between.
    pub prefix: Option<String>,
    /// Default: that of the environment or of the profile, else `us-east-1`.
    pub region: Option<String>,
    /// The URL of a server other than AWS.
    pub endpoint: Option<String>,
    /// Default: the usual AWS sources.
    pub access_key: Option<AccessKey>,
    /// Permits an endpoint without TLS.
    pub allow_http: bool,
    /// Names the bucket in the path and not in the host name.
    pub path_style: bool,
}

impl S3Config {
    fn location(&self) -> (&str, Option<&str>, &str) {
        let endpoint = self.endpoint.as_deref().map(|endpoint| endpoint.trim_end_matches('/'));
        (&self.bucket, endpoint, self.prefix.as_deref().unwrap_or_default().trim_matches('/'))
    }
}

/// An access key of S3. `Debug` shows nothing of it.
#[derive(Debug, Clone)]
pub struct AccessKey {
    pub id: SecretString,
    pub secret: SecretString,
}
