//! Binary content: the port to where it is kept, and its way in.

mod ledger;
mod maintenance;
mod store;
mod transfer;
mod unsettled;
mod upload;

pub use ledger::{BlobLedger, BlobReference};
pub use maintenance::{BlobMaintenance, CheckReport, Finding, OrphanSweep};
pub use store::{BlobEntry, BlobKey, BlobKind, BlobStore, BlobWriter, ByteStream};
pub use transfer::{ContentTotal, ContentTransfer, Transferred};
pub use upload::Uploads;
pub(crate) use upload::{Upload, Uploaded};

#[cfg(any(test, feature = "test-support"))]
pub use {ledger::MockBlobLedger, store::MockBlobStore, store::MockBlobWriter};
