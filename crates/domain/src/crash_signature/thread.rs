//! Signs call stacks on threads of their own.

use super::{Signature, SignedFrame, sign};
use crate::call_stack::parse;
use crate::error::StoreError;
use futures_channel::oneshot;
use std::thread;

/// Bytes of the stack of a thread. The parser of C++ names recurses up to 96 times, with up to 40 KiB each in a debug build:
/// more than the 2 MiB of a runtime's worker.
const STACK: usize = 8 * 1024 * 1024;

/// The signature of a text, and the text again. It may take half a second, so no worker of a runtime waits for it.
///
/// # Errors
/// The system has no thread left, or the thread panicked.
pub async fn sign_text(text: String, dump: Option<SignedFrame>) -> Result<(String, Signature), StoreError> {
    let (sender, receiver) = oneshot::channel();
    let work = move || {
        let signature = sign(&parse(&text), dump.as_ref());
        // The receiver is gone if its request is.
        let _ = sender.send((text, signature));
    };
    let builder = thread::Builder::new().name("call-stack".to_owned()).stack_size(STACK);
    builder.spawn(work).map_err(StoreError::other)?;
    receiver.await.map_err(StoreError::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision I4. C++ names of hundreds of parts within each other overflow a stack of 2 MiB.
    #[tokio::test]
    async fn hostile_names_do_not_end_the_process() {
        for part in ["qu", "tl1a", "nw"] {
            let name = format!("_Z1fIX{}", part.repeat(450));
            let text = format!("#0 0x00007f0000000000 in {name} () from /lib/x.so\n").repeat(3);
            let (same, signature) = sign_text(text.clone(), None).await.unwrap();
            assert_eq!(same, text);
            assert!(!signature.text.is_empty());
        }
    }
}
