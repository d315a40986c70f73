//! What the rows share: the servers, each started when the first row asks for it.

use crate::arguments::Arguments;
use crate::cores::Cores;
use crate::load::{Load, Plan, Scenario};
use crate::nginx::Nginx;
use crate::platen::{Blobs, Database, Platen, Setup};
use crate::postgres::Postgres;
use crate::rows::{Costs, Times};
use crate::samples::Samples;
use crate::seaweed::Seaweed;
use anyhow::{Context, Result};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct Stage {
    pub(crate) arguments: Arguments,
    /// Resident memory of each server after its start, in MiB.
    pub(crate) idle: RefCell<Samples>,
    /// The rows of scale, once they were measured.
    pub(crate) scale: RefCell<Option<Costs>>,
    /// The rows of the console, once they were measured.
    pub(crate) console: RefCell<Option<Times>>,
    // Servers before the databases that they use, and the folder last: fields are dropped in order.
    on_postgres: RefCell<Option<Rc<Platen>>>,
    on_sqlite: RefCell<Option<Rc<Platen>>>,
    on_s3: RefCell<Option<Rc<Platen>>>,
    postgres: RefCell<Option<Rc<Postgres>>>,
    nginx: RefCell<Option<Rc<Nginx>>>,
    seaweed: RefCell<Option<Rc<Seaweed>>>,
    folder: TempDir,
}

impl Stage {
    pub(crate) fn new(arguments: Arguments) -> Result<Self> {
        let folder = match &arguments.work {
            Some(work) => tempfile::Builder::new().prefix("platen-bench-").tempdir_in(work),
            None => tempfile::Builder::new().prefix("platen-bench-").tempdir(),
        };
        let mut folder = folder.context("making a folder for the measurement")?;
        if arguments.keep {
            folder.disable_cleanup(true);
            say(&format!("keeping {}", folder.path().display()));
        }
        // PostgreSQL runs under another account when this one is root.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        Ok(Self {
            arguments,
            idle: RefCell::default(),
            scale: RefCell::default(),
            console: RefCell::default(),
            on_postgres: RefCell::default(),
            on_sqlite: RefCell::default(),
            on_s3: RefCell::default(),
            postgres: RefCell::default(),
            nginx: RefCell::default(),
            seaweed: RefCell::default(),
            folder,
        })
    }

    /// A folder of that name.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.path().join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    pub(crate) async fn postgres(&self) -> Result<Rc<Postgres>> {
        if self.postgres.borrow().is_none() {
            say("starting PostgreSQL");
            let started = Postgres::start(&self.folder("postgres")?).await?;
            self.postgres.replace(Some(Rc::new(started)));
        }
        self.postgres.borrow().clone().context("PostgreSQL was just started")
    }

    pub(crate) async fn nginx(&self) -> Result<Rc<Nginx>> {
        if self.nginx.borrow().is_none() {
            say("starting nginx");
            let started = Nginx::start(&self.folder("nginx")?).await?;
            self.nginx.replace(Some(Rc::new(started)));
        }
        self.nginx.borrow().clone().context("nginx was just started")
    }

    pub(crate) async fn seaweed(&self) -> Result<Rc<Seaweed>> {
        if self.seaweed.borrow().is_none() {
            say("starting SeaweedFS");
            let weed = self.arguments.weed.as_deref().context("rows over S3 need --weed")?;
            let started = Seaweed::start(weed, &self.folder("seaweed")?).await?;
            self.seaweed.replace(Some(Rc::new(started)));
        }
        self.seaweed.borrow().clone().context("SeaweedFS was just started")
    }

    /// The server over PostgreSQL and a local folder; one process for all rows that use it.
    pub(crate) async fn on_postgres(&self) -> Result<Rc<Platen>> {
        let database = Database::Postgres(self.postgres().await?.url());
        self.server(&self.on_postgres, "platen-postgres", database, Blobs::Local).await
    }

    /// The server with its defaults: SQLite and a local folder.
    pub(crate) async fn on_sqlite(&self) -> Result<Rc<Platen>> {
        self.server(&self.on_sqlite, "platen-sqlite", Database::Sqlite, Blobs::Local).await
    }

    /// The server over PostgreSQL and S3, in a database that the other one doesn't use.
    pub(crate) async fn on_s3(&self) -> Result<Rc<Platen>> {
        let seaweed = self.seaweed().await?;
        let postgres = self.postgres().await?;
        if self.on_s3.borrow().is_none() {
            postgres.sql("CREATE DATABASE s3")?;
        }
        let database = Database::Postgres(postgres.url_of("s3"));
        self.server(&self.on_s3, "platen-s3", database, Blobs::S3(seaweed.address)).await
    }

    async fn server(
        &self,
        slot: &RefCell<Option<Rc<Platen>>>,
        name: &str,
        database: Database,
        blobs: Blobs,
    ) -> Result<Rc<Platen>> {
        if slot.borrow().is_none() {
            say(&format!("starting {name}"));
            let started = Platen::start(&self.setup(database, blobs), &self.folder(name)?).await?;
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.idle.borrow_mut().push(started.resident()?);
            slot.replace(Some(Rc::new(started)));
        }
        slot.borrow().clone().context("the server was just started")
    }

    pub(crate) fn setup(&self, database: Database, blobs: Blobs) -> Setup<'_> {
        let arguments = &self.arguments;
        Setup { binary: &arguments.platen, log_level: &arguments.log_level, database, blobs, under: Vec::new() }
    }

    /// Loads the server that `watched` names first and says what came of it.
    pub(crate) async fn load(
        &self,
        server: &Platen,
        watched: &[(&'static str, u32)],
        clients: usize,
        scenario: Arc<dyn Scenario>,
    ) -> Result<(Load, String)> {
        let mut programs = vec![("platen", server.id())];
        programs.extend_from_slice(watched);
        let cores = Cores::watch(&programs);
        let load = crate::load::run(server.address, self.plan(clients), scenario).await;
        let load = load.with_context(|| server.log_tail())?;
        let note = format!("p50 {}, p99 {}; {}", milliseconds(load.p50), milliseconds(load.p99), cores.text());
        Ok((load, note))
    }

    pub(crate) fn plan(&self, clients: usize) -> Plan {
        let measured = Duration::from_secs(self.arguments.seconds());
        Plan { clients, warm: measured / 5, measured }
    }

    /// How much memory each running server took at most, in MiB.
    pub(crate) fn peaks(&self) -> Result<Samples> {
        let servers = [&self.on_postgres, &self.on_sqlite, &self.on_s3];
        servers.into_iter().filter_map(|server| server.borrow().as_ref().map(|server| server.peak())).collect()
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// Prints progress to stderr; the table goes to stdout.
#[expect(clippy::print_stderr, reason = "this is the program's own progress, its table goes to standard output")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
