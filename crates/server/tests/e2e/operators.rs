//! Operators, tokens and audit records, by commands (decisions P1, P6, P9).

use crate::support::{ANNS_KEY, Site};
use serde_json::{Value, json};

const ORGANIZATION: &str = "Acme Print";

fn parsed(line: &str) -> Value {
    serde_json::from_str(line.trim()).unwrap()
}

fn listed(site: &Site, command: &str) -> Vec<Value> {
    site.run(command).succeeded().lines().map(parsed).collect()
}

/// Decisions P2, P3, P10: over the real program, hashes and database.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_operator_is_created_by_the_link_that_serve_prints() {
    let site = Site::new();
    let server = site.serve().await;
    let link = parsed(&site.read("server.out"))["console"].as_str().unwrap().to_owned();
    assert!(link.starts_with(&server.api), "{link}");
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let page = http.get(&link).send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(page.text().await.unwrap().contains("Welcome to Platen"));

    let code = link.split_once("code=").unwrap().1;
    let form = format!("code={code}&name=Ann&password=correct+horse+battery&repeated=correct+horse+battery");
    let setup = format!("{}/console/setup", server.api);
    let send = |form: String, site: &'static str| {
        let request = http.post(&setup).header("content-type", "application/x-www-form-urlencoded");
        request.header("sec-fetch-site", site).body(form).send()
    };
    assert_eq!(send(form.clone(), "cross-site").await.unwrap().status(), 403);
    let created = send(form.clone(), "same-origin").await.unwrap();
    assert_eq!(created.status(), 303);
    let cookie = created.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(send(form, "same-origin").await.unwrap().status(), 403, "the link works once");

    let me = http.get(format!("{}/api/operator/v1/me", server.api)).header("cookie", &cookie).send().await.unwrap();
    let me: Value = serde_json::from_str(&me.text().await.unwrap()).unwrap();
    assert_eq!((&me["name"], &me["role"]), (&json!("Ann"), &json!("admin")));
    let start = http.get(format!("{}/", server.api)).send().await.unwrap();
    assert_eq!(start.headers()["location"], "console");
    let log = site.read("server.err");
    assert!(!log.contains(code) && !log.contains("correct") && !log.contains(cookie.split_once('=').unwrap().1));
    server.stop();

    site.configure("console.enabled = false");
    let server = site.serve().await;
    assert_eq!(site.read("server.out"), "", "there is an operator");
    for path in ["/console", "/api/operator/v1/me", "/api/operator/openapi.json"] {
        assert_eq!(http.get(format!("{}{path}", server.api)).send().await.unwrap().status(), 404, "{path}");
    }
}

/// Decision P1.
#[test]
fn an_operator_is_added_gets_another_password_and_is_removed() {
    let site = Site::new();
    let added = parsed(&site.run("operator add Ann").succeeded());
    assert_eq!((&added["operator"], &added["role"]), (&json!("Ann"), &json!("admin")));
    assert_eq!(added["organization"], json!(null));
    let password = added["password"].as_str().unwrap().to_owned();
    assert!(password.len() >= 12, "{added}");
    assert_eq!(site.run("operator add ANN").failed(1), "error: operator \"ANN\" is registered already");

    site.run("fleet apply fleet.json").succeeded();
    let of_acme = ["operator", "add", "Bob", "--role", "viewer", "--organization", "acme"];
    assert_eq!(parsed(&site.run_with(of_acme, &[]).succeeded())["organization"], json!(ORGANIZATION));
    let unknown = site.run("operator add Eve --organization Zenith").failed(1);
    assert_eq!(unknown, "error: organization \"Zenith\" is not registered");

    let table = site.run("operator list").succeeded();
    assert!(table.contains("Ann") && table.contains(ORGANIZATION) && !table.contains(&password), "{table}");
    assert_eq!(listed(&site, "operator list --json").len(), 2);
    let reset = parsed(&site.run("operator reset-password ann").succeeded());
    assert_ne!(reset["password"], added["password"]);
    assert_eq!(site.run("operator remove BOB").succeeded(), "removed operator \"Bob\"\n");
    assert_eq!(site.run("operator remove Bob").failed(1), "error: operator \"Bob\" is not registered");
}

/// Decision P6.
#[test]
fn a_token_is_issued_once_listed_without_itself_and_revoked() {
    let site = Site::new();
    site.run("operator add Ann").succeeded();
    let issue = ["token", "issue", "--operator", "ann", "--name", "Grafana", "--role", "viewer", "--expires", "30d"];
    let issued = parsed(&site.run_with(issue, &[]).succeeded());
    let token = issued["token"].as_str().unwrap();
    assert!(token.starts_with("plt_") && token.len() == 68, "{issued}");
    assert_eq!((&issued["operator"], &issued["role"]), (&json!("Ann"), &json!("viewer")));
    let table = site.run("token list").succeeded();
    assert!(table.contains("Grafana") && !table.contains(token), "{table}");
    let id = &issued["id"];
    let revoked = site.run(&format!("token revoke {id}")).succeeded();
    assert_eq!(revoked, format!("revoked token {id} \"Grafana\" of operator \"Ann\"\n"));
    assert!(site.run(&format!("token revoke {id}")).succeeded().starts_with("revoked before"));
    assert!(listed(&site, "token list --json")[0]["revoked"].is_string());
    assert_eq!(site.run("token revoke 99").failed(1), "error: token 99 is not registered");
}

/// Decision P9: every change by a command, and no secret.
#[test]
fn changes_by_commands_are_recorded() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    site.run("fleet apply fleet.json").succeeded();
    let issued =
        parsed(&site.run_with(["key", "issue", "--organization", ORGANIZATION, "--user", "Ann"], &[]).succeeded());
    site.run("computer remove rip-01").succeeded();
    site.run("computer remove rip-01").succeeded();
    site.run_with(["organization", "rename", ORGANIZATION, "Acme & Sons"], &[]).succeeded();
    let added = parsed(&site.run("operator add Ann").succeeded());

    let records = listed(&site, "audit --json");
    let what: Vec<_> = records.iter().map(|record| record["what"].as_str().unwrap()).collect();
    let expected = ["operator.added", "organization.renamed", "record.removed", "key.issued", "fleet.applied"];
    assert_eq!(what, expected);
    assert!(records.iter().all(|record| record["by"] == "command" && record["who"].is_string()));
    assert_eq!(records[1]["values"], json!([{ "member": "name", "before": ORGANIZATION, "after": "Acme & Sons" }]));
    let text = site.run("audit").succeeded() + &site.run("audit --json").succeeded();
    for secret in [ANNS_KEY, issued["mis_key"].as_str().unwrap(), added["password"].as_str().unwrap()] {
        assert!(!text.contains(secret), "{text}");
    }
    let of_acme = ["audit", "--json", "--organization", "Acme & Sons", "--limit", "2"];
    assert_eq!(site.run_with(of_acme, &[]).succeeded().lines().count(), 2);
    assert_eq!(listed(&site, "audit --json --what key.issued").len(), 1);
    assert!(listed(&site, "audit --json --who unknown").is_empty());
    assert!(site.run("audit --what everything").failed(2).contains("allowed is session.started"));
}
