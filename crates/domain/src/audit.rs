//! Audit records: who changed what, and who signed in (decision P9).

mod model;
mod repository;
mod service;

pub use model::{
    AuditAction, AuditCursor, AuditFilter, AuditRecord, AuditedScope, AuditedValue, Author, AuthorCredential,
    NewAuditRecord,
};
pub use repository::AuditRepository;
pub use service::AuditService;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockAuditRepository;
