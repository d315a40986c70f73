//! The program under measurement: its configuration, its fleet, its start.

use crate::http::Connection;
use crate::process::{Ending, Program, memory, run};
use crate::requests::{self, Resource};
use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Devices of the fleet.
pub(crate) const DEVICES: u64 = 1000;

/// Where the server keeps its records.
pub(crate) enum Database {
    Postgres(String),
    /// A file, at the product's defaults: every commit synced.
    Sqlite,
}

/// Where the server keeps content.
pub(crate) enum Blobs {
    Local,
    /// The bucket at this address.
    S3(SocketAddr),
}

/// What it is started with.
pub(crate) struct Setup<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) log_level: &'a str,
    pub(crate) database: Database,
    pub(crate) blobs: Blobs,
    /// Programs before the binary, such as valgrind with its options; waited for much longer.
    pub(crate) under: Vec<String>,
}

pub(crate) struct Platen {
    pub(crate) address: SocketAddr,
    folder: PathBuf,
    program: Program,
}

impl Platen {
    /// Starts it in `folder` and waits until it is ready.
    pub(crate) async fn start(setup: &Setup<'_>, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("fleet.json"), fleet())?;
        fs::write(folder.join("platen.toml"), configuration(setup, folder))?;
        let bind_file = folder.join("address");
        let mut command = match setup.under.split_first() {
            None => Command::new(setup.binary),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(setup.binary);
                command
            }
        };
        command.current_dir(folder).args(["serve", "--config", "platen.toml", "--fleet", "fleet.json"]);
        let log = folder.join("log");
        let mut program = Program::start("platen", &mut command, &log, Ending::Terminate)?;
        let limit = Duration::from_secs(if setup.under.is_empty() { 30 } else { 180 });
        let started = program.wait_until_within(limit, async || is_ready(&bind_file).await).await;
        started.with_context(|| tail(&log))?;
        let address = fs::read_to_string(&bind_file)?.trim().parse()?;
        Ok(Self { address, folder: folder.to_owned(), program })
    }

    pub(crate) fn id(&self) -> u32 {
        self.program.id()
    }

    pub(crate) fn resident(&self) -> Result<f64> {
        memory(self.id(), "VmRSS")
    }

    pub(crate) fn peak(&self) -> Result<f64> {
        memory(self.id(), "VmHWM")
    }

    /// The SQLite file, where it keeps one.
    pub(crate) fn sqlite_file(&self) -> PathBuf {
        self.folder.join("platen.db")
    }

    /// The last lines that it logged.
    pub(crate) fn log_tail(&self) -> String {
        tail(&self.folder.join("log"))
    }

    /// Stores a resource.
    pub(crate) async fn store(&self, resource: &Resource) -> Result<()> {
        let mut connection = Connection::open(self.address).await?;
        let answer = connection.exchange(&resource.upload()).await?;
        answer.expect_body(requests::RESOURCE_ADDED)
    }

    /// Runs a command of the program on the same configuration; its output.
    pub(crate) fn command(&self, binary: &Path, arguments: &[&str]) -> Result<String> {
        run(Command::new(binary).current_dir(&self.folder).args(["--config", "platen.toml"]).args(arguments))
    }

    /// Ends it in order and waits for its end.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.program.end()
    }
}

async fn is_ready(bind_file: &Path) -> bool {
    let Ok(text) = fs::read_to_string(bind_file) else { return false };
    let Ok(address) = text.trim().parse() else { return false };
    let Ok(mut connection) = Connection::open(address).await else { return false };
    connection.exchange(&requests::ready()).await.is_ok_and(|answer| answer.status == 200)
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

/// The defaults but for addresses, folders and what the setup says.
fn configuration(setup: &Setup<'_>, folder: &Path) -> String {
    let at = folder.display();
    let database = match &setup.database {
        Database::Postgres(url) => url.clone(),
        Database::Sqlite => format!("sqlite://{at}/platen.db"),
    };
    let blobs = match setup.blobs {
        Blobs::Local => format!("kind = \"local\"\npath = \"{at}/blobs\""),
        Blobs::S3(address) => format!(
            "kind = \"s3\"\nbucket = \"{}\"\nregion = \"us-east-1\"\nendpoint = \"http://{address}\"
access_key_id = \"bench\"\nsecret_access_key = \"bench-secret\"\nallow_http = true\npath_style = true",
            crate::seaweed::BUCKET
        ),
    };
    format!(
        "[http]\nbind = \"127.0.0.1:0\"\nbind_file = \"{at}/address\"
[ops]\nbind = \"127.0.0.1:0\"\nbind_file = \"{at}/ops-address\"
[database]\nurl = \"{database}\"
[blobs]\n{blobs}
[log]\nlevel = \"{}\"\nformat = \"json\"\n",
        setup.log_level
    )
}

fn fleet() -> String {
    let devices: Vec<_> = (1..=DEVICES)
        .map(|number| json!({ "guid": requests::device(number), "name": format!("Latex {number}") }))
        .collect();
    let computer = json!({
        "guid": requests::COMPUTER, "name": "RIP-01", "hardware_hash": "HH-0001", "serial_number": requests::SERIAL,
        "user": "Ann"
    });
    json!({ "organizations": [{
        "name": "Bench Print",
        "users": [{ "name": "Ann", "mis_key": requests::MIS_KEY }],
        "computers": [computer],
        "devices": devices,
        "queues": [{ "guid": requests::QUEUE, "name": "Banner", "device": requests::device(1) }],
    }] })
    .to_string()
}
