//! TLS of the API: the certificate and its key from PEM files, and their reloading on SIGHUP.

use crate::config::TlsFiles;
use anyhow::{Context, Result, bail};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use tokio::signal::unix::{SignalKind, signal};

/// The certificate that new connections are greeted with.
#[derive(Debug)]
pub(crate) struct Tls {
    files: TlsFiles,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Tls {
    /// Reads the files that the configuration names.
    pub(crate) fn load(files: &TlsFiles) -> Result<Arc<Self>> {
        let current = RwLock::new(Arc::new(read(files)?));
        Ok(Arc::new(Self { files: files.clone(), current }))
    }

    /// How connections are greeted. The certificate is looked up anew for each.
    pub(crate) fn config(self: &Arc<Self>) -> Result<Arc<ServerConfig>> {
        let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
        let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::clone(self) as _);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Reads the files anew. Connections that are open go on as they are; where the files are no good,
    /// the certificate that was there stays.
    fn reload(&self) -> Result<()> {
        let fresh = Arc::new(read(&self.files)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }
}

impl ResolvesServerCert for Tls {
    fn resolve(&self, _client: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Reloads at each SIGHUP from here on. Without TLS the signal does nothing: it must not end a server
/// whose operator takes it for granted that it reloads.
pub(crate) fn reload_on_hangup(tls: Option<Arc<Tls>>) -> Result<()> {
    let mut hangups = signal(SignalKind::hangup()).context("cannot listen to signals")?;
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            let Some(tls) = tls.clone() else {
                tracing::info!("SIGHUP: there is no certificate to reload");
                continue;
            };
            match tokio::task::spawn_blocking(move || tls.reload()).await {
                Ok(Ok(())) => tracing::info!("SIGHUP: the certificate was reloaded"),
                Ok(Err(error)) => {
                    let cause = format!("{error:#}");
                    tracing::error!(cause, "SIGHUP: the new certificate can't be used; the old one stays");
                }
                Err(error) => tracing::error!(%error, "SIGHUP: reloading the certificate failed"),
            }
        }
    });
    Ok(())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn read(files: &TlsFiles) -> Result<CertifiedKey> {
    let TlsFiles { certificate, key } = files;
    let unusable = |name: &str, file: &Path| format!("{name}: cannot use {}", file.display());
    let chain = read_chain(certificate).with_context(|| unusable("http.tls_certificate", certificate))?;
    let private = read_key(key).with_context(|| unusable("http.tls_key", key))?;
    CertifiedKey::from_der(chain, private, &provider()).with_context(|| {
        format!("http.tls_key: {} is not the key of the certificate in {}", key.display(), certificate.display())
    })
}

/// The certificate, and those between it and the authority that clients know.
fn read_chain(file: &PathBuf) -> Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(file).map_err(pem_error)?;
    let chain: Vec<_> = found.collect::<Result<_, _>>().map_err(pem_error)?;
    if chain.is_empty() {
        bail!("it holds no certificate in PEM form");
    }
    Ok(chain)
}

fn read_key(file: &PathBuf) -> Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| match error {
        PemError::NoItemsFound => anyhow::anyhow!("it holds no private key in PEM form without a password"),
        other => pem_error(other),
    })
}

/// The error as part of a longer message.
fn pem_error(error: PemError) -> anyhow::Error {
    match error {
        PemError::Io(error) => error.into(),
        other => anyhow::anyhow!("it is not well-formed PEM: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertifiedKey as Generated, KeyPair, generate_simple_self_signed};
    use std::fs;
    use tempfile::TempDir;

    fn generated() -> Generated<KeyPair> {
        generate_simple_self_signed(vec!["platen.test".to_owned()]).unwrap()
    }

    fn site(certificate: &str, key: &str) -> (TempDir, TlsFiles) {
        let folder = tempfile::tempdir().unwrap();
        let files = TlsFiles { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
        fs::write(&files.certificate, certificate).unwrap();
        fs::write(&files.key, key).unwrap();
        (folder, files)
    }

    fn refusal(files: &TlsFiles) -> String {
        format!("{:#}", Tls::load(files).unwrap_err())
    }

    #[test]
    fn a_certificate_and_its_key_are_taken() {
        let one = generated();
        let (_folder, files) = site(&one.cert.pem(), &one.signing_key.serialize_pem());
        Tls::load(&files).unwrap().config().unwrap();
    }

    #[test]
    fn errors_of_the_files_name_the_key_of_the_configuration() {
        let (one, other) = (generated(), generated());
        let (certificate, key) = (one.cert.pem(), one.signing_key.serialize_pem());
        for (certificate, key, expected) in [
            ("", key.as_str(), "http.tls_certificate: cannot use"),
            (key.as_str(), key.as_str(), "it holds no certificate"),
            (certificate.as_str(), certificate.as_str(), "it holds no private key"),
            (certificate.as_str(), other.signing_key.serialize_pem().as_str(), "is not the key of the certificate in"),
            ("-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----", key.as_str(), "it is not well-formed PEM"),
        ] {
            let (_folder, files) = site(certificate, key);
            assert!(refusal(&files).contains(expected), "{}", refusal(&files));
        }
        let (_folder, mut files) = site(&certificate, &key);
        files.key.set_extension("missing");
        let message = refusal(&files);
        assert!(message.starts_with("http.tls_key: cannot use ") && message.contains("No such file"), "{message}");
    }

    #[test]
    fn a_reload_that_fails_keeps_the_old_certificate() {
        let (one, other) = (generated(), generated());
        let (_folder, files) = site(&one.cert.pem(), &one.signing_key.serialize_pem());
        let tls = Tls::load(&files).unwrap();
        let current = || tls.current.read().unwrap().cert[0].clone();
        fs::write(&files.certificate, other.cert.pem()).unwrap();
        tls.reload().unwrap_err();
        assert_eq!(current(), *one.cert.der());
        fs::write(&files.key, other.signing_key.serialize_pem()).unwrap();
        tls.reload().unwrap();
        assert_eq!(current(), *other.cert.der());
    }
}
