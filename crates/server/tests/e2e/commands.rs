//! The commands other than `serve`: what they print, how they fail, and with which exit code.

use crate::support::{ANNS_KEY, FLEET, Site};
use serde_json::{Value, json};
use std::process::Stdio;

/// A fleet that conflicts with [`FLEET`]: another organization with the same computer.
const CONFLICTING: &str = r#"{ "organizations": [ { "name": "Beta Print",
  "users": [ { "name": "Bob" } ],
  "computers": [ { "guid": "6f9619ff-8b86-d011-b42d-00c04fc964ff", "name": "RIP-02" } ] } ] }"#;

#[test]
fn help_and_version_answer_on_stdout() {
    let site = Site::new();
    assert_eq!(site.run("--version").succeeded(), format!("platen {}\n", env!("CARGO_PKG_VERSION")));
    let help = site.run("--help").succeeded();
    for command in ["serve", "migrate", "fleet", "key", "blobs", "config", "healthcheck", "--config"] {
        assert!(help.contains(command), "{help}");
    }
    assert!(site.run("fleet apply --help").succeeded().contains("<FILE>"));
}

#[test]
fn wrong_usage_ends_with_two_and_one_line() {
    let site = Site::new();
    let lines = [
        ("serv", "platen"),
        ("serve --port 1", "platen serve"),
        ("fleet", "platen fleet"),
        ("fleet apply", "platen fleet apply"),
        ("key issue --user Ann", "platen key issue"),
        ("migrate now", "platen migrate"),
    ];
    for (line, command) in lines {
        let message = site.run(line).failed(2);
        let end = format!("(see {command} --help)");
        assert!(message.starts_with("error: ") && message.ends_with(&end), "{line}: {message}");
    }
}

/// As `platen serve 2>&1 | head -1` leaves it.
#[test]
fn an_error_without_a_reader_ends_with_its_code() {
    let site = Site::new();
    for (line, code) in [("serve", 1), ("serv", 2), ("", 2)] {
        // The log lines before the failure also go to a closed pipe.
        let mut command = site.command();
        command
            .args(line.split_whitespace())
            .env("PLATEN_HTTP_BIND", "")
            .env("PLATEN_HTTP__BIND", "192.0.2.1:1")
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{line}");
    }
}

#[test]
fn a_copy_onto_itself_is_refused() {
    let site = Site::new();
    site.write("same.toml", &site.read("platen.toml"));
    let expected = "error: target same.toml: both sides use one database and one blob store: nothing would be copied";
    assert_eq!(site.run("copy --to same.toml").failed(2), expected);
}

#[test]
fn who_names_no_command_is_shown_them_before_the_error() {
    let ran = Site::new().run("");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.err.contains("Usage: platen") && ran.err.contains("  serve "), "{ran:?}");
    assert!(ran.err.ends_with("\nerror: a command is required (see platen --help)\n"), "{ran:?}");
}

#[test]
fn a_configuration_that_is_not_usable_ends_with_two_and_one_line() {
    let site = Site::new();
    assert!(
        site.run("migrate --config no.toml").failed(2).starts_with("error: cannot read the configuration no.toml: ")
    );

    site.write("bad.toml", "[http]\nport = 80\n");
    let message = site.run("serve --config bad.toml").failed(2);
    assert!(
        message.starts_with("error: http.port in bad.toml line 2: unknown key; section http allows bind, "),
        "{message}"
    );

    let message = site.run_with(["migrate"], &[("PLATEN_LIMITS__MAX_JSON_SIZE", "huge")]).failed(2);
    let expected =
        "error: limits.max_json_size in the environment (PLATEN_LIMITS__MAX_JSON_SIZE): \"huge\" is not allowed";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn the_effective_configuration_is_a_configuration_again_with_the_origin_of_each_value() {
    let site = Site::new();
    site.write("platen.toml", "[http]\nworkers = 3\nbase_path = \"/cloud\"\n");
    let shown = site.run_with(["config"], &[("PLATEN_LOG__LEVEL", "warn")]).succeeded();
    assert!(shown.contains("\nhttp.workers = 3 # platen.toml line 2\n"), "{shown}");
    assert!(shown.contains("\nlog.level = \"warn\" # the environment (PLATEN_LOG__LEVEL)\n"), "{shown}");
    assert!(shown.contains("\n# http.bind_file: not set\n"), "{shown}");

    site.write("shown.toml", &shown);
    let again = site.run("config --json --config shown.toml").succeeded();
    let keys: Vec<Value> = again.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(keys.len(), shown.lines().count());
    let base_path = keys.iter().find(|key| key["key"] == "http.base_path").unwrap();
    assert_eq!((&base_path["value"], &base_path["origin"]), (&"/cloud".into(), &"shown.toml line 3".into()));
}

#[test]
fn migrate_says_from_which_version_to_which() {
    let site = Site::new();
    let first = site.run("migrate").succeeded();
    assert_eq!(first.lines().count(), 1, "{first}");
    assert!(first.contains("from version 0 to "), "{first}");
    let second = site.run("migrate").succeeded();
    assert!(second.contains("up to date"), "{second}");
}

#[test]
fn applying_a_fleet_prints_each_issued_key_once() {
    let site = Site::new();
    site.write(
        "two.json",
        r#"{ "organizations": [ { "name": "Ink & Paper", "users": [ { "name": "Ida" }, { "name": "Ian" } ] } ] }"#,
    );
    let printed = site.run("fleet apply two.json").succeeded();
    let keys: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(keys.len(), 2, "{printed}");
    for (key, user) in keys.iter().zip(["Ida", "Ian"]) {
        assert_eq!((&key["organization"], &key["user"]), (&"Ink & Paper".into(), &user.into()));
        assert!(key["mis_key"].as_str().unwrap().len() >= 32, "{key}");
        assert_eq!(key.as_object().unwrap().len(), 3, "{key}");
    }
    assert_eq!(site.run("fleet apply two.json").succeeded(), "", "a second time nothing is issued (decision O2)");
}

#[test]
fn a_key_of_the_file_is_registered_and_never_printed() {
    let site = Site::new();
    assert_eq!(site.run("fleet apply fleet.json").succeeded(), "");
    assert_eq!(site.run("fleet apply fleet.json").succeeded(), "");
}

#[test]
fn a_key_of_the_file_is_left_out_with_a_warning_where_the_user_has_another_one() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    site.write("other.json", &FLEET.replace(ANNS_KEY, "another-key-of-ann-0002"));
    let ran = site.run("fleet apply other.json");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    let expected = "warning: the key of user \"Ann\" of \"Acme Print\" is ignored: it is revoked, or the user has or had another \
                    one; platen key issue gives a new one\n";
    assert_eq!(ran.err, expected);
}

#[test]
fn a_new_name_that_differs_from_another_by_case_only_is_warned_of_once() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    site.write("shouted.json", r#"{ "organizations": [ { "name": "Acme Print", "users": [ { "name": "ANN" } ] } ] }"#);
    let ran = site.run("fleet apply shouted.json");
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 1), "{ran:?}");
    let expected = "warning: user \"ANN\" of \"Acme Print\" differs from \"Ann\" by case only: they are two\n";
    assert_eq!(ran.err, expected);
    site.run("fleet apply shouted.json").succeeded();
}

#[test]
fn a_dry_run_says_what_applying_would_do_and_does_nothing() {
    let site = Site::new();
    if site.is_on_postgres() {
        assert!(site.run("fleet apply --dry-run fleet.json").failed(1).contains("migrate it first"));
        site.run("migrate").succeeded();
    }
    let all_new = site.run("fleet apply --dry-run fleet.json").succeeded();
    let [first, second, .., last] = all_new.lines().collect::<Vec<_>>()[..] else { panic!("{all_new}") };
    let acme = "would add organization \"Acme Print\"";
    assert_eq!((first, second), (acme, "would add user \"Ann\" of \"Acme Print\""));
    assert_eq!((all_new.lines().count(), last), (7, "would leave 0 records of the file as registered"));
    if !site.is_on_postgres() {
        assert!(!site.path("data").exists(), "no database is made");
    }

    site.run("fleet apply fleet.json").succeeded();
    let before = site.run("fleet export").succeeded();
    let changed = FLEET
        .replace("Latex 1", "Latex 2")
        .replace("HH-0001", "HH-0002")
        .replace(r#""users": ["#, r#""users": [ { "name": "Bob" }, "#);
    site.write("changed.json", &changed);
    let expected = "would add user \"Bob\" of \"Acme Print\"\n\
        would change computer 6f9619ff-8b86-d011-b42d-00c04fc964ff of \"Acme Print\": another hardware_hash\n\
        would change device 0d4ab0a6-0f0b-4d3e-9f5b-0a9a9f6f2c11 of \"Acme Print\": name \"Latex 1\" to \"Latex 2\"\n\
        would issue a key to user \"Bob\" of \"Acme Print\"\n\
        would leave 4 records of the file as registered\n";
    for _ in 0..2 {
        assert_eq!(site.run("fleet apply --dry-run changed.json").succeeded(), expected);
        assert_eq!(site.run("fleet export").succeeded(), before);
    }
    site.write("conflicting.json", CONFLICTING);
    assert!(site.run("fleet apply --dry-run conflicting.json").failed(1).contains("6f9619ff"));
    assert_eq!(site.run("fleet apply changed.json").succeeded().lines().count(), 1, "Bob's key");
    assert_eq!(
        site.run("fleet apply --dry-run changed.json").succeeded(),
        "would leave 7 records of the file as registered\n"
    );
}

#[test]
fn an_exported_fleet_can_be_applied_and_exports_the_same() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    let exported = site.run("fleet export").succeeded();
    assert!(!exported.contains(ANNS_KEY) && !exported.contains("HH-0001"), "{exported}");
    assert!(exported.contains("\n  \"organizations\""), "pretty: {exported}");
    let fleet: Value = serde_json::from_str(&exported).unwrap();
    let mut expected: Value = serde_json::from_str(FLEET).unwrap();
    let acme = &mut expected["organizations"][0];
    acme["users"][0].as_object_mut().unwrap().remove("mis_key");
    acme["computers"][0].as_object_mut().unwrap().remove("hardware_hash");
    acme["publisher"] = false.into();
    assert_eq!(fleet, expected);

    site.write("exported.json", &exported);
    assert_eq!(site.run("fleet apply exported.json").succeeded(), "");
    assert_eq!(site.run("fleet export").succeeded(), exported);
    let site = Site::new();
    site.write("exported.json", &exported);
    assert_eq!(site.run("fleet apply exported.json").succeeded().lines().count(), 1, "a key for Ann is issued");
    assert_eq!(site.run("fleet export").succeeded(), exported);
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let export = site.command().args(["fleet", "export"]).stdout(writer).output().unwrap();
    assert_eq!((export.status.code(), export.stderr.as_slice()), (Some(0), &[][..]), "{export:?}");

    // A key that can't be printed is lost, and the error says so.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let issue = ["key", "issue", "--organization", "Acme Print", "--user", "Ann"];
    let issue = site.command().args(issue).stdout(writer).output().unwrap();
    assert_eq!(issue.status.code(), Some(1), "{issue:?}");
}

#[test]
fn one_organization_is_exported_alone() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    site.write("beta.json", r#"{ "organizations": [ { "name": "Beta Print", "publisher": true } ] }"#);
    site.run("fleet apply beta.json").succeeded();
    let exported = site.run_with(["fleet", "export", "--organization", "Beta Print"], &[]).succeeded();
    assert!(exported.contains("Beta Print") && !exported.contains("Acme Print"), "{exported}");
    let message = site.run_with(["fleet", "export", "--organization", "Gamma"], &[]).failed(1);
    assert!(message.contains("Gamma"), "{message}");
}

#[test]
fn a_fleet_file_that_is_missing_or_malformed_ends_with_two_and_the_place() {
    let site = Site::new();
    assert!(site.run("fleet apply no.json").failed(2).starts_with("error: cannot read the fleet file no.json: "));
    assert!(site.run("serve --fleet no.json").failed(2).starts_with("error: cannot read the fleet file no.json: "));
    let files = [
        ("{", "fleet file bad.json: "),
        (r#"{ "organizations": [ { "name": "A" }, { "name": 5 } ] }"#, "organizations[1].name: "),
        (
            r#"{ "organizations": [ { "name": "A", "queues": [ { "guid": "x" } ] } ] }"#,
            "organizations[0].queues[0].guid: ",
        ),
        (r#"{ "organizations": [ { "name": "A", "colour": 1 } ] }"#, "organizations[0].colour: "),
        (
            r#"{ "organizations": [ { "name": "A", "users": [ { "name": "B", "mis_key": "short" } ] } ] }"#,
            "users[0].mis_key: ",
        ),
    ];
    for (file, place) in files {
        site.write("bad.json", file);
        let message = site.run("fleet apply bad.json").failed(2);
        assert!(message.contains("fleet file bad.json") && message.contains(place), "{message}");
        assert!(!message.contains("short"), "{message}");
    }
    assert!(!site.path("data").exists(), "a malformed file touches nothing");
}

#[test]
fn a_conflict_ends_with_one_names_the_record_and_applies_nothing() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    let before = site.run("fleet export").succeeded();
    site.write("conflicting.json", CONFLICTING);
    for line in ["fleet apply conflicting.json", "serve --fleet conflicting.json"] {
        let ran = site.run_with(line.split(' '), &[("PLATEN_LOG__LEVEL", "error")]);
        assert_eq!(ran.out, "", "no key is printed");
        let message = ran.failed(1);
        assert!(message.contains("6f9619ff-8b86-d011-b42d-00c04fc964ff"), "{message}");
        assert_eq!(site.run("fleet export").succeeded(), before);
    }
}

#[test]
fn keys_are_issued_and_revoked_for_users_that_exist() {
    let site = Site::new();
    site.run("fleet apply fleet.json").succeeded();
    let holder =
        |action: &'static str, organization, user| ["key", action, "--organization", organization, "--user", user];
    let printed = site.run_with(holder("issue", "Acme Print", "Ann"), &[]).succeeded();
    let key: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&key["organization"], &key["user"]), (&"Acme Print".into(), &"Ann".into()));
    assert_ne!(key["mis_key"], ANNS_KEY);
    let revoked = site.run_with(holder("revoke", "Acme Print", "Ann"), &[]).succeeded();
    assert_eq!(revoked, "revoked 2 keys of Ann of Acme Print\n");
    site.run_with(holder("issue", "Acme Print", "Ann"), &[]).succeeded();
    let revoked = site.run_with(holder("revoke", "Acme Print", "Ann"), &[]).succeeded();
    assert_eq!(revoked, "revoked 1 key of Ann of Acme Print\n");
    let again = site.run_with(holder("revoke", "Acme Print", "Ann"), &[]).succeeded();
    assert_eq!(again, "revoked 0 keys of Ann of Acme Print: the user had none that was valid\n");
    for action in ["issue", "revoke"] {
        let message = site.run_with(holder(action, "Acme Print", "Nobody"), &[]).failed(1);
        assert!(message.contains("Nobody"), "{message}");
        let message = site.run_with(holder(action, "Nowhere", "Ann"), &[]).failed(1);
        assert!(message.contains("Nowhere"), "{message}");
    }
}

#[test]
fn a_healthcheck_without_a_server_ends_with_one() {
    let site = Site::new();
    let message = site.run("healthcheck").failed(1);
    assert!(message.contains("ops.bind"), "{message}");
    site.write("ops.bind", "127.0.0.1:9");
    let message = site.run("healthcheck").failed(1);
    assert!(message.starts_with("error: the server does not answer at http://127.0.0.1:9/health/ready: "), "{message}");
}

#[test]
fn the_program_gives_its_manual_and_the_completions_of_shells() {
    let site = Site::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = site.run(&format!("completions {shell}")).succeeded();
        assert!(script.contains("healthcheck") && script.contains("platen"), "{shell}: {script}");
    }
    assert!(site.run("completions cobol").failed(2).contains("'cobol'"));
    let page = site.run("man").succeeded();
    assert!(page.contains(".TH platen 1") && page.contains("healthcheck"), "{page}");
    assert_eq!(site.run("man pages/man1").succeeded(), "");
    for name in ["platen", "platen-serve", "platen-fleet-apply"] {
        assert!(site.read(&format!("pages/man1/{name}.1")).contains(".TH"), "{name}");
    }
}

#[test]
fn the_longest_names_are_registered_and_longer_ones_refused_on_every_database() {
    let site = Site::new();
    // Letters that no database can compress, of four bytes each.
    let name: String = (0..500_u32).map(|n| char::from_u32(0x20000 + n * 7919 % 42_000).unwrap()).collect();
    let fleet = |name: &str| json!({ "organizations": [{ "name": name, "users": [{ "name": name }] }] }).to_string();
    site.write("long.json", &fleet(&name));
    assert_eq!(site.run("fleet apply long.json").succeeded().lines().count(), 1);
    assert!(site.run("fleet export").succeeded().contains(&name));
    site.write("longer.json", &fleet(&format!("{name}x")));
    assert!(site.run("fleet apply longer.json").failed(2).contains("must have at most 500 characters"));
}
