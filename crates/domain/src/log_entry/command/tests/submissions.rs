//! Adding a log entry (interface 2.5, decisions L1–L3).

use crate::error::{Failure, Reason};
use crate::log_entry::{AddLog, AddLogInput, LogType};
use crate::sample::{detail, reason};
use proptest::prelude::*;

fn valid() -> AddLogInput {
    let text = |text: &str| Some(text.to_owned());
    AddLogInput {
        computer: text("c-1"),
        log_type: text("log"),
        description: text("Ink is low"),
        ..AddLogInput::default()
    }
}

/// The valid input with one member changed.
fn with(change: impl FnOnce(&mut AddLogInput)) -> AddLogInput {
    let mut input = valid();
    change(&mut input);
    input
}

fn add(change: impl FnOnce(&mut AddLogInput)) -> AddLog {
    AddLog::new(with(change)).unwrap()
}

#[test]
fn computer_type_and_description_are_required() {
    // Interface 4.7, decision R9.
    type Member = fn(&mut AddLogInput) -> &mut Option<String>;
    let members: [(&str, Member); 3] = [
        ("ComputerGUID", |input| &mut input.computer),
        ("Type", |input| &mut input.log_type),
        ("Description", |input| &mut input.description),
    ];
    for (name, member) in members {
        for value in [None, Some(""), Some(" \t")] {
            let outcome = AddLog::new(with(|input| *member(input) = value.map(str::to_owned)));
            assert_eq!(reason(outcome), Reason::LogFieldsRequired, "{name}: {value:?}");
        }
        let detail = detail(AddLog::new(with(|input| *member(input) = None)));
        assert!(detail.contains(name), "decision R11: {detail}");
    }
}

#[test]
fn the_type_is_log_or_configuration_without_case() {
    // Decision L1.
    for (sent, log_type) in [("LOG", LogType::Log), ("Configuration", LogType::Configuration)] {
        assert_eq!(add(|input| input.log_type = Some(sent.to_owned())).log_type, log_type);
    }
    for sent in ["logs", " log", "error", "0", "1", "config", "Confıguration"] {
        let outcome = AddLog::new(with(|input| input.log_type = Some(sent.to_owned())));
        assert_eq!(reason(outcome), Reason::LogFieldsRequired, "{sent}");
    }
}

#[test]
fn an_empty_optional_reference_is_absent() {
    // Decision L2.
    for value in [None, Some(""), Some("  ")].map(|value| value.map(str::to_owned)) {
        let command = add(|input| (input.device, input.queue, input.job) = (value.clone(), value.clone(), value));
        assert_eq!((command.device, command.queue, command.job), (None, None, None));
    }
    let sent = Some("x".to_owned());
    let command = add(|input| (input.device, input.queue, input.job) = (sent.clone(), sent.clone(), sent.clone()));
    assert_eq!((command.device, command.queue, command.job), (sent.clone(), sent.clone(), sent), "looked up as it is");
}

#[test]
fn a_version_of_any_form_is_kept_up_to_64_characters() {
    // Decision L3.
    let version = |sent: &str| add(|input| input.rip_version = Some(sent.to_owned())).rip_version;
    assert_eq!(version("7.1.3").as_deref(), Some("7.1.3"));
    assert_eq!(version(" beta ").as_deref(), Some(" beta "), "decision R9: untrimmed");
    assert_eq!(version(&"ä".repeat(65)), Some("ä".repeat(64)));
    assert_eq!(version(""), None, "no entry is lost over the form of its version");
}

#[test]
fn texts_are_stored_byte_for_byte_but_for_zeros() {
    // Decision R9.
    assert_eq!(add(|input| input.description = Some(" a\0b\r\n".to_owned())).description, " a\u{FFFD}b\r\n");
    assert_eq!(add(|input| input.job_name = Some("\0".to_owned())).job_name.as_deref(), Some("\u{FFFD}"));
    assert_eq!(add(|input| input.rip_version = Some("1\0".to_owned())).rip_version.as_deref(), Some("1\u{FFFD}"));
}

fn any_input() -> impl Strategy<Value = AddLogInput> {
    let text = || prop::option::of(prop_oneof!["\\PC{0,9}", Just("log".to_owned())]);
    (text(), text(), text(), text(), text(), text(), text(), text()).prop_map(
        |(computer, log_type, description, rip_version, device, queue, job, job_name)| AddLogInput {
            computer,
            log_type,
            description,
            rip_version,
            device,
            queue,
            job,
            job_name,
        },
    )
}

proptest! {
    #[test]
    fn any_input_is_taken_or_refused(input in any_input()) {
        let outcome = AddLog::new(input.clone());
        prop_assert!(outcome.is_ok() || matches!(outcome, Err(Failure::Refused(_))));
        // Decision L3: no optional value can make an entry be lost.
        let AddLogInput { computer, log_type, description, .. } = valid();
        let command = AddLog::new(AddLogInput { computer, log_type, description, ..input });
        prop_assert!(command.is_ok());
    }

    #[test]
    fn what_is_valid_is_taken_as_it_was_meant(
        values in prop::collection::vec("[^\\x00]{0,6}[a-z]", 8),
        given in any::<[bool; 5]>(),
        configuration in any::<bool>(),
    ) {
        let log_type = if configuration { LogType::Configuration } else { LogType::Log };
        let optional = |place: usize| given[place].then(|| values[2 + place].clone());
        let command = AddLog::new(AddLogInput {
            computer: Some(values[0].clone()),
            description: Some(values[1].clone()),
            device: optional(0),
            queue: optional(1),
            job: optional(2),
            rip_version: optional(3),
            job_name: optional(4),
            log_type: Some(log_type.as_str().to_owned()),
        });
        prop_assert_eq!(command.unwrap(), AddLog {
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
