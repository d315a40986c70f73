//! What applying a fleet file did.

use super::{FleetRecord, Secret, SimilarName};
use crate::access::CredentialDigest;

/// A key for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    pub organization: String,
    pub user: String,
    pub mis_key: Secret,
}

impl NewKey {
    /// What is stored of the key.
    #[must_use]
    pub fn digest(&self) -> CredentialDigest {
        self.mis_key.digest()
    }
}

/// What applying a fleet file did that the operator has to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Those of `new_keys` that were registered, in order.
    pub issued: Vec<NewKey>,
    /// Users (organization, name) whose key in the file was not registered, because they have or had
    /// another one.
    pub keys_left_out: Vec<(String, String)>,
    /// Records (organization, record) that were left as they are, because they are retired.
    pub retired: Vec<(String, FleetRecord)>,
    /// Relations (organization, record, target) to retired records: they are registered, and take effect when the target is
    /// brought back.
    pub retired_targets: Vec<(String, FleetRecord, FleetRecord)>,
    /// Computers that took over the hardware hash of a retired one, which has none now: both as [`super::FleetConflict`]
    /// names them.
    pub hashes_taken_over: Vec<(String, String)>,
    /// Organizations and users that are new, and look like others.
    pub similar_names: Vec<SimilarName>,
}
