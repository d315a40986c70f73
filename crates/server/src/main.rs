//! `platen`: the program around the use cases. It reads the configuration, wires ports to adapters,
//! and runs one command.

mod background;
mod cli;
mod config;
mod fleet_json;
mod listen;
mod open_files;
mod panics;
mod refusals;
mod retention;
mod shutdown;
mod system;
mod telemetry;
mod tls;
mod wiring;

fn main() -> std::process::ExitCode {
    cli::run()
}
