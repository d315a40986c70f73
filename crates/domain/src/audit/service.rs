//! The use case that lists audit records.

use super::model::{AuditCursor, AuditFilter, AuditRecord};
use super::repository::AuditRepository;
use crate::operator::{Actor, OperatorError};
use crate::page::{Page, PageRequest};
use std::sync::Arc;

/// Lists audit records.
pub struct AuditService {
    audit: Arc<dyn AuditRepository>,
}

impl AuditService {
    #[must_use]
    pub fn new(audit: Arc<dyn AuditRepository>) -> Self {
        Self { audit }
    }

    /// The records that match, the newest first. An admin of one organization sees those of that organization only,
    /// whatever the filter says.
    ///
    /// # Errors
    /// [`OperatorError`]: a viewer.
    pub async fn list(
        &self,
        actor: &Actor,
        filter: AuditFilter,
        asked: PageRequest<AuditCursor>,
    ) -> Result<Page<AuditRecord, AuditCursor>, OperatorError> {
        actor.require_admin()?;
        let filter = AuditFilter { organization: actor.scope.organization().or(filter.organization), ..filter };
        let rows = self.audit.page(&filter, asked.after, asked.rows()).await?;
        Ok(asked.page(rows, AuditRecord::cursor))
    }
}
