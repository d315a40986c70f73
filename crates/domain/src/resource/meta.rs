//! The metadata of a resource (interface 2.2, decisions T8, T9).

#[cfg(test)]
mod tests;

use super::json_value::{canonical, to_json};
use super::model::{Meta, PmmKey, ResourceType};
use crate::error::{Outcome, Reason};
use crate::text::{Folded, is_blank, storable};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The members of Meta that are texts, answered under exactly these names (decision T8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaText {
    Name,
    MediaType,
    ProfileGroup,
    Media,
    Mode,
}

impl MetaText {
    pub const ALL: [Self; 5] = [Self::Name, Self::MediaType, Self::ProfileGroup, Self::Media, Self::Mode];

    /// The interface's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "Name",
            Self::MediaType => "MediaType",
            Self::ProfileGroup => "ProfileGroup",
            Self::Media => "Media",
            Self::Mode => "Mode",
        }
    }
}

/// A member of Meta.
#[derive(Debug, Clone)]
pub enum MetaMember {
    Text(MetaText, String),
    /// A member of another name or type: its name, and its value as the JSON text that was sent.
    Further(String, Box<RawValue>),
}

impl MetaMember {
    fn name(&self) -> &str {
        match self {
            Self::Text(text, _) => text.as_str(),
            Self::Further(name, _) => name,
        }
    }

    /// The value as JSON, U+0000 replaced (decision R9).
    fn value(&self) -> String {
        match self {
            Self::Text(_, text) => to_json(&storable(text)),
            Self::Further(_, json) => json.get().to_owned(),
        }
    }
}

impl Meta {
    /// Members in the order in which they are answered, each text once.
    ///
    /// # Errors
    /// [`Reason::MetaNameRequired`] and [`Reason::MetaProfileRequired`] (decision T8).
    pub fn new(mut members: Vec<MetaMember>, resource_type: &ResourceType) -> Outcome<Self> {
        let Some(name) = find(&members, MetaText::Name).filter(|name| !is_blank(name)) else {
            return Err(Reason::MetaNameRequired.because("Meta.Name is missing or blank"));
        };
        if resource_type.is_normal_profile() {
            for text in [MetaText::MediaType, MetaText::ProfileGroup] {
                if find(&members, text).is_none_or(|text| is_blank(&text)) {
                    return Err(
                        Reason::MetaProfileRequired.because(format!("Meta.{} is missing or blank", text.as_str()))
                    );
                }
            }
        }
        // MediaType is also answered as Media (decision T9).
        let has_media = members.iter().any(|member| member.name().eq_ignore_ascii_case(MetaText::Media.as_str()));
        if let (false, Some(media_type)) = (has_media, find(&members, MetaText::MediaType)) {
            members.push(MetaMember::Text(MetaText::Media, media_type));
        }
        let folded = |text| find(&members, text).map(|text| Folded::of(&text));
        let pmm = match (folded(MetaText::ProfileGroup), folded(MetaText::Media), folded(MetaText::Mode)) {
            (Some(profile_group), Some(media), Some(mode)) => Some(PmmKey { profile_group, media, mode }),
            _ => None,
        };
        let written = members.iter().map(|member| format!("{}:{}", to_json(&storable(member.name())), member.value()));
        let json = format!("{{{}}}", written.collect::<Vec<_>>().join(","));
        Ok(Self { name, pmm, json })
    }

    /// The members as text, sorted by name: a string as it is, any other value as JSON. Of members with the same name
    /// the last one counts.
    #[must_use]
    pub fn members(&self) -> Vec<(String, String)> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(&self.json).unwrap_or_default();
        let shown = |value: &RawValue| {
            let json = value.get();
            serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned())
        };
        members.into_iter().map(|(name, value)| (name, shown(value))).collect()
    }

    /// Whether both are the same JSON value: the order of members and the spelling of numbers don't count (decision T2).
    #[must_use]
    pub fn is_same_value(&self, other: &Self) -> bool {
        canonical(&self.json) == canonical(&other.json)
    }
}

/// The text as it is stored (decision R9).
fn find(members: &[MetaMember], wanted: MetaText) -> Option<String> {
    members.iter().find_map(|member| match member {
        MetaMember::Text(text, value) if *text == wanted => Some(storable(value)),
        _ => None,
    })
}
