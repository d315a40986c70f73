//! Documents hold together: links lead somewhere, pages are short, ADRs have one form.

use std::path::Path;
use tidy::workspace::{has_extension, none_of, read, root, texts};

/// Longest page in lines.
const PAGE_LINES: usize = 400;

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
fn no_page_is_too_long_to_read() {
    let pages = documents().into_iter().filter(|(path, _)| path.starts_with("docs/"));
    let long = pages.map(|(path, text)| (path, text.lines().count())).filter(|(_, lines)| *lines > PAGE_LINES);
    none_of("pages over 400 lines", &long.map(|(path, lines)| format!("{path}: {lines} lines")).collect::<Vec<_>>());
}

#[test]
fn every_adr_has_the_same_form() {
    let mut numbers = Vec::new();
    let mut problems = Vec::new();
    for (path, text) in documents().iter().filter(|(path, _)| path.starts_with("docs/adr/0")) {
        let name = Path::new(path).file_stem().unwrap().to_str().unwrap();
        let (number, _) = name.split_once('-').expect("NNNN-slug.md");
        let number: usize = number.parse().unwrap();
        numbers.push(number);
        let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        if headings != ["Status", "Context", "Decision", "Consequences"] || !text.starts_with(&format!("# {number} ")) {
            problems.push(format!("{path}: {headings:?}"));
        }
    }
    none_of("ADRs in another form", &problems);
    assert!(!numbers.is_empty());
    // Gaps are left by ADRs whose mechanism is gone.
    let given_twice: Vec<_> = numbers.windows(2).filter(|pair| pair[0] >= pair[1]).collect();
    assert!(given_twice.is_empty(), "each ADR has its own number: {given_twice:?}");
}

#[test]
fn every_message_is_documented_byte_for_byte() {
    let source = read("crates/http-actix/src/error.rs");
    let tables = ["fn status_and_message(", "fn refusal_status_and_message("].map(|name| {
        let table = source.split(name).nth(1).expect("a table of messages");
        table.split("\n    }\n\n").next().unwrap().split("\n}\n").next().unwrap()
    });
    let messages: Vec<&str> = tables.iter().flat_map(|table| table.split('"').skip(1).step_by(2)).collect();
    assert!(messages.len() >= 40, "the table was not read: {messages:?}");
    let document = read("docs/api-messages.md");
    let missing = messages.into_iter().filter(|message| !document.contains(&format!("| `{message}` |")));
    none_of("messages that docs/api-messages.md lacks", &missing.map(str::to_owned).collect::<Vec<_>>());
}
