//! The layers (defaults, file, environment), merged key by key: the later one wins.

use super::keys::{self, KEYS, Key};
use super::values::{self, Value};
use anyhow::{Context, Result, anyhow, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use toml_edit::{ImDocument, TableLike, TomlError};

/// The prefix of our environment variables.
const PREFIX: &str = "PLATEN_";

/// Letters by which a name may differ from that of a key and still be taken for it. What orchestrators set for
/// a service (`PLATEN_HTTP_PORT`, `PLATEN_OPS_SERVICE_HOST`) differs by more.
const MISSPELT: usize = 2;

/// What is set for each key.
#[derive(Default)]
pub(crate) struct Layers {
    settings: BTreeMap<&'static str, Setting>,
    /// The folder of the file; empty for the current folder.
    pub(super) folder: PathBuf,
    misnamed: Vec<MisnamedVariable>,
}

/// A variable that is ignored, since its name has no `__`, and that looks as if it was meant for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MisnamedVariable {
    name: String,
    /// The variable that counts.
    meant: String,
}

impl fmt::Display for MisnamedVariable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} in the environment is ignored; was {} meant?", self.name, self.meant)
    }
}

/// The value of a key, and where it was set.
pub(super) struct Setting {
    pub(super) key: &'static Key,
    pub(super) value: Value,
    /// Such as `platen.toml line 3`.
    pub(super) origin: String,
    is_in_file: bool,
}

impl Layers {
    /// The defaults, then the file if there is one, then the environment.
    pub(super) fn read(file: Option<&Path>, environment: impl Iterator<Item = (OsString, OsString)>) -> Result<Self> {
        let mut layers = Self::default();
        for key in KEYS {
            if let Some(default) = key.default {
                layers.set(key, Value::text(default), DEFAULTS.to_owned(), false);
            }
        }
        if let Some(file) = file {
            layers.add_file(file)?;
        }
        layers.add_environment(environment)?;
        Ok(layers)
    }

    /// The variables of which the operator should know that they are ignored.
    pub(crate) fn misnamed(&self) -> &[MisnamedVariable] {
        &self.misnamed
    }

    /// What is set for a key. An empty text is no value where the key has no default, so that a later layer can take
    /// back what an earlier one set.
    pub(super) fn get(&self, name: &str) -> Option<&Setting> {
        let is_set = |setting: &&Setting| setting.key.default.is_some() || !setting.value.text.is_empty();
        self.settings.get(name).filter(is_set)
    }

    /// The value of a key, if it is set.
    pub(super) fn optional<T>(&self, name: &str, parse: impl Fn(&Value) -> Option<T>) -> Result<Option<T>> {
        let parse = |setting: &Setting| parse(&setting.value).ok_or_else(|| setting.refused());
        self.get(name).map(parse).transpose()
    }

    /// The value of a key that must be set.
    pub(super) fn required<T>(&self, name: &str, parse: impl Fn(&Value) -> Option<T>) -> Result<T> {
        self.optional(name, parse)?.ok_or_else(|| not_set(name))
    }

    /// The values of two keys that are set together or not at all.
    pub(super) fn pair<T>(&self, names: [&str; 2], parse: impl Fn(&Value) -> Option<T>) -> Result<Option<[T; 2]>> {
        match (self.optional(names[0], &parse)?, self.optional(names[1], &parse)?) {
            (Some(one), Some(other)) => Ok(Some([one, other])),
            (None, None) => Ok(None),
            (Some(_), None) => Err(not_set(names[1])),
            (None, Some(_)) => Err(not_set(names[0])),
        }
    }

    /// The path of a key, if it is set.
    pub(super) fn path(&self, name: &str) -> Result<Option<PathBuf>> {
        Ok(self.optional(name, values::path)?.map(|path| self.resolve(name, path)))
    }

    /// A path that is set for a key. One that the file sets is relative to the folder of that file.
    pub(super) fn resolve(&self, name: &str, path: PathBuf) -> PathBuf {
        let is_in_file = self.settings.get(name).is_some_and(|setting| setting.is_in_file);
        if is_in_file { self.folder.join(path) } else { path }
    }

    fn set(&mut self, key: &'static Key, value: Value, origin: String, is_in_file: bool) {
        self.settings.insert(key.name, Setting { key, value, origin, is_in_file });
    }

    fn add_file(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path).with_context(|| unreadable(path))?;
        let document = ImDocument::parse(text.as_str()).map_err(|error| not_toml(path, &text, &error))?;
        path.parent().unwrap_or(Path::new("")).clone_into(&mut self.folder);
        let origin = |table: &dyn TableLike, name: &str| {
            let span = table.get_key_value(name).and_then(|(key, _)| key.span());
            let line = span.map(|span| format!(" line {}", line_at(&text, span.start)));
            format!("{}{}", path.display(), line.unwrap_or_default())
        };
        for (section, item) in document.iter() {
            let place = format!("{section} in {}", origin(document.as_table(), section));
            let keys = item.as_table_like();
            let meant = if keys.is_some() { String::new() } else { keys::meant_by(section) };
            keys::of_section(section).map_err(|unknown| anyhow!("{place}: {unknown}{meant}"))?;
            let Some(keys) = keys else {
                bail!("{place}: not a section; allowed is a table [{section}]");
            };
            for (name, item) in keys.iter() {
                let origin = origin(keys, name);
                let key =
                    keys::find(section, name).map_err(|unknown| anyhow!("{section}.{name} in {origin}: {unknown}"));
                self.set(key?, Value::of(item), origin, true);
            }
        }
        Ok(())
    }

    /// The variables `PLATEN_<SECTION>__<KEY>`. Others that begin with `PLATEN_` are ignored: orchestrators set their
    /// own, such as `PLATEN_PORT`.
    fn add_environment(&mut self, variables: impl Iterator<Item = (OsString, OsString)>) -> Result<()> {
        for (variable, value) in variables {
            let Some(name) = variable.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
                continue;
            };
            let Some((section, key)) = name.split_once("__") else {
                self.misnamed.extend(misnamed(name));
                continue;
            };
            let name = format!("{section}.{key}").to_lowercase();
            let origin = format!("the environment ({})", variable_of(&name));
            let key = keys::find(&section.to_lowercase(), &key.to_lowercase());
            let key = key.map_err(|unknown| anyhow!("{name} in {origin}: {unknown}"))?;
            let Ok(value) = value.into_string() else {
                bail!("{name} in {origin}: the value is not UTF-8 text");
            };
            self.set(key, Value::text(value), origin, false);
        }
        Ok(())
    }
}

impl Setting {
    /// The error for a value that the key doesn't allow. A value that may hold a password isn't repeated.
    pub(super) fn refused(&self) -> anyhow::Error {
        let Self { key, value: Value { text, is_bare }, origin, .. } = self;
        let shown = match is_bare {
            _ if key.secret || text.contains(['@', '?', '#']) => "the value".to_owned(),
            true => text.clone(),
            false => format!("{text:?}"),
        };
        anyhow!("{} in {origin}: {shown} is not allowed; allowed is {}", key.name, key.allowed)
    }
}

fn not_set(name: &str) -> anyhow::Error {
    anyhow!("{name} is not set; allowed is {}", keys::named(name).map_or("a value", |key| key.allowed))
}

/// The error for a file that can't be read. Under `/etc` it belongs to the user that serves.
pub(super) fn unreadable(file: &Path) -> String {
    let hint = if file.starts_with("/etc") { " (try sudo -u platen platen …)" } else { "" };
    format!("cannot read the configuration {}{hint}", file.display())
}

const DEFAULTS: &str = "the built-in defaults";

/// The variable that sets a key.
fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.to_uppercase().replacen('.', "__", 1))
}

/// The key that an ignored variable resembles, `name` being what follows the prefix.
fn misnamed(name: &str) -> Option<MisnamedVariable> {
    let written = name.to_lowercase();
    let distance = |key: &&Key| strsim::osa_distance(&written, &key.name.replace('.', "_"));
    let nearest = KEYS.iter().min_by_key(distance).filter(|key| distance(key) <= MISSPELT)?;
    Some(MisnamedVariable { name: format!("{PREFIX}{name}"), meant: variable_of(nearest.name) })
}

/// The line of a byte of a text, counted from 1.
fn line_at(text: &str, position: usize) -> usize {
    text.bytes().take(position).filter(|byte| *byte == b'\n').count() + 1
}

/// The place and the reason, without the line itself, which may hold a secret.
fn not_toml(path: &Path, text: &str, error: &TomlError) -> anyhow::Error {
    let line = line_at(text, error.span().map_or(0, |span| span.start));
    let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    anyhow!("{} is not valid TOML: line {line}: {message}", path.display())
}
