//! Taking an address, and telling others which one was taken.

use crate::config::Listener;
use anyhow::{Context, Result, anyhow, bail};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;

/// Clients that may wait to be accepted.
const WAITING: i32 = 4096;

/// Takes the address of the listener that the configuration section `section` describes. A bind
/// file of an earlier run is removed: its address is no longer served.
pub(crate) fn take(listener: &Listener, section: &str) -> Result<TcpListener> {
    let bind = &listener.bind;
    let failed = || format!("cannot listen on {bind} ({section}.bind)");
    let addresses = bind.resolve().with_context(failed)?;
    let taken = TcpListener::bind(addresses.as_slice()).with_context(failed)?;
    // The library lets 128 wait, which the computers of a fleet that come back at once outnumber. The system may
    // take fewer.
    rustix::net::listen(&taken, WAITING).with_context(failed)?;
    if let Some(file) = &listener.bind_file {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {} ({section}.bind_file)", file.display()));
            }
            _ => {}
        }
    }
    Ok(taken)
}

/// Writes the address that was taken to the bind file, if there is one. A reader sees the whole
/// address or no file.
pub(crate) fn announce(listener: &Listener, section: &str, address: SocketAddr) -> Result<()> {
    let Some(file) = &listener.bind_file else {
        return Ok(());
    };
    publish(file, &address.to_string())
        .with_context(|| format!("cannot write {} ({section}.bind_file)", file.display()))
}

/// Where the running server can be asked that was started with this configuration.
pub(crate) fn running(listener: &Listener, section: &str) -> Result<SocketAddr> {
    let bind = &listener.bind;
    let address = match &listener.bind_file {
        None if bind.port == 0 => bail!("{section}.bind takes a free port and {section}.bind_file is not set"),
        Some(file) if bind.port == 0 => read(file).with_context(|| format!("cannot read {}", file.display()))?,
        _ => {
            let resolved = bind.resolve().with_context(|| format!("{section}.bind"))?;
            *resolved.first().ok_or_else(|| anyhow!("{section}.bind: {bind} has no address"))?
        }
    };
    Ok(SocketAddr::new(reachable(address.ip()), address.port()))
}

/// An address that listens on all interfaces is asked on the loopback one.
pub(crate) fn reachable(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}

fn publish(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        fs::create_dir_all(folder)?;
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let unfinished = file.with_file_name(name);
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, file)
}

fn read(file: &Path) -> Result<SocketAddr> {
    let text = fs::read_to_string(file)?;
    text.trim().parse().context("it holds no address")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Address;

    fn listener(bind: &str, bind_file: Option<&Path>) -> Listener {
        Listener { bind: Address::parse(bind).unwrap(), bind_file: bind_file.map(Path::to_owned) }
    }

    #[test]
    fn the_address_taken_is_written_and_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run/platen.bind");
        let listener = listener("127.0.0.1:0", Some(&file));
        let taken = take(&listener, "http").unwrap();
        assert!(!file.exists());
        let address = taken.local_addr().unwrap();
        announce(&listener, "http", address).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), address.to_string());
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
        assert_eq!(running(&listener, "http").unwrap(), address);
    }

    #[test]
    fn a_bind_file_of_an_earlier_run_goes_when_the_address_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("platen.bind");
        fs::write(&file, "127.0.0.1:1").unwrap();
        take(&listener("127.0.0.1:0", Some(&file)), "http").unwrap();
        assert!(!file.exists());
    }

    #[test]
    fn a_server_that_cannot_take_its_address_leaves_the_bind_file_of_the_one_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("platen.bind");
        let holder = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = holder.local_addr().unwrap().to_string();
        fs::write(&file, &address).unwrap();
        let error = take(&listener(&address, Some(&file)), "ops").unwrap_err();
        assert!(error.to_string().starts_with(&format!("cannot listen on {address} (ops.bind)")), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), address);
    }

    #[test]
    fn listening_everywhere_is_asked_on_the_loopback_interface() {
        assert_eq!(running(&listener("0.0.0.0:9090", None), "ops").unwrap().to_string(), "127.0.0.1:9090");
        assert_eq!(running(&listener("[::]:9090", None), "ops").unwrap().to_string(), "[::1]:9090");
        assert_eq!(running(&listener("10.1.2.3:9090", None), "ops").unwrap().to_string(), "10.1.2.3:9090");
    }

    #[test]
    fn a_free_port_without_a_bind_file_cannot_be_found() {
        let error = running(&listener("127.0.0.1:0", None), "ops").unwrap_err();
        assert_eq!(error.to_string(), "ops.bind takes a free port and ops.bind_file is not set");
    }
}
