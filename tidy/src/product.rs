//! The product among the sources: `crates/*/src` without tests, contract suites and test support.

use crate::workspace::sources;
use std::collections::BTreeMap;

/// Path segments of files that are for tests only.
const FOR_TESTS: [&str; 6] = ["tests", "tests.rs", "contract", "contract.rs", "testing", "testing.rs"];

/// A source file of the product, without its test modules.
pub struct ProductFile {
    /// The path from the root of the workspace.
    pub path: String,
    /// The crate's folder under `crates`.
    pub crate_name: String,
    /// The modules from the crate's root, such as `["resource", "model"]`; empty for `lib.rs` and `main.rs`.
    pub module: Vec<String>,
    /// The text without test modules.
    pub text: String,
}

impl ProductFile {
    pub fn lines(&self) -> usize {
        self.text.lines().count()
    }
}

/// All product files in the order of their paths.
pub fn product_files() -> Vec<ProductFile> {
    let sources = sources();
    let for_tests: Vec<String> = sources.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    let is_test = |path: &str| {
        path.split('/').any(|segment| FOR_TESTS.contains(&segment))
            || for_tests.iter().any(|module| path == format!("{module}.rs") || path.starts_with(&format!("{module}/")))
    };
    let file = |(path, text): (String, String)| {
        let (crate_name, inside) = path.strip_prefix("crates/")?.split_once("/src/")?;
        let module = modules(inside);
        let product = ProductFile { crate_name: crate_name.to_owned(), module, text: without_tests(&text), path };
        (!is_test(&product.path)).then_some(product)
    };
    sources.into_iter().filter_map(file).collect()
}

/// The product lines of each crate, in the order of the names.
pub fn lines_by_crate() -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for file in product_files() {
        *lines.entry(file.crate_name.clone()).or_default() += file.lines();
    }
    lines
}

/// The module of a file: `resource/model.rs` is `["resource", "model"]`.
fn modules(inside: &str) -> Vec<String> {
    let mut modules: Vec<String> = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if modules.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
        modules.pop();
    }
    modules
}

/// The paths, without `.rs`, of the modules that a file declares under `#[cfg(test)]`.
fn test_modules(path: &str, text: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    let is_root = ["lib.rs", "main.rs", "mod.rs"].contains(&name);
    let folder = if is_root { folder.to_owned() } else { path.trim_end_matches(".rs").to_owned() };
    let declarations = text.split("#[cfg(test)]\n").skip(1).filter_map(|rest| {
        let line = rest.lines().find(|line| !line.trim_start().starts_with("#["))?;
        line.split_once("mod ")?.1.strip_suffix(';').map(|name| format!("{folder}/{name}"))
    });
    declarations.collect()
}

/// A text without the modules that stand in it under `#[cfg(test)]`.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let opens = lines.peek().is_some_and(|next| next.contains("mod ") && next.ends_with('{'));
        if line.trim() == "#[cfg(test)]" && opens {
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            lines.find(|inside| *inside == end);
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_module_is_left_out_and_what_follows_it_is_kept() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        assert_eq!(without_tests(text), "fn a() {}\n\nfn c() {}\n");
    }

    #[test]
    fn a_file_that_is_a_module_for_tests_is_found() {
        assert_eq!(test_modules("crates/a/src/lib.rs", "#[cfg(test)]\nmod sample;\nmod b;\n"), ["crates/a/src/sample"]);
        assert_eq!(test_modules("crates/a/src/b.rs", "#[cfg(test)]\npub(crate) mod c;\n"), ["crates/a/src/b/c"]);
    }

    #[test]
    fn every_crate_has_product_lines() {
        let lines = lines_by_crate();
        assert!(lines.len() >= 6 && lines.values().all(|count| *count > 50), "{lines:?}");
    }
}
