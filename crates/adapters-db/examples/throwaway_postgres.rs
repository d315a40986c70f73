//! Runs a throwaway `PostgreSQL` cluster until it is ended, and prints its URL: for many test
//! processes that share it by `PLATEN_TEST_POSTGRES`.

#[path = "../tests/support/postgres.rs"]
mod postgres;

use std::io::{Write, stdout};
use std::thread::park;

fn main() -> std::io::Result<()> {
    let cluster = postgres::Cluster::start();
    writeln!(stdout(), "{}", cluster.maintenance_url())?;
    loop {
        park();
    }
}
