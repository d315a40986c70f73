//! Goes through the lines of a call stack.

use super::lines::delphi::Columns;
use super::lines::{self, is_decimal, managed, unix};
use super::model::MAX_FRAMES;
use super::reason::{self, Reason};
use super::{CallStack, Frame, Thread, ips, module};

/// Bytes of a line that are looked at.
const MAX_LINE: usize = 4096;

/// Threads that are read at most.
const MAX_THREADS: usize = 512;

/// Characters of the first line that are kept.
const MAX_FIRST_LINE: usize = 200;

/// Headings after which no frames follow until another thread begins.
const ENDS: [&str; 10] = [
    "Binary Images:",
    "modules:",
    "processes:",
    "hardware:",
    "cpu registers:",
    "stack dump:",
    "disassembling:",
    "Modules Information:",
    "Processes Information:",
    "Assembler Information:",
];

/// Sentences of Python between a traceback and the one of the exception that followed.
const PYTHON_CHAINS: [&str; 2] = [
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
];

/// Reads threads, frames and the reason from a text of any form (decision I4). It never fails: of a text without frames
/// the first line is left.
#[must_use]
pub fn parse(text: &str) -> CallStack {
    if let Some(stack) = ips::parse(text) {
        return stack;
    }
    let mut parser = Parser::default();
    for line in text.lines() {
        let end = (0..=MAX_LINE.min(line.len())).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
        parser.line(line[..end].trim());
    }
    parser.finish()
}

/// In which order the frames of the present thread come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    InnermostFirst,
    /// Tracebacks of Python.
    InnermostLast,
}

#[derive(Default)]
struct Parser {
    stack: CallStack,
    reason: Option<Reason>,
    /// The number of the thread that the text names as crashed elsewhere.
    crashed_number: Option<String>,
    columns: Option<Columns>,
    order: Option<Order>,
    /// Frames of outer exceptions, which come after those of the innermost one.
    outer: Vec<Frame>,
    is_ended: bool,
    /// The reason of Python's first traceback is the cause of the others.
    is_reason_final: bool,
}

impl Parser {
    fn line(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if self.stack.first_line.is_none() && line.contains(char::is_alphanumeric) {
            self.stack.first_line = Some(first_line(line));
        }
        if let Some(columns) = Columns::read(line) {
            self.columns = Some(columns);
        } else if let Some(heading) = heading(line) {
            // lldb writes the reason into the heading.
            if heading.is_crashed {
                self.other(line);
            }
            self.begin(heading);
        } else if ENDS.iter().any(|end| line.eq_ignore_ascii_case(end)) {
            self.is_ended = true;
        } else if PYTHON_CHAINS.contains(&line) {
            self.is_reason_final = true;
            self.is_ended = true;
        } else if let Some(frames) = self.frames(line) {
            for frame in frames {
                self.add(frame);
            }
        } else {
            self.other(line);
        }
    }

    fn frames(&self, line: &str) -> Option<Vec<Frame>> {
        if self.is_ended {
            return None;
        }
        if self.order == Some(Order::InnermostLast) {
            return managed::python(line).map(|frame| vec![frame]);
        }
        // What isn't read costs no time.
        if self.stack.threads.last().is_some_and(|thread| thread.frames.len() >= MAX_FRAMES) {
            return None;
        }
        if let Some(columns) = &self.columns
            && line.starts_with('|')
        {
            return columns.frame(line).map(|frame| vec![frame]);
        }
        let frame = managed::python(line).or_else(|| lines::frame(line));
        frame.map(|frame| vec![frame]).or_else(|| unix::qt_backtrace(line))
    }

    /// A line that is neither a heading nor a frame.
    fn other(&mut self, line: &str) {
        if let Some(number) = crashed_number(line) {
            self.crashed_number = Some(number);
            return;
        }
        let Some(found) = reason::read(line) else { return };
        let is_cause = line.starts_with("Caused by: ");
        // .NET writes the innermost exception last, and its frames first.
        let is_inner = line.starts_with("---> ") && !self.has_frames();
        let replaces = match (&self.reason, &found) {
            (None, _) | (Some(Reason::Code(_)), Reason::Type(_)) => true,
            // The innermost exception of Java comes last.
            _ => is_cause || is_inner,
        };
        if replaces && !self.is_reason_final {
            self.reason = Some(found);
        }
        if is_cause && let Some(thread) = self.stack.threads.last_mut() {
            let mut frames = std::mem::take(&mut thread.frames);
            frames.append(&mut self.outer);
            frames.truncate(MAX_FRAMES);
            self.outer = frames;
        }
    }

    fn has_frames(&self) -> bool {
        self.stack.threads.iter().any(|thread| !thread.frames.is_empty())
    }

    fn begin(&mut self, heading: Heading) {
        // A second traceback of Python is that of an exception that followed.
        let is_outer = heading.order == Order::InnermostLast && self.is_reason_final;
        if is_outer {
            return;
        }
        self.close();
        if self.stack.threads.len() >= MAX_THREADS {
            self.is_ended = true;
            return;
        }
        self.is_ended = false;
        self.order = Some(heading.order);
        let thread = Thread { name: heading.name, is_crashed: heading.is_crashed, frames: Vec::new() };
        self.stack.threads.push(thread);
    }

    fn add(&mut self, frame: Frame) {
        if self.stack.threads.is_empty() {
            self.stack.threads.push(Thread::default());
        }
        let Some(thread) = self.stack.threads.last_mut() else { return };
        if thread.frames.len() < MAX_FRAMES {
            thread.frames.push(frame);
        } else if self.order == Some(Order::InnermostLast) {
            thread.frames.rotate_left(1);
            thread.frames[MAX_FRAMES - 1] = frame;
        }
    }

    /// Ends the present thread.
    fn close(&mut self) {
        let outer = std::mem::take(&mut self.outer);
        let Some(thread) = self.stack.threads.last_mut() else { return };
        if self.order == Some(Order::InnermostLast) {
            thread.frames.reverse();
        }
        thread.frames.extend(outer);
        thread.frames.truncate(MAX_FRAMES);
        self.order = None;
        // A thread without frames is a heading that was none, unless it is the crashed one.
        if thread.frames.is_empty() && !thread.is_crashed {
            self.stack.threads.pop();
        }
    }

    fn finish(mut self) -> CallStack {
        self.close();
        let numbered = self.crashed_number.as_deref();
        if let Some(number) = numbered
            && !self.stack.threads.iter().any(|thread| thread.is_crashed)
        {
            let is_meant = |thread: &&mut Thread| thread.name.as_deref() == Some(number);
            if let Some(thread) = self.stack.threads.iter_mut().find(is_meant) {
                thread.is_crashed = true;
            }
        }
        self.stack.reason = self.reason.map(|reason| match reason {
            Reason::Type(text) | Reason::Code(text) => text,
        });
        self.stack
    }
}

/// Where a thread begins.
struct Heading {
    name: Option<String>,
    is_crashed: bool,
    order: Order,
}

fn heading(line: &str) -> Option<Heading> {
    let of = |name: &str, is_crashed| Heading {
        name: Some(crate::text::cut(name, 80)),
        is_crashed,
        order: Order::InnermostFirst,
    };
    if line.starts_with("Traceback (most recent call last)") {
        return Some(Heading { name: None, is_crashed: false, order: Order::InnermostLast });
    }
    if line.ends_with("(most recent call first):") {
        return Some(of(line.split(" (most").next().unwrap_or_default(), line.starts_with("Current thread")));
    }
    // macOS `Thread 3 Crashed:: queue`, gdb `Thread 1 (Thread 0x7f (LWP 12)):`
    if let Some((number, rest)) = line.strip_prefix("Thread ").map(|rest| rest.split_at(digits(rest)))
        && !number.is_empty()
        && (rest.starts_with(':') || rest.starts_with(" Crashed") || (rest.starts_with(" (") && rest.ends_with(':')))
    {
        return Some(of(number, rest.starts_with(" Crashed")));
    }
    // lldb `* thread #1, queue = …`
    let lldb = line.strip_prefix("* ").unwrap_or(line).trim_start();
    if let Some(rest) = lldb.strip_prefix("thread #").filter(|rest| digits(rest) > 0) {
        return Some(of(&rest[..digits(rest)], line.starts_with('*')));
    }
    // cdb `#  3  Id: 1a2c.1b30 Suspend: 1 …`
    if let Some((before, after)) = line.split_once("Id: ")
        && after.contains(" Suspend: ")
    {
        let number = before.trim().trim_start_matches(['.', '#', '*']).trim();
        return is_decimal(number).then(|| of(number, before.starts_with('#')));
    }
    if line == "STACK_TEXT:" {
        return Some(of("STACK_TEXT", true));
    }
    // madExcept `thread $1a2c (TRenderThread):`, EurekaLog `|*Exception Thread: ID=7164; …`
    let is_mad = (line.starts_with("main thread (") || line.starts_with("thread $")) && line.contains(':');
    if is_mad {
        return Some(of(line.trim_end_matches(':'), false));
    }
    let eureka = line.strip_prefix('|').map(|line| line.trim_matches(['*', ' ', '|']));
    let eureka = eureka.and_then(|line| line.split_once(" Thread: ID="));
    eureka.map(|(kind, _)| of(kind, kind.ends_with("Exception")))
}

/// `Crashed Thread:  3  Dispatch queue: …` of macOS, `[Current thread is 1 (Thread 0x7f (LWP 12))]` of gdb.
fn crashed_number(line: &str) -> Option<String> {
    let rest = line.strip_prefix("Crashed Thread:").or_else(|| line.strip_prefix("[Current thread is "))?.trim_start();
    let number = &rest[..digits(rest)];
    (!number.is_empty()).then(|| number.to_owned())
}

/// Bytes of digits at the beginning.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The line with numbers replaced, so that times and addresses don't part what belongs together.
fn first_line(line: &str) -> String {
    let mut kept = String::new();
    let mut is_in_number = false;
    for character in module::without_numbers(line).chars() {
        let is_digit = character.is_ascii_digit();
        if !is_digit {
            kept.push(character);
        } else if !is_in_number {
            kept.push('#');
        }
        is_in_number = is_digit;
    }
    crate::text::cut(&kept, MAX_FIRST_LINE)
}
