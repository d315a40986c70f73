//! A closed loop: so many clients, each sends its next request when the last one was answered.

use crate::http::{Answer, Connection, Outgoing};
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is asked, and what must be answered.
pub(crate) trait Scenario: Send + Sync + 'static {
    /// Writes the request that is the `sequence`th of this client.
    fn prepare(&self, client: usize, sequence: u64, out: &mut Outgoing);

    /// Fails when the answer is not the one that this work must give.
    fn check(&self, answer: &Answer<'_>) -> Result<()>;
}

/// How long, and with how many clients.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) clients: usize,
    /// Not counted: caches, connections and prepared statements warm up.
    pub(crate) warm: Duration,
    pub(crate) measured: Duration,
}

/// What came of it.
pub(crate) struct Load {
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

/// Runs the scenario; the first wrong answer ends it with an error.
pub(crate) async fn run(address: SocketAddr, plan: Plan, scenario: Arc<dyn Scenario>) -> Result<Load> {
    let begin = Instant::now() + plan.warm;
    let end = begin + plan.measured;
    let mut clients = Vec::with_capacity(plan.clients);
    for client in 0..plan.clients {
        let connection = Connection::open(address).await?;
        clients.push(tokio::spawn(drive(connection, client, begin, end, Arc::clone(&scenario))));
    }
    let mut latencies = Vec::new();
    for client in clients {
        latencies.append(&mut client.await??);
    }
    anyhow::ensure!(!latencies.is_empty(), "no request finished in {:?}", plan.measured);
    latencies.sort_unstable();
    let at = |share: usize| Duration::from_micros(u64::from(latencies[(latencies.len() - 1) * share / 100]));
    Ok(Load { per_second: latencies.len() as f64 / plan.measured.as_secs_f64(), p50: at(50), p99: at(99) })
}

/// Sends so many requests of the scenario, one after the other, and gives the time of each.
pub(crate) async fn each(address: SocketAddr, count: u64, scenario: &dyn Scenario) -> Result<Vec<Duration>> {
    let mut connection = Connection::open(address).await?;
    let mut request = Outgoing::default();
    let mut times = Vec::new();
    for sequence in 0..count {
        request.clear();
        scenario.prepare(0, sequence, &mut request);
        let sent = Instant::now();
        let answer = connection.exchange(&request).await?;
        times.push(sent.elapsed());
        scenario.check(&answer).with_context(|| asked(&request))?;
    }
    Ok(times)
}

/// One client. Gives the microseconds of each request that finished in the measured time.
async fn drive(
    mut connection: Connection,
    client: usize,
    begin: Instant,
    end: Instant,
    scenario: Arc<dyn Scenario>,
) -> Result<Vec<u32>> {
    let mut request = Outgoing::default();
    let mut latencies = Vec::new();
    let mut sent = Instant::now();
    for sequence in 0.. {
        request.clear();
        scenario.prepare(client, sequence, &mut request);
        let answer = connection.exchange(&request).await.with_context(|| asked(&request))?;
        scenario.check(&answer).with_context(|| asked(&request))?;
        let now = Instant::now();
        if now >= end {
            break;
        }
        if now >= begin {
            latencies.push(u32::try_from((now - sent).as_micros()).unwrap_or(u32::MAX));
        }
        sent = now;
    }
    Ok(latencies)
}

/// The request line, for an error.
fn asked(request: &Outgoing) -> String {
    let head = String::from_utf8_lossy(&request.head);
    head.lines().next().unwrap_or_default().to_owned()
}
