//! The server from its start to its end: what it makes, tells, applies, sweeps, and how it drains.

use crate::support::client::Client;
use crate::support::content::{MIB, blocks, sha1};
use crate::support::{ANNS_KEY, FLEET, Server, Site, USED_RESOURCE, eventually, files_below};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

const GUID: &str = "11111111-2222-3333-4444-555555555555";

#[tokio::test]
async fn a_start_makes_missing_folders_and_tells_its_addresses() {
    let site = Site::new();
    site.configure("database.url = 'sqlite://a/b/platen.db'\nblobs.path = 'c/d'");
    let server = site.serve_with(&[]).await;
    assert!(site.path("a/b/platen.db").exists() && site.path("c/d").exists());
    for (file, base) in [("api.bind", &server.api), ("ops.bind", &server.ops)] {
        assert_eq!(format!("http://{}", site.read(file)), *base);
        let client = Client::with_key(base, "");
        for path in ["/health/live", "/health/ready"] {
            assert_eq!(client.get(path).await.status(), 200, "{base}{path}");
        }
    }
    let metrics = Client::with_key(&server.ops, "").get("/metrics").await.text().await.unwrap();
    let build = format!("platen_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"));
    assert!(metrics.lines().any(|line| line == build), "{metrics}");
    site.run("healthcheck").succeeded();
    server.stop();
    assert!(site.run("healthcheck").failed(1).contains("does not answer"));
}

#[tokio::test]
async fn logs_are_json_where_nobody_watches_and_name_the_addresses() {
    let site = Site::new();
    let server = site.serve_with(&[]).await;
    let log = site.read("server.err");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let serving = lines.iter().find(|line| line["message"] == "serving").expect("a line tells that it serves");
    assert_eq!(format!("http://{}", serving["api"].as_str().unwrap()), server.api);
    assert_eq!(format!("http://{}", serving["ops"].as_str().unwrap()), server.ops);
    assert_eq!(site.read("server.out"), "", "stdout is for issued keys");
    server.stop();

    site.configure("log.format = 'text'\nlog.level = 'warn,platen=info'");
    let server = site.serve_with(&[]).await;
    let log = site.read("server.err");
    let serving = log.lines().find(|line| line.contains("serving")).expect("a line tells that it serves");
    assert!(serving.contains(" INFO ") && serving.contains(server.api.trim_start_matches("http://")), "{serving}");
    assert!(!log.contains("actix_server") && !log.contains('\u{1b}'), "{log}");
}

#[tokio::test]
async fn a_store_that_is_gone_is_told_by_readiness_until_it_is_back() {
    let site = Site::new();
    let server = site.serve().await;
    let (blobs, away) = (site.path("data/blobs"), site.path("data/away"));
    fs::rename(&blobs, &away).unwrap();
    let client = Client::with_key(&server.ops, "");
    assert_eq!(client.get("/health/ready").await.status(), 503);
    assert_eq!(client.get("/health/live").await.status(), 200);
    let told = site.run("healthcheck").failed(1);
    assert!(told.starts_with("error: the server is not ready: ") && told.contains("503"), "{told}");
    assert!(site.read("server.err").contains("blob store: "), "the log tells which");
    fs::rename(&away, &blobs).unwrap();
    site.run("healthcheck").succeeded();
}

#[tokio::test]
async fn serving_with_a_fleet_file_prints_the_issued_keys_which_are_accepted() {
    let site = Site::new();
    site.write("ida.json", r#"{ "organizations": [ { "name": "Ink & Paper Co", "users": [ { "name": "Ida" } ] } ] }"#);
    let server = site.serve_with(&["--fleet", "ida.json"]).await;
    let printed = site.read("server.out");
    assert_eq!(printed.lines().count(), 1, "{printed}");
    let key: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(key["user"], "Ida");
    assert!(Client::with_key(&server.api, key["mis_key"].as_str().unwrap()).is_admitted().await);
    assert!(!site.read("server.err").contains(key["mis_key"].as_str().unwrap()));
}

#[tokio::test]
async fn the_fleet_of_the_readme_is_accepted() {
    let site = Site::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fleet.json");
    fs::copy(example, site.path("fleet.json")).unwrap();
    let server = site.serve().await;
    assert!(Client::with_key(&server.api, "demo-key-of-ann-at-acme-print").is_admitted().await);
    assert!(Client::on_computer(&server.api, "demo-hardware-hash-of-rip-01", "SN-1000").is_admitted().await);
}

#[tokio::test]
async fn what_a_queue_of_the_fleet_file_uses_is_kept_until_it_no_longer_does() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    client.upload(USED_RESOURCE, "Label", b"content").await;
    let path = format!("/api/v2/resource/{USED_RESOURCE}");
    assert_eq!(client.delete(&path).await.status(), 400);
    site.write("fleet.json", &FLEET.replace(&format!("[\"{USED_RESOURCE}\"]"), "[]"));
    site.run("fleet apply fleet.json").succeeded();
    assert_eq!(client.delete(&path).await.status(), 200);
}

#[tokio::test]
async fn a_base_path_stands_before_the_interface_only() {
    let site = Site::new();
    site.configure("http.base_path = '/print/shop/'");
    let server = site.serve().await;
    let client = server.client();
    assert_eq!(client.get("/print/shop/api/v2").await.status(), 200);
    assert_eq!(client.get("/api/v2").await.status(), 404);
    assert_eq!(client.get("/health/live").await.status(), 200);
}

#[tokio::test]
async fn a_port_that_is_taken_ends_with_one_and_names_the_key() {
    let site = Site::new();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap().to_string();
    for (variable, key) in [("PLATEN_HTTP__BIND", "http.bind"), ("PLATEN_OPS__BIND", "ops.bind")] {
        let told = site.run_with(["serve"], &[(variable, &address)]).failed(1);
        assert!(told.starts_with(&format!("error: cannot listen on {address} ({key}): ")), "{told}");
    }
    assert!(!site.path("data").exists(), "nothing was touched");
}

#[tokio::test]
async fn a_database_of_a_newer_version_ends_every_command_with_one() {
    let site = Site::new();
    site.run("migrate").succeeded();
    crate::support::database::pretend_newer(&site.path("data/platen.db")).await;
    let commands = ["migrate", "serve", "fleet apply fleet.json", "fleet export", "blobs check"];
    let key = ["key issue --organization A --user B", "key revoke --organization A --user B"];
    for line in commands.into_iter().chain(key) {
        let told = site.run(line).failed(1);
        assert!(told.contains("newer"), "{line}: {told}");
    }
}

#[tokio::test]
async fn a_revoked_key_is_refused_by_the_running_server_within_five_seconds() {
    let site = Site::new();
    let server = site.serve().await;
    let client = server.client();
    assert!(client.is_admitted().await);
    site.run_with(["key", "revoke", "--organization", "Acme Print", "--user", "Ann"], &[]).succeeded();
    let since = Instant::now();
    eventually("the key is refused", async || !client.is_admitted().await).await;
    assert!(since.elapsed() < Duration::from_secs(5), "decision A6: {:?}", since.elapsed());

    let issued = site.run_with(["key", "issue", "--organization", "Acme Print", "--user", "Ann"], &[]).succeeded();
    let key: Value = serde_json::from_str(&issued).unwrap();
    let client = Client::with_key(&server.api, key["mis_key"].as_str().unwrap());
    let since = Instant::now();
    eventually("the new key is accepted", async || client.is_admitted().await).await;
    assert!(since.elapsed() < Duration::from_secs(5), "decision A6: {:?}", since.elapsed());
    assert!(!Client::with_key(&server.api, ANNS_KEY).is_admitted().await);
}

#[tokio::test]
async fn replaced_and_deleted_content_is_swept_after_its_grace() {
    let site = Site::new();
    site.configure("blobs.discarded_grace = '1s'");
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"first").await;
    client.upload(GUID, "Label", b"second").await;
    let blobs = || files_below(&site.path("data/blobs/resources"));
    eventually("the replaced content is swept", async || blobs().len() == 1).await;
    assert_eq!(client.download(GUID).await, b"second");
    client.delete(&format!("/api/v2/resource/{GUID}")).await;
    eventually("the deleted content is swept", async || blobs().is_empty()).await;
}

#[tokio::test]
async fn replaced_content_stays_for_the_default_grace() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"first").await;
    server.client().upload(GUID, "Label", b"second").await;
    server.stop();
    // The first sweep comes with the start.
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"third").await;
    assert_eq!(files_below(&site.path("data/blobs/resources")).len(), 3);
}

#[tokio::test]
async fn half_written_content_of_a_killed_server_is_swept_at_the_next_start() {
    let site = Site::new();
    let server = site.serve().await;
    let mut upload = Upload::begin(&server, vec![7; 5_000_000]);
    let unfinished = || files_below(&site.path("data/blobs/resources"));
    eventually("the upload has begun to be written", async || !unfinished().is_empty()).await;
    server.kill();
    assert_eq!(upload.finish(), "", "nobody answers");
    assert_eq!(unfinished().len(), 1);

    let _server = site.serve().await;
    eventually("it is swept", async || unfinished().is_empty()).await;
}

#[tokio::test]
async fn orphans_are_found_and_removed_only_when_they_are_old() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"content").await;
    server.stop();
    assert_eq!(site.run("blobs check").succeeded(), "checked 1, missing 0, damaged 0, orphans 0, removed 0\n");

    let kept = files_below(&site.path("data/blobs/resources")).remove(0);
    let orphan = kept.parent().unwrap().parent().unwrap().join("ab/abcdef01-2345-4678-9abc-def012345678");
    fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    fs::write(&orphan, "orphan").unwrap();
    for line in ["blobs check", "blobs check --repair"] {
        let told = site.run(line).succeeded();
        assert!(told.starts_with("orphan resources/ab/abcdef01-2345-4678-9abc-def012345678 (6 bytes, of "), "{told}");
        assert!(told.ends_with(", kept)\nchecked 1, missing 0, damaged 0, orphans 1, removed 0\n"), "{told}");
    }
    age(&orphan, Duration::from_hours(25));
    assert!(site.run("blobs check").succeeded().ends_with("orphans 1, removed 0\n"));
    assert!(site.run("blobs check --repair").succeeded().ends_with("orphans 1, removed 1\n"));
    assert!(!orphan.exists() && kept.exists());
    assert_eq!(site.run("blobs check").succeeded(), "checked 1, missing 0, damaged 0, orphans 0, removed 0\n");
}

#[tokio::test]
async fn missing_and_damaged_content_ends_the_check_with_one() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"content").await;
    server.stop();
    let blob = files_below(&site.path("data/blobs/resources")).remove(0);
    for (damage, finding) in [("tnetnoc", "damaged"), ("more content", "damaged"), ("", "missing")] {
        if damage.is_empty() {
            fs::remove_file(&blob).unwrap();
        } else {
            fs::write(&blob, damage).unwrap();
        }
        let ran = site.run("blobs check --repair");
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
        assert_eq!(ran.out.lines().count(), 2, "{ran:?}");
        assert!(ran.out.starts_with(&format!("{finding} resources/")), "{ran:?}");
        assert!(ran.out.contains(GUID) && ran.out.contains("Acme Print"), "{ran:?}");
    }
}

#[tokio::test]
async fn a_download_under_way_is_served_whole_while_the_server_drains() {
    let site = Site::new();
    let mut server = site.serve().await;
    let content = blocks(64).collect::<Vec<_>>().concat();
    server.client().upload(GUID, "Label", &content).await;
    let mut download = begin_download(&server);
    let mut received = vec![0; 1024];
    download.read_exact(&mut received).unwrap();

    server.signal("TERM");
    let api = server.api.trim_start_matches("http://").to_owned();
    eventually("no new connection is taken", async || TcpStream::connect(&api).is_err()).await;
    // Slowly: the server has to wait for us.
    let mut block = vec![0; 8 * usize::try_from(MIB).unwrap()];
    loop {
        let length = download.read(&mut block).unwrap();
        if length == 0 {
            break;
        }
        received.extend_from_slice(&block[..length]);
        sleep(Duration::from_millis(1));
    }
    let received = received.split_off(received.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4);
    assert!(received == content, "{} of {} bytes", received.len(), content.len());
    assert_eq!(server.wait().code(), Some(0));
}

#[tokio::test]
async fn an_upload_under_way_is_taken_while_the_server_drains() {
    let site = Site::new();
    let mut server = site.serve().await;
    let content = blocks(5).collect::<Vec<_>>().concat();
    let mut upload = Upload::begin(&server, content.clone());
    server.signal("TERM");
    let api = server.api.trim_start_matches("http://").to_owned();
    eventually("no new connection is taken", async || TcpStream::connect(&api).is_err()).await;
    assert_eq!(upload.finish(), "HTTP/1.1 200 OK");
    assert_eq!(server.wait().code(), Some(0));

    let server = site.serve().await;
    assert_eq!(server.client().download(GUID).await, content);
}

#[tokio::test]
async fn a_client_that_stands_still_keeps_the_server_for_thirty_seconds_at_most() {
    let site = Site::new();
    site.configure("http.read_timeout = '10m'");
    let mut server = site.serve().await;
    let _upload = Upload::begin(&server, vec![7; 5_000_000]);
    eventually("the upload has begun", async || !files_below(&site.path("data/blobs/resources")).is_empty()).await;
    let since = Instant::now();
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    let taken = since.elapsed();
    assert!((25..50).contains(&taken.as_secs()), "{taken:?}");
}

#[tokio::test]
async fn an_idle_server_ends_at_once_on_either_signal() {
    let site = Site::new();
    for signal in ["TERM", "INT"] {
        let mut server = site.serve().await;
        let client = server.client();
        // Its connection is kept alive and idle.
        assert!(client.is_admitted().await);
        let since = Instant::now();
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0));
        assert!(since.elapsed() < Duration::from_secs(10), "SIG{signal}: {:?}", since.elapsed());
    }
}

#[tokio::test]
async fn a_second_signal_ends_the_drain() {
    let site = Site::new();
    let mut server = site.serve().await;
    let _upload = Upload::begin(&server, vec![7; 5_000_000]);
    let api = server.api.trim_start_matches("http://").to_owned();
    eventually("the upload has begun", async || !files_below(&site.path("data/blobs/resources")).is_empty()).await;
    server.signal("TERM");
    eventually("no new connection is taken", async || TcpStream::connect(&api).is_err()).await;
    let since = Instant::now();
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
}

/// Sends the head of a request for the resource.
fn begin_download(server: &Server) -> TcpStream {
    let mut connection = TcpStream::connect(server.api.trim_start_matches("http://")).unwrap();
    write!(connection, "GET /api/v2/resource/{GUID} HTTP/1.1\r\n{}Connection: close\r\n\r\n", headers()).unwrap();
    connection
}

/// An upload that stops half-way.
struct Upload {
    connection: TcpStream,
    rest: Vec<u8>,
}

impl Upload {
    /// Sends the head and all but the last mebibyte of a content.
    fn begin(server: &Server, mut content: Vec<u8>) -> Self {
        let json = format!(
            r#"{{"ResourceGUID":"{GUID}","ResourceChecksum":"{}","ResourceType":"Label","Meta":{{"Name":"L"}}}}"#,
            sha1(&content)
        );
        let part = |name: &str| format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        let begin = format!("{}{json}\r\n{}", part("JsonString"), part("file"));
        let end = "\r\n--b--\r\n";
        let mut connection = TcpStream::connect(server.api.trim_start_matches("http://")).unwrap();
        write!(
            connection,
            "POST /api/v2/resource HTTP/1.1\r\n{}Connection: close\r\n\
             Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n{begin}",
            headers(),
            begin.len() + content.len() + end.len()
        )
        .unwrap();
        let mut rest = content.split_off(content.len() - usize::try_from(MIB).unwrap());
        rest.extend_from_slice(end.as_bytes());
        connection.write_all(&content).unwrap();
        Self { connection, rest }
    }

    /// Sends the rest; the first line of the answer, if there is one.
    fn finish(&mut self) -> String {
        // Whoever was killed reads and answers nothing.
        let _ = self.connection.write_all(&self.rest);
        let mut answer = Vec::new();
        let _ = self.connection.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
    }
}

fn headers() -> String {
    format!("Host: platen\r\nMisKey: {ANNS_KEY}\r\nSerialNumber: SN\r\nApplicationVersion: 1\r\n")
}

fn age(file: &Path, by: Duration) {
    #[expect(clippy::disallowed_methods, reason = "the age of a file counts from the real time")]
    let then = SystemTime::now() - by;
    File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
}
