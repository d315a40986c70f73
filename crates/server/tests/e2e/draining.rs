//! How the server ends.

use crate::support::content::{MIB, blocks};
use crate::support::halting::{Upload, begin_download};
use crate::support::{Site, eventually};
use std::io::Read;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

const GUID: &str = "11111111-2222-3333-4444-555555555555";

#[tokio::test]
async fn a_download_under_way_is_served_whole_while_the_server_drains() {
    let site = Site::new();
    let mut server = site.serve().await;
    let content = blocks(64).collect::<Vec<_>>().concat();
    server.client().upload(GUID, "Label", &content).await;
    let mut download = begin_download(&server, GUID);
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
    let mut upload = Upload::begin(&server, GUID, content.clone());
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
    let _upload = Upload::begin(&server, GUID, vec![7; 15_000_000]);
    eventually("the upload has begun", async || site.stored_files() > 0).await;
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
    let _upload = Upload::begin(&server, GUID, vec![7; 15_000_000]);
    let api = server.api.trim_start_matches("http://").to_owned();
    eventually("the upload has begun", async || site.stored_files() > 0).await;
    server.signal("TERM");
    eventually("no new connection is taken", async || TcpStream::connect(&api).is_err()).await;
    let since = Instant::now();
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
}
