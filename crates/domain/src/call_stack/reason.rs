//! Why the program ended: the type of an exception, a signal or a code. The message isn't part of it (decision I4).

use super::lines::{is_hex, word};

/// Names of Windows' codes of exceptions.
const CODES: [(u32, &str); 14] = [
    (0xC000_0005, "EXCEPTION_ACCESS_VIOLATION"),
    (0xC000_0006, "EXCEPTION_IN_PAGE_ERROR"),
    (0xC000_0008, "EXCEPTION_INVALID_HANDLE"),
    (0xC000_001D, "EXCEPTION_ILLEGAL_INSTRUCTION"),
    (0xC000_0094, "EXCEPTION_INT_DIVIDE_BY_ZERO"),
    (0xC000_0096, "EXCEPTION_PRIV_INSTRUCTION"),
    (0xC000_00FD, "EXCEPTION_STACK_OVERFLOW"),
    (0xC000_0374, "STATUS_HEAP_CORRUPTION"),
    (0xC000_0409, "STATUS_STACK_BUFFER_OVERRUN"),
    (0xC000_0417, "STATUS_INVALID_CRUNTIME_PARAMETER"),
    (0x8000_0003, "EXCEPTION_BREAKPOINT"),
    (0xE06D_7363, "C++ exception"),
    (0xE043_4352, ".NET exception"),
    (0x0EED_FADE, "Delphi exception"),
];

/// Words before the type of an exception.
const BEFORE: [&str; 6] = [
    "Unhandled exception. ",
    "Unhandled Exception: ",
    "Unbehandelte Ausnahme: ",
    "Exception non gérée : ",
    "Caused by: ",
    "Uncaught exception: ",
];

/// What follows ends the type of an exception, as words do in Python, Java and .NET.
const ENDINGS: [&str; 7] = ["Exception", "Error", "Warning", "Exit", "Interrupt", "Failure", "Throwable"];

/// Longest type that is kept, in characters.
const MAX_TYPE: usize = 100;

/// A reason, and how much it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// The type of an exception.
    Type(String),
    /// A signal or a code.
    Code(String),
}

/// The reason that a line names, blanks at its ends removed.
pub(super) fn read(line: &str) -> Option<Reason> {
    labelled(line).or_else(|| sentence(line)).or_else(|| heading(line).map(Reason::Type))
}

/// The name of an exception by its Windows code.
#[must_use]
pub(crate) fn windows_code(code: u32) -> String {
    let named = CODES.iter().find(|(known, _)| *known == code);
    named.map_or_else(|| format!("0x{code:08X}"), |(_, name)| (*name).to_owned())
}

/// `exception class : EAccessViolation` and the like.
fn labelled(line: &str) -> Option<Reason> {
    let (label, value) = line.split_once(':')?;
    let label =
        label.trim().trim_start_matches(|character: char| character.is_ascii_digit() || ". ".contains(character));
    let value = value.trim();
    match label.to_ascii_lowercase().as_str() {
        "exception class" | "type" => type_name(value).map(Reason::Type),
        "exception type" => word(value).and_then(|(kind, _)| type_name(kind)).map(Reason::Code),
        "exceptioncode" | "exception_code" | "exception code" => code(value).map(Reason::Code),
        _ => None,
    }
}

fn sentence(line: &str) -> Option<Reason> {
    let after = |mark: &str| line.find(mark).map(|start| &line[start + mark.len()..]);
    let quoted = |text: &str| text.split('\'').next().and_then(type_name).map(Reason::Type);
    if let Some(found) = after("after throwing an instance of '").and_then(quoted) {
        return Some(found);
    }
    if let Some(found) = after("uncaught exception '").and_then(quoted) {
        return Some(found);
    }
    let first = |text: &str| text.split([':', ' ', ',']).next().map(|first| first.trim_end_matches(':').to_owned());
    if let Some(kind) = after("uncaught exception of type ").or_else(|| after("Microsoft C++ exception: ")) {
        // The type may contain `::`.
        let kind = kind.split([' ', ',']).next().unwrap_or_default().trim_end_matches(':');
        return type_name(kind).map(Reason::Type);
    }
    if line.starts_with("thread '") && line.contains(" panicked at ") {
        return Some(Reason::Type("panic".to_owned()));
    }
    if line.starts_with("Fatal Python error: ") {
        return Some(Reason::Type("Fatal Python error".to_owned()));
    }
    if line.contains("ASSERT: \"") || line.contains("ASSERT failure in ") {
        return Some(Reason::Type("ASSERT".to_owned()));
    }
    for mark in ["received signal ", "terminated with signal ", "stop reason = signal ", "stop reason = "] {
        if let Some(kind) =
            after(mark).and_then(first).filter(|kind| kind.starts_with("SIG") || kind.starts_with("EXC_"))
        {
            return Some(Reason::Code(kind));
        }
    }
    let names_code = line.contains("xception") || line.contains(" code ") || line.contains("Code");
    if names_code { code(line).map(Reason::Code) } else { None }
}

/// The code of Windows in a text.
fn code(text: &str) -> Option<String> {
    let is_end = |character: char| !(character.is_ascii_alphanumeric() || character == '_');
    for word in text.split(is_end) {
        if word.starts_with("EXCEPTION_") && word.len() > 12 && word != "EXCEPTION_CODE" && word != "EXCEPTION_RECORD" {
            return Some(word.to_owned());
        }
        let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
        let is_code = digits.len() == 8
            && is_hex(digits)
            && (["C0", "c0", "E0", "e0", "80", "0e", "0E"].iter().any(|start| digits.starts_with(start)));
        if is_code && let Ok(code) = u32::from_str_radix(digits, 16) {
            let is_known = CODES.iter().any(|(known, _)| *known == code);
            // Other numbers of eight digits may be anything.
            if is_known || digits.to_ascii_uppercase().starts_with("C0000") {
                return Some(windows_code(code));
            }
        }
    }
    None
}

/// The type in the heading of .NET, Java or Python; the innermost one of several on the line.
pub(super) fn heading(line: &str) -> Option<String> {
    let line = BEFORE.iter().find_map(|before| line.strip_prefix(before)).unwrap_or(line);
    let line = match line.strip_prefix("Exception in thread \"") {
        Some(rest) => rest.split_once("\" ")?.1,
        None => line,
    };
    let innermost = line.split(" ---> ").filter_map(|part| typed(part.trim_start_matches("---> "))).last();
    innermost.filter(|_| typed(line.split(" ---> ").next().unwrap_or_default().trim_start_matches("---> ")).is_some())
}

/// `Type: message` or `Type`.
fn typed(text: &str) -> Option<String> {
    let text = text.trim_start_matches("(Inner Exception #0) ");
    let end = text.find(|character: char| !(character.is_alphanumeric() || "_.$+`".contains(character)));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let is_heading = rest.is_empty() || rest.starts_with(':') || rest.starts_with(" (0x");
    let last = name.rsplit(['.', '$', '+']).next().unwrap_or_default();
    // A bare `Exception:` is a heading, with a message it is a type of Python.
    let says_more = name.len() > 9 || rest.trim_start_matches(':').contains(char::is_alphanumeric);
    let is_type = ENDINGS.iter().any(|ending| last.ends_with(ending)) && says_more;
    let begins = name.starts_with(|character: char| character.is_alphabetic() || character == '_');
    (is_heading && is_type && begins).then(|| crate::text::cut(name, MAX_TYPE))
}

/// A text that can be the name of a type.
fn type_name(text: &str) -> Option<String> {
    let is_name = !text.is_empty()
        && text.starts_with(char::is_alphabetic)
        && text.chars().all(|character| character.is_alphanumeric() || "_.:<>$".contains(character));
    is_name.then(|| crate::text::cut(text.split('<').next().unwrap_or_default(), MAX_TYPE))
}
