//! A fleet file is read strictly (decision O2, operation "Fleet file").

use super::read_fleet;
use crate::fleet::{Computer, Device, Fleet, FleetOrganization, Job, Queue, Secret, User};
use crate::json::Json;
use crate::sample::{any_json, json, object, text};
use crate::testing::{numbered, resource_guid};
use proptest::prelude::*;

const GUID: &str = "00000000-0000-0000-0000-00000000000a";

/// An organization that has these members beside its name.
fn organization(members: &str) -> Json {
    json(&format!("{{\"organizations\":[{{\"name\":\"Acme Print\"{members}}}]}}"))
}

fn read(members: &str) -> FleetOrganization {
    let fleet = read_fleet(&organization(members)).unwrap();
    fleet.organizations.into_iter().next().unwrap()
}

/// Where the file is wrong, and what is wrong there.
fn wrong(file: &Json) -> String {
    read_fleet(file).expect_err(&format!("{file} was read")).to_string()
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
    };
    assert_eq!(read_fleet(&file).unwrap(), Fleet { organizations: vec![acme] });
}

#[test]
fn what_is_absent_or_null_was_not_given() {
    // Decision O2: it stays as it is registered.
    let bare = FleetOrganization { name: "Acme Print".to_owned(), ..FleetOrganization::default() };
    assert_eq!(read(""), bare);
    assert_eq!(read(r#","publisher":null,"users":null,"computers":null,"devices":[],"queues":[],"jobs":null"#), bare);
    assert_eq!(read_fleet(&json("{\"organizations\":[]}")).unwrap(), Fleet::default());
    assert_eq!(read(&format!(r#","queues":[{{"guid":"{GUID}","name":null,"uses":null}}]"#)).queues[0].uses, None);
    assert_eq!(read(r#","publisher":true"#).publisher, Some(true));
}

#[test]
fn a_file_that_is_no_object_is_refused() {
    for file in ["null", "[]", "5", "\"x\"", "[{\"organizations\":[]}]"] {
        assert_eq!(wrong(&json(file)), "the file: must be an object", "{file}");
    }
    assert_eq!(wrong(&json("{\"organizations\":{}}")), "organizations: must be an array");
    assert_eq!(wrong(&json("{\"organizations\":[5]}")), "organizations[0]: must be an object");
}

#[test]
fn what_is_misspelt_is_not_silently_ignored() {
    assert_eq!(wrong(&json("{\"organisations\":[]}")), "organisations: is not known; allowed are organizations");
    let cases = [
        (r#","Publisher":true"#, "organizations[0].Publisher: is not known"),
        (r#","users":[{"name":"Ann","misKey":"0123456789abcdef"}]"#, "organizations[0].users[0].misKey: is not known"),
        (r#","computers":[{"guid":"x","hash":"x"}]"#, "organizations[0].computers[0].hash: is not known"),
        (r#","devices":[{"guid":"x","uses":[]}]"#, "organizations[0].devices[0].uses: is not known"),
        (r#","queues":[{"guid":"x","queue":"x"}]"#, "organizations[0].queues[0].queue: is not known"),
        (r#","jobs":[{"guid":"x","device":"x"}]"#, "organizations[0].jobs[0].device: is not known"),
    ];
    for (members, problem) in cases {
        let told = wrong(&organization(members));
        assert!(told.starts_with(problem), "{told}");
    }
}

#[test]
fn a_member_that_is_there_twice_is_refused() {
    let name = |name: &str| ("name", text(name));
    let twice = object(&[("organizations", Json::Array(vec![object(&[name("Acme Print"), name("Zenith Media")])]))]);
    assert_eq!(wrong(&twice), "organizations[0].name: occurs twice");
}

#[test]
fn names_are_texts_that_are_not_blank() {
    for value in ["\"\"", "\" \"", "5", "true", "[]", "{}"] {
        let file = json(&format!("{{\"organizations\":[{{\"name\":{value}}}]}}"));
        assert_eq!(wrong(&file), "organizations[0].name: must be a text that is not blank", "{value}");
    }
    assert_eq!(wrong(&json("{\"organizations\":[{}]}")), "organizations[0].name: is required");
    assert_eq!(wrong(&organization(r#","users":[{}]"#)), "organizations[0].users[0].name: is required");
    let device =
        |name: &str| read(&format!(r#","devices":[{{"guid":"{GUID}","name":"{name}"}}]"#)).devices[0].name.clone();
    assert_eq!(device(" a\\u0000 ").as_deref(), Some(" a\u{FFFD} "), "decision R9: untrimmed");
}

#[test]
fn each_record_has_a_guid() {
    // Decision O1.
    for list in ["computers", "devices", "queues", "jobs"] {
        let path = format!("organizations[0].{list}[0].guid");
        assert_eq!(wrong(&organization(&format!(",\"{list}\":[{{}}]"))), format!("{path}: is required"));
        let with = |value: &str| wrong(&organization(&format!(",\"{list}\":[{{\"guid\":{value}}}]")));
        for text in ["", "x", GUID.trim_end_matches('a'), &format!("{GUID}\0")] {
            assert_eq!(with(&Json::Text(text.to_owned()).to_string()), format!("{path}: \"{text}\" is not a GUID"));
        }
        for value in ["5", "true", "[]"] {
            assert_eq!(with(value), format!("{path}: must be a GUID, in quotation marks"));
        }
        assert!(with(&format!("\"{}\"", "x".repeat(1000))).len() < 150, "a long text is cut");
        assert_eq!(
            wrong(&organization(&format!(",\"{list}\":[5]"))),
            format!("organizations[0].{list}[0]: must be an object")
        );
        assert_eq!(
            wrong(&organization(&format!(",\"{list}\":5"))),
            format!("organizations[0].{list}: must be an array")
        );
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
    let told = wrong(&record("jobs", "\"queue\":true"));
    assert_eq!(told, format!("{}: must be a GUID, in quotation marks", path("jobs", "queue")));
    for list in ["queues", "jobs"] {
        let second = format!("\"uses\":[\"{GUID}\",\"x\"]");
        assert_eq!(wrong(&record(list, &second)), format!("{}: \"x\" is not a GUID", path(list, "uses[1]")));
        assert_eq!(wrong(&record(list, "\"uses\":\"x\"")), format!("{}: must be an array", path(list, "uses")));
    }
}

#[test]
fn a_record_that_is_there_twice_is_refused() {
    let twice = |list: &str, record: &str| wrong(&organization(&format!(",\"{list}\":[{record},{record}]")));
    assert_eq!(twice("users", "{\"name\":\"Ann\"}"), "organizations[0].users: name Ann occurs twice");
    for list in ["computers", "devices", "queues", "jobs"] {
        let told = twice(list, &format!("{{\"guid\":\"{GUID}\"}}"));
        assert_eq!(told, format!("organizations[0].{list}: guid {GUID} occurs twice"));
    }
    // Decision R7: however they are written.
    let spelt = format!(",\"devices\":[{{\"guid\":\"{GUID}\"}},{{\"guid\":\"({})\"}}]", GUID.to_uppercase());
    assert!(wrong(&organization(&spelt)).ends_with("occurs twice"));
    let organizations = json(r#"{"organizations":[{"name":"Acme Print"},{"name":"Acme Print"}]}"#);
    assert_eq!(wrong(&organizations), "organizations: name Acme Print occurs twice");
}

#[test]
fn a_key_has_at_least_sixteen_characters_and_is_never_shown() {
    // Decision A1.
    let keyed = |key: &str| organization(&format!(",\"users\":[{{\"name\":\"Ann\",\"mis_key\":\"{key}\"}}]"));
    assert_eq!(wrong(&keyed("secret-78901234")), "organizations[0].users[0].mis_key: must have at least 16 characters");
    assert!(read_fleet(&keyed("ääääääääääääääää")).is_ok(), "characters are counted, not bytes");
    for key in ["secret-789012345 ", "\\tsecret-789012345", "secret-7890\\u0007-12345", "               "] {
        let told = wrong(&keyed(key));
        assert!(told.starts_with("organizations[0].users[0].mis_key: must ") && !told.contains("secret"), "{told}");
    }
    let fleet = read_fleet(&keyed("secret-789012345")).unwrap();
    assert!(!format!("{fleet:?}").contains("secret"));
}

#[test]
fn a_hardware_hash_needs_its_serial_number() {
    // Decision A1: together they identify a computer.
    let computer = |members: &str| organization(&format!(",\"computers\":[{{\"guid\":\"{GUID}\",{members}}}]"));
    let serial_number = "organizations[0].computers[0].serial_number";
    let alone = wrong(&computer("\"hardware_hash\":\"HH-0001\""));
    assert_eq!(alone, format!("{serial_number}: is required beside a hardware_hash"));
    assert!(read_fleet(&computer("\"serial_number\":\"SN-1000\"")).is_ok());
    // Decision A8: white space around a header's value is not part of it, so that these would never match.
    for members in ["\"serial_number\":\" SN-1000\"", "\"hardware_hash\":\"HH\\n\",\"serial_number\":\"SN-1000\""] {
        assert!(wrong(&computer(members)).contains("white space"), "{members}");
    }
    // Decision A8: a value repeated between commas counts once, so that these would never match either.
    for serial in ["SN-1,SN-1", "SN-1,", ",SN-1"] {
        assert!(wrong(&computer(&format!("\"serial_number\":\"{serial}\""))).contains("comma"), "{serial}");
    }
    assert!(read_fleet(&computer("\"serial_number\":\"SN,1\"")).is_ok());
}

#[test]
fn a_flag_is_true_or_false() {
    for value in ["0", "\"true\"", "[]", "{}"] {
        let file = organization(&format!(",\"publisher\":{value}"));
        assert_eq!(wrong(&file), "organizations[0].publisher: must be true or false");
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

proptest! {
    #[test]
    fn any_json_is_read_or_refused(file in any_json(MEMBERS)) {
        let _ = read_fleet(&file);
        let _ = read_fleet(&object(&[("organizations", Json::Array(vec![file]))]));
    }

    #[test]
    fn any_value_of_a_member_is_read_or_refused(name in prop::sample::select(MEMBERS), value in any_json(MEMBERS)) {
        let organization = object(&[("name", text("Acme Print")), (name, value)]);
        if let Err(error) = read_fleet(&object(&[("organizations", Json::Array(vec![organization]))])) {
            prop_assert!(error.path.starts_with("organizations"), "{}", error);
        }
    }
}

/// An index of PostgreSQL takes no more than some 2,700 bytes.
#[test]
fn names_have_at_most_500_characters_in_any_script() {
    let longest = "\u{1d11e}".repeat(500);
    let users = |name: &str| format!(r#","users":[{{"name":"{name}"}}]"#);
    assert_eq!(read(&users(&longest)).users[0].name, longest);
    let told = wrong(&organization(&users(&format!("{longest}x"))));
    assert_eq!(told, "organizations[0].users[0].name: must have at most 500 characters");
    let told = wrong(&json(&format!(r#"{{"organizations":[{{"name":"{longest}x"}}]}}"#)));
    assert_eq!(told, "organizations[0].name: must have at most 500 characters");
    let computer = format!(r#","computers":[{{"guid":"{GUID}","user":"{longest}x"}}]"#);
    assert_eq!(wrong(&organization(&computer)), "organizations[0].computers[0].user: must have at most 500 characters");
}
