//! What is fuzzed: one function for each target. It takes any bytes, hands them to what reads requests, and asserts
//! what must hold whatever they are. `scripts/fuzz` looks for bytes for which it doesn't.

mod bench;
mod crash_reports;
mod heads;
mod jsons;
mod texts;
mod uploads;

pub use crash_reports::crash_report;
pub use heads::headers;
pub use jsons::json;
pub use texts::text;
pub use uploads::upload;

/// The first byte of an input, and the others.
fn split_first(input: &[u8]) -> (usize, &[u8]) {
    input.split_first().map_or((0, input), |(&first, rest)| (first.into(), rest))
}
