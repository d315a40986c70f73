//! An S3 server inside the test process, over a folder, that misbehaves on request. Any test crate may
//! include this file by its path.

#![allow(dead_code, unreachable_pub, reason = "each test crate that includes this file uses a part of it")]

use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, HttpError};
use s3s_fs::FileSystem;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The bucket that is there from the start.
pub const BUCKET: &str = "blobs";
/// The one key that is known, and its secret.
pub const KEY: &str = "AKIATEST";
pub const SECRET: &str = "a-secret-of-the-tests";

/// How a request is treated.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Answered 500.
    Error,
    /// Answered 503, as a bucket that is asked too often does.
    Busy,
    /// Answered as it should be, this much later.
    Slow(Duration),
    /// Carried out, and its answer lost: cut off in the middle of its body, or not sent where it has none.
    Lost,
    /// Answered never.
    Silence,
    /// The connection is closed.
    Closed,
}

/// A running server; it ends when this is dropped.
pub struct S3Server {
    folder: TempDir,
    address: SocketAddr,
    behaviour: Arc<Mutex<Behaviour>>,
    /// Dropping it ends the server.
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Behaviour {
    /// Method, path and query of every request.
    requests: Vec<String>,
    /// What requests must contain to be treated so, and how many more of them.
    fault: Option<(String, Fault, usize)>,
    /// How many of those are let through before.
    spared: usize,
}

impl S3Server {
    /// Starts it in a thread of its own, so that tests with and without a runtime can use it.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let s3 = builder.build();
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let behaviour = Arc::<Mutex<Behaviour>>::default();
        let (stop, stopped) = oneshot::channel::<()>();
        let known = behaviour.clone();
        let serving = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = serve(TcpListener::from_std(listener).unwrap(), s3, known) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { folder, address, behaviour, stop: Some(stop), serving: Some(serving) }
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The folder with the objects of the bucket, under their keys.
    pub fn objects(&self) -> PathBuf {
        self.folder.path().join(BUCKET)
    }

    /// From now on the next `times` requests that contain `pattern` are treated so.
    pub fn misbehave(&self, pattern: &str, fault: Fault, times: usize) {
        self.misbehave_after(0, pattern, fault, times);
    }

    /// The same after `spared` requests that contain `pattern` and are answered as they should be.
    pub fn misbehave_after(&self, spared: usize, pattern: &str, fault: Fault, times: usize) {
        let mut behaviour = self.behaviour.lock().unwrap();
        behaviour.fault = Some((pattern.to_owned(), fault, times));
        behaviour.spared = spared;
    }

    /// From now on all requests are answered as they should be; whether any was not, of faults without end.
    pub fn behave(&self) -> bool {
        let mut behaviour = self.behaviour.lock().unwrap();
        behaviour.fault.take().is_some_and(|(_, _, times)| times < usize::MAX)
    }

    /// How many requests so far contained `pattern`.
    pub fn requests(&self, pattern: &str) -> usize {
        self.behaviour.lock().unwrap().requests.iter().filter(|request| request.contains(pattern)).count()
    }

    /// What the server keeps of unfinished multipart uploads.
    pub fn parts(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.path()).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.contains("upload"))
            .collect()
    }

    /// Waits until nothing is kept of unfinished uploads.
    pub async fn no_parts(&self) {
        let gone = async {
            while !self.parts().is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the parts are removed");
    }

    /// Puts an object that is no blob into the bucket.
    pub fn put_stranger(&self, path: &str) {
        let path = self.objects().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "strange").unwrap();
    }

    pub fn remove_bucket(&self) {
        std::fs::remove_dir_all(self.objects()).unwrap();
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            // What panicked there has failed the requests of the test.
            let _ = serving.join();
        }
    }
}

async fn serve(listener: TcpListener, s3: S3Service, behaviour: Arc<Mutex<Behaviour>>) {
    let mut connections = JoinSet::new();
    loop {
        let (connection, _) = listener.accept().await.unwrap();
        let (s3, behaviour) = (s3.clone(), behaviour.clone());
        let service = service_fn(move |request| answer(s3.clone(), behaviour.clone(), request));
        connections.spawn(async move {
            // A client that goes away is no failure of the server.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(connection), service).await;
        });
    }
}

async fn answer(
    s3: S3Service,
    behaviour: Arc<Mutex<Behaviour>>,
    request: Request<Incoming>,
) -> Result<Response<Body>, HttpError> {
    let fault = behaviour.lock().unwrap().fault_of(format!("{} {}", request.method(), request.uri()));
    match fault {
        None => s3.call(request.map(Body::from)).await,
        Some(Fault::Error) => Ok(refused(request, StatusCode::INTERNAL_SERVER_ERROR, "InternalError").await),
        Some(Fault::Busy) => Ok(refused(request, StatusCode::SERVICE_UNAVAILABLE, "SlowDown").await),
        Some(Fault::Slow(pause)) => {
            tokio::time::sleep(pause).await;
            s3.call(request.map(Body::from)).await
        }
        Some(Fault::Lost) => {
            let (head, body) = s3.call(request.map(Body::from)).await?.into_parts();
            let mut bytes = body.collect().await.map_err(HttpError::new)?.to_bytes();
            if bytes.is_empty() {
                return Err(closed());
            }
            bytes.truncate(bytes.len() / 2);
            Ok(Response::from_parts(head, Body::http_body(Cut(Some(bytes)))))
        }
        Some(Fault::Silence) => std::future::pending().await,
        Some(Fault::Closed) => Err(closed()),
    }
}

fn closed() -> HttpError {
    HttpError::new(Box::new(io::Error::other("closed by the test")))
}

async fn refused(request: Request<Incoming>, status: StatusCode, code: &str) -> Response<Body> {
    // Closed before its body was read, the connection might break before the answer is seen.
    let mut body = request.into_body();
    while body.frame().await.is_some_and(|frame| frame.is_ok()) {}
    let mut response = Response::new(Body::from(format!("<Error><Code>{code}</Code></Error>")));
    *response.status_mut() = status;
    response
}

/// A body that breaks off after these bytes.
struct Cut(Option<Bytes>);

impl HttpBody for Cut {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = self.0.take().map(Frame::data).ok_or_else(|| io::Error::other("cut off by the test"));
        Poll::Ready(Some(frame))
    }
}

impl Behaviour {
    fn fault_of(&mut self, request: String) -> Option<Fault> {
        let fault = match &mut self.fault {
            Some((pattern, ..)) if self.spared > 0 && request.contains(pattern.as_str()) => {
                self.spared -= 1;
                None
            }
            Some((pattern, fault, times)) if *times > 0 && request.contains(pattern.as_str()) => {
                *times -= 1;
                Some(*fault)
            }
            _ => None,
        };
        self.requests.push(request);
        fault
    }
}
