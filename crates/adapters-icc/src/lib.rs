//! Platen's reader of ICC colour profiles over the crate `moxcms` (decision I11).
//!
//! `moxcms` refuses the whole profile if one tag is damaged. So this crate reads the header and the table of tags,
//! which have a fixed layout, and gives the library only the tags that a fact needs (ADR 76).

mod gamut;
mod head;
mod names;
mod profile;
mod reader;
mod samples;

pub use profile::facts;
pub use reader::IccReader;
pub use samples::samples;
