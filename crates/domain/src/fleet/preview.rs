//! What applying a fleet file would do, record by record.

use super::{Applied, Fleet, FleetOrganization};
use crate::guid::ComputerGuid;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// What applying a file would do, of which nothing was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preview {
    pub applied: Applied,
    /// The organizations that the file names, as export gives them; without those that aren't registered.
    pub before: Fleet,
    /// The same as they would be.
    pub after: Fleet,
    /// Computers whose hardware hash, which no export shows, would be another one.
    pub new_hashes: BTreeSet<ComputerGuid>,
}

/// What would become of the records that a file names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// How each is called, in the order of the file.
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub unchanged: usize,
}

impl Preview {
    /// What would become of each record that `fleet`, the file, names.
    #[must_use]
    pub fn changes(&self, fleet: &Fleet) -> Changes {
        let mut changes = Changes::default();
        let none = FleetOrganization::default();
        for named in &fleet.organizations {
            let of = &named.name;
            let is_it = |organization: &&FleetOrganization| organization.name == *of;
            let before = self.before.organizations.iter().find(is_it);
            let after = self.after.organizations.iter().find(is_it).unwrap_or(&none);
            let same = before.map(|before| before.publisher == after.publisher);
            changes.note(same, || format!("organization \"{of}\""));
            let before = before.unwrap_or(&none);
            let user = |name: &String| format!("user \"{name}\" of \"{of}\"");
            changes.list([&named.users, &before.users, &after.users], |user| user.name.clone(), user, |_| false);
            let computer = |guid: &ComputerGuid| format!("computer {guid} of \"{of}\"");
            let has_new_hash = |guid: &ComputerGuid| self.new_hashes.contains(guid);
            let lists = [&named.computers, &before.computers, &after.computers];
            changes.list(lists, |computer| computer.guid, computer, has_new_hash);
            let lists = [&named.devices, &before.devices, &after.devices];
            changes.list(lists, |device| device.guid, |guid| format!("device {guid} of \"{of}\""), |_| false);
            let lists = [&named.queues, &before.queues, &after.queues];
            changes.list(lists, |queue| queue.guid, |guid| format!("queue {guid} of \"{of}\""), |_| false);
            let lists = [&named.jobs, &before.jobs, &after.jobs];
            changes.list(lists, |job| job.guid, |guid| format!("job {guid} of \"{of}\""), |_| false);
        }
        changes
    }
}

impl Changes {
    /// Takes in the records of one list: as the file names them, as they are, and as they would be.
    fn list<T: PartialEq, K: Eq + Hash>(
        &mut self,
        [named, before, after]: [&Vec<T>; 3],
        key: impl Fn(&T) -> K,
        shown: impl Fn(&K) -> String,
        is_changed: impl Fn(&K) -> bool,
    ) {
        let [before, after] =
            [before, after].map(|records| records.iter().map(|one| (key(one), one)).collect::<HashMap<K, &T>>());
        for record in named {
            let key = key(record);
            let same = before.get(&key).map(|before| after.get(&key) == Some(before) && !is_changed(&key));
            self.note(same, || shown(&key));
        }
    }

    /// Takes in a record: whether it would stay as it is, or `None` where it isn't registered.
    fn note(&mut self, same: Option<bool>, shown: impl FnOnce() -> String) {
        match same {
            None => self.added.push(shown()),
            Some(false) => self.changed.push(shown()),
            Some(true) => self.unchanged += 1,
        }
    }
}
