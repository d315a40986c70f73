//! The address of a client: the peer's, or the one that a trusted proxy names.

use crate::extract::headers::{parameter, texts};
use actix_web::http::header::{FORWARDED, HeaderMap, HeaderName, X_FORWARDED_FOR, X_FORWARDED_PROTO};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

/// A network in CIDR notation, or one address.
pub type Network = IpNet;

/// Parses an address or a network, such as `192.0.2.7`, `10.0.0.0/8` or `fd00::/8`. An IPv4 address in IPv6 form
/// (`::ffff:10.0.0.0`) is refused.
#[must_use]
pub fn parse_network(text: &str) -> Option<Network> {
    let network: Network = text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(Network::from))?;
    let is_mapped = network.addr().to_canonical() != network.addr();
    (!is_mapped).then_some(network)
}

/// The client of a request. Each proxy adds the address that is connected to it at the end of `X-Forwarded-For` or
/// `Forwarded`. So the last address that is no trusted proxy is the client; those before it may be invented.
///
/// A proxy sets one of the two headers and may pass the other on as the client sent it. So if they name different
/// clients, both are ignored.
pub(crate) fn address(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(&address.to_canonical()));
    if !is_trusted(peer) {
        return peer;
    }
    let last_of = |name: &HeaderName, read: fn(&str) -> Option<IpAddr>| {
        let lines = texts(headers, name);
        let mut client = None;
        for element in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
            let Some(named) = read(element.trim()) else {
                break;
            };
            client = Some(named);
            if !is_trusted(named) {
                break;
            }
        }
        client
    };
    match (last_of(&X_FORWARDED_FOR, parse_named), last_of(&FORWARDED, parse_forwarded)) {
        (Some(one), Some(other)) if one != other => peer,
        (one, other) => one.or(other).unwrap_or(peer),
    }
}

/// Whether a trusted proxy says that its client uses TLS. Each proxy may add a value, so the last one counts.
pub(crate) fn is_forwarded_tls(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> bool {
    let is_trusted = trusted.iter().any(|network| network.contains(&peer.to_canonical()));
    let last = texts(headers, &X_FORWARDED_PROTO).pop().unwrap_or_default();
    is_trusted && last.rsplit(',').next().is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

/// An address as proxies write it: some add a port, and brackets around IPv6.
fn parse_named(text: &str) -> Option<IpAddr> {
    let address = text.parse().ok().or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()));
    address.or_else(|| text.strip_prefix('[')?.strip_suffix(']')?.parse().ok()).map(|address| address.to_canonical())
}

/// The address of an element of `Forwarded`, such as `for="[2001:db8::5]:80";proto=https` (RFC 7239).
fn parse_forwarded(element: &str) -> Option<IpAddr> {
    // `parameter` begins after the first semicolon.
    parse_named(&parameter(&format!(";{element}"), "for")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use proptest::prelude::*;

    fn client(peer: &str, forwarded: &[&str]) -> String {
        client_of(peer, &forwarded.iter().map(|line| (X_FORWARDED_FOR, *line)).collect::<Vec<_>>())
    }

    fn client_of(peer: &str, lines: &[(HeaderName, &str)]) -> String {
        let trusted = ["10.0.0.0/8", "fd00::/8", "192.0.2.1"].map(|network| parse_network(network).unwrap());
        let mut headers = HeaderMap::new();
        for (name, line) in lines {
            headers.append(name.clone(), HeaderValue::from_str(line).unwrap());
        }
        address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn what_a_client_says_of_itself_counts_for_nothing() {
        assert_eq!(client("203.0.113.5", &["198.51.100.1"]), "203.0.113.5");
        assert_eq!(client("10.0.0.2", &["198.51.100.1, 203.0.113.5"]), "203.0.113.5");
        assert_eq!(client("10.0.0.2", &["198.51.100.1", "203.0.113.5, 192.0.2.1"]), "203.0.113.5");
    }

    #[test]
    fn the_nearest_address_that_is_no_trusted_proxy_is_the_client() {
        let expected = [
            ("10.0.0.2", &["203.0.113.5"][..], "203.0.113.5"),
            ("::ffff:10.0.0.2", &["203.0.113.5:4711"], "203.0.113.5"),
            ("fd00::2", &["[2001:db8::5]:80"], "2001:db8::5"),
            ("fd00::2", &["[2001:db8::5]"], "2001:db8::5"),
            ("10.0.0.2", &["10.9.9.9, 192.0.2.1"], "10.9.9.9"),
            ("10.0.0.2", &[], "10.0.0.2"),
            ("10.0.0.2", &["203.0.113.5, unknown"], "10.0.0.2"),
            ("192.0.2.2", &["203.0.113.5"], "192.0.2.2"),
        ];
        for (peer, forwarded, address) in expected {
            assert_eq!(client(peer, forwarded), address, "{peer} {forwarded:?}");
        }
    }

    #[test]
    fn the_standard_header_names_the_client_too() {
        let expected = [
            ("for=203.0.113.5", "203.0.113.5"),
            ("For=\"203.0.113.5:4711\";proto=https", "203.0.113.5"),
            ("proto=https;by=10.0.0.2;for=\"[2001:db8::5]:80\"", "2001:db8::5"),
            ("for=198.51.100.1, for=203.0.113.5;proto=http, for=10.1.1.1", "203.0.113.5"),
            ("for=unknown", "10.0.0.2"),
            ("for=203.0.113.5, for=_hidden", "10.0.0.2"),
            ("for=203.0.113.5, for=_hidden, for=10.1.1.1", "10.1.1.1"),
            ("by=203.0.113.5", "10.0.0.2"),
        ];
        for (line, address) in expected {
            assert_eq!(client_of("10.0.0.2", &[(FORWARDED, line)]), address, "{line}");
        }
        assert_eq!(client_of("203.0.113.9", &[(FORWARDED, "for=198.51.100.1")]), "203.0.113.9");
    }

    #[test]
    fn where_the_two_headers_differ_neither_is_believed() {
        let lines = |forwarded| [(X_FORWARDED_FOR, "203.0.113.5"), (FORWARDED, forwarded)];
        assert_eq!(client_of("10.0.0.2", &lines("for=203.0.113.5")), "203.0.113.5");
        assert_eq!(client_of("10.0.0.2", &lines("for=198.51.100.1")), "10.0.0.2");
    }

    #[test]
    fn a_trusted_proxy_says_that_the_client_uses_tls() {
        // Decision P3.
        let trusted = [parse_network("10.0.0.0/8").unwrap()];
        let is_tls = |peer: &str, lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(X_FORWARDED_PROTO, HeaderValue::from_static(line));
            }
            is_forwarded_tls(peer.parse().unwrap(), &headers, &trusted)
        };
        assert!(is_tls("10.0.0.2", &["https"]) && is_tls("10.0.0.2", &["http, HTTPS"]));
        assert!(is_tls("10.0.0.2", &["http", "https"]));
        assert!(!is_tls("10.0.0.2", &["https, http"]) && !is_tls("10.0.0.2", &[]));
        assert!(!is_tls("203.0.113.5", &["https"]), "a client may send anything");
    }

    #[test]
    fn networks_are_read_strictly() {
        for text in ["0.0.0.0/0", "::/0", "10.1.2.3/32", "::1/128", "127.0.0.1"] {
            assert!(parse_network(text).is_some(), "{text}");
        }
        for text in [
            "",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0/8",
            "::1/129",
            "10.0.0.0/+8",
            "proxy",
            "10.0.0.0/8/8",
            "::ffff:10.0.0.0/104",
        ] {
            assert!(parse_network(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_header_panics(line in "[ -~]{0,40}") {
            let _ = client_of("10.0.0.2", &[(X_FORWARDED_FOR, &line), (FORWARDED, &line)]);
        }
    }
}
