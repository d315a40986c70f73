//! A headless Chromium, driven by its own `chromedriver` over WebDriver.

use crate::support::eventually;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use tokio::net::TcpStream;

/// Checks a page for faults of accessibility.
const AXE: &str = include_str!("axe.min.js");

/// A browser with one window. It ends with this value.
pub(crate) struct Browser {
    pub(crate) client: Client,
    /// Sends the commands of Chromium that WebDriver doesn't have.
    http: reqwest::Client,
    session: String,
    process: Child,
    _profile: TempDir,
}

/// How a page is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// CSS pixels.
    pub(crate) width: u32,
    pub(crate) is_dark: bool,
}

impl Browser {
    pub(crate) async fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut driver = Command::new("chromedriver");
        driver.arg(format!("--port={port}")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = driver.spawn().expect("chromedriver is installed (Debian: chromium-driver)");
        eventually("chromedriver listens", async || TcpStream::connect(("127.0.0.1", port)).await.is_ok()).await;
        let profile = tempfile::tempdir().unwrap();
        let arguments = [
            "--headless=new".to_owned(),
            // Root may not have a sandbox, nor may containers.
            "--no-sandbox".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--lang=en-GB".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        let Value::Object(capabilities) = json!({
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        }) else {
            unreachable!("an object")
        };
        let driver = format!("http://127.0.0.1:{port}");
        let client =
            ClientBuilder::new(HttpConnector::new()).capabilities(capabilities).connect(&driver).await.unwrap();
        let session = client.session_id().await.unwrap().unwrap();
        let session = format!("{driver}/session/{session}");
        Self { client, http: reqwest::Client::new(), session, process, _profile: profile }
    }

    /// Sets width and colours of all pages from now on.
    pub(crate) async fn show_as(&self, view: View) {
        let metrics = json!({ "width": view.width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
        let scheme = if view.is_dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// What the browser's console says since the last call: errors of scripts, violations of the content security policy,
    /// files that are missing.
    pub(crate) async fn messages(&self) -> Vec<String> {
        let entries = self.command("se/log", json!({ "type": "browser" })).await;
        entries.as_array().unwrap().iter().map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }

    /// The violations that axe finds on the page, each with the elements.
    pub(crate) async fn violations(&self) -> Vec<String> {
        const RUN: &str = "const done = arguments[arguments.length - 1];
            axe.run(document, { resultTypes: ['violations'] }).then(
                (found) => done(found.violations.map((one) =>
                    one.id + ': ' + one.nodes.map((node) => node.html + ' ' + node.failureSummary).join('; '))),
                (error) => done([String(error)]));";
        self.client.execute(AXE, Vec::new()).await.unwrap();
        let found = self.client.execute_async(RUN, Vec::new()).await.unwrap();
        serde_json::from_value(found).unwrap()
    }

    /// What a script answers.
    pub(crate) async fn ask(&self, script: &str) -> Value {
        self.client.execute(&format!("return {script};"), Vec::new()).await.unwrap()
    }

    /// The whole page as PNG.
    pub(crate) async fn picture(&self) -> Vec<u8> {
        use base64::Engine as _;
        let taken = self.devtools("Page.captureScreenshot", json!({ "captureBeyondViewport": false })).await;
        base64::engine::general_purpose::STANDARD.decode(taken["data"].as_str().unwrap()).unwrap()
    }

    async fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.command("goog/cdp/execute", json!({ "cmd": command, "params": parameters })).await
    }

    async fn command(&self, path: &str, body: Value) -> Value {
        let sent = self.http.post(format!("{}/{path}", self.session)).body(body.to_string()).send().await.unwrap();
        let mut answer: Value = serde_json::from_str(&sent.text().await.unwrap()).unwrap();
        assert!(answer["value"]["error"].is_null(), "{answer}");
        answer["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The end of the driver ends its browser.
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.process),
            rustix::process::Signal::TERM,
        );
        let _ = self.process.wait();
    }
}
