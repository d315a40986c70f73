//! The audit records of changes of the fleet (decision P9).

use super::{ChangedRecord, Fleet, FleetRecord, KeyId, NewKey, Preview};
use crate::audit::{AuditAction, AuditedScope, AuditedValue, Author, NewAuditRecord};
use crate::timestamp::Timestamp;

/// Values of one audit record, at most: a fleet file may name a hundred thousand records.
const MAX_VALUES: usize = 200;

/// Who changes the fleet, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetAuthor {
    pub author: Author,
    pub at: Timestamp,
}

impl FleetAuthor {
    /// The records of a fleet file that was applied: one for each organization of which something changed.
    #[must_use]
    pub fn applied(&self, fleet: &Fleet, preview: &Preview) -> Vec<NewAuditRecord> {
        let of_organization = fleet.organizations.iter().filter_map(|organization| {
            let alone = Fleet { organizations: vec![organization.clone()] };
            let changes = preview.changes(&alone);
            let mut values: Vec<AuditedValue> =
                changes.added.into_iter().map(|record| AuditedValue::added(record, "added")).collect();
            values.extend(changes.changed.iter().flat_map(changed));
            let issued = preview.applied.issued.iter().filter(|key| key.organization == organization.name);
            let member = |key: &NewKey| format!("MisKey of user \"{}\"", key.user);
            values.extend(issued.map(|key| AuditedValue::added(member(key), "issued")));
            if values.is_empty() {
                return None;
            }
            let more = values.len().saturating_sub(MAX_VALUES);
            values.truncate(MAX_VALUES);
            if more > 0 {
                values.push(AuditedValue::added("further changes", more.to_string()));
            }
            let name = &organization.name;
            Some(self.record(AuditAction::FleetApplied, name, format!("fleet of \"{name}\""), values))
        });
        of_organization.collect()
    }

    /// The record of a key that was issued.
    #[must_use]
    pub fn key_issued(&self, key: &NewKey) -> NewAuditRecord {
        let target = format!("key {} of {}", KeyId::of(&key.digest()), user(&key.organization, &key.user));
        self.record(AuditAction::KeyIssued, &key.organization, target, Vec::new())
    }

    /// The record of keys of a user that were revoked together.
    #[must_use]
    pub fn keys_revoked(&self, organization: &str, name: &str, revoked: u64) -> NewAuditRecord {
        let values = vec![AuditedValue::added("revoked keys", revoked.to_string())];
        let target = format!("keys of {}", user(organization, name));
        self.record(AuditAction::KeyRevoked, organization, target, values)
    }

    /// The record of one key that was revoked.
    #[must_use]
    pub fn key_revoked(&self, id: KeyId, organization: &str, name: &str) -> NewAuditRecord {
        let target = format!("key {id} of {}", user(organization, name));
        self.record(AuditAction::KeyRevoked, organization, target, Vec::new())
    }

    /// The record of an organization that was renamed.
    #[must_use]
    pub fn organization_renamed(&self, name: &str, new_name: &str) -> NewAuditRecord {
        let values = vec![AuditedValue::changed("name", name, new_name)];
        self.record(AuditAction::OrganizationRenamed, new_name, format!("organization \"{name}\""), values)
    }

    /// The record of a user who was renamed.
    #[must_use]
    pub fn user_renamed(&self, organization: &str, name: &str, new_name: &str) -> NewAuditRecord {
        let values = vec![AuditedValue::changed("name", name, new_name)];
        self.record(AuditAction::UserRenamed, organization, user(organization, name), values)
    }

    /// The record of a record that was removed, or restored.
    #[must_use]
    pub fn retired(&self, organization: &str, record: &FleetRecord, is_removal: bool) -> NewAuditRecord {
        let action = if is_removal { AuditAction::RecordRemoved } else { AuditAction::RecordRestored };
        self.record(action, organization, format!("{record} of \"{organization}\""), Vec::new())
    }

    fn record(
        &self,
        action: AuditAction,
        organization: &str,
        target: String,
        values: Vec<AuditedValue>,
    ) -> NewAuditRecord {
        let scope = AuditedScope::Named(organization.to_owned());
        NewAuditRecord { at: self.at, author: self.author.clone(), scope, action, target, values }
    }
}

fn user(organization: &str, name: &str) -> String {
    format!("user \"{name}\" of \"{organization}\"")
}

fn changed(record: &ChangedRecord) -> impl Iterator<Item = AuditedValue> {
    record.values.iter().map(|value| {
        let member = format!("{}: {}", record.record, value.member);
        match &value.values {
            Some([before, after]) => AuditedValue::changed(member, before, after),
            None => AuditedValue::added(member, "replaced"),
        }
    })
}
