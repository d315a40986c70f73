//! What computers log while they work.

use super::computers::Station;
use super::fleet::Registered;
use domain::error::Outcome;
use domain::log_entry::{AddLog, AddLogInput};
use fastrand::Rng;

/// Texts with the place of a value, and whether they are about the configuration.
const TEXTS: [(&str, bool); 16] = [
    ("Job sent to the device: {job}, 2 copies, 1440 dpi", false),
    ("Rendering of {job} took {n} s", false),
    ("Colour conversion with ISO Coated v2 300 % (ECI), relative colorimetric with black point compensation", false),
    ("{job}: 1 image below 72 dpi at the final size", false),
    ("{job}: font Frutiger LT 55 is not embedded, replaced by Arial", false),
    ("Printing finished after {n} min, 0 warnings", false),
    ("Media changed to Backlit Film 220 µm, profile follows", false),
    ("Nozzle check: all nozzles work", false),
    ("Ink saving is on: about {n} ml less", false),
    ("Cache folder grows: {n} GB of 200 GB are used", false),
    ("Waiting for the device: the dryer heats up", false),
    ("Hot folder «Fahnen» taken up {n} files", false),
    ("Linearization of {n} patches measured, average ΔE00 0.8", true),
    ("Media profile replaced: total ink limit 280 %", true),
    ("Print mode changed to 8 pass bidirectional", true),
    ("License is valid for another {n} days", true),
];

/// A log entry of a computer.
pub(super) fn entry(rng: &mut Rng, station: &Station, registered: &Registered) -> Outcome<AddLog> {
    let (text, is_configuration) = TEXTS[rng.usize(..TEXTS.len())];
    let (job, name) = &registered.jobs[rng.usize(..registered.jobs.len())];
    let description = text.replace("{job}", name).replace("{n}", &rng.u32(2..96).to_string());
    let queue = registered.queues[rng.usize(..registered.queues.len())];
    let device = registered.devices[rng.usize(..registered.devices.len())];
    AddLog::new(AddLogInput {
        computer: station.caller.computer.as_ref().map(|computer| computer.guid.to_string()),
        log_type: Some(if is_configuration { "configuration" } else { "log" }.to_owned()),
        description: Some(description),
        device: (!text.contains("{job}")).then(|| device.to_string()),
        queue: (rng.u8(..) < 80).then(|| queue.to_string()),
        job: text.contains("{job}").then(|| job.to_string()),
        job_name: text.contains("{job}").then(|| name.clone()),
        ..AddLogInput::default()
    })
}
