//! Documents hold together: links lead somewhere, choices are recorded in one form.

use std::path::Path;
use tidy::workspace::{has_extension, none_of, read, root, texts};

fn documents() -> Vec<(String, String)> {
    texts().into_iter().filter(|(path, _)| has_extension(path, "md")).collect()
}

#[test]
fn every_link_to_a_file_leads_to_one() {
    let mut problems = Vec::new();
    for (path, text) in documents() {
        let folder = root().join(&path).parent().unwrap().to_owned();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            let elsewhere = file.is_empty() || file.contains("://");
            if !elsewhere && !folder.join(file).exists() {
                problems.push(format!("{path}: {target}"));
            }
        }
    }
    none_of("links that lead nowhere", &problems);
}

#[test]
fn every_choice_is_recorded_in_the_same_form() {
    let mut numbers = Vec::new();
    let mut problems = Vec::new();
    for (path, text) in documents().iter().filter(|(path, _)| path.starts_with("docs/adr/")) {
        let name = Path::new(path).file_stem().unwrap().to_str().unwrap();
        let (number, _) = name.split_once('-').expect("NNNN-slug.md");
        let number: usize = number.parse().unwrap();
        numbers.push(number);
        let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        if headings != ["Status", "Context", "Decision", "Consequences"] || !text.starts_with(&format!("# {number} ")) {
            problems.push(format!("{path}: {headings:?}"));
        }
    }
    none_of("choices in another form", &problems);
    assert!(!numbers.is_empty());
    // Gaps are left by choices that are made at the same time.
    let given_twice: Vec<_> = numbers.windows(2).filter(|pair| pair[0] >= pair[1]).collect();
    assert!(given_twice.is_empty(), "each choice has a number of its own: {given_twice:?}");
}

#[test]
fn every_message_is_documented_byte_for_byte() {
    let source = read("crates/http-actix/src/error.rs");
    let table = source.split("fn wording(").nth(1).expect("the table of messages").split("\n}\n").next().unwrap();
    let messages: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
    assert!(messages.len() >= 40, "the table was not read: {messages:?}");
    let document = read("docs/api.md");
    let missing = messages.into_iter().filter(|message| !document.contains(&format!("| `{message}` |")));
    none_of("messages that docs/api.md lacks", &missing.map(str::to_owned).collect::<Vec<_>>());
}
