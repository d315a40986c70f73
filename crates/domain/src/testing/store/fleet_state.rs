//! The registered fleet in memory, and the effect of a fleet file.

use crate::access::CredentialDigest;
use crate::caller::OrganizationId;
use crate::fleet::{
    Applied, Computer, Device, Fleet, FleetConflict, FleetOrganization, FleetRecord, Job, NewKey, Queue, Secret,
    SimilarName, User,
};
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid, ResourceGuid};
use crate::timestamp::Timestamp;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A change works on a clone. The clone replaces the original if the whole change succeeds.
#[derive(Clone, Default)]
pub(super) struct FleetState {
    pub(super) organizations: BTreeMap<OrganizationId, RegisteredOrganization>,
    pub(super) keys: Vec<RegisteredKey>,
    pub(super) computers: BTreeMap<ComputerGuid, RegisteredComputer>,
    pub(super) devices: BTreeMap<DeviceGuid, Record>,
    pub(super) queues: BTreeMap<QueueGuid, RegisteredQueue>,
    pub(super) jobs: BTreeMap<JobGuid, RegisteredJob>,
    pub(super) retired: BTreeSet<(OrganizationId, FleetRecord)>,
}

#[derive(Clone)]
pub(super) struct RegisteredOrganization {
    pub(super) name: String,
    pub(super) publisher: bool,
    pub(super) users: BTreeSet<String>,
}

#[derive(Clone)]
pub(super) struct RegisteredKey {
    pub(super) digest: CredentialDigest,
    pub(super) organization: OrganizationId,
    pub(super) user: String,
    pub(super) issued: Timestamp,
    pub(super) last_used: Option<Timestamp>,
    pub(super) revoked: Option<Timestamp>,
}

#[derive(Clone)]
pub(super) struct RegisteredComputer {
    pub(super) organization: OrganizationId,
    pub(super) name: String,
    pub(super) hardware_hash: Option<CredentialDigest>,
    pub(super) serial_number: Option<String>,
    pub(super) user: Option<String>,
}

#[derive(Clone)]
pub(super) struct Record {
    pub(super) organization: OrganizationId,
    pub(super) name: String,
}

#[derive(Clone)]
pub(super) struct RegisteredQueue {
    pub(super) organization: OrganizationId,
    pub(super) name: String,
    pub(super) device: Option<DeviceGuid>,
    pub(super) uses: BTreeSet<ResourceGuid>,
}

#[derive(Clone)]
pub(super) struct RegisteredJob {
    pub(super) organization: OrganizationId,
    pub(super) name: String,
    pub(super) queue: Option<QueueGuid>,
    pub(super) uses: BTreeSet<ResourceGuid>,
}

impl FleetState {
    pub(super) fn organization_name(&self, id: OrganizationId) -> String {
        self.organizations.get(&id).map(|organization| organization.name.clone()).unwrap_or_default()
    }

    pub(super) fn user_names(&self, id: OrganizationId) -> Vec<String> {
        self.organizations.get(&id).map(|organization| organization.users.iter().cloned().collect()).unwrap_or_default()
    }

    pub(super) fn is_publisher(&self, id: OrganizationId) -> bool {
        self.organizations.get(&id).is_some_and(|organization| organization.publisher)
    }

    /// The queue or job of the organization that uses the resource (decision O3).
    pub(super) fn user_of(&self, organization: OrganizationId, guid: ResourceGuid) -> Option<String> {
        let is_live = |record| !self.is_retired(organization, record);
        let queues = self.queues.iter().filter(|(_, queue)| queue.organization == organization);
        let mut queues = queues.filter(|(id, queue)| queue.uses.contains(&guid) && is_live(FleetRecord::Queue(**id)));
        let jobs = self.jobs.iter().filter(|(_, job)| job.organization == organization);
        let mut jobs = jobs.filter(|(id, job)| job.uses.contains(&guid) && is_live(FleetRecord::Job(**id)));
        let queue = queues.next().map(|(_, queue)| format!("queue \"{}\"", queue.name));
        queue.or_else(|| jobs.next().map(|(_, job)| format!("job \"{}\"", job.name)))
    }

    pub(super) fn is_retired(&self, organization: OrganizationId, record: FleetRecord) -> bool {
        self.retired.contains(&(organization, record))
    }

    /// Whether the organization has the record, retired or not.
    pub(super) fn has(&self, id: OrganizationId, record: &FleetRecord) -> bool {
        match record {
            FleetRecord::User(name) => self.has_user(id, name),
            FleetRecord::Computer(guid) => self.computers.get(guid).is_some_and(|found| found.organization == id),
            FleetRecord::Device(guid) => self.devices.get(guid).is_some_and(|found| found.organization == id),
            FleetRecord::Queue(guid) => self.queues.get(guid).is_some_and(|found| found.organization == id),
            FleetRecord::Job(guid) => self.jobs.get(guid).is_some_and(|found| found.organization == id),
        }
    }

    pub(super) fn find_organization(&self, name: &str) -> Result<OrganizationId, FleetConflict> {
        let found = self.organizations.iter().find(|(_, organization)| organization.name == name);
        let missing = || FleetConflict::NotFound { record: format!("organization \"{name}\"") };
        found.map(|(id, _)| *id).ok_or_else(missing)
    }

    pub(super) fn find_user(&self, organization: &str, user: &str) -> Result<OrganizationId, FleetConflict> {
        let id = self.find_organization(organization)?;
        if self.has_user(id, user) {
            return Ok(id);
        }
        Err(FleetConflict::NotFound { record: user_record(organization, user) })
    }

    pub(super) fn apply(
        &mut self,
        fleet: &Fleet,
        new_keys: &[NewKey],
        now: Timestamp,
    ) -> Result<Applied, FleetConflict> {
        let mut applied = Applied::default();
        let before = self.clone();
        for organization in &fleet.organizations {
            let id = self.register_organization(organization);
            let mut is_live = |record: FleetRecord| {
                let is_retired = before.is_retired(id, record.clone());
                if is_retired {
                    applied.retired.push((organization.name.clone(), record));
                }
                !is_retired
            };
            let users: Vec<&User> =
                organization.users.iter().filter(|user| is_live(FleetRecord::User(user.name.clone()))).collect();
            let computers = organization.computers.iter();
            let computers: Vec<&Computer> =
                computers.filter(|computer| is_live(FleetRecord::Computer(computer.guid))).collect();
            let devices: Vec<&Device> =
                organization.devices.iter().filter(|device| is_live(FleetRecord::Device(device.guid))).collect();
            let queues: Vec<&Queue> =
                organization.queues.iter().filter(|queue| is_live(FleetRecord::Queue(queue.guid))).collect();
            let jobs: Vec<&Job> = organization.jobs.iter().filter(|job| is_live(FleetRecord::Job(job.guid))).collect();
            for user in users {
                self.register_user(id, organization, user, (new_keys, now), &mut applied)?;
            }
            computers.into_iter().try_for_each(|computer| self.register_computer(id, computer, &mut applied))?;
            devices.into_iter().try_for_each(|device| self.register_device(id, device))?;
            queues.into_iter().try_for_each(|queue| self.register_queue(id, queue))?;
            jobs.into_iter().try_for_each(|job| self.register_job(id, job))?;
            for (record, target) in organization.relations() {
                if before.is_retired(id, target.clone()) && !before.is_retired(id, record.clone()) {
                    applied.retired_targets.push((organization.name.clone(), record, target));
                }
            }
        }
        let place = |issued: &NewKey| new_keys.iter().position(|key| key == issued);
        applied.issued.sort_by_key(place);
        applied.similar_names = self.similar_names(&before, fleet);
        Ok(applied)
    }

    /// What `fleet` added that looks like something else.
    fn similar_names(&self, before: &Self, fleet: &Fleet) -> Vec<SimilarName> {
        let is_new = |name: &&str| before.find_organization(name).is_err();
        let added = fleet.organizations.iter().map(|organization| organization.name.as_str()).filter(is_new).collect();
        let all: Vec<String> = self.organizations.values().map(|organization| organization.name.clone()).collect();
        let mut found = SimilarName::among(&added, &all, None);
        for organization in &fleet.organizations {
            let Ok(id) = self.find_organization(&organization.name) else {
                continue;
            };
            let names = organization.users.iter().map(|user| user.name.as_str());
            let added = names.filter(|name| !before.has_user(id, name)).collect();
            let all: Vec<String> = self.organizations[&id].users.iter().cloned().collect();
            found.extend(SimilarName::among(&added, &all, Some(&organization.name)));
        }
        found
    }

    /// Registers a key that no user has or had.
    pub(super) fn register_key(
        &mut self,
        id: OrganizationId,
        key: &NewKey,
        now: Timestamp,
    ) -> Result<(), FleetConflict> {
        let record = user_record(&key.organization, &key.user);
        if let Some(holder) = self.keys.iter().find(|registered| registered.digest == key.digest()) {
            let is_retired = self.is_retired(holder.organization, FleetRecord::User(holder.user.clone()));
            let other = user_record(&self.organization_name(holder.organization), &holder.user);
            let other = format!("{other}{}", removed(is_retired));
            return Err(FleetConflict::CredentialTaken { credential: "MisKey", record, other });
        }
        if self.is_retired(id, FleetRecord::User(key.user.clone())) {
            return Err(FleetConflict::Retired { record });
        }
        self.keys.push(RegisteredKey {
            digest: key.digest(),
            organization: id,
            user: key.user.clone(),
            issued: now,
            last_used: None,
            revoked: None,
        });
        Ok(())
    }

    fn has_user(&self, id: OrganizationId, user: &str) -> bool {
        self.organizations.get(&id).is_some_and(|organization| organization.users.contains(user))
    }

    fn register_organization(&mut self, named: &FleetOrganization) -> OrganizationId {
        let id = self.find_organization(&named.name);
        let id = id.unwrap_or_else(|_| OrganizationId((1..).nth(self.organizations.len()).unwrap_or(i64::MAX)));
        let organization = self.organizations.entry(id).or_insert_with(|| RegisteredOrganization {
            name: named.name.clone(),
            publisher: false,
            users: BTreeSet::new(),
        });
        organization.publisher = named.publisher.unwrap_or(organization.publisher);
        organization.users.extend(named.users.iter().map(|user| user.name.clone()));
        id
    }

    fn register_user(
        &mut self,
        id: OrganizationId,
        organization: &FleetOrganization,
        user: &User,
        (new_keys, now): (&[NewKey], Timestamp),
        applied: &mut Applied,
    ) -> Result<(), FleetConflict> {
        let own = |key: &&RegisteredKey| key.organization == id && key.user == user.name;
        let keyless = !self.keys.iter().any(|key| own(&key));
        let Some(mis_key) = user.mis_key.clone() else {
            let named = |key: &&NewKey| key.organization == organization.name && key.user == user.name;
            if let Some(key) = new_keys.iter().find(named).filter(|_| keyless) {
                self.register_key(id, key, now)?;
                applied.issued.push(key.clone());
            }
            return Ok(());
        };
        let key = NewKey { organization: organization.name.clone(), user: user.name.clone(), mis_key };
        // The key of another user is an error even if this user needs none.
        let live = match self.keys.iter().find(|registered| registered.digest == key.digest()) {
            Some(registered) if own(&registered) => registered.revoked.is_none(),
            None if !keyless => false,
            _ => return self.register_key(id, &key, now),
        };
        if !live {
            applied.keys_left_out.push((key.organization, key.user));
        }
        Ok(())
    }

    fn register_computer(
        &mut self,
        id: OrganizationId,
        named: &Computer,
        applied: &mut Applied,
    ) -> Result<(), FleetConflict> {
        let record = format!("computer {}", named.guid);
        if let Some(user) = named.user.as_deref().filter(|user| !self.has_user(id, user)) {
            return Err(FleetConflict::UnknownTarget { record, target: format!("user \"{user}\"") });
        }
        let hardware_hash = named.hardware_hash.as_ref().map(Secret::digest);
        let taken = |(guid, other): (&ComputerGuid, &RegisteredComputer)| {
            *guid != named.guid && hardware_hash.is_some() && other.hardware_hash == hardware_hash
        };
        if let Some((guid, other)) = self.computers.iter().find(|(guid, other)| taken((guid, other))) {
            let (guid, is_retired) = (*guid, self.is_retired(other.organization, FleetRecord::Computer(*guid)));
            let organization = self.organization_name(other.organization);
            let other = format!("computer {guid} \"{}\" of \"{organization}\"{}", other.name, removed(is_retired));
            if !is_retired {
                return Err(FleetConflict::CredentialTaken { credential: "HardwareHash", record, other });
            }
            applied.hashes_taken_over.push((record.clone(), other));
            if let Some(former) = self.computers.get_mut(&guid) {
                former.hardware_hash = None;
            }
        }
        let organizations: BTreeMap<OrganizationId, String> =
            self.organizations.iter().map(|(id, organization)| (*id, organization.name.clone())).collect();
        let computer = match self.computers.entry(named.guid) {
            Entry::Occupied(found) if found.get().organization != id => {
                let registered = found.get();
                let is_retired = self.retired.contains(&(registered.organization, FleetRecord::Computer(named.guid)));
                let of = &organizations[&registered.organization];
                let other = format!("\"{}\" of \"{of}\"{}", registered.name, removed(is_retired));
                return Err(FleetConflict::OtherOrganization { record, other });
            }
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(place) => place.insert(RegisteredComputer {
                organization: id,
                name: named.guid.to_string(),
                hardware_hash: None,
                serial_number: None,
                user: None,
            }),
        };
        update(&mut computer.name, named.name.as_ref());
        computer.hardware_hash = hardware_hash.or(computer.hardware_hash);
        computer.serial_number = named.serial_number.clone().or_else(|| computer.serial_number.take());
        computer.user = named.user.clone().or_else(|| computer.user.take());
        Ok(())
    }

    fn register_device(&mut self, id: OrganizationId, named: &Device) -> Result<(), FleetConflict> {
        let new = || Record { organization: id, name: named.guid.to_string() };
        let device = self.devices.entry(named.guid).or_insert_with(new);
        let record = FleetRecord::Device(named.guid);
        of_organization(id, &self.organizations, &self.retired, device.organization, &device.name, &record)?;
        update(&mut device.name, named.name.as_ref());
        Ok(())
    }

    fn register_queue(&mut self, id: OrganizationId, named: &Queue) -> Result<(), FleetConflict> {
        let is_own = |device: &DeviceGuid| self.devices.get(device).is_some_and(|found| found.organization == id);
        if let Some(device) = named.device.filter(|device| !is_own(device)) {
            let (record, target) = (format!("queue {}", named.guid), format!("device {device}"));
            return Err(FleetConflict::UnknownTarget { record, target });
        }
        let queue = self.queues.entry(named.guid).or_insert_with(|| RegisteredQueue {
            organization: id,
            name: named.guid.to_string(),
            device: None,
            uses: BTreeSet::new(),
        });
        let record = FleetRecord::Queue(named.guid);
        of_organization(id, &self.organizations, &self.retired, queue.organization, &queue.name, &record)?;
        update(&mut queue.name, named.name.as_ref());
        queue.device = named.device.or(queue.device);
        if let Some(uses) = &named.uses {
            queue.uses = uses.iter().copied().collect();
        }
        Ok(())
    }

    fn register_job(&mut self, id: OrganizationId, named: &Job) -> Result<(), FleetConflict> {
        let is_own = |queue: &QueueGuid| self.queues.get(queue).is_some_and(|found| found.organization == id);
        if let Some(queue) = named.queue.filter(|queue| !is_own(queue)) {
            let (record, target) = (format!("job {}", named.guid), format!("queue {queue}"));
            return Err(FleetConflict::UnknownTarget { record, target });
        }
        let job = self.jobs.entry(named.guid).or_insert_with(|| RegisteredJob {
            organization: id,
            name: named.guid.to_string(),
            queue: None,
            uses: BTreeSet::new(),
        });
        let record = FleetRecord::Job(named.guid);
        of_organization(id, &self.organizations, &self.retired, job.organization, &job.name, &record)?;
        update(&mut job.name, named.name.as_ref());
        job.queue = named.queue.or(job.queue);
        if let Some(uses) = &named.uses {
            job.uses = uses.iter().copied().collect();
        }
        Ok(())
    }
}

pub(super) fn user_record(organization: &str, user: &str) -> String {
    format!("user \"{user}\" of \"{organization}\"")
}

/// How conflicts mark a record that is retired.
pub(super) fn removed(is_retired: bool) -> &'static str {
    if is_retired { " (removed)" } else { "" }
}

fn of_organization(
    id: OrganizationId,
    organizations: &BTreeMap<OrganizationId, RegisteredOrganization>,
    retired: &BTreeSet<(OrganizationId, FleetRecord)>,
    registered: OrganizationId,
    name: &str,
    record: &FleetRecord,
) -> Result<(), FleetConflict> {
    if id == registered {
        return Ok(());
    }
    let mark = removed(retired.contains(&(registered, record.clone())));
    let other = format!("\"{name}\" of \"{}\"{mark}", organizations[&registered].name);
    Err(FleetConflict::OtherOrganization { record: record.to_string(), other })
}

fn update(name: &mut String, given: Option<&String>) {
    if let Some(given) = given {
        name.clone_from(given);
    }
}
