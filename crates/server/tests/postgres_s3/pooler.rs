//! PgBouncer between Platen and PostgreSQL.

use crate::support::setup::Setup;
use crate::support::{Site, eventually};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tokio::net::TcpStream;

/// A PgBouncer in front of the database of a site, which ends with this value.
struct PgBouncer {
    process: Child,
    /// The URL of the database through it.
    url: String,
}

impl PgBouncer {
    async fn start(site: &Site, pool_mode: &str) -> Self {
        let (host, port) =
            site.stores().address().rsplit_once(':').map(|(host, port)| (host.to_owned(), port.to_owned())).unwrap();
        let (database, _) = site.stores().adapters(&site.path(""));
        let (_, name) = database.rsplit_once('/').unwrap();
        let (user, password) = database.split_once("//").unwrap().1.split_once('@').unwrap().0.split_once(':').unwrap();
        let own_port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "[databases]\n{name} = host={host} port={port} user={user} password={password}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {own_port}\nunix_socket_dir =\nauth_type = any\n\
             ignore_startup_parameters = extra_float_digits\npool_mode = {pool_mode}\ndefault_pool_size = 30\n"
        );
        let file = format!("pgbouncer-{pool_mode}.ini");
        site.write(&file, &config);
        let mut command = Command::new(program());
        if rustix::process::getuid().is_root() {
            // It refuses to run as root.
            command.args(["-u", "nobody"]);
        }
        let process = command.arg(site.path(&file)).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("PgBouncer listens", async || TcpStream::connect(("127.0.0.1", own_port)).await.is_ok()).await;
        Self { process, url: format!("postgres://{user}:{password}@127.0.0.1:{own_port}/{name}") }
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Debian installs it where the path of users doesn't lead.
fn program() -> PathBuf {
    let system = PathBuf::from("/usr/sbin/pgbouncer");
    if system.exists() { system } else { PathBuf::from("pgbouncer") }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_over_pgbouncer_in_transaction_mode_says_why_not_and_session_mode_works() {
    let site = Site::on(Setup::PostgresAndS3);
    let transactions = PgBouncer::start(&site, "transaction").await;
    let url = [("PLATEN_DATABASE__URL", transactions.url.as_str())];
    for command in ["serve", "migrate"] {
        let output = site.run_with([command], &url).failed(1);
        assert!(output.contains("a connection pooler shares its sessions between clients"), "{output}");
        assert!(output.contains("pool_mode = session"), "{output}");
    }

    let sessions = PgBouncer::start(&site, "session").await;
    let url = [("PLATEN_DATABASE__URL", sessions.url.as_str())];
    site.run_with(["migrate"], &url).succeeded();
    site.run_with(["fleet", "apply", "fleet.json"], &url).succeeded();
    assert!(site.run("fleet show").succeeded().contains("RIP"), "what was written through it is there");
}
