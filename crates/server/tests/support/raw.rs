//! HTTP by hand: what no library sends, and every byte that comes back.

use super::{ANNS_KEY, Server};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Longest wait for bytes; a busy machine may need some of it.
const PATIENCE: Duration = Duration::from_mins(1);

/// A connection.
pub(crate) struct Raw {
    stream: TcpStream,
    received: Vec<u8>,
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// All lines of the head.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(':'));
        headers.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The head of a request with Ann's credentials; `more` are whole lines.
pub(crate) fn head(method: &str, path: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\n{}{more}\r\n", credentials(ANNS_KEY))
}

/// The same with another key.
pub(crate) fn head_with_key(key: &str, method: &str, path: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\n{}{more}\r\n", credentials(key))
}

fn credentials(key: &str) -> String {
    format!("Host: platen\r\nMisKey: {key}\r\nSerialNumber: SN\r\nApplicationVersion: 1\r\n")
}

/// A whole request of a body.
pub(crate) fn post(path: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let more = format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
    [head("POST", path, &more).as_bytes(), body].concat()
}

impl Raw {
    pub(crate) fn connect(server: &Server) -> Self {
        let stream = TcpStream::connect(server.api.trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, received: Vec::new() }
    }

    /// Sends on a connection of its own and reads one answer.
    #[track_caller]
    pub(crate) fn ask(server: &Server, bytes: impl AsRef<[u8]>) -> Answer {
        let mut connection = Self::connect(server);
        connection.send(bytes);
        connection.answer().expect("an answer")
    }

    /// Sends as much as the server takes; whether that was all.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish(&self) {
        // The server may have closed before.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The next answer but `100 Continue`; `None` where the connection ends before.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        loop {
            let answer = self.any_answer()?;
            if answer.status != 100 {
                return Some(answer);
            }
        }
    }

    /// The next answer, `100 Continue` too.
    pub(crate) fn any_answer(&mut self) -> Option<Answer> {
        let end = loop {
            if let Some(at) = self.received.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if !self.fill() {
                assert!(self.received.is_empty(), "half an answer: {}", String::from_utf8_lossy(&self.received));
                return None;
            }
        };
        let head = String::from_utf8(self.received.drain(..end).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: Vec::new() };
        if status == 100 {
            return Some(answer);
        }
        if let Some(length) = answer.header("Content-Length") {
            let length: usize = length.parse().unwrap();
            while self.received.len() < length && self.fill() {}
            answer.body = self.received.drain(..length).collect();
        } else {
            assert_eq!(answer.header("Transfer-Encoding"), Some("chunked"), "{answer:?}");
            while !self.received.ends_with(b"0\r\n\r\n") && self.fill() {}
            answer.body = std::mem::take(&mut self.received);
        }
        Some(answer)
    }

    /// All answers until the connection ends.
    pub(crate) fn answers(&mut self) -> Vec<Answer> {
        std::iter::from_fn(|| self.answer()).collect()
    }

    /// Reads some bytes; false at the end of the connection.
    fn fill(&mut self) -> bool {
        let mut buffer = vec![0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(length) => {
                self.received.extend_from_slice(&buffer[..length]);
                length > 0
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("the server neither answers nor closes: {error}"),
        }
    }
}
