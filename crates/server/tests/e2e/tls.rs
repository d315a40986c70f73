//! TLS of the API: served, reloaded on SIGHUP, refused where its files are no good.

use crate::support::client::Client;
use crate::support::content::{self, MIB};
use crate::support::{ANNS_KEY, Server, Site, eventually};
use futures_util::{StreamExt, stream};
use rcgen::generate_simple_self_signed;
use tokio::sync::oneshot;

const TLS: &str = "http.tls_certificate = 'cert.pem'\nhttp.tls_key = 'key.pem'";
const GUID: &str = "11111111-2222-3333-4444-555555555555";

/// Puts a certificate of its own and its key into the folder; the certificate.
fn certify(site: &Site) -> String {
    let generated = generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    site.write("key.pem", &generated.signing_key.serialize_pem());
    site.write("cert.pem", &generated.cert.pem());
    generated.cert.pem()
}

/// A client that trusts this certificate and no other.
fn trusting(server: &Server, certificate: &str) -> Client {
    Client::trusting(&server.api.replace("http://", "https://"), ANNS_KEY, certificate)
}

async fn is_trusted(server: &Server, certificate: &str) -> bool {
    trusting(server, certificate).try_get("/api/v2").await.is_ok_and(|answer| answer.status() == 200)
}

#[tokio::test]
async fn the_api_is_served_within_tls_and_the_operators_listener_without() {
    let site = Site::new();
    let certificate = certify(&site);
    site.configure(TLS);
    let server = site.serve().await;
    let client = trusting(&server, &certificate);
    let content: Vec<u8> = content::blocks(3).flatten().collect();
    client.upload(GUID, "L", &content).await;
    assert!(client.download(GUID).await == content);
    assert!(server.client().try_get("/api/v2").await.is_err(), "plain HTTP is not answered");
    assert_eq!(site.run("healthcheck").code, Some(0));
    server.stop();
}

#[tokio::test]
async fn a_certificate_is_reloaded_under_a_running_upload() {
    let site = Site::new();
    let old = certify(&site);
    site.configure(TLS);
    let server = site.serve().await;

    let (begun, is_begun) = oneshot::channel::<()>();
    let (reloaded, wait) = oneshot::channel::<()>();
    let pieces: Vec<_> = content::blocks(4).collect();
    let checksum = content::digest(stream::iter(pieces.clone())).await.1;
    // What comes after the beginning is asked for once that is on its way.
    let late = stream::once(async move {
        begun.send(()).unwrap();
        wait.await.unwrap();
        pieces[2..].to_vec()
    });
    let early = content::blocks(4).take(2);
    let body = stream::iter(early).chain(late.flat_map(stream::iter));
    let client = trusting(&server, &old);
    let upload = tokio::spawn(async move {
        client.upload_stream(GUID, "L", &checksum, body).await;
        client
    });
    is_begun.await.unwrap();

    let new = certify(&site);
    server.signal("HUP");
    eventually("the new certificate is served", async || is_trusted(&server, &new).await).await;
    assert!(!is_trusted(&server, &old).await);
    reloaded.send(()).unwrap();
    // The upload, begun under the old certificate, is whole.
    upload.await.unwrap();
    assert_eq!(trusting(&server, &new).download_digest(GUID).await.0, 4 * MIB);
    server.stop();
}

#[tokio::test]
async fn a_bad_new_certificate_is_logged_and_the_old_one_kept() {
    let site = Site::new();
    let old = certify(&site);
    site.configure(TLS);
    let server = site.serve().await;
    for bad in ["no certificate at all", &generate_simple_self_signed(vec!["other".to_owned()]).unwrap().cert.pem()] {
        let told_before = site.read("server.err").matches("the old one stays").count();
        site.write("cert.pem", bad);
        server.signal("HUP");
        eventually("the log tells", async || {
            site.read("server.err").matches("the old one stays").count() == told_before + 1
        })
        .await;
        assert!(is_trusted(&server, &old).await);
    }
    assert!(site.read("server.err").contains("is not the key of the certificate in cert.pem"));
    let new = certify(&site);
    server.signal("HUP");
    eventually("a good one is served afterwards", async || is_trusted(&server, &new).await).await;
    server.stop();
}

#[tokio::test]
async fn a_hangup_without_tls_ends_nothing() {
    let site = Site::new();
    let server = site.serve().await;
    server.signal("HUP");
    eventually("the log tells", async || site.read("server.err").contains("no certificate to reload")).await;
    assert!(server.client().is_admitted().await);
    server.stop();
}

#[test]
fn files_that_are_no_good_end_the_start_with_two() {
    let site = Site::new();
    certify(&site);
    site.configure("http.tls_certificate = 'cert.pem'");
    let output = site.run("serve").failed(2);
    assert!(output.contains("http.tls_key is not set; allowed is the path of a PEM file"), "{output}");
    site.configure(TLS);
    site.write("key.pem", "nothing");
    let output = site.run("serve").failed(2);
    assert_eq!(
        output,
        "error: http.tls_key: cannot use key.pem: it holds no private key in PEM form without a password"
    );
    assert!(!site.path("data").exists(), "nothing was begun");
}
