//! Colour profiles, labels and templates, some of which are replaced later.

use super::fleet::RESOURCES;
use domain::guid::ResourceGuid;
use domain::resource::{MetaMember, MetaText, StoreResourceInput};
use std::fs;
use std::path::Path;

/// Where Debian's package icc-profiles-free has its profiles.
const INSTALLED: &str = "/usr/share/color/icc";

/// Bytes of the largest installed profile that is taken.
const MAX_INSTALLED: u64 = 4 * 1024 * 1024;

/// A resource to store.
#[derive(Clone)]
pub(super) struct Upload {
    pub(super) guid: ResourceGuid,
    resource_type: &'static str,
    domain: &'static str,
    meta: Vec<(MetaText, String)>,
    pub(super) content: Vec<u8>,
}

impl Upload {
    /// What the part JsonString would say.
    pub(super) fn description(&self) -> StoreResourceInput {
        let members = self.meta.iter().map(|(text, value)| MetaMember::Text(*text, value.clone())).collect();
        StoreResourceInput {
            guid: Some(self.guid.to_string()),
            checksum: Some(domain::checksum::Sha1Checksum::of(&self.content).to_string()),
            resource_type: Some(self.resource_type.to_owned()),
            domain: Some(self.domain.to_owned()),
            meta: Some(members),
        }
    }

    /// The version that replaces it.
    pub(super) fn newer(mut self) -> Self {
        // What follows after the end of a profile, a picture or a text changes none of them.
        self.content.push(b'\n');
        self
    }
}

const MEDIA: [&str; 8] = [
    "Backlit Film 220",
    "Frontlit Banner 510",
    "Vinyl Matt 100",
    "Canvas 380",
    "Polyester Flag 110",
    "Acrylic 5 mm",
    "Fine Art Rag 308",
    "Baryta 325",
];

const LABELS: [&str; 8] = [
    "Pallet label",
    "Roll label",
    "Job ticket A6",
    "Shipping label",
    "Sample sticker",
    "Control strip",
    "Logo, coated",
    "Logo, uncoated",
];

/// The uploads of a company.
pub(super) fn uploads(guids: &[ResourceGuid], is_publisher: bool) -> Vec<Upload> {
    let profiles = profiles();
    let upload = |(place, guid): (usize, &ResourceGuid)| {
        let is_public = is_publisher && place.is_multiple_of(3);
        let (resource_type, meta, content) = match place {
            0..8 => {
                let (name, content) = &profiles[(place + if is_publisher { 4 } else { 0 }) % profiles.len()];
                ("NormalProfile", profile_meta(place, name), content.clone())
            }
            8..16 => ("Label", vec![(MetaText::Name, LABELS[place - 8].to_owned())], picture(place)),
            16..21 => {
                let name = format!("Template {}", MEDIA[place - 16]);
                ("Template", vec![(MetaText::Name, name)], template(place))
            }
            _ => {
                let name = format!("Linearization {}", MEDIA[place % 8]);
                ("Generic", vec![(MetaText::Name, name)], format!("LGOROWLENGTH 4\nROWS {place}\n").into_bytes())
            }
        };
        Upload { guid: *guid, resource_type, domain: if is_public { "Public" } else { "Private" }, meta, content }
    };
    guids.iter().take(RESOURCES).enumerate().map(upload).collect()
}

fn profile_meta(place: usize, name: &str) -> Vec<(MetaText, String)> {
    let media = MEDIA[place % MEDIA.len()].to_owned();
    vec![
        (MetaText::Name, format!("{media} – {name}")),
        (MetaText::MediaType, media),
        (MetaText::ProfileGroup, if place < 4 { "Production" } else { "Proof" }.to_owned()),
        (MetaText::Mode, ["8 pass", "12 pass", "16 pass, unidirectional"][place % 3].to_owned()),
    ]
}

fn picture(place: usize) -> Vec<u8> {
    let files: [&[u8]; 2] = [include_bytes!("files/colour_target.png"), include_bytes!("files/banner.png")];
    files[usize::from(place >= 14)].to_vec()
}

fn template(place: usize) -> Vec<u8> {
    let width = 600 + 100 * place;
    format!("<?xml version=\"1.0\"?>\n<template width=\"{width}\" height=\"1000\" unit=\"mm\" bleed=\"3\"/>\n")
        .into_bytes()
}

/// Names and contents of profiles: those that are installed, and those that the program makes. One is cut off, as after
/// a transfer that broke.
fn profiles() -> Vec<(String, Vec<u8>)> {
    let mut profiles: Vec<(String, Vec<u8>)> =
        adapters_icc::samples().into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
    if let Some((_, whole)) = profiles.first() {
        profiles.push(("sRGB, cut off".to_owned(), whole[..whole.len() * 2 / 3].to_vec()));
    }
    for name in ["compatibleWithAdobeRGB1998.icc", "LStar-RGB.icc", "sRGB.icc"] {
        let path = Path::new(INSTALLED).join(name);
        let is_small = fs::metadata(&path).is_ok_and(|found| found.len() <= MAX_INSTALLED);
        if let Some(content) = fs::read(&path).ok().filter(|_| is_small) {
            profiles.insert(1, (name.trim_end_matches(".icc").to_owned(), content));
        }
    }
    profiles
}
