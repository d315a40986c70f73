//! The tests of every message of the interface, over stores in memory.

mod messages;

use domain::blob::BlobStore;
use domain::contract::Stores;
use domain::testing::{InMemoryBlobs, InMemoryStore};
use std::sync::Arc;
use tokio::runtime::Runtime;

fn open(_: &Runtime) -> (Stores, Arc<dyn BlobStore>, ()) {
    (Stores::in_memory(&InMemoryStore::new()), Arc::new(InMemoryBlobs::default()), ())
}

/// A file that is written but not listed would never run.
#[test]
fn every_file_of_tests_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messages");
    let list = std::fs::read_to_string(format!("{folder}/mod.rs")).unwrap();
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let unlisted: Vec<_> = names
        .filter(|name| name != "mod.rs" && !list.contains(&format!("\nmod {};\n", name.trim_end_matches(".rs"))))
        .collect();
    assert_eq!(unlisted, [""; 0]);
}
