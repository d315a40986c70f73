//! The database URL of the configuration.

use crate::error::OpenError;
use sea_orm::sqlx::ConnectOptions;
use sea_orm::sqlx::postgres::PgConnectOptions;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Which database a URL names.
#[derive(Debug, Clone)]
pub(crate) enum DatabaseUrl {
    /// `sqlite::memory:`, gone with the process.
    Memory,
    /// `sqlite://PATH`.
    File(PathBuf),
    /// `postgres://…`.
    Postgres(Box<PgConnectOptions>),
}

/// Whether the URL is well formed. The database itself isn't asked.
#[must_use]
pub fn is_database_url(url: &str) -> bool {
    DatabaseUrl::parse(url).is_ok()
}

/// The path of the `SQLite` file that the URL names, if there is no such file yet.
#[must_use]
pub fn missing_file(url: &str) -> Option<PathBuf> {
    match DatabaseUrl::parse(url) {
        Ok(DatabaseUrl::File(path)) if !path.exists() => Some(path),
        _ => None,
    }
}

impl DatabaseUrl {
    /// Parses a URL. The path of a file is taken as it is: nothing in it is percent-decoded.
    pub(crate) fn parse(url: &str) -> Result<Self, OpenError> {
        if let Some(rest) = url.strip_prefix("sqlite:") {
            return Self::parse_sqlite(rest);
        }
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(wrong("it must begin with sqlite://, sqlite::memory: or postgres://"));
        }
        // The error of the parser might repeat a part of the URL, such as the password.
        let options = PgConnectOptions::from_str(url).ok().filter(|_| !has_bare_password(url));
        let options = options.ok_or_else(|| {
            wrong(
                "postgres://USER:PASSWORD@HOST:PORT/DATABASE is expected, with # / ? @ % in the password written as \
                 %23 %2F %3F %40 %25",
            )
        })?;
        Ok(Self::Postgres(Box::new(options.application_name("platen").disable_statement_logging())))
    }

    fn parse_sqlite(rest: &str) -> Result<Self, OpenError> {
        let path = rest.strip_prefix("//").unwrap_or(rest);
        if path == ":memory:" {
            return Ok(Self::Memory);
        }
        if path.is_empty() {
            return Err(wrong("sqlite:// must be followed by the path of a file"));
        }
        // Elsewhere a question mark begins parameters: a file of that name would be a surprise.
        if path.contains('?') {
            return Err(wrong("the path after sqlite:// must not contain a question mark; there are no parameters"));
        }
        if path.contains('\0') {
            return Err(wrong("the path after sqlite:// must not contain U+0000"));
        }
        // SQLite would take a relative path such as `file:x` for a URI.
        let path = std::path::absolute(Path::new(path)).map_err(|error| wrong(&format!("its path: {error}")))?;
        Ok(Self::File(path))
    }

    /// Creates the folder of a file if `make_missing` says so, else checks that the file exists.
    pub(crate) fn prepare(&self, make_missing: bool) -> Result<(), OpenError> {
        match self {
            Self::File(path) if make_missing => {
                let folder = path.parent().unwrap_or(path);
                std::fs::create_dir_all(folder)
                    .map_err(|source| OpenError::Folder { folder: folder.display().to_string(), source })
            }
            Self::File(path) if !path.exists() => Err(OpenError::NoFile { database: self.name() }),
            _ => Ok(()),
        }
    }

    /// Whether both URLs name the same database. Two host names of one server count as two.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => one == other || same_file(one, other),
            (Self::Postgres(one), Self::Postgres(other)) => name_of(one) == name_of(other),
            _ => false,
        }
    }

    /// The database's name for messages, without the password.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Memory => "in memory".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Postgres(options) => name_of(options),
        }
    }
}

/// A `PostgreSQL` database's name for messages.
pub(crate) fn name_of(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or_else(|| options.get_username());
    format!("{database:?} at {}:{}", options.get_host(), options.get_port())
}

fn same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Whether a bare `#`, `/` or `?` of the password cuts the URL short, so that the user would be read as the host.
fn has_bare_password(url: &str) -> bool {
    let (before_query, query) = url.split_once('?').unwrap_or((url, ""));
    let (_, rest) = before_query.split_once("://").unwrap_or(("", before_query));
    let (_, path) = rest.split_once('/').unwrap_or((rest, ""));
    // A database may have any name, but after a host an @ in it is more likely a mistake.
    let (first_parameter, _) = query.split_once(['=', '&']).unwrap_or((query, ""));
    let has_user = rest[..rest.len() - path.len()].contains('@');
    url.contains('#') || (!has_user && (path.contains('@') || first_parameter.contains('@')))
}

fn wrong(why: &str) -> OpenError {
    OpenError::Url(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::DatabaseUrl;
    use std::path::Path;

    fn file_of(url: &str) -> std::path::PathBuf {
        match DatabaseUrl::parse(url).unwrap() {
            DatabaseUrl::File(path) => path,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_path_of_a_file_stands_as_it_is() {
        assert_eq!(file_of("sqlite:///srv/a b/100%/%20#1.db"), Path::new("/srv/a b/100%/%20#1.db"));
        assert_eq!(file_of("sqlite://data/x.db"), std::env::current_dir().unwrap().join("data/x.db"));
        assert_eq!(file_of("sqlite:x.db"), std::env::current_dir().unwrap().join("x.db"));
    }

    #[test]
    fn a_file_is_missing_until_it_is_there() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let url = format!("sqlite://{}", file.path().display());
        assert_eq!(super::missing_file(&url), None);
        let path = file.path().to_owned();
        file.close().unwrap();
        assert_eq!(super::missing_file(&url), Some(path));
        for url in ["sqlite::memory:", "postgres://db.example/platen", "unusable"] {
            assert_eq!(super::missing_file(url), None, "{url}");
        }
    }

    #[test]
    fn memory_has_no_file() {
        assert!(matches!(DatabaseUrl::parse("sqlite::memory:").unwrap(), DatabaseUrl::Memory));
        assert!(matches!(DatabaseUrl::parse("sqlite://:memory:").unwrap(), DatabaseUrl::Memory));
    }

    #[test]
    fn what_is_no_database_url_is_refused_and_not_repeated() {
        for url in ["", "mysql://me:secret@here/db", "sqlite://", "sqlite://x.db?mode=rwc", "postgres://me:secret@[/db"]
        {
            let message = DatabaseUrl::parse(url).unwrap_err().to_string();
            assert!(message.starts_with("the database URL can't be used: "), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn a_password_that_breaks_the_url_is_told_to_be_percent_encoded() {
        for url in [
            "postgres://me:se#cret@db/platen",
            "postgres://me:12#cret@db/platen",
            "postgres://me:se/cret@db/platen",
            "postgres://me:12/cret@db/platen",
            "postgres://me:se?cret@db/platen",
            "postgres://me:12?cret@db/platen",
        ] {
            let message = DatabaseUrl::parse(url).unwrap_err().to_string();
            assert!(message.contains("with # / ? @ % in the password written as %23 %2F %3F %40 %25"), "{message}");
            assert!(!message.contains("cret"), "{message}");
        }
        for url in ["postgres://me:se%23c@ret@db/pl%40ten", "postgres://db/platen?password=se@cret", "postgres://db"] {
            assert!(DatabaseUrl::parse(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn a_name_does_not_show_the_password() {
        let url = DatabaseUrl::parse("postgres://me:secret@db.example:5433/platen").unwrap();
        assert_eq!(url.name(), "\"platen\" at db.example:5433");
    }
}
