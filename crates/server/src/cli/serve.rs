//! `platen serve`

use super::failure::Failure;
use super::{fleet, output};
use crate::config::{Config, Http, Insight};
use crate::demo::Demo;
use crate::shutdown::Signals;
use crate::telemetry::Traces;
use crate::tls::{self, Tls};
use crate::{activity, background, fleet_json, listen, open_files, refusals, shutdown, telemetry, wiring};
use adapters_db::Database;
use anyhow::{Context, Result};
use domain::access::{KeyUses, Throttle};
use domain::activity::{ActivityRecorder, ActivityRepository};
use domain::blob::BlobStore;
use domain::fleet::Fleet;
use domain::inspection::InspectionRepository;
use http_actix::{Extension, HttpConfig, Settings, UploadLimit};
use metrics_exporter_prometheus::PrometheusHandle;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// `traces` gets the spans of requests.
pub(super) async fn run(config: &Config, fleet: Option<&Path>, traces: Option<Traces>) -> Result<ExitCode, Failure> {
    run_with(config, fleet, traces, None).await
}

/// The same for a demo, which goes on while it is served.
pub(super) async fn run_demo(config: &Config, demo: Demo) -> Result<ExitCode, Failure> {
    run_with(config, None, None, Some(demo)).await
}

async fn run_with(
    config: &Config,
    fleet: Option<&Path>,
    traces: Option<Traces>,
    demo: Option<Demo>,
) -> Result<ExitCode, Failure> {
    let fleet = fleet.map(fleet_json::read).transpose().map_err(Failure::Misuse)?;
    let tls = config.http.tls.as_ref().map(Tls::load).transpose().map_err(Failure::Misuse)?;
    let mut signals = Signals::listen()?;
    let metrics = telemetry::record_metrics()?;
    tls::reload_on_hangup(tls.clone())?;
    // A signal during the start ends the process at once.
    let (listeners, stores) = tokio::select! {
        opened = open(config, tls) => opened?,
        signal = signals.next() => {
            tracing::info!(signal, "stopped before serving");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let served = match register(&stores.database, fleet.as_ref()).await {
        Ok(()) => serve(config, listeners, &stores, metrics, Extras { traces, demo }, &mut signals).await,
        Err(error) => Err(error),
    };
    wiring::close(stores.database).await;
    served?;
    Ok(ExitCode::SUCCESS)
}

/// The sockets that are bound.
struct Listeners {
    api: TcpListener,
    /// TLS for the API, if it is configured.
    tls: Option<Arc<Tls>>,
    ops: TcpListener,
}

/// What is open while the server runs.
struct Stores {
    database: Database,
    blobs: Arc<dyn BlobStore>,
}

/// Takes the addresses first: a second server that is started by mistake touches nothing.
async fn open(config: &Config, tls: Option<Arc<Tls>>) -> Result<(Listeners, Stores)> {
    let api = listen::take(&config.http.listener, "http")?;
    let ops = listen::take(&config.ops, "ops")?;
    let blobs = wiring::open_blobs_for_serving(&config.blobs).await?;
    let missing_file = wiring::missing_file(&config.database);
    let (database, migrated) = wiring::open_database(&config.database, wiring::Missing::Make).await?;
    if let Some(file) = missing_file {
        tracing::info!(file = %file.display(), "made a new database");
    }
    tracing::info!("{}", wiring::migration_summary(migrated));
    if !database.claim_serving() {
        tracing::warn!("another server runs over this SQLite database: several servers need PostgreSQL and a bucket");
    }
    Ok((Listeners { api, tls, ops }, Stores { database, blobs }))
}

/// Applies the fleet file. A signal must not interrupt this: a key that is issued and not printed is lost.
async fn register(database: &Database, fleet: Option<&Fleet>) -> Result<()> {
    if let Some(fleet) = fleet {
        let (service, failed) = (wiring::fleet_service(database), "cannot apply the fleet file");
        let changes = fleet::changes(&service, fleet).await.context(failed)?;
        let applied = service.apply(fleet).await.context(failed)?;
        output::applied(&applied, changes.as_ref(), |warning| tracing::warn!("{warning}"))?;
    }
    if database.inspection().organizations(None).await?.is_empty() {
        tracing::warn!(
            "no organization is registered, so every request will be refused: name organizations and users in a fleet \
             file, and register them by platen fleet apply FILE"
        );
    }
    Ok(())
}

/// The operator API and the console, on the listener of the API (decision P10).
struct ForOperators {
    api: operator_actix::Services,
    console: console_actix::Services,
}

impl ForOperators {
    fn new(stores: &Stores, config: &Insight) -> Self {
        let api = wiring::operator_services(&stores.database, &stores.blobs, config);
        Self { console: wiring::console_services(&stores.database, &api), api }
    }

    fn extension(&self, base_path: &str) -> Extension {
        let (api, console, base_path) = (self.api.clone(), self.console.clone(), base_path.to_owned());
        Arc::new(move |config| {
            let settings = operator_actix::Settings { base_path: base_path.clone() };
            operator_actix::configure(config, &api, &settings);
            let settings = console_actix::Settings { base_path: base_path.clone() };
            console_actix::configure(config, &console, &settings);
        })
    }

    /// Prints the link for the first sign-in while there is no operator (decision P2). The link is never logged.
    async fn offer_setup(&self, http: &Http, api: SocketAddr) -> Result<()> {
        let Some(code) = self.console.setup.offer().await? else {
            return Ok(());
        };
        let url = console_actix::setup_url(&origin(http, api), &http.base_path, &code);
        output::line(&serde_json::json!({ "console": url }).to_string())
    }
}

/// Scheme, address and port of the API, as a browser on this machine reaches it.
fn origin(http: &Http, api: SocketAddr) -> String {
    let scheme = if http.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}", SocketAddr::new(listen::reachable(api.ip()), api.port()))
}

/// What runs with the server where it is asked for.
struct Extras {
    traces: Option<Traces>,
    demo: Option<Demo>,
}

async fn serve(
    config: &Config,
    listeners: Listeners,
    stores: &Stores,
    metrics: PrometheusHandle,
    extras: Extras,
    signals: &mut Signals,
) -> Result<()> {
    let (api, ops) = (listeners.api.local_addr()?, listeners.ops.local_addr()?);
    let (recorder, recording) = refusals::start(Arc::new(stores.database.refusals()));
    let requests = Arc::new(ActivityRecorder::default());
    let settings = Settings {
        base_path: config.http.base_path.clone(),
        read_timeout: config.http.read_timeout,
        limits: config.limits,
        trusted_proxies: config.http.trusted_proxies.clone(),
        throttle: Throttle::new(config.abuse.max_failed_authentications, config.abuse.failure_window),
        uploads: UploadLimit::new(config.abuse.uploads),
        ids: wiring::ids(),
        clock: wiring::clock(),
        refusals: Some(Arc::new(recorder)),
        activity: Arc::clone(&requests),
    };
    let operators = config.console.enabled.then(|| ForOperators::new(stores, &config.insight));
    let http = HttpConfig {
        workers: config.http.workers,
        max_connections: open_files::connections(config.database.max_connections),
        tls: listeners.tls.as_ref().map(Tls::config).transpose()?,
        settings,
        extension: operators.as_ref().map(|pages| pages.extension(&config.http.base_path)),
    };
    let uploads = wiring::uploads(&stores.database, &stores.blobs);
    let key_uses = Arc::new(KeyUses::new(wiring::clock()));
    let services = wiring::services(&stores.database, &stores.blobs, &uploads, &key_uses, config);
    let (rendered, measured) = (metrics.clone(), stores.database.clone());
    let render = Arc::new(move || {
        measured.measure();
        rendered.render()
    });
    let server = http_actix::serve(http, services, listeners.api, listeners.ops, render).context("cannot serve")?;
    let mut work = background::start(config, &stores.database, &stores.blobs, &uploads, &key_uses, metrics)?;
    let seen: Arc<dyn ActivityRepository> = Arc::new(stores.database.activity());
    work.spawn(activity::run(Arc::clone(&requests), Arc::clone(&seen)));
    if let Some(operators) = &operators {
        work.spawn(background::prune_sessions(Arc::clone(&operators.api.sessions)));
        // Before the addresses are printed: a script that waits for them finds the link on stdout.
        operators.offer_setup(&config.http, api).await?;
    }
    if let Some(demo) = extras.demo {
        let console = format!("{}{}/console", origin(&config.http, api), config.http.base_path.to_ascii_lowercase());
        super::demo::announce(&demo, Some(&console))?;
        work.spawn(demo.live.run(stores.database.clone()));
    }
    listen::announce(&config.http.listener, "http", api)?;
    listen::announce(&config.ops, "ops", ops)?;
    tracing::info!(%api, %ops, version = env!("CARGO_PKG_VERSION"), "serving");
    let handle = server.handle();
    let live = operators.map(|operators| operators.api.live);
    let stop = || {
        // Streams have no end of their own.
        if let Some(live) = &live {
            live.close();
        }
        handle.stop(true)
    };
    shutdown::drain(server.run(), stop, signals).await?;
    work.shutdown().await;
    activity::finish(&requests, &*seen).await;
    background::store_key_uses(&key_uses, &stores.database.fleet_registry()).await;
    recording.finish().await;
    if let Some(traces) = extras.traces {
        traces.close().await;
    }
    Ok(())
}
