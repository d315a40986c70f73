//! The commands of the README are those that `examples/tour.sh` and `scripts/test` run.

use std::os::unix::fs::PermissionsExt;
use tidy::workspace::{read, root, sources};

/// The commands of the `sh` blocks of a document, continued lines joined, blanks made one.
fn commands(document: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut inside = false;
    let mut open = String::new();
    for line in document.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
            continue;
        }
        let text = line.trim();
        if !inside || text.is_empty() || text.starts_with('#') {
            continue;
        }
        open.push_str(text.trim_end_matches('\\'));
        open.push(' ');
        if !text.ends_with('\\') {
            commands.push(open.split_whitespace().collect::<Vec<_>>().join(" "));
            open.clear();
        }
    }
    commands
}

/// A script in the form of [`commands`], one command a line.
fn lines_of(script: &str) -> Vec<String> {
    commands(&format!("```sh\n{script}\n```\n"))
}

#[test]
fn the_tour_of_the_readme_is_the_tour_that_is_tested() {
    let (_, tour) = read("README.md").split_once("## A tour").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let tour = tour.split("\n## ").next().unwrap().to_owned();
    let script = lines_of(&read("examples/tour.sh"));
    let shown = commands(&tour);
    assert!(shown.len() >= 15, "the tour was not read: {shown:?}");
    let mut place = 0;
    for command in shown {
        let found = script[place..].iter().position(|line| *line == command);
        place += 1 + found.unwrap_or_else(|| panic!("examples/tour.sh lacks, or has elsewhere: {command}"));
    }
}

#[test]
fn the_readme_starts_with_commands_that_work() {
    let readme = read("README.md");
    let commands = commands(readme.split("## A tour").next().unwrap());
    let expected = [
        "cargo run --release -- serve --fleet examples/fleet.json",
        "cargo run --release -- demo --serve",
        "scripts/test",
    ];
    assert_eq!(commands, expected);
    assert!(root().join("examples/fleet.json").exists());
    let manifest = read("crates/server/Cargo.toml");
    assert!(manifest.contains("default-run = \"platen\""), "`cargo run` must find the program");
    for script in ["scripts/test", "examples/tour.sh", ".ci/run"] {
        let mode = root().join(script).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{script} must be executable");
    }
}

#[test]
fn the_test_script_runs_the_tour_and_all_examples() {
    for run in [
        "examples/tour.sh",
        "scripts/clients \"$address$base_path\"",
        "scripts/openapi \"$address\"",
        "scripts/test-package \"$platen\"",
        "scripts/deploy \"$address\"",
    ] {
        assert!(read("scripts/test").contains(run), "{run}");
    }
    assert!(read(".ci/run").contains("scripts/test"));
    assert!(!sources().is_empty());
}
