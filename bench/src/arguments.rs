//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// Compares the program with the raw speed of database, disk, web server and SHA-1.
#[derive(Debug, Parser)]
#[command(name = "bench")]
pub(crate) struct Arguments {
    /// Rows to measure, or beginnings of their names [default: all]
    #[arg(value_name = "ROW")]
    pub(crate) rows: Vec<String>,

    /// One short run of each row, and a tenth of the resources
    #[arg(long)]
    pub(crate) quick: bool,

    /// Runs of each row [default: 3]
    #[arg(long)]
    runs: Option<usize>,

    /// Measured seconds of each run [default: 5]
    #[arg(long)]
    seconds: Option<u64>,

    /// The program to measure
    #[arg(long, value_name = "FILE", default_value = "target/dist/platen")]
    pub(crate) platen: PathBuf,

    /// The program `weed` of SeaweedFS
    #[arg(long, value_name = "FILE")]
    pub(crate) weed: Option<PathBuf>,

    /// Folder on the disk to measure [default: the system's folder for temporary files]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: Option<PathBuf>,

    /// Leave the folder with logs, databases and callgrind's counts, and tell where it is
    #[arg(long)]
    pub(crate) keep: bool,

    /// `log.level` of the server
    #[arg(long, default_value = "info")]
    pub(crate) log_level: String,

    /// Print the names of the rows and end
    #[arg(long)]
    pub(crate) names: bool,
}

impl Arguments {
    pub(crate) fn runs(&self) -> usize {
        self.runs.unwrap_or(if self.quick { 1 } else { 3 }).max(1)
    }

    pub(crate) fn seconds(&self) -> u64 {
        self.seconds.unwrap_or(if self.quick { 1 } else { 5 }).max(1)
    }

    /// Resources of the large store.
    pub(crate) fn many(&self) -> u64 {
        if self.quick { 100_000 } else { 1_000_000 }
    }

    /// Whether the row is to be measured.
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|wanted| row.starts_with(wanted.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_chosen_by_the_beginning_of_their_names() {
        let arguments = Arguments::parse_from(["bench", "--platen", "x", "log-pg", "download-1m"]);
        assert!(arguments.wants("log-pg-64") && arguments.wants("download-1m"));
        assert!(!arguments.wants("log-sqlite-64") && !arguments.wants("download-64m"));
        assert!(Arguments::parse_from(["bench", "--platen", "x"]).wants("memory"));
    }

    #[test]
    fn a_quick_run_is_one_of_a_second() {
        let arguments = Arguments::parse_from(["bench", "--platen", "x", "--quick"]);
        assert_eq!((arguments.runs(), arguments.seconds()), (1, 1));
        let arguments = Arguments::parse_from(["bench", "--platen", "x", "--seconds", "9"]);
        assert_eq!((arguments.runs(), arguments.seconds()), (3, 9));
    }
}
