//! The configuration as it counts, key by key, to be shown: secrets are masked.

use super::cores;
use super::keys::{KEYS, Key};
use super::layers::{Layers, Setting};
use super::values::{self, Value};

/// What stands for a secret.
const MASK: &str = "***";

/// A key, its value, and where that was set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Effective {
    /// `section.key`.
    pub(crate) name: &'static str,
    /// As the layer wrote it, masked where it is secret; `None` where nothing is set.
    pub(crate) value: Option<String>,
    /// Whether the value stands without quotation marks in a TOML file.
    pub(crate) bare: bool,
    /// The layer, with the line of a file or the name of a variable.
    pub(crate) origin: String,
}

/// All keys, in the order of the sections.
pub(crate) fn effective(layers: &Layers) -> Vec<Effective> {
    KEYS.iter().map(|key| of_key(layers, key)).collect()
}

fn of_key(layers: &Layers, key: &'static Key) -> Effective {
    let name = key.name;
    match layers.get(name) {
        Some(Setting { value: Value { text, is_bare }, origin, .. }) => {
            let (value, bare) = if key.secret { (masked(name, text), false) } else { (text.clone(), *is_bare) };
            Effective { name, value: Some(value), bare, origin: origin.clone() }
        }
        None if name == "http.workers" => {
            let origin = "the number of cores".to_owned();
            Effective { name, value: Some(cores().to_string()), bare: true, origin }
        }
        None => Effective { name, value: None, bare: false, origin: "not set".to_owned() },
    }
}

/// Of a database's URL everything may be shown but the password and the parameters, which may hold one.
fn masked(name: &str, text: &str) -> String {
    let shown = if name == "database.url" { values::without_password(text, MASK) } else { None };
    shown.unwrap_or_else(|| MASK.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::ffi::OsString;

    /// What is shown of the layers that these make, in the order of [`KEYS`].
    fn shown(file: &str, variables: &[(&str, &str)]) -> Vec<Effective> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.toml");
        std::fs::write(&path, file).unwrap();
        let variables = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let layers = Layers::read(Some(&path), variables).unwrap();
        Config::of(&layers).unwrap();
        let mut shown = effective(&layers);
        let folder = format!("{}/", folder.path().display());
        for key in &mut shown {
            key.origin = key.origin.replace(&folder, "");
        }
        shown
    }

    fn of<'a>(shown: &'a [Effective], name: &str) -> (Option<&'a str>, &'a str) {
        let key = shown.iter().find(|key| key.name == name).unwrap();
        (key.value.as_deref(), &key.origin)
    }

    #[test]
    fn every_key_is_shown_with_the_layer_that_won() {
        let file = "# ours\n[http]\nworkers = 3\nbase_path = '/a'\n\n[limits]\nmax_json_size = '2MiB'\n";
        let shown = shown(file, &[("PLATEN_HTTP__BASE_PATH", "/b"), ("PLATEN_OPS__BIND_FILE", "")]);
        let names: Vec<_> = shown.iter().map(|key| key.name).collect();
        let keys: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names, keys);
        assert_eq!(of(&shown, "http.bind"), (Some("127.0.0.1:8080"), "the built-in defaults"));
        assert_eq!(of(&shown, "http.workers"), (Some("3"), "test.toml line 3"));
        assert_eq!(of(&shown, "http.base_path"), (Some("/b"), "the environment (PLATEN_HTTP__BASE_PATH)"));
        assert_eq!(of(&shown, "limits.max_json_size"), (Some("2MiB"), "test.toml line 7"));
        assert_eq!(of(&shown, "ops.bind_file"), (None, "not set"));
    }

    #[test]
    fn what_is_computed_is_shown_as_it_is_computed() {
        let shown = shown("", &[]);
        assert_eq!(of(&shown, "http.workers"), (Some(cores().to_string().as_str()), "the number of cores"));
        assert_eq!(of(&shown, "log.format"), (None, "not set"));
    }

    #[test]
    fn secrets_are_masked_and_the_rest_of_a_url_is_shown() {
        let file = "database.url = 'postgres://u:hunter2@db:5433/platen?sslkey=hunter2'\n\
                    blobs = { kind = 's3', bucket = 'b', access_key_id = 'hunter2', secret_access_key = 'hunter2' }";
        let shown = shown(file, &[]);
        assert_eq!(of(&shown, "database.url"), (Some("postgres://u:***@db:5433/platen?***"), "test.toml line 1"));
        assert_eq!(of(&shown, "blobs.access_key_id"), (Some("***"), "test.toml line 2"));
        assert_eq!(of(&shown, "blobs.secret_access_key"), (Some("***"), "test.toml line 2"));
        assert!(!format!("{shown:?}").contains("hunter2"), "{shown:?}");
    }

    #[test]
    fn no_form_of_a_url_shows_its_password() {
        for (url, message) in [
            ("sqlite://data/platen.db", "sqlite://data/platen.db"),
            ("sqlite::memory:", "sqlite::memory:"),
            ("sqlite:///srv/platen.db?mode=rwc", "sqlite:///srv/platen.db?***"),
            ("postgres://db/platen", "postgres://db/platen"),
            ("postgres://u@db/platen", "postgres://u@db/platen"),
            ("postgres://:hunter2@db/platen", "postgres://:***@db/platen"),
            ("postgresql://u:h%40nter2@db", "postgresql://u:***@db"),
            ("postgres://db/platen?password=hunter2", "postgres://db/platen?***"),
            ("postgres://u:hunter2@/platen", "***"),
            ("postgres://u:hun ter2@d b/platen", "***"),
        ] {
            assert_eq!(masked("database.url", url), message, "{url}");
        }
    }
}
