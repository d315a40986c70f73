//! Compares Platen with the raw speed of the database, the disk, a web server and SHA-1.
//!
//! It starts what it needs on loopback and in a folder of its own, drives the program over HTTP,
//! and prints one table. `scripts/bench` builds and calls it; docs/performance.md explains the
//! rows. It knows the product by its interfaces only and depends on none of its crates.

#![expect(clippy::cast_precision_loss, reason = "counts and times of a measurement are far below 2^52")]

mod arguments;
mod cores;
mod http;
mod load;
mod nginx;
mod platen;
mod postgres;
mod process;
mod requests;
mod rows;
mod samples;
mod scenarios;
mod seaweed;
mod stage;
mod table;

use anyhow::{Result, bail};
use arguments::Arguments;
use clap::Parser;
use stage::{Stage, say};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // One thread: the cores belong to what is measured.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(measure(arguments))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

async fn measure(arguments: Arguments) -> Result<()> {
    if arguments.names {
        print(&rows::NAMES.join("\n"));
        return Ok(());
    }
    let stage = Stage::new(arguments)?;
    let mut terminate = signal(SignalKind::terminate())?;
    // What was started is ended when the stage goes, whichever comes first.
    let (rows, failures) = tokio::select! {
        measured = rows::all(&stage) => measured,
        _ = terminate.recv() => bail!("terminated"),
        _ = tokio::signal::ctrl_c() => bail!("interrupted"),
    };
    print(&table::render(&rows));
    if failures > 0 {
        bail!("{failures} rows could not be measured");
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn print(text: &str) {
    println!("{text}");
}
