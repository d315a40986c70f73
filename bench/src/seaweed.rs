//! SeaweedFS: one process with master, volume server, filer and S3 gateway.

use crate::http::{Connection, Outgoing};
use crate::process::{Ending, Program, free_addresses};
use anyhow::{Context, Result};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

pub(crate) const BUCKET: &str = "bench";

pub(crate) struct Seaweed {
    pub(crate) address: SocketAddr,
    ports: Vec<u16>,
    program: Program,
}

impl Seaweed {
    /// Starts it with its data in `folder` and makes the bucket. It takes requests signed with any
    /// key and unsigned ones.
    pub(crate) async fn start(weed: &Path, folder: &Path) -> Result<Self> {
        let data = folder.join("data");
        fs::create_dir_all(&data)?;
        let addresses = free_addresses(8)?;
        let ports: Vec<u16> = addresses.iter().map(SocketAddr::port).collect();
        let mut command = Command::new(weed);
        command.args(["server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"]);
        command.args(["-master.telemetry=false", "-master.volumeSizeLimitMB=1024", "-volume.max=0"]);
        command.args(["-s3.port.iceberg=0", "-s3.port.lance=0"]);
        command.arg(format!("-dir={}", data.display()));
        let named = ["master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port"];
        let named = named.into_iter().chain(["filer.port.grpc", "s3.port.grpc", "s3.port"]);
        for (name, port) in named.zip(&ports) {
            command.arg(format!("-{name}={port}"));
        }
        let program = Program::start("SeaweedFS", &mut command, &folder.join("log"), Ending::Kill)?;
        let mut seaweed = Self { address: addresses[7], ports, program };
        let address = seaweed.address;
        seaweed.program.wait_until_within(Duration::from_mins(1), async || make_bucket(address).await.is_ok()).await?;
        Ok(seaweed)
    }

    pub(crate) fn id(&self) -> u32 {
        self.program.id()
    }
}

impl Drop for Seaweed {
    fn drop(&mut self) {
        drop(self.program.end());
        // It lays sockets into the common temp folder and leaves them.
        for port in &self.ports {
            for part in ["master-grpc", "volume-grpc", "filer-grpc", "s3-grpc", "filer", "s3"] {
                drop(fs::remove_file(format!("/tmp/seaweedfs-{part}-{port}.sock")));
            }
        }
    }
}

async fn make_bucket(address: SocketAddr) -> Result<()> {
    let head = format!("PUT /{BUCKET} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\n\r\n");
    let mut connection = Connection::open(address).await?;
    let answer = connection.exchange(&Outgoing { head: head.into_bytes(), ..Outgoing::default() }).await;
    answer.context("making the bucket")?.expect_ok()
}
