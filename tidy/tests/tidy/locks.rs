//! What is fuzzed is built from the same crates as the program.

use std::collections::BTreeSet;
use tidy::workspace::{none_of, read};

/// Names and versions of what a lock file holds.
fn locked(path: &str) -> BTreeSet<(String, String)> {
    let text = read(path);
    let field = |package: &str, name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"")));
        line.and_then(|rest| rest.strip_suffix('"')).unwrap_or_else(|| panic!("{path}: no {name}")).to_owned()
    };
    text.split("[[package]]\n").skip(1).map(|package| (field(package, "name"), field(package, "version"))).collect()
}

#[test]
fn the_lock_file_of_the_fuzzing_targets_names_the_versions_of_the_program() {
    // ADR 55: it is a workspace of its own.
    let (program, fuzz) = (locked("Cargo.lock"), locked("fuzz/Cargo.lock"));
    let names: BTreeSet<&str> = program.iter().map(|(name, _)| name.as_str()).collect();
    let shared = fuzz.iter().filter(|(name, _)| names.contains(name.as_str()));
    assert!(shared.clone().count() > 100, "the lock files were not read");
    let other = shared.filter(|package| !program.contains(package)).map(|(name, version)| format!("{name} {version}"));
    none_of(
        "versions that the program isn't built from; `cargo update --manifest-path fuzz/Cargo.toml --precise` mends it",
        &other.collect::<Vec<_>>(),
    );
}
