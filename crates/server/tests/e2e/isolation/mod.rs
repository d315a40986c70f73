//! No caller reaches data of another organization: every operation, for everything that it can be called for, with every kind of
//! credentials, held against a model of the rules (decisions A1–A8, O1, O3, T1, T2, T15, T16, T19, T20, L2, L5).
//!
//! What is refused must have changed nothing at all: every row and every content is compared. What succeeds must have
//! changed nothing of another organization.

mod calls;
mod model;
mod world;

use crate::support::client::Client;
use crate::support::records::{Reader, Records};
use crate::support::{Server, Site};
use calls::Call;
use futures_util::{StreamExt, stream};
use model::{Answer, Body, Caller, Model};
use reqwest::Response;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use world::{Headers, ORGS, Org, Resource};

/// Refused requests that are under way at once.
const AT_ONCE: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_operation_answers_every_caller_as_the_rules_say_and_shows_and_changes_nothing_of_others() {
    let site = Site::new();
    let server = populated(&site).await;
    let mut trial = Trial::begin(&site, &server).await;
    let (all_headers, calls) = (world::all_headers(), calls::all());
    assert_eq!(calls.iter().map(|call| call.operation().to_owned()).collect::<BTreeSet<_>>(), operations(&site));
    for call in calls {
        let (mut accepted, refused): (Vec<_>, Vec<_>) =
            all_headers.iter().partition(|headers| model::admit(headers, &call).is_ok());
        if call.changes() {
            // Reading shows that all ways to be one caller are one; what changes something is done once by each.
            let mut seen = BTreeSet::new();
            accepted.retain(|headers| seen.insert((model::admit(headers, &call).unwrap().org, headers.kinds())));
        }
        trial.refused(&call, &refused).await;
        trial.accepted(&call, &accepted).await;
    }
    eprintln!(
        "{} ways to call, {} requests, {} of them refused",
        all_headers.len(),
        trial.answers.values().sum::<usize>(),
        trial.refusals()
    );
    trial.assert_telling();
}

/// The operations that ask for credentials, as the program itself documents them.
fn operations(site: &Site) -> BTreeSet<String> {
    let document: Value = serde_json::from_str(&site.run("openapi").succeeded()).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let operations = paths.flat_map(|path| path.as_object().unwrap().values());
    // The document asks for credentials; an operation that doesn't says so.
    let guarded = operations.filter(|operation| operation.get("security").is_none());
    guarded.map(|operation| operation["operationId"].as_str().unwrap().to_owned()).collect()
}

/// A running server with the fleet, revoked credentials and resources of the world.
async fn populated(site: &Site) -> Server {
    site.write("fleet.json", &world::fleet(Org::revoked_hash));
    site.run("fleet apply fleet.json").succeeded();
    site.write("fleet.json", &world::fleet(Org::hash));
    for org in ORGS {
        site.run_with(["key", "revoke", "--organization", &org.name(), "--user", "Gone"], &[]).succeeded();
    }
    let server = site.serve().await;
    let client = Client::without_credentials(&server.api);
    for resource in world::resources() {
        let request = calls::add(&client, &resource);
        let answer = with(request, &Headers::key_of(resource.org)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{resource:?}");
    }
    server
}

fn with(request: reqwest::RequestBuilder, headers: &Headers) -> reqwest::RequestBuilder {
    headers.lines().into_iter().fold(request, |request, (name, value)| request.header(name, value))
}

/// The server and the model, side by side.
struct Trial {
    client: Client,
    model: Model,
    reader: Reader,
    stored: Records,
    /// The log of the server.
    log: PathBuf,
    /// The rows of organizations name them by these.
    ids: BTreeMap<Org, i64>,
    /// Grows with each call that sends something.
    occasion: u32,
    /// How many answers of each status there were.
    answers: BTreeMap<u16, usize>,
}

impl Trial {
    async fn begin(site: &Site, server: &Server) -> Self {
        let mut reader = Reader::of(site).await;
        let stored = reader.read().await;
        let mut ids = BTreeMap::new();
        for org in ORGS {
            let sql = format!("SELECT CAST(id AS TEXT) FROM organization WHERE name = '{org:?}'");
            ids.insert(org, site.sql(&sql).await.remove(0).parse().unwrap());
        }
        let client = Client::without_credentials(&server.api);
        let log = site.path("server.err");
        Self { client, model: Model::new(), reader, stored, log, ids, occasion: 1000, answers: BTreeMap::new() }
    }

    /// Requests that are refused for their headers, many at once; then nothing may be other than before.
    async fn refused(&mut self, call: &Call, all: &[&Headers]) {
        let client = &self.client;
        let sending = stream::iter(all.iter().copied()).map(|headers| async move {
            let expected = model::admit(headers, call).unwrap_err();
            let answer = with(call.request(client), headers).send().await.unwrap();
            assert_answered(call, headers, None, &expected, answer).await;
            expected.status
        });
        let statuses: Vec<u16> = sending.buffer_unordered(AT_ONCE).collect().await;
        for status in statuses {
            *self.answers.entry(status).or_default() += 1;
        }
        self.assert_unchanged(call).await;
    }

    /// Requests with a caller, one after the other.
    async fn accepted(&mut self, call: &Call, all: &[&Headers]) {
        for headers in all {
            let caller = model::admit(headers, call).unwrap();
            self.occasion += 1;
            let call = call.at(caller.org, self.occasion);
            let before = self.model.resources.clone();
            let expected = self.model.answer(&caller, &call);
            let answer = self.send(&call, headers).await;
            *self.answers.entry(expected.status).or_default() += 1;
            assert_answered(&call, headers, Some(&caller), &expected, answer).await;
            if call.changes() && expected.status == 200 {
                self.assert_own(&call, &caller).await;
                self.restore(&caller, headers, &before).await;
            } else if call.changes() {
                self.assert_unchanged(&call).await;
            }
        }
        if !call.changes() {
            self.assert_unchanged(call).await;
        }
    }

    /// Sends a request. On a machine that is too busy the database may not answer in time, or not all; what then was
    /// answered 500 or 503, and has changed nothing, is sent again, once.
    async fn send(&mut self, call: &Call, headers: &Headers) -> Response {
        for _ in 0..2 {
            let answer = with(call.request(&self.client), headers).send().await.unwrap();
            match answer.status().as_u16() {
                500 => {
                    let log = fs::read_to_string(&self.log).unwrap();
                    let cause = log.lines().rfind(|line| line.contains("ERROR")).unwrap();
                    assert!(cause.contains("timed out") || cause.contains("in time"), "{call:?}: {cause}");
                }
                503 => assert!(answer.headers().contains_key("Retry-After"), "{call:?}"),
                _ => return answer,
            }
            self.assert_unchanged(call).await;
        }
        panic!("{call:?} fails again");
    }

    async fn assert_unchanged(&mut self, call: &Call) {
        let now = self.reader.read().await;
        assert!(now == self.stored, "{call:?} changed something: {}", self.stored.difference(&now));
    }

    /// What changed is of the caller's organization, and all content that was there is there.
    async fn assert_own(&mut self, call: &Call, caller: &Caller) {
        let now = self.reader.read().await;
        let own = self.ids[&caller.org];
        let output = || format!("{call:?} of {caller:?}: {}", self.stored.difference(&now));
        assert!(now != self.stored, "{call:?} of {caller:?} changed nothing");
        assert!(now.foreign_to(own) == self.stored.foreign_to(own), "{}", output());
        assert!(now.ownerless().is_superset(&self.stored.ownerless()), "{}", output());
        let is_kept = |path| now.contents.get(path) == self.stored.contents.get(path);
        assert!(self.stored.contents.keys().all(is_kept), "{}", output());
        self.stored = now;
    }

    /// Brings back what was deleted, and takes away what was added, by the same caller, unless a queue uses it.
    async fn restore(&mut self, caller: &Caller, headers: &Headers, before: &[Resource]) {
        let is_missing = |guid: &str, among: &[Resource]| {
            !among.iter().any(|resource| resource.org == caller.org && resource.guid == guid)
        };
        let undo = if let Some(gone) =
            before.iter().find(|one| is_of(one, caller) && is_missing(&one.guid, &self.model.resources))
        {
            Call::Add(gone.clone())
        } else if let Some(new) =
            self.model.resources.iter().find(|one| is_of(one, caller) && is_missing(&one.guid, before))
        {
            Call::Delete(Some(new.guid.clone()))
        } else {
            return;
        };
        let expected = self.model.answer(caller, &undo);
        let answer = self.send(&undo, headers).await;
        assert_answered(&undo, headers, Some(caller), &expected, answer).await;
        self.stored = self.reader.read().await;
    }

    fn refusals(&self) -> usize {
        self.answers.iter().filter(|(status, _)| **status != 200).map(|(_, count)| count).sum()
    }

    /// A matrix in which one kind of answer is missing tells nothing of it.
    fn assert_telling(&self) {
        for status in [200, 400, 401, 404] {
            assert!(self.answers.get(&status).is_some_and(|count| *count > 50), "{:?}", self.answers);
        }
    }
}

fn is_of(resource: &Resource, caller: &Caller) -> bool {
    resource.org == caller.org
}

/// The answer is the expected one, and holds neither a credential nor a word of an organization that it isn't about.
async fn assert_answered(call: &Call, headers: &Headers, caller: Option<&Caller>, expected: &Answer, answer: Response) {
    let asked = || format!("{call:?} with {headers:?} by {caller:?}");
    let head = format!("{} {:?}", answer.status(), answer.headers());
    assert_eq!(answer.status().as_u16(), expected.status, "{} {head}", asked());
    let length = answer.headers().get("Content-Length").map(|value| value.to_str().unwrap().parse::<usize>().unwrap());
    let body = answer.text().await.unwrap();
    match &expected.body {
        Body::Json(value) => {
            assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), *value, "{}", asked());
        }
        Body::File(content) => assert_eq!(body, *content, "{}", asked()),
        Body::Head(expected) => {
            assert_eq!(body, "", "{}", asked());
            assert!(expected.is_none() || length == *expected, "{} {head}", asked());
        }
    }
    let output = format!("{head} {body}");
    for org in ORGS {
        let is_told_of = model::told_of(caller, expected).contains(&org);
        assert!(is_told_of || !output.contains(&org.name()), "{} tells of {org:?}: {output}", asked());
        for secret in [org.key(), org.revoked_key(), org.hash(), org.revoked_hash()] {
            assert!(!output.contains(&secret), "{} tells a credential: {output}", asked());
        }
    }
}
