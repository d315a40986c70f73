//! A throwaway `PostgreSQL` cluster for tests, from Debian's package `postgresql`. Nothing here but the
//! standard library: any test crate may include this file by its path.
//!
//! Each test process has one cluster, on loopback, a free port and a folder of its own, and each test
//! a fresh database in it. A guard process stops the cluster and removes its folder when the
//! process ends, however it ends. With `PLATEN_TEST_POSTGRES=postgres://USER:PASSWORD@HOST:PORT/DATABASE`
//! the databases are made in that cluster instead, which saves the start where every test is a process.
//!
//! The cluster sorts text as people do, not by bytes, so that an order that rests on its default
//! shows.

#![allow(dead_code, unreachable_pub, reason = "each test crate that includes this file uses a part of it")]

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Where to take the cluster from, instead of starting one.
const GIVEN: &str = "PLATEN_TEST_POSTGRES";

/// The superuser of a cluster that we start, and its password.
const USER: &str = "platen";
const PASSWORD: &str = "only-for-tests";

const MISSING: &str = "PostgreSQL is not installed: apt-get install postgresql";

/// A cluster that answers.
pub struct Cluster {
    /// Where its databases are made from: a URL without the name of a database, and a database that
    /// is there already.
    base: String,
    maintenance: String,
    bin: PathBuf,
    folder: Option<PathBuf>,
    /// Stops the cluster as soon as our end of its pipe is closed.
    guard: Option<Child>,
    making: Mutex<()>,
}

impl Cluster {
    /// The cluster of this process.
    ///
    /// # Panics
    /// Where there is no `PostgreSQL`, or it doesn't start.
    pub fn shared() -> &'static Cluster {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| match std::env::var(GIVEN) {
            Ok(url) => Self::given(&url),
            Err(_) => Self::start(),
        })
    }

    /// A cluster of its own, for a test that stops it.
    ///
    /// # Panics
    /// Where there is no `PostgreSQL`, or it doesn't start.
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// A cluster of its own that speaks TLS, with a certificate and its key in PEM.
    ///
    /// # Panics
    /// Where there is no `PostgreSQL`, or it doesn't start.
    pub fn start_tls(certificate: &str, key: &str) -> Self {
        Self::start_with(Some((certificate, key)))
    }

    fn start_with(tls: Option<(&str, &str)>) -> Self {
        let bin = installed().expect(MISSING);
        let folder = new_folder();
        let data = folder.join("data");
        let password = folder.join("password");
        fs::write(&password, PASSWORD).expect("a writable temporary folder");
        hand_over(&folder);
        let mut initdb = as_server(&bin.join("initdb"));
        initdb.arg("-D").arg(&data).args(["-U", USER, "-A", "password", "--pwfile"]).arg(&password);
        initdb.args(["-E", "UTF8", "--locale=C.UTF-8", "--no-instructions"]);
        initdb.args(["--locale-provider=icu", "--icu-locale=en-US"]);
        succeed(initdb.output(), "initdb");
        if let Some((certificate, key)) = tls {
            use_tls(&data, certificate, key);
        }
        // The port may be taken by another program between our look and the server's start.
        let mut failure = String::new();
        let guard = guard(&bin, &folder);
        for _ in 0..5 {
            let port = free_port();
            match start_server(&bin, &folder, port) {
                Ok(()) => {
                    let base = format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{port}");
                    return Self::new(base, "postgres".to_owned(), bin, Some(folder), Some(guard));
                }
                Err(why) => failure = why,
            }
        }
        panic!("PostgreSQL doesn't start: {failure}");
    }

    fn given(url: &str) -> Self {
        let bin = installed().expect(MISSING);
        let (base, maintenance) = url.rsplit_once('/').expect("a URL that ends in the name of a database");
        Self::new(base.to_owned(), maintenance.to_owned(), bin, None, None)
    }

    fn new(base: String, maintenance: String, bin: PathBuf, folder: Option<PathBuf>, guard: Option<Child>) -> Self {
        Self { base, maintenance, bin, folder, guard, making: Mutex::new(()) }
    }

    /// The URL of a new, empty database.
    ///
    /// # Panics
    /// Where the cluster doesn't make one.
    pub fn database(&self) -> String {
        // Ids of processes come again within a run of all tests.
        let name = format!("test_{:016x}", RandomState::new().build_hasher().finish());
        // One after the other: making a database needs its template for itself.
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        self.psql(&self.maintenance, &format!("CREATE DATABASE {name}"));
        format!("{}/{name}", self.base)
    }

    /// The URL of the database that the cluster has from the start.
    pub fn maintenance_url(&self) -> String {
        format!("{}/{}", self.base, self.maintenance)
    }

    /// Runs SQL in a database and gives what it answers, unaligned.
    ///
    /// # Panics
    /// Where it fails.
    pub fn psql(&self, database: &str, sql: &str) -> String {
        let url = format!("{}/{database}", self.base);
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, "-d", &url]);
        succeed(psql.output(), sql)
    }

    /// Stops the server at once, as a crash would.
    ///
    /// # Panics
    /// Where the cluster isn't ours.
    pub fn crash(&self) {
        let folder = self.folder.as_ref().expect("a cluster that this process started");
        let mut stop = as_server(&self.bin.join("pg_ctl"));
        stop.arg("-D").arg(folder.join("data")).args(["-m", "immediate", "-w", "stop"]);
        succeed(stop.output(), "pg_ctl stop");
    }

    /// Stops the server once its sessions have ended, which it ends, and starts it again.
    ///
    /// # Panics
    /// Where the cluster isn't ours, or it doesn't start.
    pub fn restart_in_order(&self) {
        let folder = self.folder.as_ref().expect("a cluster that this process started");
        let mut stop = as_server(&self.bin.join("pg_ctl"));
        stop.arg("-D").arg(folder.join("data")).args(["-m", "fast", "-w", "stop"]);
        succeed(stop.output(), "pg_ctl stop");
        self.restart();
    }

    /// Halts all processes of the server where they are: it neither answers nor closes.
    ///
    /// # Panics
    /// Where the cluster isn't ours.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets the processes go on.
    ///
    /// # Panics
    /// Where the cluster isn't ours.
    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    /// Sends a signal to the server and then to its children, so that none is made meanwhile.
    fn signal(&self, signal: &str) {
        let folder = self.folder.as_ref().expect("a cluster that this process started");
        let printed = fs::read_to_string(folder.join("data/postmaster.pid")).expect("a server that runs");
        let server = printed.lines().next().expect("the id of the server").to_owned();
        send(signal, &server);
        for child in children(&server) {
            send(signal, &child);
        }
    }

    /// Starts the server again on the same port.
    ///
    /// # Panics
    /// Where the cluster isn't ours, or it doesn't start.
    pub fn restart(&self) {
        let folder = self.folder.as_ref().expect("a cluster that this process started");
        let port = self.base.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port in the URL");
        start_server(&self.bin, folder, port).expect("a server that starts again");
    }
}

/// The processes that this one has started.
fn children(parent: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    let is_child = |id: &String| {
        // The parent is the second word after the name, which stands in parentheses.
        let printed = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        printed.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)) == Some(parent)
    };
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(is_child).collect()
}

fn send(signal: &str, process: &str) {
    let kill = Command::new("sh").args(["-c", "kill \"$0\" \"$1\"", signal, process]).output();
    // A child may have ended meanwhile; the server itself has not.
    drop(kill.expect("a shell"));
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(guard) = self.guard.take() {
            end(guard);
        }
    }
}

/// The programs of the newest version that is installed.
fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(Result::ok);
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()).unwrap_or(0);
    let newest = versions.map(|entry| entry.path()).max_by_key(number)?;
    let bin = newest.join("bin");
    bin.join("initdb").is_file().then_some(bin)
}

fn is_root() -> bool {
    // The folder of a process belongs to its user.
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|folder| folder.uid() == 0)
}

/// A command that runs as the user that the server may run as: it refuses root.
fn as_server(program: &Path) -> Command {
    let mut command = if is_root() {
        let mut runuser = Command::new("runuser");
        runuser.args(["-u", "postgres", "--"]).arg(program);
        runuser
    } else {
        Command::new(program)
    };
    command.current_dir("/").stdin(Stdio::null());
    command
}

fn new_folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("platen-postgres-{}-{number}", std::process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => return folder,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => panic!("no temporary folder: {error}"),
        }
    }
}

fn hand_over(folder: &Path) {
    if is_root() {
        let mut chown = Command::new("chown");
        succeed(chown.args(["-R", "postgres"]).arg(folder).output(), "chown");
    }
}

/// Puts the certificate where the server looks for it, readable by nobody else.
fn use_tls(data: &Path, certificate: &str, key: &str) {
    use std::os::unix::fs::PermissionsExt;
    for (name, text) in [("server.crt", certificate), ("server.key", key)] {
        let file = data.join(name);
        fs::write(&file, text).expect("a writable folder");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions of a file of ours");
    }
    let settings = data.join("postgresql.auto.conf");
    fs::write(settings, "ssl = on\n").expect("a writable folder");
    hand_over(data);
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("the address of a listener").port()
}

fn start_server(bin: &Path, folder: &Path, port: u16) -> Result<(), String> {
    let options = format!(
        "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=200 \
         -c shared_buffers=64MB"
    );
    let mut start = as_server(&bin.join("pg_ctl"));
    start.arg("-D").arg(folder.join("data")).arg("-l").arg(folder.join("log")).args(["-w", "-t", "60", "-o", &options]);
    // The server would keep pipes of ours open for as long as it runs.
    start.arg("start").stdout(Stdio::null()).stderr(Stdio::null());
    match start.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(fs::read_to_string(folder.join("log")).unwrap_or_default()),
        Err(error) => Err(error.to_string()),
    }
}

/// A shell that waits until our end of its pipe is closed, which the system does when we end.
fn guard(bin: &Path, folder: &Path) -> Child {
    // A signal to all processes of a terminal must not end the guard before its work.
    let script = r#"trap '' INT TERM HUP; read -r _; "$0" -D "$1/data" -m immediate -w stop; rm -rf "$1""#;
    let mut shell = if is_root() {
        let mut runuser = Command::new("runuser");
        runuser.args(["-u", "postgres", "--", "sh"]);
        runuser
    } else {
        Command::new("sh")
    };
    shell.current_dir("/").args(["-c", script]).arg(bin.join("pg_ctl")).arg(folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell")
}

fn end(mut guard: Child) {
    drop(guard.stdin.take());
    let _ = guard.wait();
}

fn succeed(output: io::Result<Output>, what: &str) -> String {
    let output = output.unwrap_or_else(|error| panic!("{what}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{what}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}
