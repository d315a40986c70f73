//! Content without a record, and content that is lost: the sweeps and `blobs check`.

use crate::support::{Site, eventually, files_below};
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

const GUID: &str = "11111111-2222-3333-4444-555555555555";

#[tokio::test]
async fn replaced_and_deleted_content_is_swept_after_its_grace() {
    let site = Site::new();
    site.configure("blobs.discarded_grace = '1s'");
    let server = site.serve().await;
    let client = server.client();
    client.upload(GUID, "Label", b"first").await;
    client.upload(GUID, "Label", b"second").await;
    let blobs = || files_below(&site.contents("resources"));
    eventually("the replaced content is swept", async || blobs().len() == 1).await;
    assert_eq!(client.download(GUID).await, b"second");
    client.delete(&format!("/api/v2/resource/{GUID}")).await;
    eventually("the deleted content is swept", async || blobs().is_empty()).await;
}

#[tokio::test]
async fn replaced_content_stays_for_the_default_grace() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"first").await;
    server.client().upload(GUID, "Label", b"second").await;
    server.stop();
    // The first sweep comes with the start.
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"third").await;
    assert_eq!(files_below(&site.contents("resources")).len(), 3);
}

#[tokio::test]
async fn orphans_are_found_and_removed_only_when_they_are_old() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"content").await;
    server.stop();
    assert_eq!(site.run("blobs check").succeeded(), "checked 1, missing 0, damaged 0, orphans 0, removed 0\n");

    let kept = files_below(&site.contents("resources")).remove(0);
    let orphan = kept.parent().unwrap().parent().unwrap().join("ab/abcdef01-2345-4678-9abc-def012345678");
    fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    fs::write(&orphan, "orphan").unwrap();
    for line in ["blobs check", "blobs check --repair"] {
        let output = site.run(line).succeeded();
        assert!(
            output.starts_with("orphan resources/ab/abcdef01-2345-4678-9abc-def012345678 (6 bytes, of "),
            "{output}"
        );
        assert!(output.ends_with(", kept)\nchecked 1, missing 0, damaged 0, orphans 1, removed 0\n"), "{output}");
    }
    age(&orphan, Duration::from_hours(25));
    assert!(site.run("blobs check").succeeded().ends_with("orphans 1, removed 0\n"));
    assert!(site.run("blobs check --repair").succeeded().ends_with("orphans 1, removed 1\n"));
    let records = site.run("audit --what orphans.removed --json").succeeded();
    assert_eq!(records.lines().count(), 1, "decision P9: {records}");
    assert!(!orphan.exists() && kept.exists());
    assert_eq!(site.run("blobs check").succeeded(), "checked 1, missing 0, damaged 0, orphans 0, removed 0\n");
}

#[tokio::test]
async fn missing_and_damaged_content_ends_the_check_with_one() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"content").await;
    server.stop();
    let blob = files_below(&site.contents("resources")).remove(0);
    for (damage, finding) in [("tnetnoc", "damaged"), ("more content", "damaged"), ("", "missing")] {
        if damage.is_empty() {
            fs::remove_file(&blob).unwrap();
        } else {
            fs::write(&blob, damage).unwrap();
        }
        let ran = site.run("blobs check --repair");
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
        assert_eq!(ran.out.lines().count(), 2, "{ran:?}");
        assert!(ran.out.starts_with(&format!("{finding} resources/")), "{ran:?}");
        assert!(ran.out.contains(GUID) && ran.out.contains("Acme Print"), "{ran:?}");
    }
}

fn age(file: &Path, by: Duration) {
    #[expect(clippy::disallowed_methods, reason = "the age of a file counts from the real time")]
    let then = SystemTime::now() - by;
    File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
}
