//! Dependencies point inward only, and each framework stays in its adapter.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use tidy::product::product_files;
use tidy::workspace::{none_of, read, root};

/// All that `domain` may use: no I/O, no framework, no runtime.
const DOMAIN: [&str; 18] = [
    "async-trait",
    "bytes",
    "cpp_demangle",
    "encoding_rs",
    "futures-channel",
    "futures-util",
    "icu_casemap",
    "icu_normalizer",
    "mockall",
    "rustc-demangle",
    "serde",
    "serde_json",
    "serde_path_to_error",
    "sha1",
    "sha2",
    "thiserror",
    "time",
    "uuid",
];

/// Which of our own crates each may use.
const OWN: [(&str, &[&str]); 12] = [
    ("domain", &[]),
    ("metering", &[]),
    ("adapters-db", &["domain", "metering"]),
    ("adapters-blob", &["domain", "metering"]),
    ("adapters-icc", &["domain"]),
    ("adapters-minidump", &["domain"]),
    ("http-actix", &["domain", "metering"]),
    // It runs in the application of http-actix, whose middleware it relies on.
    ("operator-actix", &["domain", "http-actix"]),
    // Its pages use the sessions of operator-actix.
    ("console-actix", &["domain", "http-actix", "operator-actix"]),
    (
        "server",
        &[
            "domain",
            "metering",
            "adapters-db",
            "adapters-blob",
            "adapters-icc",
            "adapters-minidump",
            "http-actix",
            "operator-actix",
            "console-actix",
        ],
    ),
    ("bench", &[]),
    ("tidy", &[]),
];

/// Crates that are not part of the product.
const TOOLS: [&str; 2] = ["bench", "tidy"];

/// Which crates may use a framework; names are prefixes.
const FRAMEWORKS: [(&str, &[&str]); 12] = [
    ("actix", &["console-actix", "http-actix", "operator-actix"]),
    ("askama", &["console-actix"]),
    ("argon2", &["server"]),
    ("anyhow", &["server"]),
    ("clap", &["server"]),
    // All metrics are in the list of `metering`.
    ("metrics", &["metering", "server"]),
    ("minidump", &["adapters-minidump"]),
    ("moxcms", &["adapters-icc"]),
    ("multer", &["http-actix"]),
    ("object_store", &["adapters-blob"]),
    // http-actix reads `traceparent` of a request.
    ("opentelemetry", &["http-actix", "server"]),
    ("sea-orm", &["adapters-db"]),
];

/// What only tests may use; names are prefixes.
const FOR_TESTS: [&str; 3] = ["mockall", "proptest", "s3s"];

/// The normal dependencies of each crate of the workspace, and whether each is optional.
fn dependencies() -> BTreeMap<String, BTreeMap<String, bool>> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--no-deps", "--locked"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let normal = |package: &Value| -> BTreeMap<String, bool> {
        let all = package["dependencies"].as_array().unwrap().iter();
        let normal = all.filter(|dependency| dependency["kind"].is_null());
        normal.map(|found| (found["name"].as_str().unwrap().to_owned(), found["optional"] == true)).collect()
    };
    packages.map(|package| (package["name"].as_str().unwrap().to_owned(), normal(package))).collect()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn domain_uses_what_is_allowed_and_nothing_else() {
    let dependencies = dependencies();
    let names: BTreeSet<&str> = dependencies["domain"].keys().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(DOMAIN));
    assert!(dependencies["domain"]["mockall"], "mockall is for tests and must be optional");
}

#[test]
fn our_crates_depend_inward_only() {
    let dependencies = dependencies();
    let members: BTreeSet<&str> = dependencies.keys().map(String::as_str).collect();
    assert_eq!(members, OWN.iter().map(|(name, _)| *name).collect(), "a crate is missing from the list of this test");
    for (name, allowed) in OWN {
        let own: BTreeSet<&str> = dependencies[name].keys().map(String::as_str).collect();
        let forbidden: Vec<_> = own.intersection(&members).filter(|used| !allowed.contains(used)).collect();
        assert!(forbidden.is_empty(), "{name} must not depend on {forbidden:?}");
    }
}

#[test]
fn each_framework_stays_in_its_adapter() {
    let mut problems = Vec::new();
    for (crate_name, used) in dependencies().into_iter().filter(|(name, _)| !TOOLS.contains(&name.as_str())) {
        for (framework, allowed) in FRAMEWORKS {
            let found = used.keys().filter(|name| name.starts_with(framework));
            let forbidden = found.filter(|_| !allowed.contains(&crate_name.as_str()));
            problems.extend(forbidden.map(|name| format!("{crate_name} uses {name}")));
        }
    }
    none_of("frameworks outside their adapters", &problems);
}

#[test]
fn the_program_holds_nothing_that_is_for_tests() {
    let tree = cargo(&["tree", "-p", "server", "-e", "normal", "--prefix", "none", "--locked", "--offline"]);
    let inside: Vec<String> =
        tree.lines().filter(|line| FOR_TESTS.iter().any(|name| line.starts_with(name))).map(str::to_owned).collect();
    none_of("crates for tests in the program", &inside);
    assert!(tree.contains("domain v"), "the tree was not read:\n{tree}");
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for (name, _) in OWN {
        let folder = if TOOLS.contains(&name) { name.to_owned() } else { format!("crates/{name}") };
        let manifest = read(&format!("{folder}/Cargo.toml"));
        assert!(manifest.contains("[lints]\nworkspace = true"), "{folder}/Cargo.toml lacks `[lints] workspace = true`");
    }
}

#[test]
fn domain_does_no_input_or_output() {
    let forbidden = ["std::fs", "std::net", "std::process", "std::env", "tokio::", "println!"];
    let mut problems = Vec::new();
    for file in product_files().iter().filter(|file| file.crate_name == "domain") {
        let found = forbidden.iter().filter(|word| file.text.contains(**word));
        problems.extend(found.map(|word| format!("{} names {word}", file.path)));
    }
    none_of("input or output in domain", &problems);
}
