//! The search of operators in memory.

use super::{InMemoryStore, State};
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::fleet::FleetRecord;
use crate::refusal::Owner;
use crate::search::{Hit, SearchQuery, SearchRepository, Thing};
use crate::text::Folded;
use async_trait::async_trait;
use uuid::Uuid;

#[async_trait]
impl SearchRepository for InMemoryStore {
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        query: &SearchQuery,
        limit: u64,
    ) -> Result<Vec<Hit>, StoreError> {
        let state = self.working()?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let kinds = [fleet(&state, query), records(&state, query), refusals(&state, query)];
        let mut hits: Vec<Hit> = Vec::new();
        for hit in kinds.into_iter().flatten() {
            let is_own = organization.is_none() || hit.organization == organization;
            let others = hits.iter().filter(|other| other.thing.kind() == hit.thing.kind()).count();
            if is_own && others < limit {
                hits.push(hit);
            }
        }
        Ok(hits)
    }
}

fn holds(query: &SearchQuery, name: &str) -> bool {
    Folded::of(name).as_str().contains(Folded::of(&query.text).as_str())
}

fn is_meant(query: &SearchQuery, guid: Uuid) -> bool {
    query.guids.is_some_and(|range| range.contains(guid))
}

fn fleet(state: &State, query: &SearchQuery) -> Vec<Hit> {
    let fleet = &state.fleet;
    let mut hits = Vec::new();
    let mut add = |organization, is_found: bool, record: Option<FleetRecord>, thing| {
        let is_retired = record.is_some_and(|record| fleet.is_retired(organization, record));
        if is_found {
            hits.push(Hit { organization: Some(organization), thing, is_retired });
        }
    };
    for (id, one) in &fleet.organizations {
        add(*id, holds(query, &one.name), None, Thing::Organization { name: one.name.clone() });
    }
    for (id, one) in &fleet.organizations {
        for name in &one.users {
            let thing = Thing::User { name: name.clone() };
            add(*id, holds(query, name), Some(FleetRecord::User(name.clone())), thing);
        }
    }
    for (guid, one) in &fleet.computers {
        let is_serial = one.serial_number.as_ref().is_some_and(|serial| Folded::of(serial) == Folded::of(&query.text));
        let is_found = is_serial || holds(query, &one.name) || is_meant(query, guid.as_uuid());
        let thing = Thing::Computer { guid: *guid, name: one.name.clone(), serial_number: one.serial_number.clone() };
        add(one.organization, is_found, Some(FleetRecord::Computer(*guid)), thing);
    }
    for (guid, one) in &fleet.devices {
        let is_found = holds(query, &one.name) || is_meant(query, guid.as_uuid());
        let thing = Thing::Device { guid: *guid, name: one.name.clone() };
        add(one.organization, is_found, Some(FleetRecord::Device(*guid)), thing);
    }
    for (guid, one) in &fleet.queues {
        let is_found = holds(query, &one.name) || is_meant(query, guid.as_uuid());
        let thing = Thing::Queue { guid: *guid, name: one.name.clone(), device: one.device };
        add(one.organization, is_found, Some(FleetRecord::Queue(*guid)), thing);
    }
    for (guid, one) in &fleet.jobs {
        let is_found = holds(query, &one.name) || is_meant(query, guid.as_uuid());
        let thing = Thing::Job { guid: *guid, name: one.name.clone(), queue: one.queue };
        add(one.organization, is_found, Some(FleetRecord::Job(*guid)), thing);
    }
    hits
}

fn records(state: &State, query: &SearchQuery) -> Vec<Hit> {
    let hit = |organization, thing| Hit { organization: Some(organization), thing, is_retired: false };
    let begins = |name: &str| Folded::of(name).as_str().starts_with(Folded::of(&query.text).as_str());
    let resources = state.resources.values();
    let resources = resources.filter(|one| is_meant(query, one.guid.as_uuid()) || begins(&one.meta.name));
    let mut hits: Vec<Hit> = resources
        .map(|one| hit(one.organization, Thing::Resource { guid: one.guid, name: one.meta.name.clone() }))
        .collect();
    let reports = state.crash_reports.iter().filter(|(_, report)| is_meant(query, report.id.as_uuid()));
    hits.extend(reports.map(|(owner, report)| {
        let (id, received, application_name) = (report.id, report.received, report.application_name.clone());
        hit(*owner, Thing::CrashReport { id, received, application_name })
    }));
    let groups = state.crash_groups.groups.values().filter(|group| is_meant(query, group.id.as_uuid()));
    hits.extend(
        groups.map(|group| {
            hit(group.organization, Thing::CrashGroup { id: group.id, signature: group.signature.clone() })
        }),
    );
    hits
}

fn refusals(state: &State, query: &SearchQuery) -> Vec<Hit> {
    let found = state.refusals.of_request(&query.text);
    let hit = |refusal: &crate::refusal::NewRefusal| Hit {
        organization: match refusal.owner {
            Owner::Organization(id) => Some(id),
            Owner::Address(_) => refusal.named,
        },
        thing: Thing::Refusal {
            at: refusal.at,
            request_id: refusal.request_id.clone(),
            operation: refusal.operation.clone(),
            status: refusal.status,
            reason: refusal.reason.clone(),
            detail: refusal.detail.clone(),
        },
        is_retired: false,
    };
    found.map(hit).collect()
}
