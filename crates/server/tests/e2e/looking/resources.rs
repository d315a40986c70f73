//! `platen resources`

use super::{HOSTILE, SHOWN, is_order, lines};
use crate::support::Site;
use crate::support::content::sha1;
use serde_json::json;
use std::fs;
use std::process::Stdio;

const GUID: &str = "11111111-2222-4333-8444-555555555555";
const OTHER: &str = "11111111-2222-4333-8444-666666666666";

#[tokio::test]
async fn resources_are_listed_shown_and_saved_beside_the_server() {
    let site = Site::new();
    let server = site.serve().await;
    let content: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    server.client().upload(GUID, "../../Label", &content).await;
    server.client().upload(OTHER, HOSTILE, b"").await;

    let all = lines(&site, &["resources", "list", "--json"]);
    assert_eq!(all.len(), 2);
    let label = all.iter().find(|item| item["guid"] == GUID).unwrap();
    assert_eq!(
        (&label["type"], &label["domain"], &label["checksum"]),
        (&json!("Label"), &json!("Private"), &json!(sha1(&content)))
    );
    assert_eq!(lines(&site, &["resources", "list", "--json", "--type", "label,Template"]).len(), 2);
    assert!(lines(&site, &["resources", "list", "--json", "--type", "Template"]).is_empty());
    assert!(lines(&site, &["resources", "list", "--json", "--domain", "public"]).is_empty());
    let table = site.run("resources list").succeeded();
    assert!(table.contains(SHOWN) && table.contains(GUID) && !table.contains(is_order), "{table}");
    let shown = site.run(&format!("resources show {OTHER}")).succeeded();
    assert!(shown.contains(SHOWN) && !shown.contains(is_order), "{shown}");
    let json = &lines(&site, &["resources", "show", GUID, "--json"])[0];
    assert_eq!((&json["size"], &json["meta"]["Name"]), (&json!(content.len()), &json!("../../Label")));

    // By its name into the current folder, and nowhere else.
    assert_eq!(site.run(&format!("resources export {GUID}")).succeeded(), "./_.._.._Label\n");
    assert_eq!(fs::read(site.path("_.._.._Label")).unwrap(), content);
    assert!(site.run(&format!("resources export {GUID}")).failed(1).contains("--force overwrites it"));
    site.run(&format!("resources export {GUID} --force")).succeeded();
    assert_eq!(site.run(&format!("resources export {GUID} new/file")).succeeded(), "new/file\n");
    assert_eq!(fs::read(site.path("new/file")).unwrap(), content);
    let saved = site.run(&format!("resources export {OTHER} new")).succeeded();
    assert!(saved.starts_with("new/") && !saved.contains(is_order), "{saved}");
    assert_eq!(fs::read_dir(site.path("new")).unwrap().count(), 2);

    let whole = site.command().args(["resources", "export", GUID, "-"]).output().unwrap();
    assert!(whole.status.success() && whole.stderr.is_empty() && whole.stdout == content);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let cut = site.command().args(["resources", "export", GUID, "-"]).stdout(writer).stderr(Stdio::piped()).output();
    let cut = cut.unwrap();
    assert_eq!((cut.status.code(), cut.stderr.as_slice()), (Some(0), &[][..]), "{cut:?}");

    let unknown = "11111111-2222-4333-8444-777777777777";
    assert_eq!(
        site.run(&format!("resources export {unknown}")).failed(1),
        format!("error: there is no resource {unknown}")
    );
}

#[tokio::test]
async fn damaged_content_is_told_and_leaves_no_file() {
    let site = Site::new();
    let server = site.serve().await;
    server.client().upload(GUID, "Label", b"content").await;
    let [stored] = &crate::support::files_below(&site.contents("resources"))[..] else { panic!("one file") };
    fs::write(stored, "damaged").unwrap();
    let printed = site.run(&format!("resources export {GUID} here/file")).failed(1);
    assert!(printed.contains("cannot write here/file") && printed.contains("the content is damaged"), "{printed}");
    assert_eq!(fs::read_dir(site.path("here")).unwrap().count(), 0);
    fs::remove_file(stored).unwrap();
    let printed = site.run(&format!("resources export {GUID} here/file")).failed(1);
    assert!(printed.contains("is missing"), "{printed}");
}
