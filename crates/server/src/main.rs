//! `platen`: the program around the use cases. It reads the configuration, wires ports to adapters,
//! and runs one command.

mod activity;
mod background;
mod cli;
mod config;
mod demo;
mod fleet_json;
mod fleet_metrics;
mod forecasts;
mod host_metrics;
mod insight;
mod listen;
mod open_files;
mod panics;
mod passwords;
mod refusals;
mod retention;
mod shutdown;
mod system;
mod telemetry;
mod tls;
mod wiring;

/// glibc's threads contend where one frees what another allocated (ADR 57).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
