//! The workspace as files: its folder, its text files and their contents.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of build products and of data. (In a further work tree `.git` is a file.)
const MADE: [&str; 4] = ["target", "data", ".git", ".venv"];

/// The folder of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The contents of a file of the workspace.
pub fn read(path: &str) -> String {
    let full = root().join(path);
    fs::read_to_string(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()))
}

/// Every text file of the workspace with its path from the root, in order.
pub fn texts() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    collect(root(), &mut paths);
    paths.sort();
    let relative = |path: &Path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    let text = |path: PathBuf| Some((relative(&path), String::from_utf8(fs::read(&path).ok()?).ok()?));
    paths.into_iter().filter_map(text).collect()
}

/// The Rust sources among [`texts`].
pub fn sources() -> Vec<(String, String)> {
    texts().into_iter().filter(|(path, _)| has_extension(path, "rs")).collect()
}

pub fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    // Build tools mark their folders with this file.
    if folder.join("CACHEDIR.TAG").exists() {
        return;
    }
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if MADE.iter().any(|made| entry.file_name() == *made) {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), paths);
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
}

/// Fails with all of `problems`, one a line.
#[track_caller]
pub fn none_of(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{what}:\n  {}\n", problems.join("\n  "));
}
