//! The three layers (defaults, file, environment) and where each value came from.

use super::keys::{self, KEYS, Key};
use anyhow::{Context, Result, anyhow, bail};
use figment::providers::{Format, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};
use std::ffi::OsString;
use std::path::Path;

/// What the names of our environment variables begin with.
const PREFIX: &str = "PLATEN_";

/// The merged layers.
pub(super) struct Layers(Figment);

/// The value of a key, and where it was set.
pub(super) struct Setting {
    pub(super) key: &'static Key,
    value: Value,
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
        let mut figment = Figment::from(Layer::defaults());
        if let Some(file) = file {
            figment = figment.merge(Layer::file(file)?);
        }
        Ok(Self(figment.merge(Layer::environment(environment)?)))
    }

    /// What is set for the key `name`. An empty text is no value where the key has no default: so
    /// that a later layer can take back what an earlier one set.
    pub(super) fn get(&self, name: &str) -> Option<Setting> {
        let key = keys::find(name)?;
        let value = self.0.find_value(name).ok()?;
        if key.default.is_none() && value.as_str() == Some("") {
            return None;
        }
        let layer = self.0.get_metadata(value.tag()).map_or_else(String::new, |metadata| metadata.name.to_string());
        Some(Setting { key, value, origin: origin(&layer, name) })
    }
}

impl Setting {
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
            Raw::Text(text) => format!("{text:?}"),
            Raw::Number(number) => number,
            Raw::Switch(switch) => switch.to_string(),
            Raw::Other => "the value".to_owned(),
        };
        anyhow!("{}: {shown} is not allowed; allowed is {}", self.origin, self.key.allowed)
    }
}

impl Layer {
    fn defaults() -> Self {
        let mut layer = Self { metadata: Metadata::named("the built-in defaults"), sections: Dict::new() };
        for key in KEYS {
            if let Some((default, (section, name))) = key.default.zip(key.name.split_once('.')) {
                layer.set(section, name, default);
            }
        }
        layer
    }

    fn file(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the configuration {shown}"))?;
        let sections: Dict = Toml::from_str(&text).map_err(|error| not_toml(path, &text, &error))?;
        for (section, keys) in &sections {
            if keys::of_section(section).is_empty() {
                bail!("{}", unknown_section(&format!("{section} in {shown}")));
            }
            let Value::Dict(_, keys) = keys else {
                bail!("{section} in {shown}: not a section; allowed is a table [{section}]");
            };
            for key in keys.keys() {
                refuse_unknown(section, key, |name| format!("{name} in {shown}"))?;
            }
        }
        Ok(Self { metadata: Metadata::named(shown.to_string()), sections })
    }

    /// The variables `PLATEN_<SECTION>__<KEY>`. Others that begin with `PLATEN_` are ignored:
    /// orchestrators set their own, such as `PLATEN_PORT`.
    fn environment(variables: impl Iterator<Item = (OsString, OsString)>) -> Result<Self> {
        let mut layer = Self { metadata: Metadata::named(ENVIRONMENT), sections: Dict::new() };
        for (variable, value) in variables {
            let name = variable.to_str().and_then(|name| name.strip_prefix(PREFIX));
            let Some((section, key)) = name.and_then(|name| name.split_once("__")) else {
                continue;
            };
            let (section, key) = (section.to_lowercase(), key.to_lowercase());
            refuse_unknown(&section, &key, |name| origin(ENVIRONMENT, name))?;
            let Ok(value) = value.into_string() else {
                bail!("{}: the value is not UTF-8 text", origin(ENVIRONMENT, &format!("{section}.{key}")));
            };
            layer.set(&section, &key, &value);
        }
        Ok(layer)
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

const ENVIRONMENT: &str = "the environment";

/// A key and where it was set, as errors begin.
fn origin(layer: &str, name: &str) -> String {
    if layer == ENVIRONMENT {
        let variable = name.to_uppercase().replacen('.', "__", 1);
        return format!("{name} in the environment ({PREFIX}{variable})");
    }
    format!("{name} in {layer}")
}

fn refuse_unknown(section: &str, key: &str, origin: impl Fn(&str) -> String) -> Result<()> {
    let origin = origin(&format!("{section}.{key}"));
    let known = keys::of_section(section);
    if known.is_empty() {
        bail!("{}", unknown_section(&origin));
    }
    if !known.contains(&key) {
        bail!("{origin}: unknown key; section {section} allows {}", known.join(", "));
    }
    Ok(())
}

fn unknown_section(origin: &str) -> String {
    format!("{origin}: unknown section; allowed are {}", keys::sections().join(", "))
}

/// The place and the reason, without the line itself, which may hold a secret.
fn not_toml(path: &Path, text: &str, error: &<Toml as Format>::Error) -> anyhow::Error {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    anyhow!("{} is not valid TOML: line {line}: {message}", path.display())
}
