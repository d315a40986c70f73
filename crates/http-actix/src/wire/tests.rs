//! When a connection has actix look at it.

use super::*;
use domain::testing::CountingIds;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

const HEAD: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

/// A client by its script: what it sends, or how its connection fails, one after the other; then nothing.
#[derive(Default)]
struct Client {
    sends: VecDeque<io::Result<&'static [u8]>>,
}

impl AsyncRead for Client {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.sends.pop_front().map_or(Poll::Pending, |sent| Poll::Ready(sent.map(|bytes| buffer.put_slice(bytes))))
    }
}

impl AsyncWrite for Client {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn read(wire: &mut Wire<Client>, cx: &mut Context<'_>) -> Poll<io::Result<Vec<u8>>> {
    let mut bytes = [0; 100];
    let mut buffer = ReadBuf::new(&mut bytes);
    let read = Pin::new(wire).poll_read(cx, &mut buffer);
    read.map_ok(|()| buffer.filled().to_vec())
}

/// How often actix is woken by three flushes after an answer to a request with this body, of which nothing was read; and
/// what it reads then.
fn after_an_answer(framing: Framing, sends: Vec<io::Result<&'static [u8]>>) -> (usize, Poll<io::Result<Vec<u8>>>) {
    let counted = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&counted));
    let mut cx = Context::from_waker(&waker);
    let client = Client { sends: sends.into() };
    let mut wire = Wire::new(client, Duration::from_secs(1), Arc::new(CountingIds::default()));
    assert!(matches!(read(&mut wire, &mut cx), Poll::Ready(Ok(head)) if head == HEAD));
    let turn = wire.turn();
    turn.begin(framing);
    turn.end();
    for _ in 0..3 {
        assert!(Pin::new(&mut wire).poll_flush(&mut cx).is_ready());
    }
    (counted.0.load(Ordering::Relaxed), read(&mut wire, &mut cx))
}

#[tokio::test]
async fn nobody_is_woken_for_an_answer_while_the_client_sends_nothing_more() {
    for framing in [Framing::Length(0), Framing::Length(2_000_000), Framing::Chunked, Framing::Open] {
        let (wakes, read) = after_an_answer(framing, vec![Ok(HEAD)]);
        assert!(wakes == 0 && read.is_pending(), "{framing:?}");
    }
}

#[tokio::test]
async fn the_next_request_wakes_once_whether_it_came_with_the_last_one_or_after_it() {
    let both: &[u8] = b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n";
    for sends in [vec![Ok(both)], vec![Ok(HEAD), Ok(HEAD)]] {
        let (wakes, read) = after_an_answer(Framing::Length(0), sends);
        assert_eq!(wakes, 1);
        assert!(matches!(read, Poll::Ready(Ok(head)) if head == HEAD));
    }
}

#[tokio::test]
async fn a_failure_after_an_answer_is_told_to_who_reads_next() {
    let failure = io::Error::from(io::ErrorKind::InvalidData);
    let (wakes, read) = after_an_answer(Framing::Length(0), vec![Ok(HEAD), Err(failure)]);
    assert_eq!(wakes, 1);
    assert!(matches!(read, Poll::Ready(Err(failure)) if failure.kind() == io::ErrorKind::InvalidData));
}
