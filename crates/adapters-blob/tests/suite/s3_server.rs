//! An S3 server inside the test process, over a folder, that can be told to misbehave.

use adapters_blob::{BlobConfig, S3Config};
use hyper::body::Incoming;
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
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const BUCKET: &str = "blobs";
const KEY: &str = "AKIATEST";
pub(crate) const SECRET: &str = "a-secret-of-the-tests";

/// How a request is treated.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Answered 500.
    Error,
    /// Answered never.
    Silence,
    /// The connection is closed.
    Closed,
}

/// A running server; it ends when this is dropped.
pub(crate) struct S3Server {
    folder: TempDir,
    address: SocketAddr,
    behaviour: Arc<Mutex<Behaviour>>,
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct Behaviour {
    /// Method, path and query of every request.
    requests: Vec<String>,
    /// What requests must contain to be treated so, and how many more of them.
    fault: Option<(String, Fault, usize)>,
}

impl S3Server {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let behaviour = Arc::<Mutex<Behaviour>>::default();
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, builder.build(), behaviour.clone()));
        Self { folder, address, behaviour, _serving: serving }
    }

    /// The way to the bucket, under a prefix.
    pub(crate) fn config(&self) -> BlobConfig {
        BlobConfig::S3(self.s3_config())
    }

    pub(crate) fn s3_config(&self) -> S3Config {
        S3Config {
            bucket: BUCKET.to_owned(),
            prefix: Some("platen/test".to_owned()),
            region: None,
            endpoint: Some(format!("http://{}", self.address)),
            access_key_id: Some(KEY.into()),
            secret_access_key: Some(SECRET.into()),
            allow_http: true,
            path_style: true,
        }
    }

    /// From now on the next `times` requests that contain `pattern` are treated so.
    pub(crate) fn misbehave(&self, pattern: &str, fault: Fault, times: usize) {
        self.behaviour.lock().unwrap().fault = Some((pattern.to_owned(), fault, times));
    }

    /// How many requests so far contained `pattern`.
    pub(crate) fn requests(&self, pattern: &str) -> usize {
        self.behaviour.lock().unwrap().requests.iter().filter(|request| request.contains(pattern)).count()
    }

    /// What the server keeps of unfinished multipart uploads.
    pub(crate) fn parts(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.path()).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.contains("upload"))
            .collect()
    }

    /// Waits until nothing is kept of unfinished uploads.
    pub(crate) async fn no_parts(&self) {
        let gone = async {
            while !self.parts().is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the parts are removed");
    }

    /// Puts an object beside the blobs.
    pub(crate) fn put_stranger(&self, path: &str) {
        let path = self.folder.path().join(BUCKET).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "strange").unwrap();
    }

    pub(crate) fn remove_bucket(&self) {
        std::fs::remove_dir_all(self.folder.path().join(BUCKET)).unwrap();
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
        Some(Fault::Error) => {
            let mut response = Response::new(Body::from("<Error><Code>InternalError</Code></Error>".to_owned()));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            Ok(response)
        }
        Some(Fault::Silence) => std::future::pending().await,
        Some(Fault::Closed) => Err(HttpError::new(Box::new(io::Error::other("closed by the test")))),
    }
}

impl Behaviour {
    fn fault_of(&mut self, request: String) -> Option<Fault> {
        let fault = match &mut self.fault {
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
