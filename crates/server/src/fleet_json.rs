//! The fleet file: read from disk, and written as `platen fleet export` prints it.

use anyhow::{Context, Result, anyhow};
use domain::fleet::{Computer, Device, Fleet, FleetOrganization, Job, NewKey, Queue, User, read_fleet};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Reads a fleet file; what is wrong with it is named by its path in the JSON.
pub(crate) fn read(path: &Path) -> Result<Fleet> {
    let shown = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the fleet file {shown}"))?;
    let json = http_actix::json::parse_strictly(&bytes).map_err(|problem| anyhow!("fleet file {shown}: {problem}"))?;
    read_fleet(&json).with_context(|| format!("fleet file {shown}"))
}

/// An issued key as one line.
pub(crate) fn key_line(key: &NewKey) -> String {
    json!({ "organization": key.organization, "user": key.user, "mis_key": key.mis_key.reveal() }).to_string()
}

/// The fleet in the form of a file, for people to read. What isn't known is left out.
pub(crate) fn pretty(fleet: &Fleet) -> String {
    let organizations: Vec<Value> = fleet.organizations.iter().map(organization).collect();
    format!("{:#}", json!({ "organizations": organizations }))
}

/// An organization in the form of a file.
pub(crate) fn organization(organization: &FleetOrganization) -> Value {
    object([
        ("name", Some(json!(organization.name))),
        ("publisher", organization.publisher.map(Value::from)),
        ("users", Some(organization.users.iter().map(user).collect())),
        ("computers", Some(organization.computers.iter().map(computer).collect())),
        ("devices", Some(organization.devices.iter().map(device).collect())),
        ("queues", Some(organization.queues.iter().map(queue).collect())),
        ("jobs", Some(organization.jobs.iter().map(job).collect())),
    ])
}

fn user(user: &User) -> Value {
    object([("name", Some(json!(user.name)))])
}

fn computer(computer: &Computer) -> Value {
    object([
        ("guid", text(Some(computer.guid))),
        ("name", text(computer.name.as_ref())),
        ("serial_number", text(computer.serial_number.as_ref())),
        ("user", text(computer.user.as_ref())),
    ])
}

fn device(device: &Device) -> Value {
    object([("guid", text(Some(device.guid))), ("name", text(device.name.as_ref()))])
}

fn queue(queue: &Queue) -> Value {
    object([
        ("guid", text(Some(queue.guid))),
        ("name", text(queue.name.as_ref())),
        ("device", text(queue.device)),
        ("uses", queue.uses.as_deref().map(texts)),
    ])
}

fn job(job: &Job) -> Value {
    object([
        ("guid", text(Some(job.guid))),
        ("name", text(job.name.as_ref())),
        ("queue", text(job.queue)),
        ("uses", job.uses.as_deref().map(texts)),
    ])
}

fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let given = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(given.collect::<Map<_, _>>())
}

fn text(value: Option<impl ToString>) -> Option<Value> {
    value.map(|value| Value::String(value.to_string()))
}

fn texts<T: ToString>(values: &[T]) -> Value {
    values.iter().map(T::to_string).collect()
}
