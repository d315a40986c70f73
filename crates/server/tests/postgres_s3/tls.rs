//! TLS to the database and to the bucket: who is not who the certificates say is not talked to.

use crate::support::Site;
use crate::support::setup::postgres::Cluster;
use crate::support::setup::{Setup, Stores};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A certificate that is its own authority, for `localhost`.
pub(crate) fn certificate() -> CertifiedKey<rcgen::KeyPair> {
    generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

/// Takes TLS connections and passes them on to the server; its port.
pub(crate) async fn in_front_of(endpoint: &str, certificate: &CertifiedKey<rcgen::KeyPair>) -> u16 {
    let key = PrivateKeyDer::try_from(certificate.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let upstream = endpoint.trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            let (acceptor, upstream) = (acceptor.clone(), upstream.clone());
            tokio::spawn(async move {
                // Who doesn't trust the certificate goes away.
                let Ok(mut connection) = acceptor.accept(connection).await else { return };
                let mut server = TcpStream::connect(upstream).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut connection, &mut server).await;
            });
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bucket_must_have_a_certificate_that_is_trusted() {
    let site = Site::on(Setup::PostgresAndS3);
    let Stores::PostgresAndS3 { s3, .. } = site.stores() else { unreachable!("a site on S3") };
    let certificate = certificate();
    let port = in_front_of(&s3.endpoint(), &certificate).await;
    site.write("authority.pem", &certificate.cert.pem());
    let endpoint = format!("https://localhost:{port}");
    let tls = [("PLATEN_BLOBS__ENDPOINT", endpoint.as_str()), ("PLATEN_BLOBS__ALLOW_HTTP", "false")];
    let trusted = [&tls[..], &[("SSL_CERT_FILE", "authority.pem")]].concat();
    let checked = site.run_with(["blobs", "check"], &trusted).succeeded();
    assert_eq!(checked, "checked 0, missing 0, damaged 0, orphans 0, removed 0\n");
    let output = site.run_with(["blobs", "check"], &tls).failed(1);
    assert!(output.contains(&endpoint) && output.to_lowercase().contains("certificate"), "{output}");
}

#[tokio::test]
async fn the_database_must_have_the_certificate_that_the_url_names() {
    let site = Site::on(Setup::Defaults);
    let (certificate, stranger) = (certificate(), certificate());
    let cluster = Cluster::start_tls(&certificate.cert.pem(), &certificate.signing_key.serialize_pem());
    let url = cluster.database().replace("127.0.0.1", "localhost");
    site.write("authority.pem", &certificate.cert.pem());
    site.write("stranger.pem", &stranger.cert.pem());
    let verified = |authority: &str| {
        let url = format!("{url}?sslmode=verify-full&sslrootcert={authority}");
        site.run_with(["migrate"], &[("PLATEN_DATABASE__URL", &url)])
    };
    assert!(verified("authority.pem").succeeded().contains("from version 0 to"));
    let output = verified("stranger.pem").failed(1);
    assert!(output.to_lowercase().contains("certificate") && !output.contains("only-for-tests"), "{output}");
    let output = verified("no-such.pem").failed(1);
    assert!(!output.contains("only-for-tests"), "{output}");
    // A name that the certificate doesn't have.
    let by_address = format!("{}?sslmode=verify-full&sslrootcert=authority.pem", url.replace("localhost", "127.0.0.1"));
    let output = site.run_with(["migrate"], &[("PLATEN_DATABASE__URL", &by_address)]).failed(1);
    assert!(output.to_lowercase().contains("certificate"), "{output}");
}
