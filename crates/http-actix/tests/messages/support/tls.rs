//! TLS between the client of the tests and the server: a bridge takes plain connections and speaks TLS
//! to the server, so that tests that look at every byte run over TLS unchanged.

use rcgen::generate_simple_self_signed;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;

/// The name in the certificate.
const NAME: &str = "platen.test";

/// What the server greets with, and what a client needs to trust it.
pub fn configs() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let generated = generate_simple_self_signed(vec![NAME.to_owned()]).unwrap();
    let certificate = generated.cert.der().clone();
    let key = PrivateKeyDer::try_from(generated.signing_key.serialize_der()).unwrap();
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let server = server.unwrap().with_no_client_auth().with_single_cert(vec![certificate.clone()], key).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    (Arc::new(server), Arc::new(client.with_root_certificates(roots).with_no_client_auth()))
}

/// A bridge to the server at an address, until it is dropped.
pub struct Bridge {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bridge {
    pub fn to(server: SocketAddr, config: Arc<ClientConfig>) -> Self {
        let (sender, receiver) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                listener.set_nonblocking(true).unwrap();
                sender.send(listener.local_addr().unwrap()).unwrap();
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                actix_web::rt::spawn(async move {
                    while let Ok((client, _)) = listener.accept().await {
                        actix_web::rt::spawn(carry(client, server, Arc::clone(&config)));
                    }
                });
                let _ = stopped.await;
            });
        });
        Self { address: receiver.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }
}

/// Carries bytes both ways; the end of one side becomes the end of the other.
async fn carry(mut client: TcpStream, server: SocketAddr, config: Arc<ClientConfig>) {
    let Ok(io) = TcpStream::connect(server).await else { return };
    let name = ServerName::try_from(NAME).unwrap();
    let Ok(mut tls) = TlsConnector::from(config).connect(name, io).await else { return };
    // A side that fails ends both.
    let _ = tokio::io::copy_bidirectional(&mut client, &mut tls).await;
}

impl Drop for Bridge {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}
