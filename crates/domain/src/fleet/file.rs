//! Reads a fleet file, strictly: what is misspelt must not be silently ignored.

#[cfg(test)]
mod tests;

use super::{Computer, Device, Fleet, FleetOrganization, Job, MIN_KEY_LENGTH, Queue, Secret, User};
use crate::access::reads_as_itself;
use crate::detail::quoted;
use crate::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid, ResourceGuid};
use crate::json::Json;
use crate::text::{is_blank, storable};

/// Most characters of a name. In UTF-8 they stay below the longest key of an index that any of our
/// databases takes, some 2,700 bytes.
const MAX_NAME_LENGTH: usize = 500;

/// What is wrong with a fleet file, and where; never shows a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct FleetFileError {
    /// For example `organizations[0].computers[2].guid`.
    pub path: String,
    pub problem: String,
}

type Read<T> = Result<T, FleetFileError>;

/// Reads the contents of a fleet file.
///
/// # Errors
/// The first member that is missing, unknown, malformed or named twice.
pub fn read_fleet(file: &Json) -> Read<Fleet> {
    let root = Node { path: String::new(), value: file };
    root.allow(&["organizations"])?;
    let organizations = root.list("organizations")?.unwrap_or_default();
    let organizations: Vec<_> = organizations.iter().map(read_organization).collect::<Read<_>>()?;
    distinct(organizations.iter().map(|organization| &organization.name), "organizations", "name")?;
    Ok(Fleet { organizations })
}

fn read_organization(node: &Node) -> Read<FleetOrganization> {
    node.allow(&["name", "publisher", "users", "computers", "devices", "queues", "jobs"])?;
    let organization = FleetOrganization {
        name: node.required_name()?,
        publisher: node.flag("publisher")?,
        users: node.each("users", read_user)?,
        computers: node.each("computers", read_computer)?,
        devices: node.each("devices", read_device)?,
        queues: node.each("queues", read_queue)?,
        jobs: node.each("jobs", read_job)?,
    };
    let path = |list: &str| node.path_of(list);
    distinct(organization.users.iter().map(|user| &user.name), &path("users"), "name")?;
    distinct(organization.computers.iter().map(|computer| computer.guid), &path("computers"), "guid")?;
    distinct(organization.devices.iter().map(|device| device.guid), &path("devices"), "guid")?;
    distinct(organization.queues.iter().map(|queue| queue.guid), &path("queues"), "guid")?;
    distinct(organization.jobs.iter().map(|job| job.guid), &path("jobs"), "guid")?;
    Ok(organization)
}

fn read_user(node: &Node) -> Read<User> {
    node.allow(&["name", "mis_key"])?;
    let mis_key = node.credential("mis_key")?;
    if mis_key.as_ref().is_some_and(|key| key.reveal().chars().count() < MIN_KEY_LENGTH) {
        return Err(node.wrong("mis_key", &format!("must have at least {MIN_KEY_LENGTH} characters")));
    }
    Ok(User { name: node.required_name()?, mis_key })
}

fn read_computer(node: &Node) -> Read<Computer> {
    node.allow(&["guid", "name", "hardware_hash", "serial_number", "user"])?;
    let computer = Computer {
        guid: node.required_guid("guid", ComputerGuid::parse)?,
        name: node.name("name")?,
        hardware_hash: node.credential("hardware_hash")?,
        serial_number: node.header_text("serial_number")?,
        user: node.name("user")?,
    };
    if computer.hardware_hash.is_some() && computer.serial_number.is_none() {
        return Err(node.wrong("serial_number", "is required beside a hardware_hash"));
    }
    Ok(computer)
}

fn read_device(node: &Node) -> Read<Device> {
    node.allow(&["guid", "name"])?;
    Ok(Device { guid: node.required_guid("guid", DeviceGuid::parse)?, name: node.name("name")? })
}

fn read_queue(node: &Node) -> Read<Queue> {
    node.allow(&["guid", "name", "device", "uses"])?;
    Ok(Queue {
        guid: node.required_guid("guid", QueueGuid::parse)?,
        name: node.name("name")?,
        device: node.guid("device", DeviceGuid::parse)?,
        uses: node.guids("uses")?,
    })
}

fn read_job(node: &Node) -> Read<Job> {
    node.allow(&["guid", "name", "queue", "uses"])?;
    Ok(Job {
        guid: node.required_guid("guid", JobGuid::parse)?,
        name: node.name("name")?,
        queue: node.guid("queue", QueueGuid::parse)?,
        uses: node.guids("uses")?,
    })
}

fn distinct<T: Ord + ToString>(ids: impl Iterator<Item = T>, path: &str, member: &str) -> Read<()> {
    let mut seen = std::collections::BTreeSet::new();
    for id in ids {
        let shown = id.to_string();
        if !seen.insert(id) {
            return Err(FleetFileError { path: path.to_owned(), problem: format!("{member} {shown} occurs twice") });
        }
    }
    Ok(())
}

/// An object of the file and where it stands.
struct Node<'a> {
    path: String,
    value: &'a Json,
}

impl<'a> Node<'a> {
    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn wrong(&self, name: &str, problem: &str) -> FleetFileError {
        FleetFileError { path: self.path_of(name), problem: problem.to_owned() }
    }

    /// Refuses what isn't an object, and members that aren't known or that are there twice.
    fn allow(&self, names: &[&str]) -> Read<()> {
        let Json::Object(members) = self.value else {
            let path = if self.path.is_empty() { "the file" } else { &self.path };
            return Err(FleetFileError { path: path.to_owned(), problem: "must be an object".to_owned() });
        };
        for (place, (name, _)) in members.iter().enumerate() {
            if !names.contains(&name.as_str()) {
                return Err(self.wrong(name, &format!("is not known; allowed are {}", names.join(", "))));
            }
            if members[..place].iter().any(|(earlier, _)| earlier == name) {
                return Err(self.wrong(name, "occurs twice"));
            }
        }
        Ok(())
    }

    fn member(&self, name: &str) -> Option<&'a Json> {
        let Json::Object(members) = self.value else {
            return None;
        };
        let (_, value) = members.iter().find(|(key, _)| key == name)?;
        (*value != Json::Null).then_some(value)
    }

    fn list(&self, name: &str) -> Read<Option<Vec<Node<'a>>>> {
        match self.member(name) {
            None => Ok(None),
            Some(Json::Array(items)) => {
                let path = self.path_of(name);
                let node = |(place, value)| Node { path: format!("{path}[{place}]"), value };
                Ok(Some(items.iter().enumerate().map(node).collect()))
            }
            Some(_) => Err(self.wrong(name, "must be an array")),
        }
    }

    fn each<T>(&self, name: &str, read: fn(&Node) -> Read<T>) -> Read<Vec<T>> {
        self.list(name)?.unwrap_or_default().iter().map(read).collect()
    }

    fn text(&self, name: &str) -> Read<Option<String>> {
        match self.member(name) {
            None => Ok(None),
            Some(Json::Text(text)) if !is_blank(text) => Ok(Some(storable(text))),
            Some(_) => Err(self.wrong(name, "must be a text that is not blank")),
        }
    }

    /// The name of something, or of something that it refers to.
    fn name(&self, name: &str) -> Read<Option<String>> {
        let text = self.text(name)?;
        if text.as_ref().is_some_and(|text| text.chars().count() > MAX_NAME_LENGTH) {
            return Err(self.wrong(name, &format!("must have at most {MAX_NAME_LENGTH} characters")));
        }
        Ok(text)
    }

    fn required_name(&self) -> Read<String> {
        self.name("name")?.ok_or_else(|| self.wrong("name", "is required"))
    }

    /// A text that a client can send as a header: what no request can carry would never match.
    fn header_text(&self, name: &str) -> Read<Option<String>> {
        let text = self.text(name)?;
        match &text {
            Some(text) if text.trim() != text => Err(self.wrong(name, "must not begin or end with white space")),
            Some(text) if text.chars().any(char::is_control) => {
                Err(self.wrong(name, "must not hold control characters"))
            }
            Some(text) if !reads_as_itself(text) => {
                Err(self.wrong(name, "must not be one value repeated between commas, or end with a comma"))
            }
            _ => Ok(text),
        }
    }

    fn credential(&self, name: &str) -> Read<Option<Secret>> {
        Ok(self.header_text(name)?.map(Secret::new))
    }

    fn flag(&self, name: &str) -> Read<Option<bool>> {
        match self.member(name) {
            None => Ok(None),
            Some(Json::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.wrong(name, "must be true or false")),
        }
    }

    fn guid<T>(&self, name: &str, parse: fn(&str) -> Option<T>) -> Read<Option<T>> {
        let Some(value) = self.member(name) else {
            return Ok(None);
        };
        let guid = value.as_text().and_then(parse);
        guid.map(Some).ok_or_else(|| self.wrong(name, &no_guid(value)))
    }

    fn required_guid<T>(&self, name: &str, parse: fn(&str) -> Option<T>) -> Read<T> {
        self.guid(name, parse)?.ok_or_else(|| self.wrong(name, "is required"))
    }

    fn guids(&self, name: &str) -> Read<Option<Vec<ResourceGuid>>> {
        let Some(nodes) = self.list(name)? else {
            return Ok(None);
        };
        let read = |node: Node| {
            let guid = node.value.as_text().and_then(ResourceGuid::parse);
            guid.ok_or_else(|| FleetFileError { problem: no_guid(node.value), path: node.path })
        };
        nodes.into_iter().map(read).collect::<Read<Vec<_>>>().map(Some)
    }
}

/// Quotes what stands where a GUID should. Where a credential may stand nothing is quoted.
fn no_guid(value: &Json) -> String {
    match value {
        Json::Text(text) => format!("{} is not a GUID", quoted(text)),
        _ => "must be a GUID, in quotation marks".to_owned(),
    }
}
