//! What the end-to-end tests share: a folder with a configuration, the real program run in it, and
//! a client of the interface. Servers listen on loopback and free ports and are ended by their id.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub(crate) mod adapters;
pub(crate) mod client;
pub(crate) mod collector;
pub(crate) mod content;
pub(crate) mod form;
pub(crate) mod halting;
pub(crate) mod hostile;
pub(crate) mod raw;
pub(crate) mod records;
pub(crate) mod setup;

use client::Client;
use setup::{Setup, Stores};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest wait for something that takes milliseconds on an idle machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The key of Ann in [`FLEET`].
pub(crate) const ANNS_KEY: &str = "test-key-of-ann-0001";

/// The resource that the queue of [`FLEET`] uses.
pub(crate) const USED_RESOURCE: &str = "88de5c02-cce6-411f-950f-be309caa4439";
pub(crate) const COMPUTER: &str = "6f9619ff-8b86-d011-b42d-00c04fc964ff";
pub(crate) const DEVICE: &str = "0d4ab0a6-0f0b-4d3e-9f5b-0a9a9f6f2c11";

/// A fleet of one organization, Acme Print, with one of each.
pub(crate) const FLEET: &str = r#"{ "organizations": [ {
  "name": "Acme Print",
  "users": [ { "name": "Ann", "mis_key": "test-key-of-ann-0001" } ],
  "computers": [ { "guid": "6f9619ff-8b86-d011-b42d-00c04fc964ff", "name": "RIP-01",
    "hardware_hash": "HH-0001", "serial_number": "SN-1000", "user": "Ann" } ],
  "devices": [ { "guid": "0d4ab0a6-0f0b-4d3e-9f5b-0a9a9f6f2c11", "name": "Latex 1" } ],
  "queues": [ { "guid": "5b3f3a0e-64a5-4b39-9d6e-7d7f3b1c2d10", "name": "Banner",
    "device": "0d4ab0a6-0f0b-4d3e-9f5b-0a9a9f6f2c11", "uses": ["88de5c02-cce6-411f-950f-be309caa4439"] } ],
  "jobs": [ { "guid": "a3c1b9a2-1111-4c1d-8f6e-2f1e5d6c7b80", "name": "Order 17",
    "queue": "5b3f3a0e-64a5-4b39-9d6e-7d7f3b1c2d10", "uses": [] } ]
} ] }"#;

/// A folder in which the program runs, and its stores; all of it goes with this.
pub(crate) struct Site {
    folder: TempDir,
    stores: Stores,
}

impl Site {
    /// A folder with a configuration that listens on free ports, and `fleet.json`.
    pub(crate) fn new() -> Self {
        Self::on(crate::SETUP)
    }

    /// The same with stores of its own.
    pub(crate) fn on(setup: Setup) -> Self {
        let site = Self { folder: tempfile::tempdir().unwrap(), stores: Stores::new(setup) };
        site.configure("");
        site.write("fleet.json", FLEET);
        site
    }

    /// Writes `platen.toml` anew: free ports, the stores, and `more`, in keys with their section. Failed authentications
    /// are not bounded unless `more` says so: tests make thousands from one address.
    pub(crate) fn configure(&self, more: &str) {
        let bound = "abuse.max_failed_authentications";
        let unbounded = if more.contains(bound) { String::new() } else { format!("{bound} = 0\n") };
        let listener = |name, file| format!("{name}.bind = '127.0.0.1:0'\n{name}.bind_file = '{file}'\n");
        let listeners = [listener("http", "api.bind"), listener("ops", "ops.bind")].concat();
        self.write("platen.toml", &format!("{listeners}{}{unbounded}{more}\n", self.stores.configuration()));
    }

    /// The database and the bucket of the program.
    pub(crate) fn stores(&self) -> &Stores {
        &self.stores
    }

    /// The folder of the blob store, that of the bucket for S3.
    pub(crate) fn blob_store(&self) -> PathBuf {
        self.stores.blobs(self.folder.path()).0
    }

    /// The folder of the contents of a kind: `resources` or `crash-reports`.
    pub(crate) fn contents(&self, kind: &str) -> PathBuf {
        let (root, prefix) = self.stores.blobs(self.folder.path());
        root.join(prefix).join(kind)
    }

    /// How many files the blob store keeps, those of uploads that aren't finished included.
    pub(crate) fn stored_files(&self) -> usize {
        self.stores.files(self.folder.path())
    }

    /// Runs SQL that both engines understand, for what no operation of the interface shows or could make
    /// in time; what it answers, a row of one column each.
    pub(crate) async fn sql(&self, sql: &str) -> Vec<String> {
        self.stores.sql(self.folder.path(), sql).await
    }

    pub(crate) fn is_on_postgres(&self) -> bool {
        self.stores.is_postgres()
    }

    /// Makes copies of the one resource that is there, until there are `count`, each with its own GUID.
    /// They share the one's content.
    pub(crate) async fn multiply_resources(&self, count: u32) {
        let (guid, number) =
            if self.stores.is_postgres() { ("gen_random_uuid()", "i::text") } else { ("randomblob(16)", "i") };
        let sql = format!(
            "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
            INSERT INTO resource
                (guid, name, name_sort, organization_id, resource_type, type_folded, checksum, modified_at, domain,
                 meta, profile_group_folded, media_folded, mode_folded, blob_key, content_size)
            SELECT {guid}, name || ' ' || {number}, name_sort || ' ' || {number}, organization_id, resource_type,
                 type_folded, checksum, modified_at, domain, meta, profile_group_folded, media_folded, mode_folded,
                 blob_key, content_size
            FROM resource, n"
        );
        self.sql(&sql).await;
        assert_eq!(self.sql("SELECT CAST(count(*) AS TEXT) FROM resource").await, [count.to_string()]);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_with(line.split_whitespace(), &[])
    }

    /// Runs a command with arguments as they are and further variables.
    pub(crate) fn run_with<'a>(&self, arguments: impl IntoIterator<Item = &'a str>, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command();
        command.args(arguments).envs(variables.iter().copied());
        Ran::from(command.output().unwrap())
    }

    /// Starts a server on the fleet of `fleet.json` and waits until it is ready.
    pub(crate) async fn serve(&self) -> Server {
        self.serve_with(&["--fleet", "fleet.json"]).await
    }

    pub(crate) async fn serve_with(&self, arguments: &[&str]) -> Server {
        let server = self.begin_serving(arguments);
        server.wait_until_ready().await;
        server
    }

    /// Starts one more server on the same stores, with files of its own.
    pub(crate) async fn serve_second(&self, name: &str) -> Server {
        let server = self.begin_serving_as(name, &[]);
        server.wait_until_ready().await;
        server
    }

    /// Starts a server and waits until it has written its addresses.
    pub(crate) fn begin_serving(&self, arguments: &[&str]) -> Server {
        self.begin_serving_as("", arguments)
    }

    /// Starts a server in a namespace of mounts of its own, after `script`, and waits until it is ready. Only root
    /// may.
    pub(crate) async fn serve_after_script(&self, script: &str) -> Server {
        let server =
            self.await_addresses("", self.launch_as("", self.after_script(script), &["--fleet", "fleet.json"]));
        server.wait_until_ready().await;
        server
    }

    /// Starts a server that may have so many files and connections open, and waits until it is ready.
    pub(crate) async fn serve_with_open_files(&self, most: u32) -> Server {
        let mut command = self.wrapped("sh");
        command.args(["-ec", &format!(r#"ulimit -n {most}; exec "$0" "$@""#), env!("CARGO_BIN_EXE_platen")]);
        let server = self.await_addresses("", self.launch_as("", command, &["--fleet", "fleet.json"]));
        server.wait_until_ready().await;
        server
    }

    /// Runs a command to its end in a namespace of mounts of its own, after `script`. Only root may.
    pub(crate) fn run_after_script(&self, script: &str, line: &str) -> Ran {
        Ran::from(self.after_script(script).args(line.split_whitespace()).output().unwrap())
    }

    fn after_script(&self, script: &str) -> Command {
        let mut command = self.wrapped("unshare");
        command.args(["--mount", "sh", "-ec", &format!(r#"{script}; exec "$0" "$@""#), env!("CARGO_BIN_EXE_platen")]);
        command
    }

    /// Runs a program where that server sees its files.
    pub(crate) fn run_in_namespace_of(&self, server: &Server, line: &str) -> Ran {
        let mut command = self.wrapped("nsenter");
        command.args([
            &format!("--mount=/proc/{}/ns/mnt", server.id()),
            &format!("--wdns={}", self.folder.path().display()),
        ]);
        Ran::from(command.args(line.split_whitespace()).output().unwrap())
    }

    fn begin_serving_as(&self, name: &str, arguments: &[&str]) -> Server {
        self.await_addresses(name, self.launch_as(name, self.command(), arguments))
    }

    fn await_addresses(&self, name: &str, mut child: Child) -> Server {
        let file = |file: &str| format!("{name}{file}");
        let text_told = |bind: &str| fs::read_to_string(self.path(&file(bind))).ok();
        let since = Instant::now();
        loop {
            if let (Some(api), Some(ops)) = (text_told("api.bind"), text_told("ops.bind")) {
                return Server { child, api: format!("http://{api}"), ops: format!("http://{ops}") };
            }
            if let Some(status) = child.try_wait().unwrap() {
                panic!("the server ended: {status}: {}", self.read(&file("server.err")));
            }
            assert!(since.elapsed() < PATIENCE, "the server tells no address: {}", self.read(&file("server.err")));
            sleep(Duration::from_millis(5));
        }
    }

    /// Starts a server and waits for nothing.
    pub(crate) fn launch(&self, arguments: &[&str]) -> Child {
        self.launch_as("", self.command(), arguments)
    }

    fn launch_as(&self, name: &str, mut command: Command, arguments: &[&str]) -> Child {
        let file = |file: &str| format!("{name}{file}");
        for bind in ["api.bind", "ops.bind"] {
            let _ = fs::remove_file(self.path(&file(bind)));
        }
        let out = |name: &str| Stdio::from(File::create(self.path(&file(name))).unwrap());
        command.env("PLATEN_HTTP__BIND_FILE", file("api.bind")).env("PLATEN_OPS__BIND_FILE", file("ops.bind"));
        command.arg("serve").args(arguments).stdout(out("server.out")).stderr(out("server.err"));
        command.spawn().unwrap()
    }

    /// The program, to be run in this folder with no configuration but its own.
    pub(crate) fn command(&self) -> Command {
        self.wrapped(env!("CARGO_BIN_EXE_platen"))
    }

    /// A program that runs ours.
    pub(crate) fn wrapped(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PLATEN_") {
                command.env_remove(name);
            }
        }
        command
    }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    /// The command succeeded and had nothing to complain about; what it printed.
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        let problems = self.err.lines().filter(|line| !line.starts_with("note: made the database "));
        assert_eq!((self.code, problems.count()), (Some(0), 0), "{self:?}");
        self.out
    }

    /// The command failed with `code`. Returns the one line that says why.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        self.err.trim_end().to_owned()
    }
}

/// A running server, killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    /// `http://address:port` of the API.
    pub(crate) api: String,
    /// The same of the second listener.
    pub(crate) ops: String,
}

impl Server {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A client with Ann's key.
    pub(crate) fn client(&self) -> Client {
        Client::with_key(&self.api, ANNS_KEY)
    }

    pub(crate) async fn wait_until_ready(&self) {
        let client = Client::with_key(&self.ops, "");
        eventually("the server is ready", async || client.get("/health/ready").await.status() == 200).await;
    }

    /// Ends the server with no chance to do anything more.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the server to end.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let since = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(since.elapsed() < PATIENCE, "the server does not end");
            sleep(Duration::from_millis(5));
        }
    }

    /// Asks the server to end and waits until it has.
    pub(crate) fn stop(mut self) {
        self.signal("TERM");
        assert_eq!(self.wait().code(), Some(0));
    }

    /// A figure of `/proc/<id>/status` in KiB.
    pub(crate) fn memory(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim_matches([':', ' ', '\t', 'k', 'B']).parse().unwrap()
    }

    /// Lets the peak of the memory begin at what it is now.
    pub(crate) fn forget_peak_memory(&self) {
        fs::write(format!("/proc/{}/clear_refs", self.id()), "5").unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `holds`; panics where it doesn't within [`PATIENCE`].
pub(crate) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let since = Instant::now();
    while !holds().await {
        assert!(since.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// All files below a folder; none where it doesn't exist.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
