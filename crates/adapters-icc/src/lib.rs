//! Platen's reader of ICC colour profiles over the crate `moxcms` (decision I11).
//!
//! `moxcms` refuses a profile as a whole if one tag is damaged. So the head and the table of tags, which have a fixed
//! layout, are read here, and the library is given the tags that a fact needs and no others (ADR 76).

mod gamut;
mod head;
mod names;
mod profile;
mod reader;
mod samples;

pub use profile::facts;
pub use reader::IccReader;
pub use samples::samples;
