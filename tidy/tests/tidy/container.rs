//! The image is built from what `.dockerignore` lets through: all that the manifest names.

use tidy::workspace::read;

#[test]
fn every_member_of_the_workspace_reaches_the_build_of_the_image() {
    let manifest = read("Cargo.toml");
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = [")).expect("the members");
    let allowed = read(".dockerignore");
    let folders = members.split('"').skip(1).step_by(2).map(|member| member.split('/').next().unwrap());
    let folders: Vec<&str> = folders.collect();
    assert!(folders.len() >= 3, "{folders:?}");
    for folder in folders {
        assert!(allowed.lines().any(|line| line == format!("!{folder}")), "{folder} is kept from the image");
    }
}
