//! A client of the interface, as a print company's software is one.

use super::content::{self, sha1};
use futures_util::{Stream, StreamExt, stream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Body, Certificate, ClientBuilder, Method, RequestBuilder, Response};
use serde_json::{Value, json};

const BOUNDARY: &str = "a-boundary-that-no-content-holds";

pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
}

impl Client {
    /// A client that sends this `MisKey`.
    pub(crate) fn with_key(base: &str, mis_key: &str) -> Self {
        Self::new(base, "MisKey", mis_key, "SN-CLIENT")
    }

    /// The same, that trusts this certificate in PEM form and no other.
    pub(crate) fn trusting(base: &str, mis_key: &str, certificate: &str) -> Self {
        let certificate = Certificate::from_pem(certificate.as_bytes()).unwrap();
        Self::built(reqwest::Client::builder().tls_certs_only([certificate]), base, "MisKey", mis_key, "SN-CLIENT")
    }

    /// A client on a registered computer.
    pub(crate) fn on_computer(base: &str, hardware_hash: &str, serial_number: &str) -> Self {
        Self::new(base, "HardwareHash", hardware_hash, serial_number)
    }

    /// A client that sends no header of its own.
    pub(crate) fn without_credentials(base: &str) -> Self {
        Self::with_headers(reqwest::Client::builder(), base, HeaderMap::new())
    }

    fn new(base: &str, credential: &'static str, value: &str, serial_number: &str) -> Self {
        Self::built(reqwest::Client::builder(), base, credential, value, serial_number)
    }

    fn built(builder: ClientBuilder, base: &str, credential: &'static str, value: &str, serial_number: &str) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(credential, HeaderValue::from_str(value).unwrap());
        headers.insert("SerialNumber", HeaderValue::from_str(serial_number).unwrap());
        headers.insert("ApplicationVersion", HeaderValue::from_static("1.2.3"));
        Self::with_headers(builder, base, headers)
    }

    fn with_headers(builder: ClientBuilder, base: &str, headers: HeaderMap) -> Self {
        // The error says that another client in this process has done it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = builder.no_proxy().default_headers(headers).build().unwrap();
        Self { http, base: base.to_owned() }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.http.get(format!("{}{path}", self.base)).send().await.unwrap()
    }

    /// As [`Client::get`], where there may be no answer.
    pub(crate) async fn try_get(&self, path: &str) -> reqwest::Result<Response> {
        self.http.get(format!("{}{path}", self.base)).send().await
    }

    pub(crate) async fn delete(&self, path: &str) -> Response {
        self.try_delete(path).await.unwrap()
    }

    pub(crate) async fn try_delete(&self, path: &str) -> reqwest::Result<Response> {
        self.http.delete(format!("{}{path}", self.base)).send().await
    }

    /// Any request.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.http.post(format!("{}{path}", self.base))
    }

    /// Posts JSON; panics unless the answer is 200.
    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> Response {
        let request = self.post(path).header(CONTENT_TYPE, "application/json").body(body.to_string());
        succeeded(request.send().await.unwrap()).await
    }

    /// Uploads a Label.
    pub(crate) async fn upload(&self, guid: &str, name: &str, content: &[u8]) {
        let chunk = bytes::Bytes::copy_from_slice(content);
        self.upload_stream(guid, name, &sha1(content), stream::iter([chunk])).await;
    }

    /// Uploads a Label whose content is made while it is sent.
    pub(crate) async fn upload_stream(
        &self,
        guid: &str,
        name: &str,
        checksum: &str,
        content: impl Stream<Item = bytes::Bytes> + Send + 'static,
    ) {
        let sent = self.send_upload(self.post("/api/v2/resource"), guid, name, checksum, content);
        succeeded(sent.await.unwrap()).await;
    }

    /// Uploads a Label with a Timestamp; the answer, whatever it is.
    pub(crate) async fn upload_at(&self, timestamp: &str, guid: &str, content: &[u8]) -> Response {
        self.try_upload(timestamp, guid, "Label", content).await.unwrap()
    }

    /// The same under a name, to a server that may be gone before it answers.
    pub(crate) async fn try_upload(
        &self,
        timestamp: &str,
        guid: &str,
        name: &str,
        content: &[u8],
    ) -> reqwest::Result<Response> {
        let request = self.post("/api/v2/resource").header("Timestamp", timestamp);
        let chunk = bytes::Bytes::copy_from_slice(content);
        self.send_upload(request, guid, name, &sha1(content), stream::iter([chunk])).await
    }

    async fn send_upload(
        &self,
        request: RequestBuilder,
        guid: &str,
        name: &str,
        checksum: &str,
        content: impl Stream<Item = bytes::Bytes> + Send + 'static,
    ) -> reqwest::Result<Response> {
        let json = json!({
            "ResourceGUID": guid, "ResourceChecksum": checksum, "ResourceType": "Label", "Meta": { "Name": name },
        });
        let file =
            "Content-Disposition: form-data; name=\"file\"; filename=\"f\"\r\nContent-Type: application/octet-stream";
        let head = format!("{}--{BOUNDARY}\r\n{file}\r\n\r\n", json_part(&json));
        let body = stream::iter([head.into()]).chain(content).chain(stream::iter([end().into()]));
        let body = Body::wrap_stream(body.map(Ok::<bytes::Bytes, std::io::Error>));
        multipart(request).body(body).send().await
    }

    /// Sends a crash report of call stack and dump; answers its id.
    pub(crate) async fn report_crash(&self, call_stack: &str, dump: &[u8]) -> String {
        let answer = succeeded(self.try_report_crash("RIP", call_stack, dump).await.unwrap()).await;
        answer.headers()["Crash-Report-Id"].to_str().unwrap().to_owned()
    }

    /// The same of an application, to a server that may be gone before it answers.
    pub(crate) async fn try_report_crash(
        &self,
        application: &str,
        call_stack: &str,
        dump: &[u8],
    ) -> reqwest::Result<Response> {
        let part = |name: &str, kind: &str| {
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\nContent-Type: {kind}\r\n\r\n")
        };
        let mut body =
            format!("{}{call_stack}\r\n{}", part("CallStack", "text/plain"), part("dump", "application/octet-stream"))
                .into_bytes();
        body.extend_from_slice(dump);
        body.extend_from_slice(end().as_bytes());
        let request = multipart(self.post("/api/v2/log/crashreport")).header("ApplicationName", application);
        request.header("OS", "1").body(body).send().await
    }

    /// The content of a resource, checked against `Content-Length`.
    pub(crate) async fn download(&self, guid: &str) -> Vec<u8> {
        let answer = succeeded(self.get(&format!("/api/v2/resource/{guid}")).await).await;
        let length = answer.content_length();
        let content = answer.bytes().await.unwrap().to_vec();
        assert_eq!(length, Some(content.len() as u64));
        content
    }

    /// Length and SHA1 of a content that is too large to be kept.
    pub(crate) async fn download_digest(&self, guid: &str) -> (u64, String) {
        let answer = succeeded(self.get(&format!("/api/v2/resource/{guid}")).await).await;
        content::digest(answer.bytes_stream().map(Result::unwrap)).await
    }

    /// The info of a resource.
    pub(crate) async fn info(&self, guid: &str) -> Value {
        let answer = succeeded(self.get(&format!("/api/v2/resource/info/{guid}")).await).await;
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    /// Whether the credentials are accepted (decision R13).
    pub(crate) async fn is_admitted(&self) -> bool {
        match self.get("/api/v2").await.status().as_u16() {
            200 => true,
            401 => false,
            other => panic!("neither admitted nor refused: {other}"),
        }
    }
}

fn json_part(json: &Value) -> String {
    let head = "Content-Disposition: form-data; name=\"JsonString\"\r\nContent-Type: application/json";
    format!("--{BOUNDARY}\r\n{head}\r\n\r\n{json}\r\n")
}

fn end() -> String {
    format!("\r\n--{BOUNDARY}--\r\n")
}

fn multipart(request: RequestBuilder) -> RequestBuilder {
    request.header(CONTENT_TYPE, format!("multipart/form-data; boundary={BOUNDARY}"))
}

async fn succeeded(answer: Response) -> Response {
    if answer.status() == 200 {
        return answer;
    }
    let (status, detail) = (answer.status(), answer.headers().get("X-Error-Detail").cloned());
    panic!("{status} {detail:?}: {}", answer.text().await.unwrap());
}
