//! What applying a fleet file would do, record by record.

use super::{Applied, Computer, Device, Fleet, FleetOrganization, FleetRecord, Job, Queue, User};
use crate::guid::ComputerGuid;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

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
    /// The names of the organizations that the file doesn't name, in order.
    pub other_organizations: Vec<String>,
}

/// What would become of the records that a file names, and what else is registered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// How each is called, in the order of the file.
    pub added: Vec<String>,
    pub changed: Vec<ChangedRecord>,
    pub unchanged: usize,
    /// What is registered and not in the file, except for what is retired.
    pub not_in_file: Vec<String>,
}

/// A record that a file would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRecord {
    pub record: String,
    pub values: Vec<ChangedValue>,
}

/// A value of a record that a file would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedValue {
    /// The member of the fleet file.
    pub member: &'static str,
    /// The value before and after; `None` for a credential.
    pub values: Option<[String; 2]>,
}

impl fmt::Display for ChangedRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.record)?;
        for (position, ChangedValue { member, values }) in self.values.iter().enumerate() {
            out.write_str(if position == 0 { ": " } else { ", " })?;
            match values {
                Some([before, after]) => write!(out, "{member} {before} to {after}")?,
                None => write!(out, "another {member}")?,
            }
        }
        Ok(())
    }
}

impl Preview {
    /// What would become of each record that `fleet`, the file, names.
    #[must_use]
    pub fn changes(&self, fleet: &Fleet) -> Changes {
        let mut changes = Changes::default();
        let none = FleetOrganization::default();
        for named in &fleet.organizations {
            let is_it = |organization: &&FleetOrganization| organization.name == named.name;
            let before = self.before.organizations.iter().find(is_it);
            let after = self.after.organizations.iter().find(is_it).unwrap_or(&none);
            let publisher = |organization: &FleetOrganization| {
                vec![("publisher", organization.publisher.unwrap_or_default().to_string())]
            };
            let values = before.map(|before| changed_values(publisher(before), publisher(after)));
            changes.note(values, format!("organization \"{}\"", named.name));
            let scope = Scope { organization: &named.name, before: before.unwrap_or(&none), after };
            changes.list(&scope, &named.users, |organization| &organization.users, |_| false);
            let has_new_hash = |computer: &Computer| self.new_hashes.contains(&computer.guid);
            changes.list(&scope, &named.computers, |organization| &organization.computers, has_new_hash);
            changes.list(&scope, &named.devices, |organization| &organization.devices, |_| false);
            changes.list(&scope, &named.queues, |organization| &organization.queues, |_| false);
            changes.list(&scope, &named.jobs, |organization| &organization.jobs, |_| false);
        }
        let others = self.other_organizations.iter().map(|name| format!("organization \"{name}\""));
        changes.not_in_file.extend(others);
        changes
    }
}

/// One organization of a file, as it is and as it would be.
struct Scope<'a> {
    organization: &'a str,
    before: &'a FleetOrganization,
    after: &'a FleetOrganization,
}

impl Changes {
    /// Takes in the records of one list.
    fn list<T: Listed>(
        &mut self,
        scope: &Scope<'_>,
        named: &[T],
        list: impl Fn(&FleetOrganization) -> &Vec<T>,
        has_new_hash: impl Fn(&T) -> bool,
    ) {
        let of = scope.organization;
        let [before, after] = [scope.before, scope.after].map(|organization| {
            list(organization).iter().map(|record| (record.record(), record)).collect::<HashMap<FleetRecord, &T>>()
        });
        for record in named.iter().map(Listed::record) {
            let values = before.get(&record).map(|before| {
                let mut values =
                    after.get(&record).map_or_else(Vec::new, |after| changed_values(before.values(), after.values()));
                if has_new_hash(before) {
                    values.push(ChangedValue { member: "hardware_hash", values: None });
                }
                values
            });
            self.note(values, format!("{record} of \"{of}\""));
        }
        let named: BTreeSet<FleetRecord> = named.iter().map(Listed::record).collect();
        for (record, listed) in list(scope.before).iter().map(|listed| (listed.record(), listed)) {
            if !named.contains(&record) && !scope.before.retired.contains(&record) {
                let name = listed.label().map(|name| format!(" \"{name}\"")).unwrap_or_default();
                self.not_in_file.push(format!("{record}{name} of \"{of}\""));
            }
        }
    }

    /// Takes in a record: which of its values would change, or `None` if it isn't registered.
    fn note(&mut self, values: Option<Vec<ChangedValue>>, record: String) {
        match values {
            None => self.added.push(record),
            Some(values) if values.is_empty() => self.unchanged += 1,
            Some(values) => self.changed.push(ChangedRecord { record, values }),
        }
    }
}

type Values = Vec<(&'static str, String)>;

/// Both have the same members in the same order.
fn changed_values(before: Values, after: Values) -> Vec<ChangedValue> {
    let pairs = before.into_iter().zip(after).filter(|((_, before), (_, after))| before != after);
    pairs.map(|((member, before), (_, after))| ChangedValue { member, values: Some([before, after]) }).collect()
}

/// A record of a list of a fleet file.
trait Listed {
    fn record(&self) -> FleetRecord;

    /// Its name, if the record isn't identified by it.
    fn label(&self) -> Option<&str>;

    /// What a fleet file can change, for people.
    fn values(&self) -> Values;
}

impl Listed for User {
    fn record(&self) -> FleetRecord {
        FleetRecord::User(self.name.clone())
    }

    fn label(&self) -> Option<&str> {
        None
    }

    fn values(&self) -> Values {
        Vec::new()
    }
}

impl Listed for Computer {
    fn record(&self) -> FleetRecord {
        FleetRecord::Computer(self.guid)
    }

    fn label(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn values(&self) -> Values {
        vec![
            ("name", text(self.name.as_ref())),
            ("serial_number", text(self.serial_number.as_ref())),
            ("user", text(self.user.as_ref())),
        ]
    }
}

impl Listed for Device {
    fn record(&self) -> FleetRecord {
        FleetRecord::Device(self.guid)
    }

    fn label(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn values(&self) -> Values {
        vec![("name", text(self.name.as_ref()))]
    }
}

impl Listed for Queue {
    fn record(&self) -> FleetRecord {
        FleetRecord::Queue(self.guid)
    }

    fn label(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn values(&self) -> Values {
        let uses = list(self.uses.as_deref());
        vec![("name", text(self.name.as_ref())), ("device", shown(self.device)), ("uses", uses)]
    }
}

impl Listed for Job {
    fn record(&self) -> FleetRecord {
        FleetRecord::Job(self.guid)
    }

    fn label(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn values(&self) -> Values {
        let uses = list(self.uses.as_deref());
        vec![("name", text(self.name.as_ref())), ("queue", shown(self.queue)), ("uses", uses)]
    }
}

fn text(value: Option<&String>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| format!("\"{value}\""))
}

fn shown(value: Option<impl fmt::Display>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| value.to_string())
}

fn list(values: Option<&[impl fmt::Display]>) -> String {
    let values: Vec<String> = values.unwrap_or_default().iter().map(ToString::to_string).collect();
    format!("[{}]", values.join(", "))
}

/// How a value that isn't there is shown.
const NOTHING: &str = "nothing";
