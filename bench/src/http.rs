//! The HTTP client of the load: one kept-alive connection, hand-made requests, answers read whole.
//!
//! It shares the cores with the server and the database that it measures, so it does no more than
//! HTTP/1.1 asks: no pipelining, no allocation per request, and bodies beyond [`KEPT`] bytes are
//! counted and dropped.

use anyhow::{Context, Result, bail, ensure};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Bytes of a body that are kept for a check of its content.
pub(crate) const KEPT: usize = 64 * 1024;

/// Bytes read at once. Large, so that a download is not bounded by the client's system calls.
const BLOCK: usize = 256 * 1024;

/// A request as it goes over the wire: `head`, then `block` so many times, then `tail`.
#[derive(Default)]
pub(crate) struct Outgoing {
    pub(crate) head: Vec<u8>,
    pub(crate) block: Option<(Arc<Vec<u8>>, usize)>,
    pub(crate) tail: Vec<u8>,
}

impl Outgoing {
    /// Empties it for the next request and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.head.clear();
        self.block = None;
        self.tail.clear();
    }
}

/// An answer whose body was read whole.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    /// The first [`KEPT`] bytes of the body.
    pub(crate) body: &'a [u8],
    /// Length of the whole body.
    pub(crate) length: u64,
}

impl Answer<'_> {
    /// Fails unless the answer is 200 with exactly this body.
    pub(crate) fn expect_body(&self, body: &str) -> Result<()> {
        self.expect_ok()?;
        ensure!(self.body == body.as_bytes(), "answered {:?} instead of {body:?}", self.text());
        Ok(())
    }

    /// Fails unless the answer is 200 with a body of so many bytes.
    pub(crate) fn expect_length(&self, length: u64) -> Result<()> {
        self.expect_ok()?;
        ensure!(self.length == length, "a body of {} bytes instead of {length}", self.length);
        Ok(())
    }

    /// Fails unless the answer is 200.
    pub(crate) fn expect_ok(&self) -> Result<()> {
        ensure!(self.status == 200, "status {}: {}", self.status, self.text());
        Ok(())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body[..self.body.len().min(300)]).into_owned()
    }
}

/// How a response gives the length of its body.
#[derive(Debug, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
}

/// A kept-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    block: Vec<u8>,
    body: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("connecting to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, block: vec![0; BLOCK], body: Vec::with_capacity(KEPT) })
    }

    /// Sends the request and reads its answer whole.
    pub(crate) async fn exchange(&mut self, request: &Outgoing) -> Result<Answer<'_>> {
        self.stream.write_all(&request.head).await?;
        if let Some((block, times)) = &request.block {
            for _ in 0..*times {
                self.stream.write_all(block).await?;
            }
        }
        if !request.tail.is_empty() {
            self.stream.write_all(&request.tail).await?;
        }
        self.receive().await
    }

    async fn receive(&mut self) -> Result<Answer<'_>> {
        let mut filled = 0;
        let end = loop {
            let read = self.stream.read(&mut self.block[filled..]).await?;
            ensure!(read > 0, "the connection was closed instead of an answer");
            let from = filled.saturating_sub(3);
            filled += read;
            if let Some(at) = find(&self.block[from..filled], b"\r\n\r\n") {
                break from + at + 4;
            }
            ensure!(filled < self.block.len(), "an endless head");
        };
        let (status, framing) = parse_head(&self.block[..end])?;
        self.body.clear();
        let length = match framing {
            Framing::Length(length) => self.sized(end, filled, length).await?,
            Framing::Chunked => self.chunked(end, filled).await?,
        };
        Ok(Answer { status, body: &self.body, length })
    }

    async fn sized(&mut self, start: usize, filled: usize, length: u64) -> Result<u64> {
        keep(&mut self.body, &self.block[start..filled]);
        let mut missing =
            length.checked_sub((filled - start) as u64).context("more bytes than Content-Length announced")?;
        while missing > 0 {
            let at_most = usize::try_from(missing).unwrap_or(BLOCK).min(BLOCK);
            let read = self.stream.read(&mut self.block[..at_most]).await?;
            ensure!(read > 0, "the body broke off with {missing} bytes missing");
            keep(&mut self.body, &self.block[..read]);
            missing -= read as u64;
        }
        Ok(length)
    }

    async fn chunked(&mut self, start: usize, filled: usize) -> Result<u64> {
        let mut decoder = Chunks::default();
        decoder.feed(&self.block[start..filled], &mut self.body)?;
        while !decoder.done {
            let read = self.stream.read(&mut self.block).await?;
            ensure!(read > 0, "the chunked body broke off");
            decoder.feed(&self.block[..read], &mut self.body)?;
        }
        Ok(decoder.length)
    }
}

/// Decodes a chunked body piece by piece.
#[derive(Default)]
struct Chunks {
    line: Vec<u8>,
    /// Data bytes of the current chunk still to come, its closing line break included.
    rest: u64,
    /// Whether the last chunk was seen: what follows is the trailer.
    last: bool,
    done: bool,
    length: u64,
}

impl Chunks {
    fn feed(&mut self, mut piece: &[u8], body: &mut Vec<u8>) -> Result<()> {
        while !piece.is_empty() {
            ensure!(!self.done, "bytes after the last chunk");
            if self.rest > 0 {
                let taken = usize::try_from(self.rest).unwrap_or(usize::MAX).min(piece.len());
                let data = usize::try_from(self.rest.saturating_sub(2)).unwrap_or(usize::MAX).min(taken);
                keep(body, &piece[..data]);
                self.length += data as u64;
                self.rest -= taken as u64;
                piece = &piece[taken..];
                continue;
            }
            let Some(at) = piece.iter().position(|byte| *byte == b'\n') else {
                self.line.extend_from_slice(piece);
                return Ok(());
            };
            self.line.extend_from_slice(&piece[..at]);
            piece = &piece[at + 1..];
            self.end_line()?;
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<()> {
        let line = std::str::from_utf8(&self.line)?.trim_end();
        if self.last {
            self.done = line.is_empty();
        } else {
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).with_context(|| format!("chunk size {size:?}"))?;
            self.last = size == 0;
            self.rest = if self.last { 0 } else { size + 2 };
        }
        self.line.clear();
        Ok(())
    }
}

fn keep(body: &mut Vec<u8>, piece: &[u8]) {
    let room = KEPT - body.len();
    body.extend_from_slice(&piece[..piece.len().min(room)]);
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

fn parse_head(head: &[u8]) -> Result<(u16, Framing)> {
    let head = std::str::from_utf8(head).context("the head of the answer is not text")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let Some(status) = status else { bail!("not an HTTP answer: {head:?}") };
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            return Ok((status, Framing::Length(value.trim().parse()?)));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") && value.trim().eq_ignore_ascii_case("chunked") {
            return Ok((status, Framing::Chunked));
        }
    }
    bail!("an answer without a length: {head:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Answers each request of one connection with the next of these texts, piece by piece.
    async fn server(answers: Vec<Vec<&'static str>>) -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            for pieces in answers {
                let mut request = [0; 4];
                stream.read_exact(&mut request).await.unwrap();
                for piece in pieces {
                    stream.write_all(piece.as_bytes()).await.unwrap();
                    stream.flush().await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
        });
        address
    }

    fn request() -> Outgoing {
        Outgoing { head: b"P".to_vec(), block: Some((Arc::new(b"i".to_vec()), 1)), tail: b"ng".to_vec() }
    }

    #[tokio::test]
    async fn a_body_with_a_length_is_read_to_its_end() {
        let address = server(vec![
            vec!["HTTP/1.1 200 OK\r\ncontent-length: 5\r", "\n\r\nhe", "llo"],
            vec!["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"],
        ])
        .await;
        let mut connection = Connection::open(address).await.unwrap();
        let answer = connection.exchange(&request()).await.unwrap();
        answer.expect_body("hello").unwrap();
        answer.expect_length(5).unwrap();
        assert!(answer.expect_length(6).is_err());
        let answer = connection.exchange(&request()).await.unwrap();
        assert_eq!((answer.status, answer.length), (404, 0));
        assert!(answer.expect_ok().is_err());
    }

    #[tokio::test]
    async fn a_chunked_body_is_put_together() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let address = server(vec![vec![head, "3\r\nhel\r", "\n2;x=y\r\nlo\r\n", "0\r\n\r\n"]]).await;
        let mut connection = Connection::open(address).await.unwrap();
        connection.exchange(&request()).await.unwrap().expect_body("hello").unwrap();
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_is_an_error() {
        let address = server(vec![vec!["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"]]).await;
        let mut connection = Connection::open(address).await.unwrap();
        assert!(connection.exchange(&request()).await.is_err());
    }

    #[test]
    fn an_answer_that_tells_no_length_is_an_error() {
        assert!(parse_head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(parse_head(b"SSH-2.0\r\n\r\n").is_err());
    }
}
