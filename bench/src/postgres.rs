//! A throwaway PostgreSQL cluster on loopback, `psql` and `pgbench` against it.

use crate::process::{Ending, Program, free_addresses, is_root, run};
use anyhow::{Context, Result};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Durable as by default. A large WAL keeps checkpoints out of the measured seconds, of the product
/// and of the reference alike.
const SETTINGS: &str = "listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
max_wal_size = '8GB'
checkpoint_timeout = '30min'
";

const DATABASE: &str = "postgres";
const USER: &str = "bench";

pub(crate) struct Postgres {
    programs: PathBuf,
    address: SocketAddr,
    scripts: PathBuf,
    program: Program,
}

impl Postgres {
    /// Makes and starts a cluster in `folder`.
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let programs = installed()?;
        let data = folder.join("data");
        fs::create_dir_all(&data)?;
        // PostgreSQL refuses to run as root.
        let account = if is_root()? { Some(account("postgres")?) } else { None };
        if let Some((user, group)) = account {
            std::os::unix::fs::chown(&data, Some(user), Some(group))?;
        }
        let command = |name: &str| {
            let mut command = Command::new(programs.join(name));
            command.current_dir(&data);
            if let Some((user, group)) = account {
                command.uid(user).gid(group);
            }
            command
        };
        run(command("initdb")
            .args(["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "-U", USER, "-D"])
            .arg(&data))?;
        let mut settings = fs::read_to_string(data.join("postgresql.conf"))?;
        settings.push_str(SETTINGS);
        fs::write(data.join("postgresql.conf"), settings)?;
        let address = free_addresses(1)?[0];
        let mut server = command("postgres");
        server.args(["-p", &address.port().to_string(), "-D"]).arg(&data);
        let program = Program::start("PostgreSQL", &mut server, &folder.join("log"), Ending::Interrupt)?;
        let mut postgres = Self { programs, address, scripts: folder.to_owned(), program };
        let probe = postgres.command("pg_isready");
        let (path, address) = (probe, postgres.address);
        postgres.program.wait_until(async || run(&mut connected(Command::new(&path), address)).is_ok()).await?;
        Ok(postgres)
    }

    pub(crate) fn id(&self) -> u32 {
        self.program.id()
    }

    /// The address as the product's configuration takes it.
    pub(crate) fn url(&self) -> String {
        self.url_of(DATABASE)
    }

    pub(crate) fn url_of(&self, database: &str) -> String {
        format!("postgres://{USER}@{}/{database}", self.address)
    }

    /// Runs SQL and gives the rows, columns separated by tabs.
    pub(crate) fn sql(&self, sql: &str) -> Result<String> {
        let mut psql = connected(Command::new(self.command("psql")), self.address);
        run(psql.args(["-d", DATABASE, "-v", "ON_ERROR_STOP=1", "-qAtX", "-F", "\t", "-c", sql]))
            .map(|output| output.trim_end_matches('\n').to_owned())
    }

    /// Transactions a second of a script with so many clients, its statements prepared.
    pub(crate) fn pgbench(&self, script: &str, clients: usize, seconds: u64) -> Result<f64> {
        let file = self.scripts.join("pgbench.sql");
        fs::write(&file, script)?;
        let mut pgbench = connected(Command::new(self.command("pgbench")), self.address);
        pgbench.args(["-n", "-M", "prepared", "-c", &clients.to_string(), "-j", &clients.min(2).to_string()]);
        pgbench.args(["-T", &seconds.to_string(), "-f"]).arg(&file).arg(DATABASE);
        rate(&run(&mut pgbench)?).context("pgbench printed no rate")
    }

    fn command(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }
}

fn connected(mut command: Command, address: SocketAddr) -> Command {
    command.args(["-h", &address.ip().to_string(), "-p", &address.port().to_string(), "-U", USER]);
    command
}

/// The programs of the newest version installed as Debian lays it.
fn installed() -> Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").context("PostgreSQL is not installed")?;
    let newest = versions
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .max()
        .context("PostgreSQL is not installed")?;
    Ok(Path::new("/usr/lib/postgresql").join(newest.to_string()).join("bin"))
}

fn account(name: &str) -> Result<(u32, u32)> {
    let number = |flag: &str| -> Result<u32> { Ok(run(Command::new("id").args([flag, name]))?.trim().parse()?) };
    Ok((number("-u")?, number("-g")?))
}

/// Reads `tps = 1234.5 (without initial connection time)`.
fn rate(report: &str) -> Option<f64> {
    report.lines().find_map(|line| line.strip_prefix("tps = "))?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_the_report() {
        let report =
            "number of clients: 64\nlatency average = 6.1 ms\ntps = 10442.812 (without initial connection time)\n";
        assert!((rate(report).unwrap() - 10442.812).abs() < 1e-9);
        assert!(rate("pgbench: error").is_none());
    }
}
