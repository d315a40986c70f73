//! Clients that stop half-way through a request, which no HTTP library does.

use super::content::{MIB, sha1};
use super::{ANNS_KEY, Server};
use std::io::{Read, Write};
use std::net::TcpStream;

/// Sends the head of a request for the resource.
pub(crate) fn begin_download(server: &Server, guid: &str) -> TcpStream {
    let mut connection = TcpStream::connect(server.api.trim_start_matches("http://")).unwrap();
    write!(connection, "GET /api/v2/resource/{guid} HTTP/1.1\r\n{}Connection: close\r\n\r\n", headers()).unwrap();
    connection
}

/// An upload that stops half-way.
pub(crate) struct Upload {
    connection: TcpStream,
    rest: Vec<u8>,
}

impl Upload {
    /// Sends the head and all but the last mebibyte of a content.
    pub(crate) fn begin(server: &Server, guid: &str, mut content: Vec<u8>) -> Self {
        let json = format!(
            r#"{{"ResourceGUID":"{guid}","ResourceChecksum":"{}","ResourceType":"Label","Meta":{{"Name":"L"}}}}"#,
            sha1(&content)
        );
        let part = |name: &str| format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        let begin = format!("{}{json}\r\n{}", part("JsonString"), part("file"));
        let end = "\r\n--b--\r\n";
        let mut connection = TcpStream::connect(server.api.trim_start_matches("http://")).unwrap();
        write!(
            connection,
            "POST /api/v2/resource HTTP/1.1\r\n{}Connection: close\r\n\
             Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n{begin}",
            headers(),
            begin.len() + content.len() + end.len()
        )
        .unwrap();
        let mut rest = content.split_off(content.len() - usize::try_from(MIB).unwrap());
        rest.extend_from_slice(end.as_bytes());
        connection.write_all(&content).unwrap();
        Self { connection, rest }
    }

    /// Sends the rest; the first line of the answer, if there is one.
    pub(crate) fn finish(&mut self) -> String {
        // A killed process reads and answers nothing.
        let _ = self.connection.write_all(&self.rest);
        let mut answer = Vec::new();
        let _ = self.connection.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
    }
}

fn headers() -> String {
    format!("Host: platen\r\nMisKey: {ANNS_KEY}\r\nSerialNumber: SN\r\nApplicationVersion: 1\r\n")
}
