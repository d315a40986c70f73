//! The code of docs/testing.md is that of the compiled examples.

use tidy::workspace::{none_of, read, sources};

/// The lines of a text without blanks around them and without empty ones, each with a line break.
fn lines(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.push("");
    lines.join("\n")
}

#[test]
fn the_code_of_the_page_about_testing_is_compiled() {
    let is_example = |path: &str| path.starts_with("crates/") && path.contains("/examples/");
    let examples: Vec<String> =
        sources().iter().filter(|(path, _)| is_example(path)).map(|(_, text)| lines(text)).collect();
    let page = read("docs/testing.md");
    let blocks: Vec<&str> = page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 3, "the page was not read");
    let missing = blocks.into_iter().filter(|block| !examples.iter().any(|example| example.contains(&lines(block))));
    none_of("code that no example holds", &missing.map(str::to_owned).collect::<Vec<_>>());
}
