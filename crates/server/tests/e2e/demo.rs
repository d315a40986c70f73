//! `platen demo`: a fleet to look around in.

use crate::support::Site;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A child process that is killed when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_empty_database_is_filled_and_another_one_is_refused() {
    let site = Site::new();
    let printed: Value = serde_json::from_str(&site.run("demo --seed 5").succeeded()).unwrap();
    assert_eq!((&printed["operator"], &printed["console"]), (&json!("demo"), &json!(null)));
    assert!(printed["password"].as_str().unwrap().len() >= 12, "{printed}");
    let lines = |command: &str| site.run(command).succeeded().lines().count();
    assert_eq!(lines("devices --json"), 12);
    assert_eq!(lines("computers --json"), 40);
    assert!(lines("crashes groups --json") >= 6);
    let again = site.run("demo").failed(1);
    assert_eq!(again, "error: the database has records already; platen demo fills an empty one only");

    let other = Site::new();
    other.run("operator add Ann").succeeded();
    assert!(other.run("demo").failed(1).contains("has records already"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_demo_is_served_from_a_folder_that_goes_with_it() {
    let site = Site::new();
    let folders = site.path("tmp");
    std::fs::create_dir(&folders).unwrap();
    let mut command = site.command();
    command.args(["demo", "--serve"]).env("TMPDIR", &folders).stdout(Stdio::piped());
    let mut demo = Running(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(demo.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let printed: Value = serde_json::from_str(&line).unwrap();
    let console = printed["console"].as_str().unwrap();
    // The client has no provider of its own.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let form = format!("name=demo&password={}&next=", printed["password"].as_str().unwrap());
    let sign_in = http.post(format!("{console}/sign-in")).header("sec-fetch-site", "same-origin");
    let sign_in = sign_in.header("content-type", "application/x-www-form-urlencoded").body(form);
    let signed_in = sign_in.send().await.unwrap();
    assert_eq!(signed_in.status(), 303);
    let cookie = signed_in.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let get = async |path: &str| {
        let response = http.get(format!("{console}{path}")).header("cookie", &cookie).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.text().await.unwrap()
    };
    let list = get("/resources?type=NormalProfile").await;
    assert!(list.contains("Nordfoto Studios") && list.contains("Display P3"), "{list}");
    let path = list.split("/console/resources/").nth(1).unwrap().split('"').next().unwrap();
    let page = get(&format!("/resources/{path}")).await;
    assert!(page.contains("Colour profile") && page.contains("Who has it"), "{page}");
    assert_eq!(std::fs::read_dir(&folders).unwrap().count(), 1);

    let kill = format!("kill -TERM {}", demo.0.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(demo.0.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(&folders).unwrap().count(), 0, "the folder is removed");
    assert!(!site.path("data").exists(), "the configured stores stay untouched");
}
