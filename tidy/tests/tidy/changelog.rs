//! The version of the workspace is the newest one that CHANGELOG.md describes.

use tidy::workspace::read;

#[test]
fn the_changelog_describes_this_version() {
    let manifest = read("Cargo.toml");
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")).unwrap().trim_end_matches('"');
    let changelog = read("CHANGELOG.md");
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## ")).unwrap();
    assert!(newest.starts_with(version), "the newest entry of CHANGELOG.md is {newest:?}, the version is {version}");
}
