//! `GET /resources`, one resource, its content, who has it, and what its colour profile says.

mod body;
mod list;
mod profile;
mod show;

pub(crate) use list::list;
pub(crate) use profile::icc;
pub(crate) use show::{HolderState, content, holders, show};

pub(crate) use list::__path_list;
pub(crate) use profile::__path_icc;
pub(crate) use show::{__path_content, __path_holders, __path_show};
