//! nginx with sendfile, serving a folder.

use crate::process::{Ending, Program, free_addresses, is_root};
use anyhow::Result;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tokio::net::TcpStream;

pub(crate) struct Nginx {
    pub(crate) address: SocketAddr,
    files: PathBuf,
    program: Program,
}

impl Nginx {
    /// Starts it over the folder `files` within `folder`, one worker per core, without access log.
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let files = folder.join("files");
        fs::create_dir_all(&files)?;
        let address = free_addresses(1)?[0];
        let user = if is_root()? { "user root;" } else { "" };
        let at = folder.display();
        let configuration = format!(
            "{user}
daemon off;
worker_processes auto;
pid {at}/nginx.pid;
error_log {at}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    open_file_cache max=100;
    client_body_temp_path {at}/body;
    proxy_temp_path {at}/proxy;
    fastcgi_temp_path {at}/fastcgi;
    uwsgi_temp_path {at}/uwsgi;
    scgi_temp_path {at}/scgi;
    server {{
        listen {address};
        root {at}/files;
    }}
}}
"
        );
        let file = folder.join("nginx.conf");
        fs::write(&file, configuration)?;
        let mut command = Command::new(if Path::new("/usr/sbin/nginx").exists() { "/usr/sbin/nginx" } else { "nginx" });
        command.arg("-e").arg(folder.join("error.log")).arg("-c").arg(&file).arg("-p").arg(folder);
        let mut program = Program::start("nginx", &mut command, &folder.join("log"), Ending::Terminate)?;
        program.wait_until(async || TcpStream::connect(address).await.is_ok()).await?;
        Ok(Self { address, files, program })
    }

    pub(crate) fn id(&self) -> u32 {
        self.program.id()
    }

    /// Lays a file of so many blocks.
    pub(crate) fn lay(&self, name: &str, block: &[u8], times: usize) -> Result<()> {
        Ok(fs::write(self.files.join(name), block.repeat(times))?)
    }
}
