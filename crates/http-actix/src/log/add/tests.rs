//! How a log entry is spelled in JSON (decisions R5, L2, L3).

use super::*;
use crate::extract::json::parse;
use serde_json::{Value, json};

fn valid() -> Value {
    json!({ "ComputerGUID": "c-1", "Type": "log", "Description": "Ink is low" })
}

fn read(body: &Value) -> Result<AddLog, Failure> {
    AddLog::try_from(parse::<LogEntryBody>(body.to_string().as_bytes()).unwrap())
}

/// The valid body with one more member.
fn with(name: &str, value: Value) -> Result<AddLog, Failure> {
    let mut body = valid();
    body[name] = value;
    read(&body)
}

/// The command that this entry makes.
fn meant(change: impl FnOnce(&mut AddLogInput)) -> AddLog {
    let text = |text: &str| Some(text.to_owned());
    let (computer, log_type, description) = (text("c-1"), text("log"), text("Ink is low"));
    let mut input = AddLogInput { computer, log_type, description, ..AddLogInput::default() };
    change(&mut input);
    AddLog::new(input).unwrap()
}

fn is_required(outcome: Result<AddLog, Failure>) -> bool {
    matches!(outcome, Err(Failure::Refused(refusal)) if refusal.reason == Reason::LogFieldsRequired)
}

#[test]
fn computer_type_and_description_are_required_texts() {
    // Interface 4.7, decision R5.
    for name in ["ComputerGUID", "Type", "Description"] {
        for value in [json!(null), json!(""), json!(true), json!([]), json!({}), json!(["log"])] {
            assert!(is_required(with(name, value.clone())), "{name}: {value}");
        }
    }
    for body in [json!(null), json!(5), json!("log"), json!([]), json!({}), json!([{}, {}])] {
        assert!(is_required(read(&body)), "{body}");
    }
    assert!(is_required(with("Type", json!(1))));
    assert_eq!(with("Description", json!(404)).unwrap(), meant(|input| input.description = Some("404".to_owned())));
}

#[test]
fn a_reference_of_another_type_is_a_malformed_guid() {
    // Decisions L2, R7: it is looked up, and not found.
    type Member = fn(&mut AddLogInput) -> &mut Option<String>;
    let members: [(&str, Member); 3] = [
        ("DeviceGUID", |input| &mut input.device),
        ("QueueGUID", |input| &mut input.queue),
        ("JobGUID", |input| &mut input.job),
    ];
    for (name, member) in members {
        for other in [json!(5), json!(true), json!(["x"]), json!({})] {
            let expected = meant(|input| *member(input) = Some(other.to_string()));
            assert_eq!(with(name, other).unwrap(), expected, "{name}");
        }
        assert_eq!(with(name, json!(null)).unwrap(), meant(|_| ()));
    }
}

#[test]
fn no_entry_is_lost_over_an_optional_text() {
    // Decision L3, ADR 19.
    for name in ["RipVersion", "JobName"] {
        for other in [json!({}), json!([]), json!(false), json!(null)] {
            assert_eq!(with(name, other).unwrap(), meant(|_| ()), "{name}");
        }
    }
    assert_eq!(with("RipVersion", json!(7)).unwrap(), meant(|input| input.rip_version = Some("7".to_owned())));
    let spelled = r#"{"ComputerGUID":"c-1","Type":"log","Description":"Ink is low","RipVersion":7.10}"#;
    let body: LogEntryBody = parse(spelled.as_bytes()).unwrap();
    assert_eq!(AddLog::try_from(body).unwrap(), meant(|input| input.rip_version = Some("7.10".to_owned())));
}

#[test]
fn names_in_another_case_and_a_wrapping_array_are_understood() {
    // Decision R5.
    let body = json!([{ "computerguid": "c-1", "TYPE": "log", "description": "Ink is low", "more": 1 }]);
    assert_eq!(read(&body).unwrap(), meant(|_| ()));
}

#[test]
fn every_member_is_handed_on() {
    // Interface 2.5.
    let body = json!({
        "ComputerGUID": "c", "Type": "Configuration", "Description": "d", "RipVersion": "v", "DeviceGUID": "de",
        "QueueGUID": "q", "JobGUID": "j", "JobName": "n",
    });
    let text = |text: &str| Some(text.to_owned());
    let input = AddLogInput {
        computer: text("c"),
        log_type: text("configuration"),
        description: text("d"),
        rip_version: text("v"),
        device: text("de"),
        queue: text("q"),
        job: text("j"),
        job_name: text("n"),
    };
    assert_eq!(read(&body).unwrap(), AddLog::new(input).unwrap());
}
