//! One client among several: it sends whatever clients send, until an answer fails to come.

use crate::chance::{Chance, content};
use crate::model::{Fate, Model, OWN, SHARED, Version, device, own_guid, shared_guid};
use crate::support::COMPUTER;
use crate::support::client::Client;
use crate::support::content::sha1;
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) struct Load<'a> {
    pub(crate) number: usize,
    pub(crate) client: Client,
    pub(crate) chance: Chance,
    pub(crate) model: &'a Mutex<Model>,
}

/// What a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Done,
    Refused,
    /// The client doesn't know, and stops.
    None,
}

impl Load<'_> {
    pub(crate) async fn run(mut self) {
        while self.one().await != Answer::None {}
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn one(&mut self) -> Answer {
        match self.chance.below(20) {
            0..6 => {
                let guid = own_guid(self.number, self.index(OWN));
                self.upload(&guid).await
            }
            6..8 => self.delete().await,
            8..11 => {
                let guid = shared_guid(self.index(SHARED));
                self.upload(&guid).await
            }
            11..15 => self.log().await,
            15..17 => self.report().await,
            _ => self.status().await,
        }
    }

    fn index(&mut self, of: usize) -> usize {
        usize::try_from(self.chance.below(of as u64)).unwrap()
    }

    async fn upload(&mut self, guid: &str) -> Answer {
        let size = self.chance.size();
        let version = {
            let mut model = self.model();
            let version = Version { number: model.number(), size };
            model.resource(guid).send(Some(version));
            version
        };
        let (timestamp, name, content) = (version.timestamp(), version.name(), version.content());
        let answer = answer(self.client.try_upload(&timestamp, guid, &name, &content).await).await;
        let mut model = self.model();
        match answer {
            Answer::Done => {
                model.resource(guid).acknowledge(Some(version));
                model.count("uploads");
            }
            Answer::Refused => model.resource(guid).refuse(Some(version)),
            Answer::None => model.doubtful_contents += 1,
        }
        answer
    }

    async fn delete(&mut self) -> Answer {
        let guid = own_guid(self.number, self.index(OWN));
        if self.model().resource(&guid).kept().is_none() {
            return Answer::Refused;
        }
        self.model().resource(&guid).send(None);
        let answer = answer(self.client.try_delete(&format!("/api/v2/resource/{guid}")).await).await;
        assert_ne!(answer, Answer::Refused, "{guid} was there");
        if answer == Answer::Done {
            let mut model = self.model();
            model.resource(&guid).acknowledge(None);
            model.count("deletes");
        }
        answer
    }

    async fn log(&mut self) -> Answer {
        let text = format!("entry {}", self.model().number());
        self.model().logs.insert(text.clone(), Fate::InDoubt);
        let entry = json!({ "ComputerGUID": COMPUTER, "Type": "log", "Description": text });
        let answer = answer(json_request(self.client.post("/api/v2/log"), &entry).send().await).await;
        assert_ne!(answer, Answer::Refused);
        if answer == Answer::Done {
            let mut model = self.model();
            model.logs.insert(text, Fate::Acknowledged);
            model.count("logs");
        }
        answer
    }

    async fn report(&mut self) -> Answer {
        let number = self.model().number();
        let application = format!("application {number}");
        let (call_stack, dump) = (format!("main {number}"), content(number, self.chance.size()));
        let part = |content: &[u8]| format!("{} {}", content.len(), sha1(content));
        let parts = vec![part(call_stack.as_bytes()), part(&dump)];
        self.model().reports.insert(application.clone(), (parts.clone(), Fate::InDoubt));
        let answer = answer(self.client.try_report_crash(&application, &call_stack, &dump).await).await;
        assert_ne!(answer, Answer::Refused);
        let mut model = self.model();
        if answer == Answer::Done {
            model.count("crash reports");
            model.reports.insert(application, (parts, Fate::Acknowledged));
        } else {
            model.doubtful_contents += parts.len();
        }
        answer
    }

    async fn status(&mut self) -> Answer {
        let number = self.model().number();
        self.model().statuses[self.number].pending = Some(number);
        let status = json!({
            "DeviceGUID": device(self.number), "Status": "Printing", "Message": format!("message {number}"),
            "ConnectionMessage": format!("connection {number}"), "QueueLength": { "Sheets": number },
        });
        let answer = answer(json_request(self.client.post("/api/v2/device/status"), &status).send().await).await;
        assert_ne!(answer, Answer::Refused);
        if answer == Answer::Done {
            let mut model = self.model();
            model.statuses[self.number].kept = Some(number);
            model.statuses[self.number].pending = None;
            model.count("statuses");
        }
        answer
    }
}

fn json_request(request: RequestBuilder, body: &Value) -> RequestBuilder {
    request.header(CONTENT_TYPE, "application/json").body(body.to_string())
}

/// Only 200 is an acknowledgement, and 400 a refusal; after anything else the client can't know.
async fn answer(sent: reqwest::Result<Response>) -> Answer {
    let Ok(response) = sent else { return Answer::None };
    let status = response.status();
    // Read, so that the connection is used again; an answer whose head has arrived counts without its rest.
    let _ = response.bytes().await;
    match status {
        StatusCode::OK => Answer::Done,
        StatusCode::BAD_REQUEST => Answer::Refused,
        _ => Answer::None,
    }
}
