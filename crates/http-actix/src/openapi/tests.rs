//! The document leaves out nothing that the interface has.

use super::*;
use serde_json::Value;

fn parsed() -> Value {
    serde_json::from_str(&document("")).unwrap()
}

#[test]
fn every_reason_to_refuse_is_in_the_description_of_an_operation() {
    // The compiler holds the table of answers to the list of reasons; this holds the document to the table.
    let source = include_str!("../error.rs");
    let table = source.split("fn refusal_status_and_message(").nth(1).unwrap().split("\n}\n").next().unwrap();
    let messages: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
    assert!(messages.len() >= 40, "the table was not read: {messages:?}");
    let paths = parsed()["paths"].to_string();
    let missing: Vec<_> = messages.into_iter().filter(|message| !paths.contains(&format!("\"{message}\""))).collect();
    assert!(missing.is_empty(), "messages that no operation has: {missing:?}");
}

#[test]
fn every_schema_that_is_referred_to_is_there() {
    let document = document("");
    let names = document.split("#/components/").skip(1).map(|rest| rest.split('"').next().unwrap());
    let value = parsed();
    for name in names {
        let found = value.pointer(&format!("/components/{name}"));
        assert!(found.is_some(), "{name}");
    }
    assert_eq!(value["openapi"], "3.1.0");
}

#[test]
fn the_base_path_is_the_servers() {
    let server = |base: &str| {
        let value: Value = serde_json::from_str(&document(base)).unwrap();
        value["servers"][0]["url"].as_str().unwrap().to_owned()
    };
    assert_eq!(server(""), "/");
    assert_eq!(server("/print/cloud"), "/print/cloud");
}

#[test]
fn a_header_of_the_document_is_one_of_the_interface() {
    // Interface part 5: these four, in this spelling.
    let value = parsed();
    let schemes = value["components"]["securitySchemes"].as_object().unwrap();
    for name in ["MisKey", "HardwareHash", "SerialNumber", "ApplicationVersion"] {
        assert_eq!((&schemes[name]["in"], &schemes[name]["name"]), (&"header".into(), &name.into()));
    }
}
