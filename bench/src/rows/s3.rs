//! Uploads and downloads of 1 MiB over S3, against SeaweedFS asked directly.

use super::Rated;
use crate::load::{self, Scenario};
use crate::requests::{self, Resource};
use crate::scenarios::{Expected, Prepared, Puts, Uploads};
use crate::seaweed::BUCKET;
use crate::stage::Stage;
use crate::table::{Goal, Row};
use anyhow::Result;
use std::sync::Arc;

const CLIENTS: usize = 16;
const SIZE: usize = 1024 * 1024;

/// Objects that the downloads go through: eight times what Platen keeps in memory. The clients meet each again after some
/// 200 others, so that every download comes from the bucket.
pub(super) const BEYOND_MEMORY: u64 = 256;

/// Half of what Platen keeps in memory: each comes from the bucket once a minute.
pub(super) const WITHIN_MEMORY: u64 = 16;

pub(super) async fn upload(stage: &Stage, name: &'static str) -> Result<Row> {
    let (seaweed, postgres) = (stage.seaweed().await?, stage.postgres().await?);
    let server = stage.on_s3().await?;
    let block = requests::block(SIZE);
    let resource = Resource::new(requests::resource(0xf000_0000), &block, 1);
    server.store(&resource).await?;
    let rated = Rated {
        name,
        work: format!("upload 1 MiB, S3, {CLIENTS} clients"),
        clients: CLIENTS,
        scenario: Arc::new(Uploads { resource }),
        server: &server,
        watched: &[("SeaweedFS", seaweed.id()), ("PostgreSQL", postgres.id())],
        reference: format!("SeaweedFS, {CLIENTS} clients, unsigned PUT of the same bytes"),
        goal: Goal::AtLeast(0.65),
    };
    let puts: Arc<dyn Scenario> = Arc::new(Puts { bucket: BUCKET, block });
    let plan = stage.plan(CLIENTS);
    rated.against(stage, async || Ok(load::run(seaweed.address, plan, Arc::clone(&puts)).await?.per_second)).await
}

pub(super) async fn download(stage: &Stage, name: &'static str, objects: u64) -> Result<Row> {
    let (seaweed, postgres) = (stage.seaweed().await?, stage.postgres().await?);
    let server = stage.on_s3().await?;
    let block = requests::block(SIZE);
    let guid = |number: u64| requests::resource(0xf100_0000 + number);
    for number in 0..objects {
        server.store(&Resource::new(guid(number), &block, 1)).await?;
    }
    let puts = Puts { bucket: BUCKET, block: Arc::clone(&block) };
    load::each(seaweed.address, objects, &puts).await?;
    let expected = || Expected::Content(Arc::clone(&block));
    let rated = Rated {
        name,
        work: format!("download 1 MiB, S3, {CLIENTS} clients, {objects} files"),
        clients: CLIENTS,
        scenario: Prepared::of(0..objects, expected(), |out, number| requests::file(out, &guid(number))),
        server: &server,
        watched: &[("SeaweedFS", seaweed.id()), ("PostgreSQL", postgres.id())],
        reference: format!("SeaweedFS, {CLIENTS} clients, unsigned GET of the same bytes"),
        goal: Goal::AtLeast(0.5),
    };
    let direct: Arc<dyn Scenario> = Prepared::of(0..objects, expected(), |out, number| puts.write_get(out, number));
    let plan = stage.plan(CLIENTS);
    rated.against(stage, async || Ok(load::run(seaweed.address, plan, Arc::clone(&direct)).await?.per_second)).await
}
