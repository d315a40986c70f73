//! Audit records in memory.

use super::InMemoryStore;
use crate::audit::{AuditCursor, AuditFilter, AuditRecord, AuditRepository, AuditedScope, NewAuditRecord};
use crate::error::StoreError;
use crate::text::Folded;
use async_trait::async_trait;
use std::cmp::Reverse;

#[async_trait]
impl AuditRepository for InMemoryStore {
    async fn add(&self, record: &NewAuditRecord) -> Result<(), StoreError> {
        self.working()?.record(record.clone());
        Ok(())
    }

    async fn page(
        &self,
        filter: &AuditFilter,
        after: Option<AuditCursor>,
        limit: u64,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let state = self.working()?;
        let fits = |of: Option<crate::caller::OrganizationId>, one: &AuditRecord| {
            let record = &one.record;
            filter.organization.is_none_or(|wanted| of == Some(wanted))
                && filter.who.as_ref().is_none_or(|who| Folded::of(&record.author.name) == *who)
                && filter.what.is_none_or(|what| record.action == what)
                && filter.from.is_none_or(|from| record.at >= from)
                && filter.to.is_none_or(|to| record.at <= to)
                && after.is_none_or(|after| one.cursor() < after)
        };
        let records = state.operators.records.iter().filter(|(of, one)| fits(*of, one));
        let mut found: Vec<AuditRecord> = records
            .map(|(of, one)| {
                let scope = of.map_or(AuditedScope::All, AuditedScope::Organization);
                let record = NewAuditRecord { scope, ..one.record.clone() };
                AuditRecord { id: one.id, organization: of.map(|id| state.fleet.organization_name(id)), record }
            })
            .collect();
        found.sort_by_key(|one| Reverse(one.cursor()));
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }
}
