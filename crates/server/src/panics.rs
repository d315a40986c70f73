//! The panic hook: it logs the place and never a value (ADR 49).

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{Write, stderr};
use std::panic::{PanicHookInfo, set_hook};
use std::thread;

/// What stands for a message that was put together at run time: such a message may hold anything.
const WITHHELD: &str = "the message is not shown, since it may hold what a client sent";

/// From now on a panic is a line of the log, or of stderr where no log was started.
pub(crate) fn install_hook() {
    set_hook(Box::new(report));
}

fn report(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string).unwrap_or_default();
    let (message, thread) = (message(panic.payload()), thread::current());
    // As for any program, RUST_BACKTRACE asks for it. It holds the names of functions and no values.
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
    if tracing::dispatcher::has_been_set() {
        tracing::error!(location, thread = thread.name(), message, backtrace, "the program panicked");
    } else {
        print(&format!("error: the program panicked at {location}: {message}"));
    }
}

/// The message where it is a literal of the source.
fn message(payload: &dyn Any) -> &'static str {
    payload.downcast_ref::<&'static str>().copied().unwrap_or(WITHHELD)
}

/// A panic within the panic hook would abort the program, so failed writes are ignored.
fn print(line: &str) {
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::testing::Lines;
    use std::hint::black_box;
    use std::panic::{catch_unwind, take_hook};

    #[test]
    fn a_panic_is_one_line_that_says_where_and_shows_no_value() {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::fmt().json().with_writer(lines.maker()).finish();
        let before = take_hook();
        install_hook();
        let panics = tracing::subscriber::with_default(subscriber, || {
            let text = black_box("é a secret of a client".to_owned());
            let failed: Result<usize, String> = black_box(Err(text.clone()));
            [
                catch_unwind(|| panic!("a literal of the source")),
                catch_unwind(|| panic!("{text}")),
                // The library's own messages repeat the text.
                catch_unwind(|| text[1..].len()),
                catch_unwind(|| failed.clone().expect("a number")),
            ]
        });
        set_hook(before);
        assert!(panics.iter().all(Result::is_err));
        let message = lines.text();
        assert_eq!(message.lines().count(), 4, "{message}");
        assert!(message.lines().all(|line| line.contains("\"ERROR\"") && line.contains("src/panics.rs:")), "{message}");
        assert!(message.contains("a literal of the source") && message.contains(WITHHELD), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
}
