//! A listening server over the real use cases and the stores of the crate root's `open`, and a client that sees
//! every byte.

#![allow(dead_code, unreachable_pub, reason = "each file of tests uses its own part of this")]
#![allow(clippy::unwrap_used, reason = "what fails here fails the test")]
#![allow(clippy::needless_pass_by_value, reason = "tests read better so")]

pub mod bodies;
pub mod client;
pub mod documented;
pub mod failing;
pub mod kept;
pub mod tls;

pub use client::{Connection, Reply, Request};

use async_trait::async_trait;
use domain::access::{AccessService, Throttle};
use domain::blob::{BlobStore, Uploads};
use domain::caller::OrganizationId;
use domain::contract::Stores;
use domain::crash_report::CrashReportService;
use domain::device_status::DeviceStatusService;
use domain::limits::Limits;
use domain::log_entry::LogService;
use domain::resource::ResourceService;
use domain::testing::{CountingIds, FixedClock, a_fleet};
use failing::Failing;
use http_actix::{
    HttpConfig, Network, Readiness, RefusalSink, Services, ServingHandle, Settings, UploadBounds, UploadLimit, serve,
};
use kept::Kept;
use std::any::Any;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;

/// What a test sets otherwise.
pub struct Options {
    pub base_path: &'static str,
    pub read_timeout: Duration,
    pub limits: Limits,
    pub refusals: Option<Arc<dyn RefusalSink>>,
    pub trusted_proxies: Vec<Network>,
    /// In a minute; 0 for any number.
    pub max_failed_authentications: u32,
    pub uploads: UploadBounds,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base_path: "",
            read_timeout: Duration::from_secs(20),
            limits: Limits::default(),
            refusals: None,
            trusted_proxies: Vec::new(),
            max_failed_authentications: 0,
            uploads: UploadBounds::default(),
        }
    }
}

/// A server that listens on free ports of the loopback interface until it is dropped.
pub struct Server {
    /// Where the tests reach the API.
    pub api: SocketAddr,
    /// Where the server listens; the same, but within TLS.
    pub listener: SocketAddr,
    pub ops: SocketAddr,
    /// What its stores hold.
    pub kept: Kept,
    /// Which of its stores fail.
    pub failing: Failing,
    pub clock: FixedClock,
    pub ready: Arc<AtomicBool>,
    handle: ServingHandle,
    _bridge: Option<tls::Bridge>,
    thread: Option<JoinHandle<()>>,
    /// What the stores need to be there for: dropped after them.
    _guard: Box<dyn Any>,
}

/// The numbers that the organizations of the fleet have in an empty database.
pub const ACME: OrganizationId = OrganizationId(1);
pub const ZENITH: OrganizationId = OrganizationId(2);

impl Server {
    pub fn start() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let clock = FixedClock::stepping(domain::testing::at(0), Duration::from_micros(1));
        let runtime = Runtime::new().unwrap();
        let (stores, blobs, guard) = crate::open(&runtime);
        runtime.block_on(stores.fleet_registry.apply(&a_fleet(), &[], domain::testing::at(0))).unwrap();
        let failing = Failing::default();
        let ready = Arc::new(AtomicBool::new(true));
        let (api, ops) = (listener(), listener());
        let addresses = (api.local_addr().unwrap(), ops.local_addr().unwrap());
        let services = services(&stores, &blobs, &failing, &clock, &ready, options.limits);
        let kept = Kept { stores, blobs, runtime };
        // The tests of connections are run within TLS once more, by the file of that name.
        let (tls, trusting) = module_path!().starts_with("tls::").then(tls::configs).unzip();
        let settings = Settings {
            base_path: options.base_path.to_owned(),
            read_timeout: options.read_timeout,
            limits: options.limits,
            trusted_proxies: options.trusted_proxies,
            throttle: Throttle::new(options.max_failed_authentications, Duration::from_mins(1)),
            uploads: UploadLimit::new(options.uploads),
            ids: Arc::new(CountingIds::default()),
            clock: Arc::new(clock.clone()),
            activity: Arc::default(),
            refusals: options.refusals,
        };
        let config = HttpConfig { workers: 1, max_connections: 10_000, tls, settings, extension: None };
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let metrics = Arc::new(|| "answered 1\n".to_owned());
                let server = serve(config, services, api, ops, metrics).unwrap();
                sender.send(server.handle()).unwrap();
                server.run().await.unwrap();
            });
        });
        let handle = receiver.recv().unwrap();
        let (listener, ops) = addresses;
        let bridge = trusting.map(|config| tls::Bridge::to(listener, config));
        let api = bridge.as_ref().map_or(listener, |bridge| bridge.address);
        let thread = Some(thread);
        let guard = Box::new(guard);
        Self { api, listener, ops, kept, failing, clock, ready, handle, _bridge: bridge, thread, _guard: guard }
    }

    /// Sends a request on a connection of its own.
    pub fn send(&self, request: Request) -> Reply {
        self.connect().send(&request)
    }

    pub fn connect(&self) -> Connection {
        Connection::open(self.api)
    }

    pub fn handle(&self) -> &ServingHandle {
        &self.handle
    }

    /// Waits until the server has stopped by itself.
    pub fn join(mut self) {
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            drop(self.handle.stop(false));
            thread.join().unwrap();
        }
    }
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

struct Probe(Arc<AtomicBool>);

#[async_trait]
impl Readiness for Probe {
    async fn check(&self) -> Result<(), String> {
        if self.0.load(Ordering::SeqCst) { Ok(()) } else { Err("the database at /secret is gone".to_owned()) }
    }
}

fn services(
    stores: &Stores,
    blobs: &Arc<dyn BlobStore>,
    failing: &Failing,
    clock: &FixedClock,
    ready: &Arc<AtomicBool>,
    limits: Limits,
) -> Services {
    let Stores { resources, crash_reports, device_statuses, fleet_directory, ledger, .. } = stores.clone();
    let (credentials, logs, blobs) = failing.before(stores, blobs);
    let (logs, crash_reports, device_statuses) = failing.queued(logs, crash_reports, device_statuses);
    let clock = Arc::new(clock.clone());
    let uploads = Uploads::new(blobs, ledger, clock.clone(), Arc::new(CountingIds::default()));
    Services {
        access: Arc::new(AccessService::new(credentials)),
        resources: Arc::new(ResourceService::new(resources, uploads.clone(), limits)),
        logs: Arc::new(LogService::new(logs, fleet_directory.clone(), clock.clone())),
        crash_reports: Arc::new(CrashReportService::new(crash_reports, uploads, limits)),
        device_statuses: Arc::new(DeviceStatusService::new(device_statuses, fleet_directory, clock)),
        readiness: Arc::new(Probe(ready.clone())),
    }
}
