//! Two organizations with their computers, devices, queues and jobs.

use super::clock::guid;
use domain::fleet::{Computer, Device, Fleet, FleetOrganization, Job, Queue, Secret, User};
use domain::guid::{ComputerGuid, DeviceGuid, JobGuid, QueueGuid, ResourceGuid};
use fastrand::Rng;

/// A company that prints.
pub(super) struct Company {
    pub(super) name: &'static str,
    is_publisher: bool,
    users: &'static [&'static str],
    /// The beginning of the names of its computers, and how many of each there are.
    computers: &'static [(&'static str, u32)],
    pub(super) devices: &'static [&'static str],
    /// The beginning of its serial numbers.
    serial: &'static str,
    /// The beginning of the addresses of its computers.
    pub(super) network: &'static str,
}

pub(super) const COMPANIES: [Company; 2] = [
    Company {
        name: "Lumen Signs",
        is_publisher: false,
        users: &["Ann Becker", "Bob Sanders", "Carla Núñez", "Deniz Kaya", "Erik Lund"],
        computers: &[("RIP", 8), ("PREPRESS", 10), ("SALES", 5), ("CUTTER", 3)],
        devices: &[
            "Latex 3200 Hall A",
            "Latex 3200 Hall B",
            "Eco-Solvent 64",
            "Flatbed UV 2512",
            "Textile Direct 190",
            "Roll UV 320",
            "Proof Printer",
        ],
        serial: "LS-10",
        network: "192.0.2",
    },
    Company {
        name: "Nordfoto Studios",
        is_publisher: true,
        users: &["Freja Holm", "Gustav Nyberg", "Hanna Koskinen"],
        computers: &[("STUDIO", 6), ("LAB", 5), ("FRONTDESK", 3)],
        devices: &["Fine Art 44", "Fine Art 24", "Photo Minilab", "Sheet Press", "Glass Flatbed"],
        serial: "NF-20",
        network: "198.51.100",
    },
];

/// What is registered of a company, in the order of the names above.
pub(super) struct Registered {
    pub(super) computers: Vec<(ComputerGuid, String, String)>,
    pub(super) devices: Vec<DeviceGuid>,
    pub(super) queues: Vec<QueueGuid>,
    pub(super) jobs: Vec<(JobGuid, String)>,
    /// The first is used by all queues, the second by none.
    pub(super) resources: Vec<ResourceGuid>,
}

/// Resources of each company.
pub(super) const RESOURCES: usize = 24;

const MOTIFS: [&str; 8] = [
    "Summer sale banner",
    "Shop window, autumn",
    "Trade fair wall",
    "Museum poster",
    "Vehicle wrap, van 7",
    "Floor sticker",
    "Gallery print",
    "Roll-up display",
];

/// The fleet file of the demo, and what is in it.
pub(super) fn fleet(rng: &mut Rng) -> (Fleet, Vec<Registered>) {
    let (organizations, registered): (Vec<_>, Vec<_>) = COMPANIES.iter().map(|company| register(company, rng)).unzip();
    (Fleet { organizations }, registered)
}

fn register(company: &Company, rng: &mut Rng) -> (FleetOrganization, Registered) {
    let resources: Vec<ResourceGuid> = (0..RESOURCES).map(|_| ResourceGuid::from(guid(rng))).collect();
    let names = company.computers.iter().flat_map(|(head, count)| (1..=*count).map(move |n| format!("{head}-{n:02}")));
    let computers: Vec<Computer> = names
        .enumerate()
        .map(|(place, name)| Computer {
            guid: ComputerGuid::from(guid(rng)),
            hardware_hash: Some(Secret::new(guid(rng).as_simple().to_string())),
            serial_number: Some(format!("{}{:03}", company.serial, place + 1)),
            user: rng.choice(company.users).filter(|_| place % 4 != 3).map(|user| (*user).to_owned()),
            name: Some(name),
        })
        .collect();
    let devices: Vec<Device> = company
        .devices
        .iter()
        .map(|name| Device { guid: DeviceGuid::from(guid(rng)), name: Some((*name).to_owned()) })
        .collect();
    let queues: Vec<Queue> = devices
        .iter()
        .map(|device| Queue {
            guid: QueueGuid::from(guid(rng)),
            name: device.name.as_ref().map(|name| format!("{name} – production")),
            device: Some(device.guid),
            uses: Some(vec![resources[0], resources[2 + rng.usize(..6)]]),
        })
        .collect();
    let jobs: Vec<Job> = (0..24)
        .map(|number| Job {
            guid: JobGuid::from(guid(rng)),
            name: Some(format!("{} {}", MOTIFS[number % MOTIFS.len()], 4_700 + number)),
            queue: rng.choice(&queues).map(|queue| queue.guid),
            uses: (number % 3 == 0).then(|| vec![resources[8 + rng.usize(..8)]]),
        })
        .collect();
    let registered = Registered {
        computers: computers.iter().map(identified).collect(),
        devices: devices.iter().map(|device| device.guid).collect(),
        queues: queues.iter().map(|queue| queue.guid).collect(),
        jobs: jobs.iter().map(|job| (job.guid, job.name.clone().unwrap_or_default())).collect(),
        resources,
    };
    let users = company.users.iter().map(|name| User { name: (*name).to_owned(), mis_key: None }).collect();
    let organization = FleetOrganization {
        name: company.name.to_owned(),
        publisher: Some(company.is_publisher),
        users,
        computers,
        devices,
        queues,
        jobs,
        ..FleetOrganization::default()
    };
    (organization, registered)
}

/// GUID, name and serial number.
fn identified(computer: &Computer) -> (ComputerGuid, String, String) {
    (computer.guid, computer.name.clone().unwrap_or_default(), computer.serial_number.clone().unwrap_or_default())
}
