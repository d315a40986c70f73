//! Call stacks as text, in the forms of many debuggers and run times (decision I4).
//!
//! [`decode`] makes text of bytes, [`parse`] makes threads and frames of text. Every line is looked at once, so the time
//! is proportional to the length of the text.

mod function;
mod ips;
mod lines;
mod model;
mod module;
mod parser;
mod reason;
mod text;

pub use model::{CallStack, Frame, Thread};
pub use parser::parse;
pub use text::{MAX_TEXT, decode, encoding_of};
