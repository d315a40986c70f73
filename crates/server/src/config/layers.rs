//! The three layers (defaults, file, environment) and where each value came from.

use super::keys::{self, KEYS, Key};
use anyhow::{Context, Result, anyhow, bail};
use figment::providers::{Format, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use toml_edit::{ImDocument, TableLike};

/// What the names of our environment variables begin with.
const PREFIX: &str = "PLATEN_";

/// Letters by which a name may differ from that of a key and still be taken for it. What orchestrators set for
/// a service (`PLATEN_HTTP_PORT`, `PLATEN_OPS_SERVICE_HOST`) differs by more.
const MISSPELT: usize = 2;

/// The merged layers.
pub(crate) struct Layers {
    values: Figment,
    /// The folder of the file; empty for the current folder.
    pub(super) folder: PathBuf,
    /// The lines on which the file sets its keys.
    lines: BTreeMap<String, usize>,
    misnamed: Vec<Misnamed>,
}

/// A variable that is ignored, since its name has no `__`, and that looks as if it was meant for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misnamed {
    variable: String,
    /// The variable that counts.
    meant: String,
}

impl fmt::Display for Misnamed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} in the environment is ignored; was {} meant?", self.variable, self.meant)
    }
}

/// The value of a key, and where it was set.
pub(super) struct Setting {
    pub(super) key: &'static Key,
    value: Value,
    /// Such as `platen.toml line 3`.
    origin: String,
}

/// A value as its layer wrote it. The environment knows text only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Raw<'a> {
    Text(&'a str),
    Number(String),
    Switch(bool),
    /// A list, a table, a date: no key takes one.
    Other,
}

/// One layer, its keys known to exist.
struct Layer {
    metadata: Metadata,
    sections: Dict,
}

impl Layers {
    /// The defaults, then the file if there is one, then the environment; the later wins.
    pub(super) fn read(file: Option<&Path>, environment: impl Iterator<Item = (OsString, OsString)>) -> Result<Self> {
        let mut values = Figment::from(Layer::defaults());
        let mut lines = BTreeMap::new();
        if let Some(file) = file {
            let (layer, of_keys) = Layer::file(file)?;
            (values, lines) = (values.merge(layer), of_keys);
        }
        let (layer, misnamed) = Layer::environment(environment)?;
        let folder = file.and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
        Ok(Self { values: values.merge(layer), folder, lines, misnamed })
    }

    /// The variables of which the operator should know that they are ignored.
    pub(crate) fn misnamed(&self) -> &[Misnamed] {
        &self.misnamed
    }

    /// What is set for the key `name`. An empty text is no value where the key has no default: so
    /// that a later layer can take back what an earlier one set.
    pub(super) fn get(&self, name: &str) -> Option<Setting> {
        let key = keys::find(name)?;
        let value = self.values.find_value(name).ok()?;
        if key.default.is_none() && value.as_str() == Some("") {
            return None;
        }
        let origin = match self.layer_of(&value) {
            ENVIRONMENT => environment_origin(name),
            DEFAULTS => DEFAULTS.to_owned(),
            file => file_origin(file, self.lines.get(name)),
        };
        Some(Setting { key, value, origin })
    }

    /// A path that is set for the key `name`. One that the file sets is relative to the folder of that file.
    pub(super) fn resolve(&self, name: &str, path: PathBuf) -> PathBuf {
        match self.values.find_value(name) {
            Ok(value) if ![ENVIRONMENT, DEFAULTS].contains(&self.layer_of(&value)) => self.folder.join(path),
            _ => path,
        }
    }

    fn layer_of(&self, value: &Value) -> &str {
        self.values.get_metadata(value.tag()).map_or("", |metadata| &metadata.name)
    }
}

impl Setting {
    /// Where the value was set.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// The value as it was written.
    pub(super) fn raw(&self) -> Raw<'_> {
        match &self.value {
            Value::String(_, text) => Raw::Text(text),
            Value::Bool(_, switch) => Raw::Switch(*switch),
            Value::Num(_, number) => match (number.to_i128(), number.to_f64()) {
                (Some(whole), _) => Raw::Number(whole.to_string()),
                (None, Some(fraction)) => Raw::Number(fraction.to_string()),
                (None, None) => Raw::Other,
            },
            _ => Raw::Other,
        }
    }

    /// The error for a value that the key doesn't allow.
    pub(super) fn refused(&self) -> anyhow::Error {
        let shown = match self.raw() {
            _ if self.key.secret => "the value".to_owned(),
            // It may be a URL with a password.
            Raw::Text(text) if text.contains(['@', '?', '#']) => "the value".to_owned(),
            Raw::Text(text) => format!("{text:?}"),
            Raw::Number(number) => number,
            Raw::Switch(switch) => switch.to_string(),
            Raw::Other => "the value".to_owned(),
        };
        anyhow!("{} in {}: {shown} is not allowed; allowed is {}", self.key.name, self.origin, self.key.allowed)
    }
}

impl Layer {
    fn defaults() -> Self {
        let mut layer = Self { metadata: Metadata::named(DEFAULTS), sections: Dict::new() };
        for key in KEYS {
            if let Some((default, (section, name))) = key.default.zip(key.name.split_once('.')) {
                layer.set(section, name, default);
            }
        }
        layer
    }

    /// The file, and the lines on which it sets its keys.
    fn file(path: &Path) -> Result<(Self, BTreeMap<String, usize>)> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| unreadable(path))?;
        let sections: Dict = Toml::from_str(&text).map_err(|error| not_toml(path, &text, &error))?;
        let lines = lines(&text);
        let place = |name: &str| format!("{name} in {}", file_origin(&shown, lines.get(name)));
        for (section, keys) in &sections {
            if keys::of_section(section).is_empty() {
                let meant = if keys.as_dict().is_some() { Vec::new() } else { keys::called(section) };
                let hint =
                    if meant.is_empty() { String::new() } else { format!("; was {} meant?", meant.join(" or ")) };
                bail!("{}{hint}", unknown_section(&place(section)));
            }
            let Value::Dict(_, keys) = keys else {
                bail!("{}: not a section; allowed is a table [{section}]", place(section));
            };
            for key in keys.keys() {
                refuse_unknown(section, key, place)?;
            }
        }
        Ok((Self { metadata: Metadata::named(shown), sections }, lines))
    }

    /// The variables `PLATEN_<SECTION>__<KEY>`. Others that begin with `PLATEN_` are ignored:
    /// orchestrators set their own, such as `PLATEN_PORT`. Those that resemble a key are returned.
    fn environment(variables: impl Iterator<Item = (OsString, OsString)>) -> Result<(Self, Vec<Misnamed>)> {
        let mut layer = Self { metadata: Metadata::named(ENVIRONMENT), sections: Dict::new() };
        let mut misnamed = Vec::new();
        for (variable, value) in variables {
            let Some(name) = variable.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
                continue;
            };
            let Some((section, key)) = name.split_once("__") else {
                misnamed.extend(misnamed_as(name));
                continue;
            };
            let (section, key) = (section.to_lowercase(), key.to_lowercase());
            let place = |name: &str| format!("{name} in {}", environment_origin(name));
            refuse_unknown(&section, &key, place)?;
            let Ok(value) = value.into_string() else {
                bail!("{}: the value is not UTF-8 text", place(&format!("{section}.{key}")));
            };
            layer.set(&section, &key, &value);
        }
        Ok((layer, misnamed))
    }

    fn set(&mut self, section: &str, key: &str, value: &str) {
        let keys = self.sections.entry(section.to_owned()).or_insert_with(|| Value::from(Dict::new()));
        if let Value::Dict(_, keys) = keys {
            keys.insert(key.to_owned(), Value::from(value));
        }
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn data(&self) -> figment::Result<Map<Profile, Dict>> {
        Ok(Profile::Default.collect(self.sections.clone()))
    }
}

/// The error for a file that can't be read. Under `/etc` it belongs to the user that serves.
pub(super) fn unreadable(file: &Path) -> String {
    let hint = if file.starts_with("/etc") { " (try sudo -u platen platen …)" } else { "" };
    format!("cannot read the configuration {}{hint}", file.display())
}

const DEFAULTS: &str = "the built-in defaults";
const ENVIRONMENT: &str = "the environment";

fn environment_origin(name: &str) -> String {
    format!("{ENVIRONMENT} ({})", variable_of(name))
}

/// The variable that sets a key.
fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.to_uppercase().replacen('.', "__", 1))
}

/// The key that an ignored variable resembles, `name` being what follows the prefix.
fn misnamed_as(name: &str) -> Option<Misnamed> {
    let written = name.to_lowercase();
    let distance = |key: &&Key| strsim::osa_distance(&written, &key.name.replace('.', "_"));
    let nearest = KEYS.iter().min_by_key(distance).filter(|key| distance(key) <= MISSPELT)?;
    Some(Misnamed { variable: format!("{PREFIX}{name}"), meant: variable_of(nearest.name) })
}

fn file_origin(file: &str, line: Option<&usize>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file} line {line}"))
}

/// The lines of the sections and keys of a TOML document, counted from 1.
fn lines(text: &str) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    // What is no TOML has no keys; that it isn't is told elsewhere.
    let Ok(document) = ImDocument::parse(text) else {
        return lines;
    };
    note_lines(text, "", document.as_table(), &mut lines);
    lines
}

fn note_lines(text: &str, before: &str, table: &dyn TableLike, lines: &mut BTreeMap<String, usize>) {
    for (name, item) in table.iter() {
        let start = table.get_key_value(name).and_then(|(key, _)| key.span()).map(|span| span.start);
        if let Some(before_key) = start.and_then(|start| text.get(..start)) {
            lines.insert(format!("{before}{name}"), before_key.matches('\n').count() + 1);
        }
        if let Some(table) = item.as_table_like().filter(|_| before.is_empty()) {
            note_lines(text, &format!("{name}."), table, lines);
        }
    }
}

fn refuse_unknown(section: &str, key: &str, place: impl Fn(&str) -> String) -> Result<()> {
    let place = place(&format!("{section}.{key}"));
    let known = keys::of_section(section);
    if known.is_empty() {
        bail!("{}", unknown_section(&place));
    }
    if !known.contains(&key) {
        bail!("{place}: unknown key; section {section} allows {}", known.join(", "));
    }
    Ok(())
}

fn unknown_section(place: &str) -> String {
    format!("{place}: unknown section; allowed are {}", keys::sections().join(", "))
}

/// The place and the reason, without the line itself, which may hold a secret.
fn not_toml(path: &Path, text: &str, error: &<Toml as Format>::Error) -> anyhow::Error {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    anyhow!("{} is not valid TOML: line {line}: {message}", path.display())
}
