//! What holds for every file: its size, its opening, and what it must not hold.

use tidy::workspace::{none_of, sources, texts};

/// Longest source file in lines.
const LINES: usize = 500;

/// What no file may hold, in two pieces so that this file doesn't either, and why.
const FORBIDDEN: [(&str, &str, &str); 9] = [
    ("TO", "DO", "unfinished work"),
    ("FIX", "ME", "unfinished work"),
    ("todo", "!(", "unfinished work"),
    ("unimplemented", "!(", "unfinished work"),
    ("#[ign", "ore", "a test that does not run"),
    ("/wo", "rk/", "a path of one workplace"),
    ("/ho", "me/", "a path of one workplace"),
    ("/ro", "ot/", "a path of one workplace"),
    ("../sha", "red", "a path outside the project"),
];

#[test]
fn every_source_file_opens_with_what_belongs_in_it() {
    // The front page of `domain` is a document, taken in by an attribute.
    let opens = |text: &str| text.starts_with("//! ") || text.starts_with("#![doc = include_str!(");
    let problems: Vec<String> = sources().into_iter().filter(|(_, text)| !opens(text)).map(|(path, _)| path).collect();
    none_of("files that don't open with `//! `", &problems);
}

#[test]
fn no_source_file_is_too_long_to_read() {
    let long = sources().into_iter().map(|(path, text)| (path, text.lines().count()));
    let long: Vec<String> =
        long.filter(|(_, lines)| *lines > LINES).map(|(path, lines)| format!("{path}: {lines} lines")).collect();
    none_of("files over 500 lines", &long);
}

#[test]
fn no_file_holds_unfinished_work_or_foreign_paths() {
    let mut problems = Vec::new();
    for (path, text) in texts() {
        for (number, line) in text.lines().enumerate() {
            let found = FORBIDDEN.iter().filter(|(head, tail, _)| line.contains(&format!("{head}{tail}")));
            problems.extend(found.map(|(head, tail, why)| format!("{path}:{}: {head}{tail}: {why}", number + 1)));
        }
    }
    none_of("what no file may hold", &problems);
}

#[test]
fn every_script_stops_at_the_first_failure() {
    let scripts: Vec<_> = texts().into_iter().filter(|(_, text)| text.starts_with("#!")).collect();
    assert!(scripts.len() >= 3, "the scripts were not found");
    // `#![` opens an attribute of Rust.
    let shell = scripts.into_iter().filter(|(_, text)| !text.starts_with("#!["));
    let careless = shell.filter(|(_, text)| !text.contains("\nset -euo pipefail\n"));
    none_of("scripts without `set -euo pipefail`", &careless.map(|(path, _)| path).collect::<Vec<_>>());
}
