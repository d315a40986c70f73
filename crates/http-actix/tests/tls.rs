//! Everything that holds for plain connections holds within TLS, and
//! what TLS adds.

#[path = "messages/connections.rs"]
mod connections;
#[path = "messages/support/mod.rs"]
mod support;

use domain::blob::BlobStore;
use domain::contract::Stores;
use domain::testing::{InMemoryBlobs, InMemoryStore};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use support::{Connection, Options, Request, Server};
use tokio::runtime::Runtime;

fn open(_: &Runtime) -> (Stores, Arc<dyn BlobStore>, ()) {
    (Stores::in_memory(&InMemoryStore::new()), Arc::new(InMemoryBlobs::default()), ())
}

#[test]
fn a_client_that_speaks_no_tls_gets_no_answer_and_hurts_nobody() {
    let server = Server::start();
    let mut plain = TcpStream::connect(server.listener).unwrap();
    plain.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    plain.write_all(b"GET /api/v2 HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // Closed or reset, after an alert of TLS.
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    server.send(Request::get("/api/v2")).assert_success("Server is running");
}

#[test]
fn a_client_that_begins_no_tls_is_let_go_in_time() {
    let options = Options { read_timeout: Duration::from_secs(1), ..Default::default() };
    let server = Server::with(options);
    let mut silent = TcpStream::connect(server.listener).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert_eq!(silent.read(&mut [0]).unwrap_or(0), 0);
}

#[test]
fn the_operators_listener_is_plain() {
    let server = Server::start();
    Connection::open(server.ops).send(&Request::get("/health/live").anonymous()).assert_success("Live");
}
