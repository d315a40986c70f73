//! Every decision is explained in docs/api-rules.md and cited by a test.

use std::collections::BTreeSet;
use tidy::workspace::{none_of, read, sources};

/// The letters of the decisions and how many each has.
const DECISIONS: [(char, u8); 7] = [('R', 14), ('A', 9), ('O', 3), ('T', 20), ('L', 9), ('C', 7), ('D', 6)];

fn all() -> Vec<String> {
    DECISIONS.iter().flat_map(|(letter, last)| (1..=*last).map(move |number| format!("{letter}{number}"))).collect()
}

#[test]
fn every_decision_is_explained() {
    let document = read("docs/api-rules.md");
    let explained = |decision: &str| document.lines().any(|line| line.starts_with(&format!("- **{decision}** ")));
    let missing: Vec<String> = all().into_iter().filter(|decision| !explained(decision)).collect();
    none_of("decisions that docs/api-rules.md doesn't explain", &missing);
}

#[test]
fn every_decision_is_cited_by_a_test() {
    let mut cited = BTreeSet::new();
    for (path, text) in sources() {
        tests_of(&path, &text).lines().for_each(|line| cite(line, &mut cited));
    }
    let missing: Vec<String> = all().into_iter().filter(|decision| !cited.contains(decision)).collect();
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
    let last = DECISIONS.iter().find(|(known, _)| *known == letter)?.1;
    let digits = &word[1..];
    let number: u8 = digits.parse().ok()?;
    (!digits.starts_with('0') && (1..=last).contains(&number)).then_some((letter, number))
}
