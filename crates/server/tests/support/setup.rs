//! The two set-ups on which the same tests run: the defaults, and what many processes share.

use super::files_below;
use adapters_blob::{AccessKey, BlobConfig, S3Config};
use std::path::{Path, PathBuf};

#[path = "../../../adapters-db/tests/support/mod.rs"]
pub(crate) mod databases;
#[path = "../../../adapters-blob/tests/support/s3_server.rs"]
pub(crate) mod s3_server;

pub(crate) use databases::postgres;
use postgres::Cluster;
use s3_server::{BUCKET, KEY, S3Server, SECRET};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};

/// What the program is run over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setup {
    /// `SQLite` and a local folder.
    Defaults,
    /// A database of its own in a `PostgreSQL` cluster, and a bucket.
    PostgresAndS3,
    /// The same in a cluster of its own, for tests that stop it.
    OwnPostgresAndS3,
}

/// The database and the blob store of one test.
pub(crate) enum Stores {
    Defaults,
    PostgresAndS3 { cluster: Holder, database: String, s3: S3Server },
}

/// The cluster of the process, or one of our own.
pub(crate) enum Holder {
    Shared(&'static Cluster),
    Own(Box<Cluster>),
}

impl std::ops::Deref for Holder {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        match self {
            Self::Shared(cluster) => cluster,
            Self::Own(cluster) => cluster,
        }
    }
}

impl Stores {
    pub(crate) fn new(setup: Setup) -> Self {
        match setup {
            Setup::Defaults => Self::Defaults,
            Setup::PostgresAndS3 => Self::in_cluster(Holder::Shared(Cluster::shared())),
            Setup::OwnPostgresAndS3 => Self::in_cluster(Holder::Own(Box::new(Cluster::start()))),
        }
    }

    fn in_cluster(cluster: Holder) -> Self {
        Self::PostgresAndS3 { database: cluster.database(), cluster, s3: S3Server::start() }
    }

    /// Lines of `platen.toml`.
    pub(crate) fn configuration(&self) -> String {
        let Self::PostgresAndS3 { database, s3, .. } = self else {
            return String::new();
        };
        let endpoint = s3.endpoint();
        format!(
            "database.url = '{database}'\nblobs.kind = 's3'\nblobs.bucket = '{BUCKET}'\nblobs.prefix = 'platen'\n\
             blobs.endpoint = '{endpoint}'\nblobs.access_key_id = '{KEY}'\nblobs.secret_access_key = '{SECRET}'\n\
             blobs.allow_http = true\nblobs.path_style = true\n"
        )
    }

    /// The same for the adapters themselves.
    pub(crate) fn adapters(&self, folder: &Path) -> (String, BlobConfig) {
        match self {
            Self::Defaults => {
                let database = format!("sqlite://{}/data/platen.db", folder.display());
                (database, BlobConfig::Local { path: self.blobs(folder).0 })
            }
            Self::PostgresAndS3 { database, s3, .. } => {
                let bucket = S3Config {
                    bucket: BUCKET.to_owned(),
                    prefix: Some("platen".to_owned()),
                    endpoint: Some(s3.endpoint()),
                    access_key: Some(AccessKey { id: KEY.into(), secret: SECRET.into() }),
                    allow_http: true,
                    path_style: true,
                    ..S3Config::default()
                };
                (database.clone(), BlobConfig::S3(bucket))
            }
        }
    }

    /// The folder of the blob store, and what stands before all keys in it.
    pub(crate) fn blobs(&self, folder: &Path) -> (PathBuf, &str) {
        match self {
            Self::Defaults => (folder.join("data/blobs"), ""),
            Self::PostgresAndS3 { s3, .. } => (s3.objects(), "platen"),
        }
    }

    /// How many files are kept of content, parts of unfinished uploads included.
    pub(crate) fn files(&self, folder: &Path) -> usize {
        let parts = match self {
            Self::Defaults => 0,
            Self::PostgresAndS3 { s3, .. } => s3.parts().len(),
        };
        let (root, prefix) = self.blobs(folder);
        let kinds = ["resources", "crash-reports"].map(|kind| files_below(&root.join(prefix).join(kind)).len());
        parts + kinds.iter().sum::<usize>()
    }

    /// Runs SQL that both engines understand; what it answers, a row of one column each.
    pub(crate) async fn sql(&self, folder: &Path, sql: &str) -> Vec<String> {
        match self {
            Self::Defaults => {
                let options = SqliteConnectOptions::new().filename(folder.join("data/platen.db"));
                let mut connection = options.connect().await.unwrap();
                sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut connection).await.unwrap()
            }
            Self::PostgresAndS3 { cluster, database, .. } => {
                let (_, name) = database.rsplit_once('/').unwrap();
                cluster.psql(name, sql).lines().map(str::to_owned).collect()
            }
        }
    }

    /// Where `PostgreSQL` listens: host and port.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::Defaults => unreachable!("a site on PostgreSQL"),
            Self::PostgresAndS3 { database, .. } => {
                let (_, rest) = database.split_once("//").unwrap();
                let authority = rest.split(['/', '?']).next().unwrap();
                authority.rsplit('@').next().unwrap().to_owned()
            }
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self, Self::PostgresAndS3 { .. })
    }
}
