//! What is particular to `SQLite` and a local folder.

use crate::support::halting::Upload;
use crate::support::{Site, eventually, files_below};

const GUID: &str = "11111111-2222-3333-4444-555555555555";

#[tokio::test]
async fn a_start_makes_missing_folders() {
    let site = Site::new();
    site.configure("database.url = 'sqlite://a/b/platen.db'\nblobs.path = 'c/d'");
    let _server = site.serve_with(&[]).await;
    assert!(site.path("a/b/platen.db").exists() && site.path("c/d").exists());
}

#[tokio::test]
async fn a_second_server_over_one_database_is_warned_of() {
    let site = Site::new();
    let _first = site.serve().await;
    let _second = site.serve_second("second.").await;
    let warning = "another server runs over this SQLite database";
    assert!(!site.read("server.err").contains(warning));
    assert!(site.read("second.server.err").contains(warning));
}

/// A command that is run in the wrong folder says so, rather than work on an empty database.
#[test]
fn commands_that_need_a_database_make_none() {
    let site = Site::new();
    let holder = ["--organization", "Acme Print", "--user", "Ann"];
    for line in
        [&["fleet", "export"][..], &["blobs", "check"], &["refusals"], &[&["key", "issue"][..], &holder].concat()]
    {
        let output = site.run_with(line.iter().copied(), &[]).failed(1);
        assert!(output.starts_with("error: there is no database ") && output.contains("data/platen.db; "), "{output}");
        assert!(!site.path("data").exists(), "{line:?}");
    }
    site.run("fleet apply fleet.json").succeeded();
    site.run("fleet export").succeeded();
}

#[tokio::test]
async fn half_written_content_of_a_killed_server_is_swept_at_the_next_start() {
    let site = Site::new();
    let server = site.serve().await;
    let mut upload = Upload::begin(&server, GUID, vec![7; 15_000_000]);
    let unfinished = || files_below(&site.contents("resources"));
    eventually("the upload has begun to be written", async || !unfinished().is_empty()).await;
    server.kill();
    assert_eq!(upload.finish(), "", "nobody answers");
    assert_eq!(unfinished().len(), 1);

    let _server = site.serve().await;
    eventually("it is swept", async || unfinished().is_empty()).await;
}

#[test]
fn the_configuration_of_the_current_folder_is_read_unless_one_is_named() {
    let site = Site::new();
    site.configure("database.url = 'sqlite://here/platen.db'");
    site.run("migrate").succeeded();
    assert!(site.path("here/platen.db").exists());
    site.write("other.toml", "database.url = 'sqlite://there/platen.db'");
    site.run("--config other.toml migrate").succeeded();
    assert!(site.path("there/platen.db").exists());
    site.run_with(["migrate"], &[("PLATEN_DATABASE__URL", "sqlite://elsewhere/platen.db")]).succeeded();
    assert!(site.path("elsewhere/platen.db").exists());
}

#[test]
fn a_start_over_a_folder_that_cannot_hold_content_fails_and_names_key_folder_and_cause() {
    let site = Site::new();
    site.write("file", "");
    for path in ["file", "file/blobs"] {
        site.configure(&format!("blobs.path = '{path}'"));
        let output = site.run("serve").err;
        let output = output.lines().last().unwrap();
        assert!(
            output.starts_with("error: the blob store (blobs.path) can't be used: cannot keep blobs in "),
            "{output}"
        );
        assert!(output.contains(&format!("folder {path}: ")) && !output.contains("data/"), "{output}");
    }
}

#[test]
fn a_variable_that_is_ignored_and_resembles_a_key_is_told_of() {
    let site = Site::new();
    let output = "PLATEN_DATABASE_URL in the environment is ignored; was PLATEN_DATABASE__URL meant?";
    let variables = [("PLATEN_DATABASE_URL", "sqlite://elsewhere/platen.db"), ("PLATEN_SERVICE_HOST", "10.0.0.1")];
    let ran = site.run_with(["migrate"], &variables);
    let made = site.path("data/platen.db");
    let note = format!("note: made the database {}, which was not there", made.display());
    assert_eq!((ran.code, ran.err), (Some(0), format!("warning: {output}\n{note}\n")));
    assert!(site.path("data/platen.db").exists() && !site.path("elsewhere").exists());
    // The server says it in its log.
    site.write("file", "");
    site.configure("blobs.path = 'file'");
    let ran = site.run_with(["serve"], &variables);
    let warnings: Vec<_> = ran.err.lines().filter(|line| line.contains(r#""level":"WARN""#)).collect();
    assert!(warnings.len() == 1 && warnings[0].contains(output), "{warnings:?}");
}

#[test]
fn a_database_that_cannot_be_opened_is_told_in_one_line() {
    let site = Site::new();
    site.write("file", "");
    site.configure("database.url = 'sqlite://file/platen.db'");
    for line in ["migrate", "fleet export", "blobs check"] {
        let output = site.run(line).failed(1);
        assert!(output.contains("database"), "{output}");
    }
}
