//! One large upload after the other, against SHA-1 of one core.

use crate::cores::Cores;
use crate::http::Connection;
use crate::requests::{self, Resource};
use crate::samples::paired;
use crate::stage::{Stage, say};
use crate::table::{Goal, Row};
use anyhow::Result;
use std::hint::black_box;
use std::time::Instant;

const TIMES: usize = 256;

/// Uploads of one run, one after the other.
const UPLOADS: usize = 4;

pub(super) async fn row(stage: &Stage, name: &'static str) -> Result<Row> {
    let server = stage.on_postgres().await?;
    let block = requests::block(1024 * 1024);
    let resource = Resource::new(requests::resource(0xe000_0000), &block, TIMES);
    let megabytes = resource.size() as f64 / 1e6;
    server.store(&resource).await?;
    let mut note = String::new();
    let product = async || {
        let mut connection = Connection::open(server.address).await?;
        let upload = resource.upload();
        let cores = Cores::watch(&[("platen", server.id())]);
        let begun = Instant::now();
        for _ in 0..UPLOADS {
            connection.exchange(&upload).await?.expect_body(requests::RESOURCE_ADDED)?;
        }
        let rate = megabytes * UPLOADS as f64 / begun.elapsed().as_secs_f64();
        note = format!("{UPLOADS} in a row; {}", cores.text());
        say(&format!("   platen {rate:.0} MB/s; {note}"));
        Ok(rate)
    };
    let reference = async || {
        let begun = Instant::now();
        black_box(requests::checksum(black_box(&block), TIMES));
        let rate = megabytes / begun.elapsed().as_secs_f64();
        say(&format!("   SHA-1 {rate:.0} MB/s"));
        Ok(rate)
    };
    let pairs = paired(stage.arguments.runs(), product, reference).await?;
    Ok(Row {
        name,
        work: "upload 256 MiB, 1 client, local folder".to_owned(),
        unit: "MB/s",
        pairs,
        reference: "SHA-1 on one core, memory to nothing".to_owned(),
        goal: Goal::AtLeast(0.25),
        note,
    })
}
