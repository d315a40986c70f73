//! `platen config`

use super::failure::Failure;
use super::output;
use crate::config::Effective;
use serde_json::json;
use std::process::ExitCode;

/// Prints a line a key: TOML with the origins as comments, or JSON.
pub(super) fn run(keys: &[Effective], as_json: bool) -> Result<ExitCode, Failure> {
    for key in keys {
        output::line(&if as_json { json_line(key) } else { toml_line(key) })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn json_line(key: &Effective) -> String {
    // What stands without quotes in TOML, a number or true or false, is the same in JSON.
    let bare = |value: &String| serde_json::from_str(value).ok().filter(|_| key.bare);
    let value = key.value.as_ref().map(|value| bare(value).unwrap_or_else(|| json!(value)));
    json!({ "key": key.name, "value": value, "origin": key.origin }).to_string()
}

fn toml_line(key: &Effective) -> String {
    let Effective { name, value, bare, origin } = key;
    match value {
        None => format!("# {name}: {origin}"),
        Some(value) if *bare => format!("{name} = {value} # {origin}"),
        // A text of JSON is one of TOML too.
        Some(value) => format!("{name} = {} # {origin}", json!(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: Option<&str>, bare: bool) -> Effective {
        Effective { name: "http.workers", value: value.map(str::to_owned), bare, origin: "a file".to_owned() }
    }

    #[test]
    fn a_line_is_toml_or_json() {
        assert_eq!(toml_line(&key(Some("3"), true)), "http.workers = 3 # a file");
        assert_eq!(toml_line(&key(Some("a\"b"), false)), r#"http.workers = "a\"b" # a file"#);
        assert_eq!(toml_line(&key(None, false)), "# http.workers: a file");
        for (bare, value) in [(true, "3"), (false, r#""3""#)] {
            let json = format!(r#"{{"key":"http.workers","value":{value},"origin":"a file"}}"#);
            assert_eq!(json_line(&key(Some("3"), bare)), json);
        }
    }
}
