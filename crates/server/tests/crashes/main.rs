//! The real program, killed at random moments under the load of several clients: after each restart, what
//! was answered 200 is there and whole, and nothing is half there.
//!
//! A seed decides what the clients send and when the program is killed. It is printed; `CRASH_SEED` names
//! another one. What the machine does in between is its own: the same seed meets the same moments, but
//! not always the same instruction.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![expect(clippy::print_stderr, reason = "the seed and the figures are shown")]

mod chance;
mod load;
mod model;
#[path = "../support/mod.rs"]
mod support;
mod verify;

use chance::Chance;
use load::Load;
use model::{CLIENTS, Model};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};
use support::setup::Setup;
use support::{Site, eventually};
use tokio::runtime::Builder;
use verify::{age, check, contents, verify};

const SETUP: Setup = Setup::Defaults;

/// New databases and blob stores, each of which lives through [`ROUNDS`].
const SITES: u64 = 5;

/// Kills under load of one site; further ones fall into its starts.
const ROUNDS: u64 = 20;

/// The load is cut off after at most this time, which is longer than most requests of it take.
const LONGEST_LOAD: u64 = 500;

/// The same for a drain: several requests are under way.
const LONGEST_DRAIN: u64 = 60;

const SERVE: [&str; 2] = ["--fleet", "fleet.json"];

#[test]
fn nothing_acknowledged_is_lost_in_a_hundred_kills_on_sqlite_and_a_folder() {
    survive(Setup::Defaults);
}

#[test]
fn nothing_acknowledged_is_lost_in_a_hundred_kills_on_postgres_and_s3() {
    survive(Setup::PostgresAndS3);
}

fn survive(setup: Setup) {
    let seed = chance::seed();
    eprintln!("CRASH_SEED={seed}");
    let mut chance = Chance::new(seed);
    // All at once: each waits most of the time.
    let lives: Vec<_> = (0..SITES)
        .map(|_| {
            let chance = chance.fork();
            thread::spawn(move || {
                let runtime = Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(Life::begin(setup, chance).live())
            })
        })
        .collect();
    let (mut kills, mut orphans, mut acknowledged) = (0, 0, BTreeMap::new());
    for life in lives {
        let (life, swept) = life.join().unwrap();
        orphans += swept;
        kills += life.kills;
        for (kind, count) in life.model.acknowledged {
            *acknowledged.entry(kind).or_insert(0) += count;
        }
    }
    eprintln!("{kills} kills, {orphans} orphans, acknowledged: {acknowledged:?}");
    for kind in ["uploads", "deletes", "logs", "crash reports", "statuses"] {
        assert!(acknowledged.contains_key(kind), "no {kind} at all: {acknowledged:?}");
    }
}

/// A database and a blob store, and the server over them that is killed again and again.
struct Life {
    site: Site,
    chance: Chance,
    /// How long the last start took.
    start: Duration,
    model: Model,
    kills: usize,
}

impl Life {
    fn begin(setup: Setup, chance: Chance) -> Self {
        let site = Site::on(setup);
        site.configure("blobs.discarded_grace = '1s'");
        site.write("fleet.json", &model::fleet());
        Self { site, chance, start: Duration::from_millis(300), model: Model::default(), kills: 0 }
    }

    /// Lives through all kills; how many orphans they made.
    async fn live(mut self) -> (Self, usize) {
        // The database is new: these fall into its making.
        self.kill_while_starting(3).await;
        for _ in 0..ROUNDS {
            self.kill_under_load().await;
            let more = self.chance.below(2);
            self.kill_while_starting(more).await;
        }
        let orphans = self.end().await;
        (self, orphans)
    }

    /// Kills some servers before they serve, or soon after.
    async fn kill_while_starting(&mut self, times: u64) {
        for _ in 0..times {
            let moment = self.start * u32::try_from(self.chance.below(1250)).unwrap() / 1000;
            let mut child = self.site.launch(&SERVE);
            tokio::time::sleep(moment).await;
            child.kill().unwrap();
            child.wait().unwrap();
            self.kills += 1;
        }
    }

    /// Starts a server, compares all that is there, and kills the server while clients use it, or while
    /// it drains.
    async fn kill_under_load(&mut self) {
        let since = Instant::now();
        let server = self.site.serve().await;
        self.start = since.elapsed();
        verify(&self.site, &server, &mut self.model).await;

        let model = Mutex::new(std::mem::take(&mut self.model));
        let moment = Duration::from_millis(self.chance.below(LONGEST_LOAD));
        let drain = (self.chance.below(5) == 0).then(|| Duration::from_millis(self.chance.below(LONGEST_DRAIN)));
        let clients = (0..CLIENTS).map(|number| {
            let load = Load { number, client: server.client(), chance: self.chance.fork(), model: &model };
            load.run()
        });
        let clients: Vec<_> = clients.collect();
        tokio::join!(futures_util::future::join_all(clients), async {
            tokio::time::sleep(moment).await;
            if let Some(drain) = drain {
                server.signal("TERM");
                tokio::time::sleep(drain).await;
            }
            server.kill();
        });
        self.kills += 1;
        self.model = model.into_inner().unwrap();
        self.abandoned().await;
        let orphans = check(&self.site, "blobs check").orphans;
        assert!(orphans <= self.model.doubtful_contents, "{orphans} orphans of {}", self.model.doubtful_contents);
    }

    /// Waits until the database has done all that the killed server had asked for.
    async fn abandoned(&self) {
        if !self.site.is_on_postgres() {
            return;
        }
        let others =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        eventually("the database is left", async || self.site.sql(others).await == ["0"]).await;
    }

    /// Orphans are removed once they are old, and a running server removes all other content without a record;
    /// how many orphans there were.
    async fn end(&mut self) -> usize {
        age(&self.site);
        let checked = check(&self.site, "blobs check --repair");
        assert_eq!(checked.removed, checked.orphans);
        let server = self.site.serve().await;
        verify(&self.site, &server, &mut self.model).await;
        let referred = "SELECT CAST((SELECT count(*) FROM resource) + (SELECT count(*) FROM crash_part) AS TEXT)";
        let referred = self.site.sql(referred).await.remove(0);
        eventually("only content in use is kept", async || contents(&self.site).len().to_string() == referred).await;
        server.stop();
        assert_eq!(check(&self.site, "blobs check").orphans, 0);
        checked.orphans
    }
}
