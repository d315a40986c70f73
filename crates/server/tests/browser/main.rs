//! The console in a real browser, on SQLite and on PostgreSQL: every page with the data of `platen demo`.
//!
//! With `PLATEN_PICTURES=FOLDER` the tour takes the pictures of the documents.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![expect(clippy::expect_used, reason = "a test that can't go on fails")]

#[path = "../support/mod.rs"]
mod support;

const SETUP: support::setup::Setup = support::setup::Setup::Defaults;

mod driver;
mod forms;
mod tour;

use driver::Browser;
use fantoccini::Locator;
use serde_json::Value;
use support::setup::Setup;
use support::{Server, Site};

/// A server with the data of the demo, and an operator.
struct Demo {
    server: Server,
    password: String,
    _site: Site,
}

impl Demo {
    async fn start(setup: Setup) -> Self {
        let site = Site::on(setup);
        site.run("demo").succeeded();
        let added = site.run_with(["operator", "add", "Ann"], &[]).succeeded();
        let added: Value = serde_json::from_str(added.trim()).unwrap();
        let password = added["password"].as_str().unwrap().to_owned();
        let server = site.serve_with(&[]).await;
        Self { _site: site, server, password }
    }

    fn url(&self, path: &str) -> String {
        format!("{}/console{path}", self.server.api)
    }

    async fn sign_in(&self, browser: &Browser) {
        browser.client.goto(&self.url("/sign-in")).await.unwrap();
        let name = browser.client.find(Locator::Id("name")).await.unwrap();
        name.send_keys("Ann").await.unwrap();
        let password = browser.client.find(Locator::Id("password")).await.unwrap();
        password.send_keys(&self.password).await.unwrap();
        browser.client.find(Locator::Css("form[action$='/sign-in'] button")).await.unwrap().click().await.unwrap();
        browser.client.wait().for_element(Locator::Css("nav[aria-label='Pages']")).await.unwrap();
    }
}
