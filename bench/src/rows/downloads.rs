//! Files of three sizes, against nginx with sendfile over the same bytes.

use super::Rated;
use crate::cores::Cores;
use crate::load;
use crate::requests::{self, Resource};
use crate::scenarios::{Expected, Prepared};
use crate::stage::{Stage, say};
use crate::table::{Goal, Row, number};
use anyhow::Result;
use std::sync::Arc;

pub(super) async fn row(
    stage: &Stage,
    name: &'static str,
    block: usize,
    times: usize,
    clients: usize,
    goal: f64,
) -> Result<Row> {
    let (nginx, server) = (stage.nginx().await?, stage.on_postgres().await?);
    let block = requests::block(block);
    // Outside the numbers of the large store.
    let resource = Resource::new(requests::resource(0xd000_0000 + block.len() as u64 * times as u64), &block, times);
    server.store(&resource).await?;
    nginx.lay(name, &block, times)?;
    let expected = || match times {
        1 => Expected::Content(Arc::clone(&block)),
        _ => Expected::Length(resource.size()),
    };
    let scenario = Prepared::of([0], expected(), |out, _| requests::file(out, &resource.guid));
    let direct = Prepared::plain(name, expected());
    let rated = Rated {
        name,
        work: format!("download {}, {clients} clients", name.trim_start_matches("download-").to_uppercase()),
        clients,
        scenario,
        server: &server,
        watched: &[],
        reference: format!("nginx with sendfile, {clients} clients, the same bytes"),
        goal: Goal::AtLeast(goal),
    };
    let plan = stage.plan(clients);
    let mut row = rated
        .against(stage, async || {
            let cores = Cores::watch(&[("nginx", nginx.id())]);
            let load = load::run(nginx.address, plan, Arc::clone(&direct) as _).await?;
            say(&format!("   {}", cores.text()));
            Ok(load.per_second)
        })
        .await?;
    let rate = row.pairs.product.median() * resource.size() as f64 / 1e6;
    row.note = format!("{} MB/s; {}", number(rate), row.note);
    Ok(row)
}
