//! The in-memory implementations keep the contract of the ports, so that tests may trust them.

use domain::contract::Stores;
use domain::testing::{InMemoryBlobs, InMemoryStore};
use std::sync::Arc;

domain::store_contract!(in_memory, async { (Stores::in_memory(&InMemoryStore::new()), ()) });

domain::blob_store_contract!(in_memory_blobs, async { (Arc::new(InMemoryBlobs::default()), ()) });

/// A clause that is written but not listed would never run.
#[test]
fn every_clause_is_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/contract");
    let listed = std::fs::read_to_string(folder.join("clauses.rs")).unwrap();
    let mut clauses = 0;
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        let port = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if matches!(port.as_str(), "clauses" | "scene" | "operator_scene" | "blob_store") {
            continue;
        }
        let section = listed.split_once(&format!("                {port} {{\n")).expect("a section for each file").1;
        let section = section.split_once('}').unwrap().0;
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let Some(name) = line.strip_prefix("pub async fn ") else { continue };
            let name = name.split_once('(').unwrap().0;
            assert!(section.contains(&format!(" {name},\n")), "{port}::{name} is not listed");
            clauses += 1;
        }
    }
    assert!(clauses > 100, "{clauses}");
}
