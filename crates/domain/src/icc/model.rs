//! The facts of a colour profile. Of a damaged one some are missing.

use crate::timestamp::Timestamp;

/// What a colour profile says, as far as it could be read (decision I11).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProfileFacts {
    /// Such as `4.3`.
    pub version: String,
    /// What the profile describes, such as `Output device`.
    pub class: String,
    /// The colours of the device, such as `CMYK`.
    pub color_space: String,
    /// The colours that it connects the device with, such as `CIELAB`.
    pub connection_space: String,
    pub description: Option<String>,
    /// `None` if it is no date.
    pub created: Option<Timestamp>,
    /// Such as `Perceptual`.
    pub rendering_intent: String,
    /// Bytes of the content.
    pub size: u64,
    /// Bytes that the head says.
    pub declared_size: u64,
    pub tags: Vec<ProfileTag>,
    /// `None` if the profile has no outline in the a*b* plane, or it can't be computed: a problem says why.
    pub gamut: Option<Gamut>,
    /// Sentences about what is wrong with the profile or couldn't be read.
    pub problems: Vec<String>,
}

impl ProfileFacts {
    /// Whether the content has the size that its head says.
    #[must_use]
    pub fn has_declared_size(&self) -> bool {
        self.size == self.declared_size
    }
}

/// An entry of the tag table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileTag {
    /// Four characters, such as `desc`; bytes that are no printable ASCII are `?`.
    pub signature: String,
    /// What the tag holds, such as `Description`; `None` for a private tag.
    pub name: Option<&'static str>,
    /// Bytes from the beginning of the content.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Whether it lies within the content.
    pub is_inside: bool,
}

/// The outline of a gamut in the a*b* plane of CIELAB (D50), and that of sRGB.
#[derive(Debug, Clone, PartialEq)]
pub struct Gamut {
    /// The corners of a closed line around the neutral axis, counter-clockwise from the positive a* axis.
    pub profile: Vec<LabPoint>,
    pub srgb: Vec<LabPoint>,
}

/// A point of the a*b* plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabPoint {
    pub a: f32,
    pub b: f32,
}
