//! The two listeners and what stands behind them.

use crate::admission::{Admitted, admit};
use crate::call::{Call, handle, handle_open};
use crate::client::Network;
use crate::error::Fault;
use crate::exchange::{Exchange, declared_length};
use crate::health::Readiness;
use crate::intake::Intake;
use crate::meters::Meters;
use crate::observe::{Observers, RefusalSink};
use crate::openapi;
use crate::route::{Router, Side};
use crate::socket::Socket;
use crate::uploads::{UploadBounds, Uploads};
use crate::wire::{Turn, Wire};
use actix_http::error::DispatchError;
use actix_http::{HttpMessage, HttpService, Protocol, Request, Response};
use actix_rt::net::TcpStream;
use actix_server::{GracefulShutdownSignal, Server, ServerBuilder, ServerHandle};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::body::BoxBody;
use actix_web::dev::{AppConfig, RequestHead};
use actix_web::{App, HttpRequest, HttpResponse, web};
use bytes::Bytes;
use domain::access::{AccessService, Throttle};
use domain::clock::{Clock, IdSource};
use domain::crash_report::CrashReportService;
use domain::device_status::DeviceStatusService;
use domain::limits::Limits;
use domain::log_entry::LogService;
use domain::resource::ResourceService;
use futures_util::FutureExt;
use futures_util::future::{join, try_join};
use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// How long running requests may take to finish when the server is stopped, in seconds.
const DRAIN_TIME: u64 = 30;

/// Connections of the operator's listener.
const MAX_OPS_CONNECTIONS: usize = 64;

/// How long an idle connection is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long the rest of a body is read and thrown away after an early answer (decision R12).
const LINGER: Duration = Duration::from_secs(10);

/// The use cases that the handlers call.
pub struct Services {
    pub access: AccessService,
    pub resources: ResourceService,
    pub logs: LogService,
    pub crash_reports: CrashReportService,
    pub device_statuses: DeviceStatusService,
    pub readiness: Arc<dyn Readiness>,
}

/// How to listen.
pub struct HttpConfig {
    /// Prefix before `/api/v2`, with or without slashes around.
    pub base_path: String,
    pub workers: usize,
    /// Connections to the API at a time; who comes beyond waits to be accepted.
    pub max_connections: usize,
    /// Longest wait for the next bytes of a request.
    pub read_timeout: Duration,
    /// TLS for the API; `None` is plain HTTP. The other listener is always plain.
    pub tls: Option<Arc<ServerConfig>>,
    pub limits: Limits,
    /// Those that are believed whom they name as the client.
    pub trusted_proxies: Vec<Network>,
    /// Bounds how often a client may fail to authenticate.
    pub throttle: Throttle,
    /// How many uploads may be under way at once.
    pub uploads: UploadBounds,
    pub ids: Arc<dyn IdSource>,
    pub clock: Arc<dyn Clock>,
    pub observers: Observers,
}

/// What all requests of one listener share.
pub(crate) struct Shared {
    side: Side,
    pub(crate) router: Router,
    pub(crate) services: Arc<Services>,
    pub(crate) config: Arc<HttpConfig>,
    pub(crate) metrics: Metrics,
    /// The OpenAPI document.
    pub(crate) document: Bytes,
    pub(crate) meters: Arc<Meters>,
    pub(crate) uploads: Arc<Uploads>,
}

/// Gives the metrics as text.
type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

impl Shared {
    /// Who takes refusals: nobody at the operators' listener, where no client calls.
    pub(crate) fn refusals(&self) -> Option<&dyn RefusalSink> {
        self.config.observers.refusals.as_deref().filter(|_| self.side == Side::Api)
    }

    /// What the requests to the API share.
    fn new(config: HttpConfig, services: Arc<Services>, metrics: Metrics) -> Arc<Self> {
        Arc::new(Self {
            side: Side::Api,
            router: Router::new(Side::Api, &config.base_path),
            services,
            metrics,
            document: openapi::document(&config.base_path).into(),
            meters: Arc::new(Meters::new()),
            uploads: Uploads::new(config.uploads),
            config: Arc::new(config),
        })
    }

    /// The same for the operators' listener.
    fn for_ops(&self) -> Arc<Self> {
        Arc::new(Self {
            side: Side::Ops,
            router: Router::new(Side::Ops, &self.config.base_path),
            services: Arc::clone(&self.services),
            config: Arc::clone(&self.config),
            metrics: Arc::clone(&self.metrics),
            document: self.document.clone(),
            meters: Arc::clone(&self.meters),
            uploads: Arc::clone(&self.uploads),
        })
    }
}

/// Serves the interface on `api` and what operators ask on `ops`. It takes no signals: it is stopped through its handle.
///
/// Each listener has threads of its own: however many clients are connected, the operator is answered.
pub fn serve(
    config: HttpConfig,
    services: Arc<Services>,
    api: TcpListener,
    ops: TcpListener,
    metrics: Arc<dyn Fn() -> String + Send + Sync>,
) -> io::Result<Serving> {
    let for_api = Shared::new(config, services, metrics);
    let for_ops = for_api.for_ops();
    let workers = for_api.config.workers.max(1);
    let connections = (for_api.config.max_connections / workers).max(1);
    let api = listen("api", api, for_api, workers, connections)?;
    Ok(Serving { api, ops: listen("ops", ops, for_ops, 1, MAX_OPS_CONNECTIONS)? })
}

/// Serves one listener with so many threads, and connections of each.
fn listen(
    name: &str,
    listener: TcpListener,
    shared: Arc<Shared>,
    workers: usize,
    connections: usize,
) -> io::Result<Server> {
    let builder = ServerBuilder::new().workers(workers).max_concurrent_connections(connections);
    let builder = builder.disable_signals().shutdown_timeout(DRAIN_TIME);
    let stop = builder.graceful_shutdown_signal();
    let tls = shared.config.tls.clone().filter(|_| shared.side == Side::Api).map(TlsAcceptor::from);
    Ok(builder.listen(name, listener, move || stack(&shared, tls.clone(), &stop))?.run())
}

/// Both listeners while they are served.
pub struct Serving {
    api: Server,
    ops: Server,
}

impl Serving {
    /// What stops it.
    #[must_use]
    pub fn handle(&self) -> ServingHandle {
        ServingHandle([self.api.handle(), self.ops.handle()])
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// A listener failed.
    pub async fn run(self) -> io::Result<()> {
        try_join(self.api, self.ops).await.map(drop)
    }
}

/// Stops a [`Serving`] while that runs.
#[derive(Clone)]
pub struct ServingHandle([ServerHandle; 2]);

impl ServingHandle {
    /// Stops both listeners and waits until they have ended. A graceful stop lets running requests finish for 30 seconds.
    pub fn stop(&self, is_graceful: bool) -> impl Future<Output = ()> + use<> {
        let [api, ops] = &self.0;
        join(api.stop(is_graceful), ops.stop(is_graceful)).map(drop)
    }
}

/// The services from the connection up to the handlers, as `HttpServer` of actix-web builds them, but
/// for three things: the connection is a [`Wire`], heads are judged before `100 Continue`, and slow
/// heads are the wire's to refuse.
fn stack(
    shared: &Arc<Shared>,
    tls: Option<TlsAcceptor>,
    stop: &GracefulShutdownSignal,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()> + use<> {
    let app = App::new()
        .app_data(web::Data::from(Arc::clone(shared)))
        .default_service(web::to(answer))
        .into_factory()
        .map_err(|error: actix_web::Error| error.error_response());
    let stop = stop.clone();
    let (waiting, connecting) = (Arc::clone(shared), Arc::clone(shared));
    let http = HttpService::build()
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(Duration::ZERO)
        .client_disconnect_timeout(LINGER)
        .graceful_shutdown_signal(move || {
            let stop = stop.clone();
            async move { stop.notified().await }
        })
        .expect(fn_service(move |request: Request| admit_early(Arc::clone(&waiting), request)))
        .on_connect_ext(|wire: &Wire<Socket>, data: &mut actix_http::Extensions| {
            data.insert(wire.turn());
        })
        .finish(map_config(app, |()| AppConfig::default()));
    fn_service(move |io: TcpStream| {
        let (shared, tls) = (Arc::clone(&connecting), tls.clone());
        async move {
            // Without it the last piece of an answer may wait for an acknowledgement.
            drop(io.set_nodelay(true));
            let peer = io.peer_addr().ok();
            let socket = Socket::open(io, tls.as_ref(), shared.config.read_timeout).await.map_err(|error| {
                tracing::debug!(client = peer.map(|peer| peer.ip().to_string()), %error, "no TLS with this client");
                DispatchError::Io(error)
            })?;
            Ok((Wire::new(socket, shared.config.read_timeout, Arc::clone(&shared.config.ids)), Protocol::Http1, peer))
        }
    })
    .and_then(http)
}

/// A request whose head was judged before its body was asked for.
struct Judged {
    exchange: Rc<Exchange>,
    admitted: Admitted,
}

/// Judges a request that waits for `100 Continue` (decision R10).
async fn admit_early(shared: Arc<Shared>, mut request: Request) -> Result<Request, Response<BoxBody>> {
    let exchange = Exchange::begin(Arc::clone(&shared), request.head(), request.conn_data::<Rc<Turn>>());
    match admit(&shared, &exchange, request.head()).await {
        Ok(admitted) => {
            request.extensions_mut().insert(Judged { exchange, admitted });
            Ok(request)
        }
        Err(fault) => {
            let answer = exchange.refuse(&fault, request.head());
            let unread = Intake::new(request.take_payload(), None, shared.config.read_timeout, exchange.received());
            Err(exchange.finish(answer, unread.given_up()).into())
        }
    }
}

/// Answers any request.
async fn answer(request: HttpRequest, payload: web::Payload, shared: web::Data<Shared>) -> HttpResponse {
    let head: &RequestHead = request.head();
    let judged = request.extensions_mut().remove::<Judged>();
    let (exchange, admitted) = if let Some(judged) = judged {
        (judged.exchange, Ok(judged.admitted))
    } else {
        let exchange = Exchange::begin(Arc::clone(&shared), head, request.conn_data::<Rc<Turn>>());
        let admitted = admit(&shared, &exchange, head).await;
        (exchange, admitted)
    };
    let declared = declared_length(&head.headers);
    let mut intake = Intake::new(payload.into_inner(), declared, shared.config.read_timeout, exchange.received());
    let outcome = match admitted {
        Err(fault) => Err(fault),
        Ok(Admitted::Open(operation)) => handle_open(operation, &shared, head).await,
        Ok(Admitted::Called(admission)) => {
            let (exchange, intake) = (&*exchange, &mut intake);
            handle(Call { shared: &shared, exchange, head, intake, admission: *admission }).await
        }
    };
    let answer = outcome.unwrap_or_else(|fault: Fault| exchange.refuse(&fault, head));
    let rest = intake.rest().await;
    exchange.finish(answer, rest)
}
