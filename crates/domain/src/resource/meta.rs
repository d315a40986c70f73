//! The metadata of a resource (interface 2.2, decisions T8, T9).

#[cfg(test)]
mod tests;

use crate::error::{Outcome, Reason};
use crate::json::Json;
use crate::resource::ResourceType;
use crate::text::{Folded, is_blank, storable};
use sha2::{Digest, Sha256};

/// The members that are texts and answered under exactly these names (decision T8).
const TEXTS: [&str; 5] = ["Name", "MediaType", "ProfileGroup", "Media", "Mode"];

/// The metadata of a resource, as it is answered and as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Meta.Name, never blank.
    pub name: String,
    /// What the PMM lookup compares; `None` if ProfileGroup, Media or Mode is absent.
    pub pmm: Option<PmmKey>,
    /// The JSON object as it is answered.
    pub json: String,
    /// Equal for two Meta that are the same JSON value (decision T2).
    pub digest: [u8; 32],
}

/// ProfileGroup, Media and Mode, compared without case (decision T20).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PmmKey {
    pub profile_group: Folded,
    pub media: Folded,
    pub mode: Folded,
}

impl Meta {
    /// Reads the member Meta of an add or update.
    ///
    /// # Errors
    /// [`Reason::MetaNameRequired`] and [`Reason::MetaProfileRequired`] (decision T8).
    pub fn read(sent: Option<&Json>, resource_type: &ResourceType) -> Outcome<Self> {
        let Some(Json::Object(members)) = sent else {
            let detail = if sent.is_none() { "Meta is missing" } else { "Meta is not an object" };
            return Err(Reason::MetaNameRequired.because(detail));
        };
        // A `null` counts as absent where a text of ours is meant (decision R5), else it is kept (T8).
        let absent =
            |name: &str, value: &Json| *value == Json::Null && TEXTS.iter().any(|text| text.eq_ignore_ascii_case(name));
        let kept = members.iter().filter(|(name, value)| !absent(name, value));
        let mut meta = Json::Object(kept.map(|(name, value)| (storable(name), storable_value(value))).collect());
        for name in TEXTS {
            adopt_text(&mut meta, name);
        }
        let present = |name: &str| meta.text_member(name).filter(|text| !is_blank(text)).map(str::to_owned);
        let Some(name) = present("Name") else {
            return Err(Reason::MetaNameRequired.because("Meta.Name is missing or blank"));
        };
        if resource_type.is_normal_profile() {
            for name in ["MediaType", "ProfileGroup"] {
                if present(name).is_none() {
                    return Err(Reason::MetaProfileRequired.because(format!("Meta.{name} is missing or blank")));
                }
            }
        }
        if let (None, Some(media_type)) = (meta.member("Media"), meta.text_member("MediaType").map(str::to_owned)) {
            add_media(&mut meta, media_type);
        }
        let text = |name: &str| meta.text_member(name).map(Folded::of);
        let pmm = match (text("ProfileGroup"), text("Media"), text("Mode")) {
            (Some(profile_group), Some(media), Some(mode)) => Some(PmmKey { profile_group, media, mode }),
            _ => None,
        };
        let digest = Sha256::digest(meta.canonical().as_bytes()).into();
        Ok(Self { name, pmm, json: meta.to_string(), digest })
    }
}

/// Answers the text `name` under exactly this name, and a number as its text.
fn adopt_text(meta: &mut Json, name: &str) {
    let Some((place, value)) = meta.member_index(name) else {
        return;
    };
    let Some(text) = value.as_text().map(str::to_owned) else {
        return;
    };
    if let Json::Object(members) = meta {
        members[place] = (name.to_owned(), Json::Text(text));
    }
}

/// MediaType is also answered as Media (decision T9).
fn add_media(meta: &mut Json, media_type: String) {
    if let Json::Object(members) = meta {
        members.push(("Media".to_owned(), Json::Text(media_type)));
    }
}

/// The value with U+0000 replaced in its texts (decision R9).
fn storable_value(value: &Json) -> Json {
    match value {
        Json::Text(text) => Json::Text(storable(text)),
        Json::Array(items) => Json::Array(items.iter().map(storable_value).collect()),
        Json::Object(members) => {
            Json::Object(members.iter().map(|(name, value)| (storable(name), storable_value(value))).collect())
        }
        other => other.clone(),
    }
}
