//! Where a request ends in the bytes of a connection.

use crate::split_first;
use http_actix::fuzzing::ends;

/// The bytes of a connection: where the first request on it ends is told as actix tells it, however they arrive. The
/// first byte says in how large pieces they do.
pub fn framing(input: &[u8]) {
    let (size, connection) = split_first(input);
    let Some((end, told)) = ends(connection, &[connection.len(), 1, size]) else {
        return;
    };
    assert_eq!(told, [Some(end); 3], "what follows would be read as another request, or never be");
    let request = &connection[..end];
    assert_eq!(ends(request, &[end]), Some((end, vec![Some(end)])), "what stands behind a request decides nothing");
}
