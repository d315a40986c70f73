//! A small HTTP client that hides nothing.

use super::documented;
use domain::testing::ANN_KEY;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// A request. Ann's credentials come with it until they are taken away.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub chunk: Option<usize>,
}

impl Request {
    pub fn new(method: &str, path: &str) -> Self {
        let headers = [("Host", "test"), ("MisKey", ANN_KEY), ("SerialNumber", "SN-7"), ("ApplicationVersion", "9.1")];
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            body: Vec::new(),
            chunk: None,
        }
    }

    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    /// Without any of the authentication headers.
    pub fn anonymous(mut self) -> Self {
        self.headers.retain(|(name, _)| name == "Host");
        self
    }

    /// With this header, in place of a former one.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.without(name).also(name, value)
    }

    /// With this header in addition to former ones.
    pub fn also(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    pub fn json(self, text: &str) -> Self {
        self.header("Content-Type", "application/json").body(text.as_bytes())
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends the body in chunks of this many bytes.
    pub fn chunked(mut self, size: usize) -> Self {
        self.chunk = Some(size);
        self
    }

    /// The head alone, with the length of the body or its chunking.
    pub fn head(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path).into_bytes();
        for (name, value) in &self.headers {
            head.extend_from_slice(format!("{name}: ").as_bytes());
            // A character of a header stands for a byte up to U+00FF.
            head.extend(value.chars().flat_map(|character| match u8::try_from(character) {
                Ok(byte) => vec![byte],
                Err(_) => character.to_string().into_bytes(),
            }));
            head.extend_from_slice(b"\r\n");
        }
        let is_given = |name: &str| self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        if self.chunk.is_some() {
            head.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        } else if !is_given("Content-Length") && (!self.body.is_empty() || self.method == "POST") {
            head.extend_from_slice(format!("Content-Length: {}\r\n", self.body.len()).as_bytes());
        }
        head.extend_from_slice(b"\r\n");
        head
    }

    /// The body as it goes over the wire.
    pub fn wire_body(&self) -> Vec<u8> {
        let Some(size) = self.chunk else {
            return self.body.clone();
        };
        let mut wire = Vec::new();
        for chunk in self.body.chunks(size) {
            wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            wire.extend_from_slice(chunk);
            wire.extend_from_slice(b"\r\n");
        }
        wire.extend_from_slice(b"0\r\n\r\n");
        wire
    }

    pub fn bytes(&self) -> Vec<u8> {
        [self.head(), self.wire_body()].concat()
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn detail(&self) -> &str {
        self.header("X-Error-Detail").unwrap_or_default()
    }

    /// Demands a success message (decision R2), byte for byte.
    #[track_caller]
    pub fn assert_success(&self, message: &str) {
        assert_eq!((self.status, self.text()), (200, format!("\"{message}\"").as_str()), "{self:?}");
        assert_eq!(self.header("Content-Type"), Some("application/json; charset=utf-8"));
    }

    /// Demands an error (decisions R2, R3), byte for byte, with its particulars (decision R11).
    #[track_caller]
    pub fn assert_error(&self, status: u16, message: &str) {
        let body = format!("{{\"Message\":\"{}\"}}", message.replace('"', "\\\""));
        assert_eq!((self.status, self.text()), (status, body.as_str()), "{self:?}");
        assert_eq!(self.header("Content-Type"), Some("application/json; charset=utf-8"));
        assert!(self.header("X-Request-Id").is_some(), "every response carries its id");
        let detail = self.detail();
        if status < 500 {
            assert!(!detail.is_empty(), "an error has particulars: {self:?}");
        }
        assert!(detail.len() <= 300 && detail.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{detail}");
    }
}

/// A connection.
pub struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    pub fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { stream, received: Vec::new() }
    }

    pub fn send(&mut self, request: &Request) -> Reply {
        self.write(&request.bytes());
        let reply = self.read_reply(&request.method);
        documented::check(request, &reply);
        reply
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Writes as much as is taken; whether all of it was.
    pub fn try_write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Says that nothing more will be sent.
    pub fn finish(&mut self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// A second handle on the same connection.
    pub fn writer(&self) -> TcpStream {
        self.stream.try_clone().unwrap()
    }

    /// Waits until an answer has begun.
    pub fn wait_for_bytes(&mut self) {
        assert!(self.fill().unwrap(), "closed without an answer");
    }

    /// The next answer; interim ones are skipped.
    pub fn read_reply(&mut self, method: &str) -> Reply {
        loop {
            let reply = self.try_read_reply(method).expect("an answer");
            if reply.status != 100 {
                return reply;
            }
        }
    }

    /// The next answer, interim ones too; the error says what came in its place.
    pub fn try_read_reply(&mut self, method: &str) -> Result<Reply, String> {
        let end = loop {
            if let Some(place) = find(&self.received, b"\r\n\r\n") {
                break place + 4;
            }
            if !self.fill()? {
                return Err(format!("closed after {:?}", String::from_utf8_lossy(&self.received)));
            }
        };
        let head = String::from_utf8(self.received.drain(..end).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| line.split_once(": ").unwrap_or((line.trim_end_matches(':'), "")));
        let headers: Vec<_> = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut reply = Reply { status, headers, body: Vec::new() };
        if method == "HEAD" || matches!(status, 100 | 304) {
            return Ok(reply);
        }
        reply.body = match (reply.header("Content-Length"), reply.header("Transfer-Encoding")) {
            (Some(length), _) => self.take(length.parse().unwrap())?,
            (None, Some(_)) => self.take_chunks()?,
            (None, None) => {
                while self.fill()? {}
                std::mem::take(&mut self.received)
            }
        };
        Ok(reply)
    }

    /// Whether the other side has closed, and nothing was left to read.
    pub fn is_closed(&mut self) -> bool {
        self.received.is_empty() && !self.fill().unwrap_or(false)
    }

    fn take_chunks(&mut self) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        loop {
            let line = loop {
                if let Some(place) = find(&self.received, b"\r\n") {
                    break self.take(place + 2)?;
                }
                if !self.fill()? {
                    return Err(format!("broke off after {} bytes", body.len()));
                }
            };
            let size = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim(), 16).unwrap();
            let chunk = self.take(size + 2)?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>, String> {
        while self.received.len() < length {
            if !self.fill()? {
                return Err(format!("broke off after {} of {length} bytes", self.received.len()));
            }
        }
        Ok(self.received.drain(..length).collect())
    }

    /// Reads some bytes; false at the end.
    fn fill(&mut self) -> Result<bool, String> {
        let mut buffer = vec![0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(length) => {
                self.received.extend_from_slice(&buffer[..length]);
                Ok(length > 0)
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Err("reset".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn find(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len()).position(|window| window == pattern)
}
