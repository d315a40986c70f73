//! A fleet file is read strictly (decision O2, operation "Fleet file").

use super::read_fleet;
use crate::fleet::{Computer, Device, Fleet, FleetOrganization, Job, Queue, Secret, User};
use crate::testing::{numbered, resource_guid};
use proptest::prelude::*;
use serde_json::{Value, json};

const GUID: &str = "00000000-0000-0000-0000-00000000000a";

/// An organization with its name and these members.
fn organization(members: &str) -> String {
    format!("{{\"organizations\":[{{\"name\":\"Acme Print\"{members}}}]}}")
}

fn read(members: &str) -> FleetOrganization {
    let fleet = read_fleet(organization(members).as_bytes()).unwrap();
    fleet.organizations.into_iter().next().unwrap()
}

/// The path and what is wrong there, without the place in the text.
fn wrong(file: &str) -> String {
    let output = read_fleet(file.as_bytes()).expect_err(&format!("{file} was read")).to_string();
    output.split(" at line ").next().unwrap_or_default().to_owned()
}

#[test]
fn an_error_says_its_place_in_the_text() {
    let output = read_fleet(b"{\n  \"organizations\": [{\"name\": 5}]}").unwrap_err().to_string();
    assert_eq!(output, "organizations[0].name: must be a text that is not blank at line 2 column 31");
    let output = read_fleet(b"{\"organizations\": []} x").unwrap_err().to_string();
    assert_eq!(output, "the file: trailing characters at line 1 column 23");
    let output = read_fleet(b"{\"organizations\": [}").unwrap_err().to_string();
    assert!(output.ends_with("at line 1 column 20"), "{output}");
    assert!(read_fleet(b"\xEF\xBB\xBF{\"organizations\": []}").is_ok());
}

#[test]
fn a_file_with_every_kind_of_record_is_read_whole() {
    let file = organization(
        r#","publisher":false,
        "users":[{"name":"Ann","mis_key":"0123456789abcdef"},{"name":"Bob"}],
        "computers":[{"guid":"{00000000-0000-0000-0000-00000000000A}","name":"RIP-01","hardware_hash":"HH-0001",
            "serial_number":"SN-1000","user":"Ann"},{"guid":"0000000000000000000000000000000b"}],
        "devices":[{"guid":"00000000-0000-0000-0000-00000000000a","name":"Latex 1"}],
        "queues":[{"guid":"00000000-0000-0000-0000-00000000000a","name":"Banner",
            "device":"00000000-0000-0000-0000-00000000000a","uses":["00000000-0000-0000-0000-000000000001"]}],
        "jobs":[{"guid":"00000000-0000-0000-0000-00000000000a","name":"Order 17",
            "queue":"00000000-0000-0000-0000-00000000000a","uses":[]}]"#,
    );
    let name = |name: &str| Some(name.to_owned());
    let acme = FleetOrganization {
        name: "Acme Print".to_owned(),
        publisher: Some(false),
        users: vec![
            User { name: "Ann".to_owned(), mis_key: Some(Secret::new("0123456789abcdef".to_owned())) },
            User { name: "Bob".to_owned(), mis_key: None },
        ],
        computers: vec![
            Computer {
                guid: numbered(10).into(),
                name: name("RIP-01"),
                hardware_hash: Some(Secret::new("HH-0001".to_owned())),
                serial_number: name("SN-1000"),
                user: name("Ann"),
            },
            Computer { guid: numbered(11).into(), name: None, hardware_hash: None, serial_number: None, user: None },
        ],
        devices: vec![Device { guid: numbered(10).into(), name: name("Latex 1") }],
        queues: vec![Queue {
            guid: numbered(10).into(),
            name: name("Banner"),
            device: Some(numbered(10).into()),
            uses: Some(vec![resource_guid(1)]),
        }],
        jobs: vec![Job {
            guid: numbered(10).into(),
            name: name("Order 17"),
            queue: Some(numbered(10).into()),
            uses: Some(Vec::new()),
        }],
        retired: std::collections::BTreeSet::new(),
    };
    assert_eq!(read_fleet(file.as_bytes()).unwrap(), Fleet { organizations: vec![acme] });
}

#[test]
fn what_is_absent_or_null_was_not_given() {
    // Decision O2: it stays as it is registered.
    let bare = FleetOrganization { name: "Acme Print".to_owned(), ..FleetOrganization::default() };
    assert_eq!(read(""), bare);
    assert_eq!(read(r#","publisher":null,"users":null,"computers":null,"devices":[],"queues":[],"jobs":null"#), bare);
    assert_eq!(read_fleet(b"{\"organizations\":[]}").unwrap(), Fleet::default());
    assert_eq!(read(&format!(r#","queues":[{{"guid":"{GUID}","name":null,"uses":null}}]"#)).queues[0].uses, None);
    assert_eq!(read(r#","publisher":true"#).publisher, Some(true));
}

#[test]
fn a_file_that_is_no_object_is_refused() {
    for file in ["null", "[]", "5", "\"x\"", "[[]]", "[{\"organizations\":[]}]"] {
        let output = wrong(file);
        assert!(output.starts_with("the file: ") && output.ends_with("expected an object"), "{output}");
    }
    let output = wrong("{\"organizations\":{}}");
    assert!(output.starts_with("organizations: ") && output.ends_with("expected a sequence"), "{output}");
    for other in ["5", "[\"Acme Print\"]"] {
        let output = wrong(&format!("{{\"organizations\":[{other}]}}"));
        assert!(output.starts_with("organizations[0]: ") && output.ends_with("expected an object"), "{output}");
    }
}

#[test]
fn what_is_misspelt_is_not_silently_ignored() {
    let output = wrong("{\"organisations\":[]}");
    assert_eq!(output, "organisations: unknown field `organisations`, expected `organizations`");
    let cases = [
        (r#","Publisher":true"#, "organizations[0].Publisher: unknown field `Publisher`, expected "),
        (
            r#","users":[{"name":"Ann","misKey":"0123456789abcdef"}]"#,
            "organizations[0].users[0].misKey: unknown field `misKey`, expected ",
        ),
        (r#","computers":[{"hash":"x"}]"#, "organizations[0].computers[0].hash: unknown field `hash`, expected "),
        (r#","devices":[{"uses":[]}]"#, "organizations[0].devices[0].uses: unknown field `uses`, expected "),
        (r#","queues":[{"queue":"x"}]"#, "organizations[0].queues[0].queue: unknown field `queue`, expected "),
        (r#","jobs":[{"device":"x"}]"#, "organizations[0].jobs[0].device: unknown field `device`, expected "),
    ];
    for (members, problem) in cases {
        let output = wrong(&organization(members));
        assert!(output.starts_with(problem), "{output}");
    }
}

#[test]
fn a_member_that_is_there_twice_is_refused() {
    let output = wrong(r#"{"organizations":[{"name":"Acme Print","name":"Zenith Media"}]}"#);
    assert!(output == "organizations[0]: duplicate field `name`", "{output}");
}

#[test]
fn names_are_texts_that_are_not_blank() {
    for value in ["\"\"", "\" \"", "5", "true", "[]", "{}"] {
        let file = format!("{{\"organizations\":[{{\"name\":{value}}}]}}");
        assert_eq!(wrong(&file), "organizations[0].name: must be a text that is not blank", "{value}");
    }
    assert_eq!(wrong("{\"organizations\":[{}]}"), "organizations[0]: missing field `name`");
    assert_eq!(wrong(&organization(r#","users":[{}]"#)), "organizations[0].users[0]: missing field `name`");
    let device =
        |name: &str| read(&format!(r#","devices":[{{"guid":"{GUID}","name":"{name}"}}]"#)).devices[0].name.clone();
    assert_eq!(device(" a\\u0000 ").as_deref(), Some(" a\u{FFFD} "), "decision R9: untrimmed");
}

#[test]
fn each_record_has_a_guid() {
    // Decision O1.
    for list in ["computers", "devices", "queues", "jobs"] {
        let path = format!("organizations[0].{list}[0].guid");
        let output = wrong(&organization(&format!(",\"{list}\":[{{}}]")));
        assert_eq!(output, format!("organizations[0].{list}[0]: missing field `guid`"));
        let with = |value: &str| wrong(&organization(&format!(",\"{list}\":[{{\"guid\":{value}}}]")));
        for text in ["", "x", GUID.trim_end_matches('a'), &format!("{GUID}\0")] {
            assert_eq!(with(&json!(text).to_string()), format!("{path}: \"{text}\" is not a GUID"));
        }
        for value in ["5", "true", "[]"] {
            let output = with(value);
            assert!(output.starts_with(&path) && output.ends_with("expected a string"), "{output}");
        }
        assert!(with(&format!("\"{}\"", "x".repeat(1000))).len() < 150, "a long text is cut");
        let output = wrong(&organization(&format!(",\"{list}\":[5]")));
        assert_eq!(output, format!("organizations[0].{list}[0]: invalid type: integer `5`, expected an object"));
        let output = wrong(&organization(&format!(",\"{list}\":5")));
        assert_eq!(output, format!("organizations[0].{list}: invalid type: integer `5`, expected a sequence"));
    }
}

#[test]
fn relations_and_uses_are_guids() {
    // Decision O3.
    let record = |list: &str, member: &str| organization(&format!(",\"{list}\":[{{\"guid\":\"{GUID}\",{member}}}]"));
    let path = |list: &str, member: &str| format!("organizations[0].{list}[0].{member}");
    assert_eq!(
        wrong(&record("queues", "\"device\":\"x\"")),
        format!("{}: \"x\" is not a GUID", path("queues", "device"))
    );
    let output = wrong(&record("jobs", "\"queue\":true"));
    assert_eq!(output, format!("{}: invalid type: boolean `true`, expected a string", path("jobs", "queue")));
    for list in ["queues", "jobs"] {
        let second = format!("\"uses\":[\"{GUID}\",\"x\"]");
        assert_eq!(wrong(&record(list, &second)), format!("{}: \"x\" is not a GUID", path(list, "uses[1]")));
        let output = wrong(&record(list, "\"uses\":\"x\""));
        assert_eq!(output, format!("{}: invalid type: string \"x\", expected a sequence", path(list, "uses")));
    }
}

#[test]
fn a_record_that_is_there_twice_is_refused() {
    let twice = |list: &str, record: &str| wrong(&organization(&format!(",\"{list}\":[{record},{record}]")));
    assert_eq!(twice("users", "{\"name\":\"Ann\"}"), "organizations[0].users: name Ann occurs twice");
    for list in ["computers", "devices", "queues", "jobs"] {
        let output = twice(list, &format!("{{\"guid\":\"{GUID}\"}}"));
        assert_eq!(output, format!("organizations[0].{list}: guid {GUID} occurs twice"));
    }
    // Decision R7: however they are written.
    let spelt = format!(",\"devices\":[{{\"guid\":\"{GUID}\"}},{{\"guid\":\"({})\"}}]", GUID.to_uppercase());
    assert!(wrong(&organization(&spelt)).ends_with("occurs twice"));
    let organizations = r#"{"organizations":[{"name":"Acme Print"},{"name":"Acme Print"}]}"#;
    assert_eq!(wrong(organizations), "organizations: name Acme Print occurs twice");
}

#[test]
fn a_key_has_at_least_sixteen_characters_and_is_never_shown() {
    // Decision A1.
    let keyed = |key: &str| organization(&format!(",\"users\":[{{\"name\":\"Ann\",\"mis_key\":\"{key}\"}}]"));
    assert_eq!(wrong(&keyed("secret-78901234")), "organizations[0].users[0].mis_key: must have at least 16 characters");
    assert!(read_fleet(keyed("ääääääääääääääää").as_bytes()).is_ok(), "characters are counted, not bytes");
    for key in ["secret-789012345 ", "\\tsecret-789012345", "secret-7890\\u0007-12345", "               "] {
        let output = wrong(&keyed(key));
        assert!(
            output.starts_with("organizations[0].users[0].mis_key: must ") && !output.contains("secret"),
            "{output}"
        );
    }
    for number in ["1234567890123456", "[1234567890123456]", "{\"a\":1234567890123456}"] {
        let output = wrong(&organization(&format!(",\"users\":[{{\"name\":\"Ann\",\"mis_key\":{number}}}]")));
        assert_eq!(output, "organizations[0].users[0].mis_key: must be a text that is not blank");
    }
    let fleet = read_fleet(keyed("secret-789012345").as_bytes()).unwrap();
    assert!(!format!("{fleet:?}").contains("secret"));
}

#[test]
fn a_hardware_hash_needs_its_serial_number() {
    // Decision A1: together they identify a computer.
    let computer = |members: &str| organization(&format!(",\"computers\":[{{\"guid\":\"{GUID}\",{members}}}]"));
    let serial_number = "organizations[0].computers[0].serial_number";
    let alone = wrong(&computer("\"hardware_hash\":\"HH-0001\""));
    assert_eq!(alone, format!("{serial_number}: is required with a hardware_hash"));
    assert!(read_fleet(computer("\"serial_number\":\"SN-1000\"").as_bytes()).is_ok());
    // Decision A8: white space around a header's value is not part of it, so that these would never match.
    for members in ["\"serial_number\":\" SN-1000\"", "\"hardware_hash\":\"HH\\n\",\"serial_number\":\"SN-1000\""] {
        assert!(wrong(&computer(members)).contains("white space"), "{members}");
    }
    // Decision A8: a value repeated between commas counts once, so that these would never match either.
    for serial in ["SN-1,SN-1", "SN-1,", ",SN-1"] {
        assert!(wrong(&computer(&format!("\"serial_number\":\"{serial}\""))).contains("comma"), "{serial}");
    }
    assert!(read_fleet(computer("\"serial_number\":\"SN,1\"").as_bytes()).is_ok());
}

#[test]
fn a_flag_is_true_or_false() {
    for value in ["0", "\"true\"", "[]", "{}"] {
        let file = organization(&format!(",\"publisher\":{value}"));
        let output = wrong(&file);
        assert!(
            output.starts_with("organizations[0].publisher: ") && output.ends_with("expected a boolean"),
            "{output}"
        );
    }
}

const MEMBERS: &[&str] = &[
    "organizations",
    "name",
    "publisher",
    "users",
    "mis_key",
    "computers",
    "guid",
    "hardware_hash",
    "serial_number",
    "user",
    "devices",
    "queues",
    "device",
    "uses",
    "jobs",
    "queue",
];

fn any_json() -> impl Strategy<Value = Value> {
    let words = vec!["", " ", "Ann", GUID, "0123456789abcdef"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(words).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((prop::sample::select(MEMBERS), inner), 0..8)
                .prop_map(|members| members.into_iter().collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_or_refused(file in any_json()) {
        let _ = read_fleet(file.to_string().as_bytes());
        let _ = read_fleet(json!({ "organizations": [file] }).to_string().as_bytes());
    }

    #[test]
    fn any_value_of_a_member_is_read_or_refused(name in prop::sample::select(MEMBERS), value in any_json()) {
        let mut organization = json!({ "name": "Acme Print" });
        organization[name] = value;
        if let Err(error) = read_fleet(json!({ "organizations": [organization] }).to_string().as_bytes()) {
            prop_assert!(error.path.starts_with("organizations"), "{}", error);
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same_but_for_credentials(
        names in prop::collection::btree_set("[^\\x00 ]{1,9}", 1..4),
        publisher in any::<Option<bool>>(),
    ) {
        let users = names.iter().map(|name| User { name: name.clone(), mis_key: None }).collect();
        let organization =
            FleetOrganization { name: "Acme Print".to_owned(), publisher, users, ..FleetOrganization::default() };
        let fleet = Fleet { organizations: vec![organization] };
        prop_assume!(names.iter().all(|name| !crate::text::is_blank(name)));
        prop_assert_eq!(read_fleet(serde_json::to_string(&fleet).unwrap().as_bytes()), Ok(fleet));
    }
}

/// An index of PostgreSQL takes no more than some 2,700 bytes.
#[test]
fn names_have_at_most_500_characters_in_any_script() {
    let longest = "\u{1d11e}".repeat(500);
    let users = |name: &str| format!(r#","users":[{{"name":"{name}"}}]"#);
    assert_eq!(read(&users(&longest)).users[0].name, longest);
    let output = wrong(&organization(&users(&format!("{longest}x"))));
    assert_eq!(output, "organizations[0].users[0].name: must have at most 500 characters");
    let output = wrong(&format!(r#"{{"organizations":[{{"name":"{longest}x"}}]}}"#));
    assert_eq!(output, "organizations[0].name: must have at most 500 characters");
    let computer = format!(r#","computers":[{{"guid":"{GUID}","user":"{longest}x"}}]"#);
    assert_eq!(wrong(&organization(&computer)), "organizations[0].computers[0].user: must have at most 500 characters");
}
