//! The body of "add log" (interface 2.5, decisions L1–L3).

use crate::error::{Failure, Reason};
use crate::json::Json;
use crate::log_entry::LogType;
use crate::log_entry::command::Submission;
use crate::sample::{any_json, any_leaf, detail, json, object, reason, text, with};
use proptest::prelude::*;

fn valid() -> Json {
    object(&[("ComputerGUID", text("c-1")), ("Type", text("log")), ("Description", text("Ink is low"))])
}

fn read(name: &str, value: Option<Json>) -> Submission {
    Submission::read(&with(&valid(), name, value)).unwrap()
}

#[test]
fn computer_type_and_description_are_required() {
    // Interface 4.7, decisions R5, R9.
    for name in ["ComputerGUID", "Type", "Description"] {
        let missing = ["null", "\"\"", "\" \\t\"", "true", "[]", "{}", "[\"log\"]"].map(json);
        for value in missing.into_iter().map(Some).chain([None]) {
            let outcome = Submission::read(&with(&valid(), name, value.clone()));
            assert_eq!(reason(outcome), Reason::LogFieldsRequired, "{name}: {value:?}");
        }
        let told = detail(Submission::read(&with(&valid(), name, None)));
        assert!(told.contains(name), "decision R11: {told}");
    }
    for body in ["null", "5", "\"log\"", "[]", "{}", "[{},{}]"] {
        assert_eq!(reason(Submission::read(&json(body))), Reason::LogFieldsRequired, "{body}");
    }
}

#[test]
fn the_type_is_log_or_configuration_without_case() {
    // Decision L1.
    for (sent, log_type) in [("LOG", LogType::Log), ("Configuration", LogType::Configuration)] {
        assert_eq!(read("Type", Some(text(sent))).log_type, log_type);
    }
    for sent in ["logs", " log", "error", "0", "config", "Confıguration"] {
        let outcome = Submission::read(&with(&valid(), "Type", Some(text(sent))));
        assert_eq!(reason(outcome), Reason::LogFieldsRequired, "{sent}");
    }
    assert_eq!(reason(Submission::read(&with(&valid(), "Type", Some(json("1"))))), Reason::LogFieldsRequired);
}

#[test]
fn an_empty_optional_reference_is_absent() {
    // Decision L2.
    let reference = |name: &str, sent: &Submission| match name {
        "DeviceGUID" => sent.device.clone(),
        "QueueGUID" => sent.queue.clone(),
        _ => sent.job.clone(),
    };
    for name in ["DeviceGUID", "QueueGUID", "JobGUID"] {
        for value in ["null", "\"\"", "\"  \""].map(json).into_iter().map(Some).chain([None]) {
            assert_eq!(reference(name, &read(name, value)), None, "{name}");
        }
        assert_eq!(reference(name, &read(name, Some(text("x")))).as_deref(), Some("x"), "looked up as it is");
        // Decision R7: what can be no GUID is malformed, so that it is not found.
        for value in ["5", "true", "[\"x\"]", "{}"] {
            assert_eq!(reference(name, &read(name, Some(json(value)))).as_deref(), Some(value), "{name}");
        }
    }
}

#[test]
fn a_version_of_any_form_is_kept_up_to_64_characters() {
    // Decision L3.
    let version = |value: Json| read("RipVersion", Some(value)).rip_version;
    assert_eq!(version(text("7.1.3")).as_deref(), Some("7.1.3"));
    assert_eq!(version(text(" beta ")).as_deref(), Some(" beta "), "decision R9: untrimmed");
    assert_eq!(version(json("7.10")).as_deref(), Some("7.10"), "decision R5");
    assert_eq!(version(text(&"ä".repeat(65))), Some("ä".repeat(64)));
    for unusable in ["{}", "[]", "false", "\"\"", "null"] {
        assert_eq!(version(json(unusable)), None, "no entry is lost over the form of its version: {unusable}");
    }
}

#[test]
fn texts_are_stored_byte_for_byte_but_for_zeros() {
    // Decision R9.
    let sent = read("Description", Some(text(" a\0b\r\n")));
    assert_eq!(sent.description, " a\u{FFFD}b\r\n");
    assert_eq!(read("JobName", Some(text("\0"))).job_name.as_deref(), Some("\u{FFFD}"));
    assert_eq!(read("RipVersion", Some(text("1\0"))).rip_version.as_deref(), Some("1\u{FFFD}"));
    assert_eq!(read("Description", Some(json("404"))).description, "404", "decision R5");
}

#[test]
fn names_in_another_case_and_a_wrapping_array_are_understood() {
    // Decision R5.
    let body = json(r#"[{"computerguid":"c-1","TYPE":"log","description":"Ink is low","more":1}]"#);
    assert_eq!(Submission::read(&body).unwrap(), Submission::read(&valid()).unwrap());
}

const MEMBERS: &[&str] =
    &["ComputerGUID", "Type", "Description", "RipVersion", "DeviceGUID", "QueueGUID", "JobGUID", "JobName"];

proptest! {
    #[test]
    fn any_json_is_read_or_refused(body in any_json(MEMBERS)) {
        let outcome = Submission::read(&body);
        prop_assert!(outcome.is_ok() || matches!(outcome, Err(Failure::Refused(_))));
    }

    #[test]
    fn any_value_in_a_valid_body_is_read_or_refused(
        name in prop::sample::select(MEMBERS),
        value in prop_oneof![any_leaf(), any_json(MEMBERS)],
    ) {
        let outcome = Submission::read(&with(&valid(), name, Some(value)));
        prop_assert!(outcome.is_ok() || matches!(outcome, Err(Failure::Refused(_))));
        // Decision L3: no optional value but a reference can make an entry be lost.
        prop_assert!(outcome.is_ok() || ["ComputerGUID", "Type", "Description"].contains(&name));
    }

    #[test]
    fn what_is_valid_is_read_as_it_was_meant(
        values in prop::collection::vec("[^\\x00]{0,6}[a-z]", 8),
        given in any::<[bool; 5]>(),
        configuration in any::<bool>(),
        lower in any::<bool>(),
    ) {
        let log_type = if configuration { LogType::Configuration } else { LogType::Log };
        let optional = ["DeviceGUID", "QueueGUID", "JobGUID", "RipVersion", "JobName"];
        let mut members = vec![("ComputerGUID", &values[0]), ("Description", &values[1])];
        members.extend(optional.into_iter().zip(&values[2..]).zip(given).filter(|(_, given)| *given).map(|(pair, _)| pair));
        let cased = |name: &str| if lower { name.to_lowercase() } else { name.to_owned() };
        let mut members: Vec<_> = members.into_iter().map(|(name, value)| (cased(name), text(value))).collect();
        members.push((cased("Type"), text(log_type.as_str())));
        let optional = |place: usize| given[place].then(|| values[2 + place].clone());
        prop_assert_eq!(Submission::read(&Json::Object(members)).unwrap(), Submission {
            computer: values[0].clone(),
            description: values[1].clone(),
            device: optional(0),
            queue: optional(1),
            job: optional(2),
            rip_version: optional(3),
            job_name: optional(4),
            log_type,
        });
    }
}
