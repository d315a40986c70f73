//! Holds every answer that a test gets to the OpenAPI document: none is undocumented.

use super::client::{Reply, Request};
use serde_json::Value;
use std::sync::LazyLock;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(&http_actix::openapi::document("")).unwrap());

/// Fails where the document doesn't know the answer's status for the operation, or its message.
pub fn check(request: &Request, reply: &Reply) {
    let Some(item) = path_item(&request.path) else {
        return;
    };
    // The path as this listener, or its base path, has it is none.
    if reply.body == br#"{"Message":"Not Found"}"# {
        return;
    }
    let method = if request.method == "HEAD" { "get".to_owned() } else { request.method.to_lowercase() };
    let Some(operation) = item.get(&method) else {
        assert_eq!(reply.status, 405, "{} {}: {reply:?}", request.method, request.path);
        return;
    };
    let asked = format!("{} {}", request.method, request.path);
    let response = &operation["responses"][reply.status.to_string()];
    assert!(response.is_object(), "{asked}: status {} is not documented", reply.status);
    let content_type = reply.header("Content-Type").unwrap_or_default().split(';').next().unwrap();
    if reply.body.is_empty() {
        return;
    }
    let content = &response["content"][content_type];
    assert!(content.is_object(), "{asked}: {} of {content_type} is not documented", reply.status);
    if reply.status >= 400 && content_type.ends_with("json") {
        let body: Value = serde_json::from_slice(&reply.body).unwrap();
        let messages = content["schema"]["allOf"][1]["properties"]["Message"]["enum"].as_array().unwrap();
        assert!(messages.contains(&body["Message"]), "{asked}: {} {body} is not documented", reply.status);
    }
}

/// The path of the document that fits best: what is literal wins over what holds a GUID.
fn path_item(path: &str) -> Option<&'static Value> {
    let path = path.split('?').next().unwrap().to_lowercase();
    let start = path.find("/api/v2").or_else(|| path.find("/health/"))?;
    let own = path[start..].trim_end_matches('/').to_owned();
    let paths = DOCUMENT["paths"].as_object().unwrap();
    paths.get(&own).or_else(|| {
        let fits = |template: &str| {
            let (mut template, mut own) = (template.split('/'), own.split('/'));
            loop {
                match (template.next(), own.next()) {
                    (None, None) => return true,
                    (Some(fixed), Some(segment)) if fixed == segment || fixed.starts_with('{') => {}
                    _ => return false,
                }
            }
        };
        paths.iter().find(|(template, _)| fits(template)).map(|(_, item)| item)
    })
}
