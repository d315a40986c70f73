//! Runs a throwaway SeaweedFS until it is ended, and prints its URL: for many test processes that
//! share it by `PLATEN_TEST_SEAWEEDFS`.

#[path = "../tests/support/seaweed.rs"]
mod seaweed;

use std::io::{Write, stdout};
use std::thread::park;

fn main() -> std::io::Result<()> {
    let server = seaweed::Seaweed::start();
    writeln!(stdout(), "{}", server.endpoint())?;
    loop {
        park();
    }
}
