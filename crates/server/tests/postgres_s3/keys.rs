//! Without keys in the configuration they come from where the tools of AWS take them.

use crate::support::Site;
use crate::support::setup::s3_server::{KEY, SECRET};
use crate::tls::{certificate, in_front_of};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Nothing in the configuration.
const NONE: [(&str, &str); 2] = [("PLATEN_BLOBS__ACCESS_KEY_ID", ""), ("PLATEN_BLOBS__SECRET_ACCESS_KEY", "")];

const FOUND: &str = "checked 0, missing 0, damaged 0, orphans 0, removed 0\n";

/// A site that is migrated, and a command on its bucket under more variables.
fn site() -> Site {
    let site = Site::new();
    site.run("migrate").succeeded();
    site
}

fn check(site: &Site, variables: &[(&str, &str)]) -> crate::support::Ran {
    site.run_with(["blobs", "check"], &[&NONE, variables].concat())
}

#[test]
fn the_keys_may_come_from_the_environment() {
    let site = site();
    let environment = [("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", SECRET)];
    assert_eq!(check(&site, &environment).succeeded(), FOUND);
    let wrong = [("AWS_ACCESS_KEY_ID", KEY), ("AWS_SECRET_ACCESS_KEY", "a-wrong-secret")];
    assert!(check(&site, &wrong).failed(1).contains("SignatureDoesNotMatch"));
}

#[test]
fn the_keys_may_come_from_a_profile() {
    let site = site();
    site.write("keys", &format!("[shop]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"));
    let profile = [("AWS_SHARED_CREDENTIALS_FILE", "keys"), ("AWS_PROFILE", "shop")];
    assert_eq!(check(&site, &profile).succeeded(), FOUND);
    let missing = [("AWS_SHARED_CREDENTIALS_FILE", "keys"), ("AWS_PROFILE", "other")];
    assert!(check(&site, &missing).failed(1).contains("the AWS profile other holds no access key"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keys_may_come_from_a_web_identity() {
    let site = site();
    // A token is sent within TLS only.
    let certificate = certificate();
    let port = in_front_of(&CredentialService::start().endpoint, &certificate).await;
    let endpoint = format!("https://localhost:{port}");
    site.write("authority.pem", &certificate.cert.pem());
    site.write("token", "a-signed-token");
    let role = "arn:aws:iam::000000000000:role/platen";
    let identity = [
        ("SSL_CERT_FILE", "authority.pem"),
        ("AWS_ENDPOINT_URL_STS", endpoint.as_str()),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "token"),
        ("AWS_ROLE_ARN", role),
    ];
    assert_eq!(check(&site, &identity).succeeded(), FOUND);
    site.write("token", "a-token-of-somebody-else");
    let output = check(&site, &identity).failed(1);
    assert!(output.contains("403") && !output.contains("a-token-of-somebody-else"), "{output}");
}

#[test]
fn the_keys_may_come_from_the_instance() {
    let site = site();
    let service = CredentialService::start();
    assert_eq!(check(&site, &[("AWS_METADATA_ENDPOINT", &service.endpoint)]).succeeded(), FOUND);
}

/// What answers like the token service and the instance metadata service of AWS, until the tests end.
struct CredentialService {
    endpoint: String,
}

impl CredentialService {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            for connection in listener.incoming() {
                answer(connection.unwrap());
            }
        });
        Self { endpoint }
    }
}

/// Answers one request, which has no body, and closes the connection.
fn answer(mut connection: TcpStream) {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match connection.read(&mut buffer).unwrap() {
            0 => return,
            read => request.extend_from_slice(&buffer[..read]),
        }
    }
    let request = String::from_utf8(request).unwrap();
    let (status, body) = match request.split_whitespace().nth(1).unwrap() {
        "/latest/api/token" => ("200 OK", "session".to_owned()),
        "/latest/meta-data/iam/security-credentials/" => ("200 OK", "role".to_owned()),
        "/latest/meta-data/iam/security-credentials/role" => ("200 OK", instance_credentials()),
        path if path.contains("WebIdentityToken=a-signed-token") => ("200 OK", assumed_role()),
        _ => ("403 Forbidden", String::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    connection.write_all((head + &body).as_bytes()).unwrap();
}

fn instance_credentials() -> String {
    format!(
        r#"{{"AccessKeyId":"{KEY}","SecretAccessKey":"{SECRET}","Token":"session","Expiration":"2100-01-01T00:00:00Z"}}"#
    )
}

fn assumed_role() -> String {
    format!(
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>\
         <AccessKeyId>{KEY}</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey>\
         <SessionToken>session</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>\
         </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
    )
}
