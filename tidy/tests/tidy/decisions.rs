//! Every decision is explained in the documents and cited by a test.

use std::collections::BTreeSet;
use tidy::workspace::{none_of, read, sources};

/// The letters of the decisions, how many each has, and the document that explains them.
const DECISIONS: [(char, u8, &str); 9] = [
    ('R', 14, "docs/api-rules.md"),
    ('A', 9, "docs/api-rules.md"),
    ('O', 3, "docs/api-rules.md"),
    ('T', 20, "docs/api-rules.md"),
    ('L', 9, "docs/api-rules.md"),
    ('C', 7, "docs/api-rules.md"),
    ('D', 6, "docs/api-rules.md"),
    ('P', 10, "docs/operator-rules.md"),
    ('I', 12, "docs/operator-rules.md"),
];

/// Versions of resources, which this version doesn't keep.
const ABSENT: &str = "I10";

/// Every decision with its document.
fn all() -> Vec<(String, &'static str)> {
    let numbered = DECISIONS
        .iter()
        .flat_map(|(letter, last, document)| (1..=*last).map(move |number| (format!("{letter}{number}"), *document)));
    numbered.filter(|(decision, _)| decision != ABSENT).collect()
}

#[test]
fn every_decision_is_explained() {
    let is_explained = |(decision, document): &(String, &str)| {
        read(document).lines().any(|line| line.starts_with(&format!("- **{decision}** ")))
    };
    let missing: Vec<String> = all()
        .into_iter()
        .filter(|it| !is_explained(it))
        .map(|(decision, document)| format!("{decision}: {document}"))
        .collect();
    none_of("decisions that no document explains", &missing);
}

#[test]
fn every_decision_is_cited_by_a_test() {
    let mut cited = BTreeSet::new();
    for (path, text) in sources() {
        tests_of(&path, &text).lines().for_each(|line| cite(line, &mut cited));
    }
    let all = all().into_iter().map(|(decision, _)| decision);
    let missing: Vec<String> = all.filter(|decision| !cited.contains(decision)).collect();
    none_of("decisions that no test cites", &missing);
}

/// The part of a file that is tests: all of it under `tests` or `contract`, else its test module.
fn tests_of<'a>(path: &str, text: &'a str) -> &'a str {
    let whole = path.split('/').any(|segment| ["tests", "tests.rs", "contract", "contract.rs"].contains(&segment));
    if path.starts_with("tidy/") {
        return "";
    }
    if whole {
        return text;
    }
    text.split_once("#[cfg(test)]\nmod tests {").map_or("", |(_, tests)| tests)
}

/// Takes up the decisions that a line names: in a comment or a text, single ones and ranges (`T2–T4`).
fn cite(line: &str, cited: &mut BTreeSet<String>) {
    let Some(start) = line.find("//").into_iter().chain(line.find('"')).min() else {
        return;
    };
    let words = line[start..].split(|character: char| !character.is_ascii_alphanumeric() && !"–-".contains(character));
    for word in words {
        let ends: Option<Vec<(char, u8)>> = word.split(['–', '-']).map(decision).collect();
        match ends.as_deref() {
            Some([(letter, number)]) => {
                cited.insert(format!("{letter}{number}"));
            }
            Some([(letter, first), (other, last)]) if letter == other => {
                cited.extend((*first..=*last).map(|number| format!("{letter}{number}")));
            }
            _ => {}
        }
    }
}

fn decision(word: &str) -> Option<(char, u8)> {
    let letter = word.chars().next()?;
    let last = DECISIONS.iter().find(|(known, ..)| *known == letter)?.1;
    let digits = &word[1..];
    let number: u8 = digits.parse().ok()?;
    (!digits.starts_with('0') && (1..=last).contains(&number)).then_some((letter, number))
}
