//! Every key of the configuration is described in docs/configuration.md, with its default.

use tidy::workspace::{none_of, read};

/// The keys that the server knows: name, and default where there is one.
fn keys() -> Vec<(String, Option<String>)> {
    let source = read("crates/server/src/config/keys.rs");
    let table = source.split("KEYS: &[Key] = &[").nth(1).expect("the table KEYS");
    let table = table.split("\n];").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let table = table.replace("( \"", "(\"");
    let mut keys = Vec::new();
    for entry in table.split("key(\"").flat_map(|piece| piece.split("secret(\"")).skip(1) {
        let (name, rest) = entry.split_once('"').unwrap();
        let default = rest.trim_start_matches([',', ' ', '\n']).strip_prefix("Some(\"");
        keys.push((name.to_owned(), default.map(|text| text.split('"').next().unwrap().to_owned())));
    }
    keys
}

#[test]
fn every_key_and_its_default_is_documented() {
    let keys = keys();
    assert!(keys.len() >= 24 && keys.iter().all(|(name, _)| name.contains('.')), "the table was not read: {keys:?}");
    let document = read("docs/configuration.md");
    let mut problems = Vec::new();
    for (name, default) in keys {
        let Some(row) = document.lines().find(|line| line.starts_with(&format!("| `{name}` |"))) else {
            problems.push(format!("{name} has no row"));
            continue;
        };
        let shown = match default.as_deref() {
            Some("") => "empty".to_owned(),
            Some(default) => format!("`{default}`"),
            None => continue,
        };
        if row.split('|').nth(2).map(str::trim) != Some(shown.as_str()) {
            problems.push(format!("{name}: the row does not give the default {shown}: {row}"));
        }
    }
    none_of("keys of the configuration in docs/configuration.md", &problems);
}

#[test]
fn the_document_names_no_key_that_does_not_exist() {
    let keys: Vec<String> = keys().into_iter().map(|(name, _)| name).collect();
    let document = read("docs/configuration.md");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let sections = [
        "http.",
        "ops.",
        "database.",
        "blobs.",
        "limits.",
        "abuse.",
        "console.",
        "retention.",
        "insight.",
        "log.",
        "telemetry.",
    ];
    let named = rows.filter(|name| sections.iter().any(|section| name.starts_with(section)));
    let unknown: Vec<String> = named.filter(|name| !keys.iter().any(|key| key == name)).map(str::to_owned).collect();
    none_of("keys that only the document knows", &unknown);
}
