//! What an ICC colour profile says (decision I11).

mod model;
mod reader;

pub use model::{Gamut, LabPoint, ProfileFacts, ProfileTag};
pub use reader::{MAX_PROFILE_SIZE, ProfileReader, ProfileSource, UnreadProfile, is_profile};

#[cfg(any(test, feature = "test-support"))]
pub use reader::MockProfileReader;
